//! The log, what recognizes a repetition, and the positions that commits go on from.

use std::sync::Arc;

use swarm_core::domain::Seq;
use swarm_core::store::StoreErrorKind;
use swarm_core::store::backend::*;

use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};

pub async fn log_is_initially_empty(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    expect_eq!(tenant.head().await, Head::default());
    expect_eq!(tenant.log().await.len(), 0);
    expect_eq!(commits(&tenant, &[0, 1]).await, [None, None]);
}

/// The head of the outcome is that after the commit.
pub async fn entries_have_consecutive_numbers_from_one(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let mut size = 0;
    for (commit, added) in [1, 2, 0, 3].into_iter().enumerate() {
        let entries = (0..added).map(|number| entry(&format!("{commit}.{number}"))).collect();
        let outcome = tenant.commit(Transaction { entries, ..transaction() }).await;
        size += added;
        expect_eq!(outcome.head.size, Seq(size));
        expect_eq!(tenant.head().await, outcome.head);
    }
    let log = tenant.log().await;
    expect_eq!(numbers(&log), [1, 2, 3, 4, 5, 6]);
    let texts: Vec<_> = log.iter().map(text).collect();
    expect_eq!(texts, ["0.0", "1.0", "1.1", "3.0", "3.1", "3.2"]);
}

pub async fn entry_has_the_identity_and_the_time_of_its_commit(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let (first, second) = (commit_id(), commit_id());
    let mut times = Vec::new();
    for (id, size) in [(first, 2), (second, 1)] {
        let entries = vec![entry("text"); size];
        let assigned = tenant.committed(Transaction { id, entries, ..transaction() }).await;
        times.push(assigned.at);
    }
    let log = tenant.log().await;
    let found: Vec<_> = log.iter().map(|entry| (entry.commit, entry.at)).collect();
    expect_eq!(found, [(first, times[0]), (first, times[0]), (second, times[1])]);
    ensure!(times.is_sorted(), "times that do not decrease", times);
    let head = Head { log: 1, size: Seq(3), at: Some(times[1]), commit: Some(second) };
    expect_eq!(tenant.head().await, head);
    let found = [None, Some(first), Some(first), Some(second), None];
    expect_eq!(commits(&tenant, &[0, 1, 2, 3, 4]).await, found);
}

/// With a topic, the first number is still one of the log.
pub async fn entries_are_read_by_pages(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for topic in [Some(7), None, Some(-7), Some(7), Some(7)] {
        tenant.append(vec![about(topic, None)]).await;
    }
    for (topic, after, limit, expected) in [
        (None, 0, 9, &[1, 2, 3, 4, 5][..]),
        (None, 0, 2, &[1, 2]),
        (None, 2, 2, &[3, 4]),
        (None, 4, 9, &[5]),
        (None, 5, 9, &[]),
        (None, 99, 9, &[]),
        (Some(7), 0, 9, &[1, 4, 5]),
        (Some(7), 1, 1, &[4]),
        (Some(7), 2, 9, &[4, 5]),
        (Some(-7), 0, 9, &[3]),
        (Some(8), 0, 9, &[]),
    ] {
        let found = tenant.entries(topic, after, limit).await;
        expect_eq!(numbers(&found), expected, "{limit} after {after} about {topic:?}");
        expect_eq!(found.iter().any(|it| topic.is_some() && it.topic != topic), false);
    }
}

/// With all its parts, as it is now; none if it is missing.
pub async fn entry_shows_the_record_it_refers_to(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let put = Write::Put {
        table: &PARCELS,
        columns: columns(int(1), &[(CODE, "code".into())]),
        body: body(&["label", "contents"]),
    };
    tenant.write(vec![put, parcel(2, &[])]).await;
    tenant.append(vec![about(None, Some(1)), about(Some(5), Some(2)), about(None, None)]).await;
    let set = Write::Set { range: with_id(1), column: WEIGHT, value: int(5) };
    tenant.write(vec![set, Write::Remove(with_id(2))]).await;
    let log = tenant.log().await;
    let shown = |entry: usize| {
        let reference = log[entry].reference.as_ref()?;
        Some((reference.table, reference.key, reference.row.as_ref().map(Record::of)))
    };
    let first = tenant.records(with_id(1)).await.pop();
    expect_eq!(first.as_ref().map(|it| &it.columns[WEIGHT]), Some(&Value::Integer(5)));
    expect_eq!(shown(0), Some((&PARCELS, 1, first)));
    expect_eq!(shown(1), Some((&PARCELS, 2, None)));
    expect_eq!(shown(2), None);
}

/// In the order of the range, as it is after the changes of the commit.
pub async fn each_record_of_a_range_gets_an_entry(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let stored = |id, weight| parcel(id, &[(DEPOT, "a".into()), (WEIGHT, int(weight))]);
    tenant.write(vec![stored(1, 30), stored(2, 10), parcel(3, &[])]).await;
    let each = |range| Append::Each { range, body: body(&["each"]) };
    let (in_a, in_b) = (indexed(BY_DEPOT, &["a".into()]), indexed(BY_DEPOT, &["b".into()]));
    let outcome = tenant
        .commit(Transaction {
            writes: vec![stored(4, 20)],
            entries: vec![entry("first"), each(in_a), each(in_b), each(descending(all(&PARCELS)))],
            ..transaction()
        })
        .await;
    expect_eq!(outcome.head.size, Seq(8));
    let log = tenant.log().await;
    let keys: Vec<_> = log.iter().map(|entry| entry.reference.as_ref().map(|it| it.key)).collect();
    expect_eq!(keys, [0, 2, 4, 1, 4, 3, 2, 1].map(|key| (key > 0).then_some(key)));
    expect_eq!((numbers(&log), text(&log[7])), ((1..=8).collect(), "each".to_owned()));
    expect_eq!(log.iter().skip(1).all(|it| it.reference.as_ref().unwrap().row.is_some()), true);
}

/// Only a transaction with the same identity is one, whatever its checks say. It changes nothing.
pub async fn repetition_is_recognized_by_its_identity(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let (first, second) = (repeatable("code", 1), repeatable("code", 2));
    let made = tenant.commit(first.clone()).await;
    ensure!(matches!(made.decision, Decision::Committed(_)), "a commit", made);
    let record = tenant.records(with_id(1)).await.remove(0);

    let again = tenant.commit(first).await;
    let Decision::Repeated(row) = &again.decision else {
        ensure!(false, "a repetition", again);
        return;
    };
    expect_eq!(row.columns[..], record.columns);
    expect_eq!(again.head, made.head);
    let other = tenant.commit(second).await;
    ensure!(matches!(other.decision, Decision::Failed { check: 0, .. }), "check 0", other);
    tenant.committed(repeatable("other", 2)).await;
    expect_eq!(tenant.records(all(&PARCELS)).await.len(), 2);
    expect_eq!((tenant.log().await.len(), tenant.sequence("labels").await), (2, 2));
}

/// Other entries after the position do not matter.
pub async fn commit_goes_on_from_an_earlier_position(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let mut positions = vec![tenant.head().await];
    for size in 1..=3 {
        tenant.append(vec![entry("text"); size]).await;
        positions.push(tenant.head().await);
    }
    for seen in positions {
        let sent = Transaction { seen: seen.clone(), ..transaction() };
        let decision = tenant.try_commit(sent).await.map(|outcome| outcome.decision);
        ensure!(matches!(decision, Ok(Decision::Committed(_))), "a commit from {seen:?}", decision);
    }
}

/// Unless it accepts the log, or is none of the log. Nothing is written.
pub async fn commit_from_an_unknown_position_is_refused(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text"); 2]).await;
    tenant.append(vec![entry("text")]).await;
    let head = tenant.head().await;
    let other = Some(CommitId([7; 16]));
    for (seen, what) in [
        (Head { commit: other, ..head.clone() }, "other entries"),
        (Head { size: Seq(1), commit: other, ..head.clone() }, "other entries before"),
        (Head { size: Seq(4), ..head.clone() }, "more entries"),
        (Head { size: Seq(4), commit: None, ..head.clone() }, "more entries of no commit"),
        (Head { log: 2, ..head.clone() }, "a later log"),
    ] {
        let commit = |kind| Transaction {
            kind,
            seen: seen.clone(),
            writes: vec![parcel(1, &[])],
            sequences: vec!["parcels"],
            entries: vec![entry("refused")],
            ..transaction()
        };
        for kind in [Kind::Usual, Kind::AcceptClock] {
            let refused = tenant.try_commit(commit(kind)).await.map(|outcome| outcome.decision);
            let went_back = matches!(refused, Err(StoreErrorKind::WentBack));
            ensure!(went_back, "that the store went back ({what})", refused);
        }
        expect_eq!(tenant.head().await, head, "{what}");
        let aside =
            Transaction { sequences: Vec::new(), entries: Vec::new(), ..commit(Kind::Aside) };
        expect_eq!(tenant.committed(aside).await.numbers, [0; 0]);
        expect_eq!(tenant.ids(all(&PARCELS)).await, [1]);
        tenant.write(vec![Write::Remove(with_id(1))]).await;
    }
    expect_eq!((tenant.sequence("parcels").await, tenant.head().await), (0, head));
}

/// Higher than that of the stored log and of the seen one. Its entries are numbered on.
pub async fn accepted_log_has_a_higher_number(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text")]).await;
    for (number, (seen, log)) in (2..).zip([(1, 2), (2, 3), (7, 8), (3, 9), (1, 10)]) {
        let seen = Head { log: seen, size: Seq(99), at: None, commit: Some(commit_id()) };
        let entries = vec![Append::Entry {
            topic: Some(Term::Assigned(0)),
            assigned: Some(0),
            reference: None,
            body: body(&["accepted"]),
        }];
        let accepted = Transaction { kind: Kind::AcceptLog, seen, entries, ..transaction() };
        let outcome = tenant.commit(accepted).await;
        let Decision::Committed(assigned) = outcome.decision else { continue };
        expect_eq!((assigned.numbers, outcome.head.log), (vec![log], log));
        expect_eq!((tenant.head().await, outcome.head.size), (outcome.head.clone(), Seq(number)));
        let entry = tenant.log().await.pop();
        expect_eq!(entry.and_then(|it| it.assigned), Some(log));
    }
    tenant.append(vec![entry("text")]).await;
    expect_eq!((tenant.head().await.log, numbers(&tenant.log().await)), (10, (1..=7).collect()));
}

/// The caller has to read the position of the new log. Nothing is written.
pub async fn position_of_an_earlier_log_is_contended(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.append(vec![entry("text")]).await;
    let seen = tenant.head().await;
    let accepted =
        Transaction { kind: Kind::AcceptLog, entries: vec![entry("accepted")], ..transaction() };
    tenant.committed(accepted).await;
    let head = tenant.head().await;
    for kind in [Kind::Usual, Kind::AcceptClock] {
        let entries = vec![entry("refused")];
        let sent = Transaction { kind, seen: seen.clone(), entries, ..transaction() };
        let refused = tenant.try_commit(sent).await.map(|outcome| outcome.decision);
        let is_contended = matches!(refused, Err(StoreErrorKind::Contended));
        ensure!(is_contended, "that another log has begun", refused);
    }
    expect_eq!(tenant.head().await, head);
    tenant.committed(Transaction { seen: head, ..transaction() }).await;
    tenant.committed(transaction()).await;
}

/// A transaction that inserts a parcel with this code, and is recognized when it is sent again.
pub(super) fn repeatable(code: &str, id: i64) -> Transaction {
    let identity = commit_id();
    let range = indexed(BY_CODE, &[code.into()]);
    let values = [(CODE, code.into()), (SEAL, Term::Value(identity.0.as_slice().into()))];
    Transaction {
        id: identity,
        repetition: Some(Repetition { range: range.clone(), column: SEAL }),
        checks: vec![Check::None { range, except: Vec::new() }],
        sequences: vec!["labels"],
        writes: vec![Write::Insert {
            table: &PARCELS,
            columns: columns(int(id), &values),
            body: body(&["label"]),
        }],
        entries: vec![entry("text")],
        ..transaction()
    }
}

/// An entry about a topic, that refers to a parcel.
fn about(topic: Option<i64>, parcel: Option<i64>) -> Append {
    Append::Entry {
        topic: topic.map(int),
        assigned: None,
        reference: parcel.map(|id| (&PARCELS, int(id))),
        body: body(&["text"]),
    }
}

/// The commits of the entries with these numbers.
async fn commits(tenant: &Tenant, numbers: &[u64]) -> Vec<Option<CommitId>> {
    let queries = numbers.iter().map(|number| Query::CommitOf(Seq(*number))).collect();
    let answers = tenant.read(queries).await.answers;
    let commit = |answer: &Answer| match answer {
        Answer::Commit(commit) => *commit,
        _ => None,
    };
    answers.iter().map(commit).collect()
}
