//! Isolation of messages with the same id in two tenants.

use std::sync::Arc;

use super::two_tenants::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{applicant, creation, mail};
use swarm_core::domain::{MailState, Message, MessageId};
use swarm_core::store::{MemberChange, MemberSaved, MessageChange, Saved, Tenants};

pub async fn mail_is_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    for (world, mark) in both(&worlds) {
        for name in ["ada", "grace"] {
            let change = MemberChange { mail: Some(mail(mark)), ..creation(&applicant(name)) };
            expect_eq!(world.save_member(&change).await, MemberSaved::Saved);
        }
    }
    let [one, other] = &worlds;
    let first = one.messages(None, None).await.swap_remove(0);
    let message = Message { state: MailState::Sent, ..Message::clone(&first.record) };
    let sent = MessageChange { message, expected: first.version };
    expect_eq!(one.save_message(&sent).await, Saved::Saved);
    expect_eq!(one.save_message(&sent).await, Saved::Stale);
    let states = |sent| [sent, MailState::Queued];
    for (world, mark, states) in
        [(one, "one", states(MailState::Sent)), (other, "other", states(MailState::Queued))]
    {
        let all = world.messages(None, None).await;
        let seen: Vec<_> = all.iter().map(|it| (it.record.id.0, it.record.state)).collect();
        expect_eq!(seen, [(1, states[0]), (2, states[1])], "of tenant {mark}");
        let marks: Vec<_> = all.iter().map(|it| it.record.mail.subject.as_str()).collect();
        expect_eq!(marks, [mark; 2], "of tenant {mark}");
        let queued = states.iter().filter(|state| **state == MailState::Queued).count();
        let found = world.messages(Some(MailState::Queued), None).await;
        expect_eq!(found, all[2 - queued..], "queued of tenant {mark}");
        expect_eq!(world.messages(None, Some(MessageId(1))).await, all[1..], "after the first");
    }
    let other_first = other.messages(None, None).await.swap_remove(0);
    let message = Message { attempts: 1, ..Message::clone(&other_first.record) };
    let change = MessageChange { message, expected: other_first.version };
    expect_eq!(other.save_message(&change).await, Saved::Saved, "whatever became of the other's");
}
