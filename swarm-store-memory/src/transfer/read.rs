//! The records of a tenant but for its log, in the order of a dump.

use std::collections::HashMap;
use std::sync::Arc;

use swarm_core::domain::MessageId;
use swarm_core::store::{Collection, Stored, StoredDocument, TenantHead};

use crate::world::{DocumentCollection, World};

pub(super) fn records(world: &World) -> Vec<Stored> {
    let mut records = vec![Stored::Head(head(world))];
    let mut members: Vec<_> = world.members.values().map(|row| &row.member.record).collect();
    members.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    records.extend(members.into_iter().map(|member| Stored::Member(Arc::clone(member))));
    let messages = world.outbox.iter().map(|message| Arc::clone(&message.record));
    records.extend(messages.map(Stored::Message));
    for collection in Collection::ALL {
        if let Some(documents) = world.documents.get(&collection) {
            records.extend(of_collection(collection, documents));
        }
    }
    let sessions = world.sessions.all().map(|row| Arc::clone(&row.session.record));
    records.extend(sessions.map(Stored::Session));
    let committee = &world.committee;
    let members = committee.members.values().map(|member| Arc::clone(&member.record));
    records.extend(members.map(Stored::CommitteeMember));
    let days = committee.days.values().map(|day| Arc::clone(&day.record));
    records.extend(days.map(Stored::CommitteeDay));
    for (day, briefs) in &committee.briefs {
        let of_day = |brief| Stored::CommitteeBrief(*day, Arc::clone(brief));
        records.extend(briefs.values().map(of_day));
    }
    records
}

fn head(world: &World) -> TenantHead {
    let last = |collection: &DocumentCollection| collection.documents.last().map(|it| it.id);
    let documents = world.documents.iter();
    TenantHead {
        log: world.log.position().size,
        messages: world.outbox.last().map_or(MessageId(0), |message| message.record.id),
        sessions: world.last_session(),
        documents: documents.filter_map(|(kind, all)| Some((*kind, last(all)?))).collect(),
    }
}

fn of_collection(
    collection: Collection,
    documents: &DocumentCollection,
) -> impl Iterator<Item = Stored> {
    let places = documents.groups.iter();
    let groups: HashMap<usize, &String> =
        places.flat_map(|(group, places)| places.iter().map(move |it| (*it, group))).collect();
    documents.documents.iter().enumerate().map(move |(place, document)| {
        let group = groups.get(&place).map(|group| (*group).clone()).unwrap_or_default();
        Stored::Document(StoredDocument { collection, group, document: document.clone() })
    })
}
