//! The properties of refusals besides their texts.

use swarm_core::Refusal;
use swarm_core::domain::{Invalid, MemberState, Revision, SessionState, Stance};
use swarm_core::rules::{ClaimFault, Quota, QuotaReached, Resource};
use swarm_testing::id;

use super::now;

/// Conflicts depend on stored state. A client may learn from them that its take is stored.
#[test]
fn conflicts_depend_on_stored_state() {
    use Refusal as R;
    let invalid = || Invalid::missing("field");
    for conflict in [
        R::WindowClosed,
        R::NonceUsed,
        R::CapReached { cap: Revision::CAP },
        R::AmendmentClosed,
        R::LostRace,
        R::KeyRegistered(id("ada")),
        R::AlreadyClaimed,
        R::MemberIs(MemberState::Applied),
        R::MemberErased,
        R::SessionIs(SessionState::Published),
        R::AlreadyAggregated,
        R::FiledLater,
        R::TakesOnFile,
        R::TakesSealed,
        R::NothingToAccept,
        R::RosterFrozen,
        R::NoRoster,
        R::BriefPublished,
    ] {
        assert!(conflict.is_conflict(), "{conflict}");
        assert_eq!(conflict.retry_after(), None, "{conflict}");
    }
    for fault in [
        R::InvalidSubmission(invalid()),
        R::MissingBearer,
        R::UnknownToken,
        R::TokenMismatch,
        R::NoSession { open: vec![] },
        R::NotOnRoster,
        R::Excused,
        R::NoKey,
        R::BadSignature,
        R::UndeclaredStance { declared: vec![Stance::parse("buy").unwrap()] },
        R::InvalidApplication(invalid()),
        R::BadApplication { expected_payload: String::new() },
        R::ClaimRefused(ClaimFault::Unproven),
        R::NotForRole,
        R::NotFound(Resource::Take),
        R::QuotaReached(QuotaReached::until_changed(Quota::PendingApplications)),
    ] {
        assert!(!fault.is_conflict(), "{fault}");
    }
}

#[test]
fn quota_refusal_names_quota_and_retry_after() {
    let pending = QuotaReached::until_changed(Quota::PendingApplications);
    assert_eq!(pending.quota.to_string(), "applications that wait for an operator");
    assert_eq!(Refusal::QuotaReached(pending).retry_after(), Some(3_600));
    for (quota, name) in [
        (Quota::ApplicationsPerAddress, "applications from an address and day"),
        (Quota::SignalsPerDay, "signals of a day"),
        (Quota::MemosPerDay, "memos of a member and day"),
        (Quota::CommitteeSubmissionsPerDay, "submissions of a member and day"),
    ] {
        let reached = QuotaReached::today(quota, now());
        assert_eq!(reached.quota.to_string(), name);
        assert_eq!(Refusal::QuotaReached(reached).retry_after(), Some(12 * 3_600));
    }
}

#[test]
fn not_found_names_the_resource() {
    for (resource, name) in [
        (Resource::Application, "application"),
        (Resource::Brief, "brief"),
        (Resource::Member, "member"),
        (Resource::Memo, "memo"),
        (Resource::RosterMember, "member on the roster"),
        (Resource::Session, "session"),
        (Resource::Subject, "subject"),
        (Resource::Take, "take"),
    ] {
        assert_eq!(Refusal::NotFound(resource).to_string(), format!("no such {name}"));
    }
}
