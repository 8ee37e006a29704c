//! Writes restored records, and adds them to the indexes.

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{LogRow, Logged, Member, Session, Take};
use swarm_core::store::{MemberChange, Stored, StoredDocument, restored_attempt};

use crate::members;
use crate::records::{Records, Submitted};
use crate::world::{SpentNonce, World, first, next_id};

pub(super) fn record(world: &mut World, record: Stored) {
    match record {
        Stored::Head(_) => {}
        Stored::Member(record) => member(world, &record),
        Stored::Message(message) => world.outbox.push(first(Arc::unwrap_or_clone(message))),
        Stored::Document(document) => self::document(world, document),
        Stored::Session(session) => self::session(world, Arc::unwrap_or_clone(session)),
        Stored::CommitteeMember(member) => {
            world.committee.keys.insert(member.key, member.id.clone());
            let id = member.id.clone();
            world.committee.members.insert(id, first(Arc::unwrap_or_clone(member)));
        }
        Stored::CommitteeDay(day) => {
            world.committee.days.insert(day.date, first(Arc::unwrap_or_clone(day)));
        }
        Stored::CommitteeBrief(date, brief) => {
            let briefs = world.committee.briefs.entry(date).or_default();
            briefs.insert(brief.member_id.clone(), brief);
        }
        Stored::Log(row) => log_row(world, row),
    }
}

fn member(world: &mut World, member: &Member) {
    members::commit(world, &MemberChange::creation(member.clone()), Timestamp::EPOCH);
}

fn document(world: &mut World, stored: StoredDocument) {
    let StoredDocument { collection, group, document } = stored;
    if collection.has_limited_size() {
        world.document_bytes += document.json.len() as u64;
    }
    let collection = world.documents.entry(collection).or_default();
    let place = collection.documents.len();
    collection.keys.insert(document.key.clone(), place);
    collection.groups.entry(group).or_default().push(place);
    collection.documents.push(document);
}

fn session(world: &mut World, session: Session) {
    let subjects = world.days.entry(session.date).or_default();
    subjects.entry(session.subject_id.clone()).or_default().push(session.id);
    world.sessions.write(first(session));
}

fn log_row(world: &mut World, row: LogRow) {
    match &row.logged {
        Logged::Take(take) => self::take(world, take),
        Logged::CommitteeTake(take) => {
            let Records { takes, .. } = &mut world.committee;
            let number = next_id(takes.values().map(Vec::len).sum());
            let attempt = restored_attempt(number);
            let submitted = Submitted { attempt, take: Arc::clone(take) };
            takes.entry(take.date).or_default().push(submitted);
        }
        Logged::Entry(_) => {}
    }
    world.log.restore(row);
}

fn take(world: &mut World, take: &Arc<Take>) {
    let draft = take.draft();
    if let Some(member) = world.members.get_mut(&draft.member_id) {
        let spent = SpentNonce { attempt: restored_attempt(take.id.0), take: take.id };
        member.nonces.insert(draft.nonce.clone(), spent);
        member.sessions.insert(take.session_id);
    }
    if let Some(session) = world.sessions.get_mut(take.session_id) {
        session.takes.push(take.id);
        session.revisions.entry(draft.member_id.clone()).or_default().push(take.id);
    }
    world.takes.push(Arc::clone(take));
}
