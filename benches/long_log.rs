//! A tenant with a long log, restored into any store.

use std::sync::Arc;

use swarm_core::domain::{
    Actor, LogEntry, LogRow, Logged, MessageId, Nonce, Operation, Revision, Seq, SessionId, Signed,
    TakeDraft, TakeId, TenantId, Timestamp,
};
use swarm_core::store::{Restored, Store, Stored, TenantHead};
use swarm_core::{Session, Take};

use super::{Author, session_draft};

/// Of so many entries, one is not of a take.
const ACT_EVERY: u64 = 10;

/// Members, each of which files five times in each session.
const MEMBERS: u64 = 200;
const REVISIONS: u64 = 5;

/// Records that are written at once.
const BATCH: u64 = 500;

/// The characters of a write-up.
const CHARACTERS: usize = 100;

/// The number of takes in a log of so many entries.
pub fn takes(entries: u64) -> u64 {
    entries - entries / ACT_EVERY
}

/// Restores a tenant with a log of so many entries. The signatures of its takes are those of another take: nothing
/// verifies them.
///
/// # Panics
/// When the store fails.
pub async fn restore(store: &Store, tenant: &TenantId, entries: u64) {
    let authors: Vec<_> = (0..MEMBERS).map(|number| Author::new(number as u32)).collect();
    let sessions = takes(entries).div_ceil(MEMBERS * REVISIONS);
    let mut restore = store.restore().await.expect("it answers");
    let mut first = vec![Stored::Head(TenantHead {
        log: Seq(entries),
        messages: MessageId(0),
        sessions: SessionId(sessions),
        documents: [].into(),
    })];
    first.extend(authors.iter().map(|author| Stored::Member(Arc::new(author.member()))));
    first.extend((1..=sessions).map(|id| Stored::Session(Arc::new(session(id)))));
    restore.write(tenant, first).await.expect("room");
    let examples: Vec<_> = authors.iter().map(|author| author.signed(0, CHARACTERS)).collect();
    for begin in (1..=entries).step_by(BATCH as usize) {
        let seqs = begin..(begin + BATCH).min(entries + 1);
        let rows = seqs.map(|seq| Stored::Log(row(seq, &authors, &examples)));
        restore.write(tenant, rows.collect()).await.expect("room");
    }
    assert_eq!(restore.commit().await.expect("it answers"), Restored::Complete);
}

fn session(id: u64) -> Session {
    session_draft(id as usize).convened(SessionId(id), Timestamp::EPOCH)
}

fn row(seq: u64, authors: &[Author], examples: &[Signed<TakeDraft>]) -> LogRow {
    let logged = if seq.is_multiple_of(ACT_EVERY) {
        let by = "schedule".parse::<Actor>().expect("a name");
        Logged::Entry(Arc::new(LogEntry::Operation(Operation::ClockAccepted { by })))
    } else {
        Logged::Take(Arc::new(take(takes(seq), authors, examples)).into())
    };
    LogRow { seq: Seq(seq), at: Timestamp::EPOCH, logged }
}

/// The take with this id: each member files, and again, before the next session begins.
fn take(id: u64, authors: &[Author], examples: &[Signed<TakeDraft>]) -> Take {
    let (member, round) = ((id - 1) % MEMBERS, (id - 1) / MEMBERS);
    let (revision, session) = (round % REVISIONS + 1, round / REVISIONS + 1);
    let (author, example) =
        authors.iter().zip(examples).nth(member as usize).expect("there is one");
    let draft = session_draft(session as usize);
    let payload = TakeDraft {
        nonce: Nonce::parse(format!("nonce-{id}")).expect("a nonce"),
        subject_id: draft.subject_id,
        ..example.payload.clone()
    };
    Take {
        id: TakeId(id),
        session_id: SessionId(session),
        session_version: 1,
        revision: Revision::new(revision as u8).expect("at most five"),
        filed_at: Timestamp::EPOCH,
        signed: Arc::new(Signed { payload, signature: example.signature.clone() }),
        public_key: author.key.clone(),
        salt: None,
        withheld: None,
    }
}
