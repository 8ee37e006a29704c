//! Cases for a clock that runs back (API.md, 11.3).

use std::fmt::Debug;

use super::log::document;
use crate::assertions::{ensure, expect_eq};
use crate::{
    TestTenant, act, applicant, challenge, creation, filed, id, moment, seed, session_draft,
};
use swarm_core::domain::{Attribution, Member, MemberState, Seq, SessionDraft, Timestamp, Version};
use swarm_core::rules::convene;
use swarm_core::store::{
    CLOCK_TOLERANCE_MILLIS, ChallengeBucket, ChallengeOffer, ChallengeSlot, Collection, Filed,
    MemberChange, MemberRemoval, MemberSaved, ProvenChallenge, Result, Saved, SessionChange, Store,
    StoreErrorKind,
};

/// The clock may be up to an hour behind the log.
pub async fn commit_time_is_constant_while_the_clock_is_behind(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let noon = noon();
    set(noon);
    let tenant = TestTenant::fresh(tenants).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    expect_eq!(tenant.filed(&ada, &session, "1").await.filed_at, noon);

    set(earliest());
    expect_eq!(tenant.now().await, noon);
    expect_eq!(tenant.filed(&ada, &session, "2").await.filed_at, noon);
    expect_eq!(tenant.convened("other").await.convened_at, noon);
    set(noon.plus_millis(-1));
    expect_eq!(tenant.filed(&ada, &session, "3").await.filed_at, noon);

    set(noon.plus_millis(1));
    expect_eq!(tenant.now().await, noon.plus_millis(1));
    expect_eq!(tenant.filed(&ada, &session, "4").await.filed_at, noon.plus_millis(1));
}

/// The limit is an hour. Beyond that, the store is not ready.
pub async fn commits_are_refused_while_the_clock_is_far_behind(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let noon = noon();
    set(noon);
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    tenant.filed(&ada, &session, "1").await;
    let filing = tenant.judged(&ada, &ada.submission(&session, "2")).await;
    let amended = tenant.amended(session.id, |_| {}).await;
    let mut joined = creation(&applicant("grace"));
    joined.act = Some(act("member"));
    let convocation = convene(&session_draft("other"), &Attribution::SCHEDULE);
    let size = tenant.log_size().await;
    let removal = MemberRemoval { id: ada.id.clone(), expected: Version(1) };
    let offer = ChallengeOffer {
        bucket: ChallengeBucket(1),
        fresh: tenant.live_challenge("fresh").await,
        slot: ChallengeSlot::Decoy,
    };

    set(earliest().plus_millis(-1));
    expect_eq!(tenant.now().await, noon, "reads go on");
    let store = tenant.store();
    refused(store.file(&filing).await);
    refused(store.save_session(&amended).await);
    refused(store.save_member(&joined).await);
    refused(store.convene(&convocation).await);
    refused(store.put_document(Collection::Memos, &document(None, "memo")).await);
    refused(store.accept_key(&act("accepted")).await);
    refused(store.remove_member(&removal).await);
    refused(store.give_challenge(&offer).await);
    expect_eq!(tenant.log_size().await, size);
    expect_eq!(tenant.takes(session.id).await.len(), 1);
    refused(tenants.ready().await);

    set(earliest());
    expect_eq!(tenants.ready().await.is_ok(), true, "once the clock is near enough");
    expect_eq!(filed(tenant.file(&filing).await).filed_at, noon);
    expect_eq!(tenant.save_session(&amended).await, Saved::Saved);
}

/// What was filed before stays filed, so a call that is sent again is answered as it was then.
pub async fn resent_attempt_is_answered_while_the_clock_is_far_behind(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    set(noon());
    let tenant = TestTenant::fresh(tenants).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    let filing = tenant.judged(&ada, &ada.submission(&session, "1")).await;
    let take = filed(tenant.file(&filing).await);
    set(earliest().plus_millis(-1));
    let resent = tenant.store().file(&filing).await.map_err(|error| error.kind());
    expect_eq!(resent, Ok(Filed::Filed(take, None)));
}

/// An operator accepts a clock that is a day behind. Later commits have its time.
pub async fn accepted_clock_is_used_again(tenants: Store, set: impl Fn(Timestamp)) {
    let yesterday = noon().plus_millis(-24 * CLOCK_TOLERANCE_MILLIS);
    set(noon());
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    let filing = tenant.judged(&ada, &ada.submission(&session, "1")).await;
    set(yesterday);
    refused(tenant.store().file(&filing).await);

    tenant.accept_clock(&act("accepted")).await;
    expect_eq!(tenants.ready().await.is_ok(), true, "once the clock was accepted");
    expect_eq!(tenant.now().await, yesterday);
    expect_eq!(filed(tenant.file(&filing).await).filed_at, yesterday);
    let rows = tenant.log(Seq(0), 9).await;
    let times: Vec<_> = rows.iter().map(|row| (row.seq.0, row.at)).collect();
    expect_eq!(times, [(1, noon()), (2, yesterday), (3, yesterday)]);
}

/// After a clock was accepted, the take with the latest time need not be the last one.
pub async fn deadline_cannot_move_before_a_take_filed_with_a_wrong_clock(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let right = noon().plus_millis(-24 * CLOCK_TOLERANCE_MILLIS);
    set(noon());
    let tenant = TestTenant::fresh(tenants).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    tenant.filed(&ada, &session, "1").await;
    set(right);
    tenant.accept_clock(&act("accepted")).await;
    expect_eq!(tenant.filed(&ada, &session, "2").await.filed_at, right);
    for (end, expected) in
        [(right, Saved::Stale), (noon().plus_millis(-1), Saved::Stale), (noon(), Saved::Saved)]
    {
        let change = tenant.amended(session.id, |_| {}).await;
        let change = SessionChange { none_filed_after: Some(end), ..change };
        expect_eq!(tenant.save_session(&change).await, expected);
    }
}

/// It stays passed even if the clock then shows an earlier time.
pub async fn passed_deadline_stays_passed_when_the_clock_runs_back(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let noon = noon();
    set(noon);
    let tenant = TestTenant::fresh(tenants).await;
    let ada = tenant.author("ada").await;
    let closing = SessionDraft { window_closes_at: Some(noon), ..session_draft("subject") };
    let session = tenant.convene(&closing).await;
    let filing = tenant.judged(&ada, &ada.submission(&session, "1")).await;
    set(noon.plus_millis(1));
    tenant.convened("other").await;
    set(noon.plus_millis(-60_000));
    expect_eq!(tenant.file(&filing).await, Filed::Late);
}

/// A take and the answer to a challenge are accepted at the deadline, and refused a millisecond later.
pub async fn deadlines_are_exact_to_the_millisecond(tenants: Store, set: impl Fn(Timestamp)) {
    let noon = noon();
    set(noon);
    let tenant = TestTenant::fresh(tenants).await;
    let [ada, bob] = [tenant.author("ada").await, tenant.author("bob").await];
    let closing = SessionDraft { window_closes_at: Some(noon), ..session_draft("subject") };
    let session = tenant.convene(&closing).await;
    let [in_time, late] = [
        tenant.judged(&ada, &ada.submission(&session, "1")).await,
        tenant.judged(&bob, &bob.submission(&session, "1")).await,
    ];
    let mut claims = Vec::new();
    for name in ["grace", "hedy"] {
        tenant.create(&Member { state: MemberState::Approved, ..applicant(name) }).await;
        let slot = ChallengeSlot::Member(id(name));
        tenant.set_challenge(&slot, &challenge("live", noon)).await;
        let claim = tenant.edited(&id(name), |it| it.state = MemberState::Claimed).await;
        claims.push(MemberChange { proven: Some(ProvenChallenge(seed("live"))), ..claim });
    }
    expect_eq!(filed(tenant.file(&in_time).await).filed_at, noon);
    expect_eq!(tenant.save_member(&claims[0]).await, MemberSaved::Saved);
    set(noon.plus_millis(1));
    expect_eq!(tenant.file(&late).await, Filed::Late);
    expect_eq!(tenant.save_member(&claims[1]).await, MemberSaved::Stale);
}

fn noon() -> Timestamp {
    moment("2026-11-21T12:00:00Z")
}

/// The earliest time of a clock that is tolerated at noon.
fn earliest() -> Timestamp {
    noon().plus_millis(-CLOCK_TOLERANCE_MILLIS)
}

fn refused<T: Debug>(outcome: Result<T>) {
    let kind = outcome.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::ClockBehind)), "that the clock is behind", outcome);
}
