//! Counts of records by state.

use crate::assertions::expect_eq;
use crate::{TestTenant, applicant, creation, id, mail};
use swarm_core::domain::{MailState, MemberState, Message, SessionState};
use swarm_core::store::{Countable, MemberChange, MemberSaved, MessageChange, Saved, Store};

pub async fn records_are_counted_by_latest_state(tenants: Store) {
    let [one, other] = [TestTenant::fresh(tenants.clone()).await, TestTenant::fresh(tenants).await];
    for name in ["ada", "grace", "joan"] {
        let change = MemberChange { mail: Some(mail("queued")), ..creation(&applicant(name)) };
        expect_eq!(one.save_member(&change).await, MemberSaved::Saved);
        one.convened(name).await;
    }
    // The other tenant has its own records.
    other.create(&applicant("ada")).await;
    let session = other.convened("ada").await;
    other.amend(session.id, |session| session.state = SessionState::Published).await;

    one.edit(&id("ada"), |member| member.state = MemberState::Rejected).await;
    let closed = one.convened("closed").await;
    one.amend(closed.id, |session| session.state = SessionState::WindowClosed).await;
    let first = one.messages(None, None).await.swap_remove(0);
    let message = Message { state: MailState::Sent, ..Message::clone(&first.record) };
    let sent = MessageChange::new(message, first.version);
    expect_eq!(one.save_message(&sent).await, Saved::Saved);

    for (what, here, there) in [
        (Countable::Members(MemberState::Applied), 2, 1),
        (Countable::Members(MemberState::Rejected), 1, 0),
        (Countable::Members(MemberState::Claimed), 0, 0),
        (Countable::Sessions(SessionState::Collecting), 3, 0),
        (Countable::Sessions(SessionState::WindowClosed), 1, 0),
        (Countable::Sessions(SessionState::Published), 0, 1),
        (Countable::Messages(MailState::Queued), 2, 0),
        (Countable::Messages(MailState::Sent), 1, 0),
        (Countable::Messages(MailState::Failed), 0, 0),
    ] {
        expect_eq!(one.count(what).await, here, "{what:?}");
        expect_eq!(other.count(what).await, there, "{what:?} of another tenant");
    }
}
