//! The paths of the interface (API.md, 4 to 7).

mod committee;
mod documents;
mod log;
mod members;
mod operations;
pub(crate) mod pages;
mod sessions;
mod takes;

use crate::metrics::Submitted;
use crate::request::credential::Access::{
    CommitteeMember, CommitteeOperator, Member, Operator, Public,
};
use crate::request::route::{Route, Work, cached, command, patch, post, read, read_as, server};

/// The largest body of a memo, in bytes: every legal memo fits, however its JSON escapes it
/// (API.md, 1.1).
const MEMO_LIMIT: usize = 2 << 20;

/// Interface A.
pub(crate) fn api() -> Vec<Route> {
    vec![
        post(Member, "/api/swarm/submit", takes::submit).unread().counted(Submitted::Take),
        post(Public, "/api/swarm/signing-payload", takes::signing_payload),
        read("/api/swarm/takes/{id}", takes::record).with(Work::CachedShort),
        cached("/api/swarm/open-session", sessions::open),
        cached("/api/swarm/sessions", sessions::list).of_query(&["limit", "before"]),
        cached("/api/swarm/sessions/{id}", sessions::by_id).of_query(&["limit", "after"]),
        cached("/api/swarm/sessions/{date}/{subject}", sessions::by_date),
        cached("/api/swarm/log", log::entries).of_query(&["limit", "after"]),
        cached("/api/swarm/brief", documents::brief).of_query(&["session", "date", "subject"]),
        post(Member, "/api/swarm/memos", documents::publish_memo).up_to(MEMO_LIMIT),
        cached("/api/swarm/memos/{id}", documents::memo),
        post(Public, "/api/swarm/apply", members::apply),
        read("/api/swarm/apply/{id}", members::status),
        post(Public, "/api/swarm/token-claim/challenge", members::challenge),
        post(Public, "/api/swarm/token-claim", members::claim),
        read_as(Member, "/api/swarm/verify-token", members::verify_token),
        cached("/api/swarm/members", members::list),
        read("/api/swarm/members/{id}", members::one).with(Work::CachedShort),
        cached("/api/swarm/subjects", documents::subjects),
        cached("/api/swarm/subjects/{id}", documents::subject),
        cached("/api/swarm/subjects/{id}/snapshots", documents::snapshots),
        post(Operator, "/api/swarm/admin/accept", log::accept),
        post(Operator, "/api/swarm/admin/activate", members::activate),
        post(Operator, "/api/swarm/admin/reject", members::reject),
        post(Operator, "/api/swarm/admin/deactivate", members::deactivate),
        post(Operator, "/api/swarm/admin/rotate-key", members::rotate_key),
        read_as(Operator, "/api/swarm/admin/applications", members::applications).with(Work::Long),
        read_as(Operator, "/api/swarm/admin/outbox", members::outbox).with(Work::Long),
        post(Operator, "/api/swarm/admin/subjects", documents::put_subject),
        post(Operator, "/api/swarm/admin/subjects/{id}/snapshots", documents::add_snapshot),
        post(Operator, "/api/swarm/admin/regime", documents::put_regime),
        post(Operator, "/api/swarm/admin/signals", documents::put_signal),
        command(Operator, "/api/swarm/admin/memos/{id}/retract", documents::retract_memo),
        post(Operator, "/api/swarm/admin/sessions", sessions::convene).with(Work::Long),
        patch(Operator, "/api/swarm/admin/sessions/{id}", sessions::amend).with(Work::Long),
        post(Operator, "/api/swarm/admin/sessions/{id}/brief", documents::publish_brief)
            .or_nothing()
            .with(Work::Long),
        post(Operator, "/api/swarm/admin/sessions/{id}/state", sessions::advance).with(Work::Long),
        post(Operator, "/api/swarm/admin/sessions/{id}/roster", sessions::freeze_roster)
            .with(Work::Long),
        post(Operator, "/api/swarm/admin/sessions/{id}/roster/excuse", sessions::excuse)
            .with(Work::Long),
    ]
}

/// Interface B.
pub(crate) fn committee() -> Vec<Route> {
    vec![
        post(CommitteeMember, "/api/ic/submit", committee::submit)
            .unread()
            .counted(Submitted::CommitteeTake),
        read("/data/committee/briefs/today/{file}", committee::brief).with(Work::Long),
        read("/api/ic/sessions", committee::sessions).with(Work::Long),
        read("/api/ic/sessions/{date}", committee::session).with(Work::Long),
        post(CommitteeOperator, "/api/ic/admin/members", committee::create_member),
        read_as(CommitteeOperator, "/api/ic/admin/members", committee::members).with(Work::Long),
        command(CommitteeOperator, "/api/ic/admin/members/{id}/rotate-key", committee::rotate_key),
        post(CommitteeOperator, "/api/ic/admin/members/{id}/status", committee::set_status),
        post(CommitteeOperator, "/api/ic/admin/day", committee::set_subject),
        post(CommitteeOperator, "/api/ic/admin/briefs", committee::generate)
            .or_nothing()
            .with(Work::Long),
        post(CommitteeOperator, "/api/ic/admin/synthesis", committee::set_synthesis),
        post(CommitteeOperator, "/api/ic/admin/day/withdraw", committee::withdraw),
    ]
}

/// What the operator of the server asks (API.md, 13.4). The same on every host.
pub(crate) fn operations() -> Vec<Route> {
    vec![
        server("/healthz", operations::health),
        server("/readyz", operations::ready),
        server("/metrics", operations::metrics),
    ]
}
