//! The paths of the interface (specification, section 4A; contract, section 5).

mod committee;
mod documents;
mod log;
mod members;
mod operations;
pub(crate) mod pages;
mod sessions;
mod takes;

use crate::request::credential::Access::{
    CommitteeMember, CommitteeOperator, Member, Operator, Public,
};
use crate::request::route::{Route, command, patch, post, read, read_as, server};

/// The largest body of a memo, in bytes: every legal memo fits, however its JSON escapes it
/// (contract, section 3).
const MEMO_LIMIT: usize = 2 << 20;

/// Where takes are filed.
pub(crate) const SUBMIT: &str = "/api/swarm/submit";

/// Where members of the committee submit theirs.
pub(crate) const COMMITTEE_SUBMIT: &str = "/api/ic/submit";

/// Interface A.
pub(crate) fn api() -> Vec<Route> {
    vec![
        post(Member, SUBMIT, takes::submit),
        post(Public, "/api/swarm/signing-payload", takes::signing_payload),
        read("/api/swarm/takes/{id}", takes::record),
        read("/api/swarm/open-session", sessions::open),
        read("/api/swarm/sessions", sessions::list),
        read("/api/swarm/sessions/{id}", sessions::by_id),
        read("/api/swarm/sessions/{date}/{subject}", sessions::by_date),
        read("/api/swarm/log", log::entries),
        read("/api/swarm/brief", documents::brief),
        post(Member, "/api/swarm/memos", documents::publish_memo).up_to(MEMO_LIMIT),
        read("/api/swarm/memos/{id}", documents::memo),
        post(Public, "/api/swarm/apply", members::apply),
        read("/api/swarm/apply/{id}", members::status),
        post(Public, "/api/swarm/token-claim/challenge", members::challenge),
        post(Public, "/api/swarm/token-claim", members::claim),
        read_as(Member, "/api/swarm/verify-token", members::verify_token),
        read("/api/swarm/members", members::list),
        read("/api/swarm/members/{id}", members::one),
        read("/api/swarm/subjects", documents::subjects),
        read("/api/swarm/subjects/{id}", documents::subject),
        read("/api/swarm/subjects/{id}/snapshots", documents::snapshots),
        post(Operator, "/api/swarm/admin/activate", members::activate),
        post(Operator, "/api/swarm/admin/reject", members::reject),
        post(Operator, "/api/swarm/admin/deactivate", members::deactivate),
        post(Operator, "/api/swarm/admin/rotate-key", members::rotate_key),
        read_as(Operator, "/api/swarm/admin/applications", members::applications),
        read_as(Operator, "/api/swarm/admin/outbox", members::outbox),
        post(Operator, "/api/swarm/admin/subjects", documents::put_subject),
        post(Operator, "/api/swarm/admin/subjects/{id}/snapshots", documents::add_snapshot),
        post(Operator, "/api/swarm/admin/regime", documents::put_regime),
        post(Operator, "/api/swarm/admin/signals", documents::put_signal),
        command(Operator, "/api/swarm/admin/memos/{id}/retract", documents::retract_memo),
        post(Operator, "/api/swarm/admin/sessions", sessions::convene),
        patch(Operator, "/api/swarm/admin/sessions/{id}", sessions::amend),
        post(Operator, "/api/swarm/admin/sessions/{id}/brief", documents::publish_brief)
            .or_nothing(),
        post(Operator, "/api/swarm/admin/sessions/{id}/state", sessions::advance),
        post(Operator, "/api/swarm/admin/sessions/{id}/roster", sessions::freeze_roster),
        post(Operator, "/api/swarm/admin/sessions/{id}/roster/excuse", sessions::excuse),
    ]
}

/// Interface B.
pub(crate) fn committee() -> Vec<Route> {
    vec![
        post(CommitteeMember, COMMITTEE_SUBMIT, committee::submit).unread(),
        read("/data/committee/briefs/today/{file}", committee::brief),
        read("/api/ic/sessions", committee::sessions),
        read("/api/ic/sessions/{date}", committee::session),
        post(CommitteeOperator, "/api/ic/admin/members", committee::create_member),
        read_as(CommitteeOperator, "/api/ic/admin/members", committee::members),
        command(CommitteeOperator, "/api/ic/admin/members/{id}/rotate-key", committee::rotate_key),
        post(CommitteeOperator, "/api/ic/admin/members/{id}/status", committee::set_status),
        post(CommitteeOperator, "/api/ic/admin/day", committee::set_subject),
        post(CommitteeOperator, "/api/ic/admin/briefs", committee::generate).or_nothing(),
        post(CommitteeOperator, "/api/ic/admin/synthesis", committee::set_synthesis),
    ]
}

/// What the operator of the server asks (contract, section 7). The same on every host.
pub(crate) fn operations() -> Vec<Route> {
    vec![
        server("/healthz", operations::health),
        server("/readyz", operations::ready),
        server("/metrics", operations::metrics),
    ]
}
