//! Tests of the backend alone, on tables of its own.

use swarm_core::domain::{Seq, Version};
use swarm_core::store::backend::engine::Scan;
use swarm_core::store::backend::{
    Answer, Append, Body, Check, Column, ColumnKind, CommitId, Entries, Entry, Head, Index, Join,
    Kind, PartSet, Range, Reference, Row, Term, Value, Write,
};
use swarm_core::store::{StoreErrorKind, TABLES};
use tempfile::TempDir;

use super::*;
use crate::sql::{Extent, Statement};

static STONES: Table = Table {
    name: "stones",
    columns: &[
        Column { name: "vein", kind: ColumnKind::Text },
        Column { name: "order", kind: ColumnKind::Integer },
        Column { name: "colour", kind: ColumnKind::Text },
        Column { name: "found_at", kind: ColumnKind::Time },
        Column { name: "mark", kind: ColumnKind::Bytes },
        Column { name: "owner", kind: ColumnKind::Integer },
    ],
    key: 2,
    parts: &["note", "picture", "commit"],
    indexes: &[
        Index { name: "stones_by_colour", columns: &[2, 3], is_unique: false },
        Index { name: "stones_by_vein", columns: &[0, 3], is_unique: false },
        Index { name: "stones_by_mark", columns: &[2, 4], is_unique: true },
    ],
    veiled: None,
    is_transient: false,
};

static OWNERS: Table = Table {
    name: "owners",
    columns: &[Column { name: "id", kind: ColumnKind::Integer }],
    key: 1,
    parts: &["name"],
    indexes: &[],
    veiled: None,
    is_transient: false,
};

static VISITS: Table = Table {
    name: "visits",
    columns: &[
        Column { name: "id", kind: ColumnKind::Integer },
        Column { name: "at", kind: ColumnKind::Time },
    ],
    key: 1,
    parts: &[],
    indexes: &[],
    veiled: None,
    is_transient: true,
};

static DECLARED: &[&Table] = &[&STONES, &OWNERS, &VISITS];

#[tokio::test]
async fn ranges_have_the_records_and_the_order_of_their_index() {
    let quarry = Quarry::open();
    let mut stones = Vec::new();
    for (vein, order) in [("", 0), ("a\0", 3), ("a", -1), ("a", 2), ("aa", i64::MIN), ("ä", 1)] {
        let at = stones.len();
        let colour = ["", "\0", "\0red", "red", "red", "red"].get(at).copied();
        let found_at = [None, Some(-5), Some(7), Some(-5), Some(-5), Some(i64::from(u32::MAX))];
        let mark: Value = [0, 1, 0, 255].get(at).map(|byte| Value::from(&[0, *byte][..])).into();
        let found_at = found_at[at].map_or(Value::Null, Value::Integer);
        let columns = [vein.into(), Value::Integer(order), colour.into(), found_at, mark];
        stones.push(columns.into_iter().chain([Value::Null]).collect::<Vec<_>>());
    }
    quarry.write(stones.iter().map(|columns| insert(&STONES, columns.clone())).collect()).await;
    // Those of another tenant do not show.
    let other = Transaction { writes: vec![insert(&STONES, stones[1].clone())], ..change() };
    quarry.backend.commit(&tenant("other"), "test", other).await.unwrap();

    let mut compared = 0;
    for range in ranges(&STONES) {
        let indexed = STONES.indexed(range.index);
        let rest = (0..STONES.key).filter(|column| !indexed.contains(column));
        let order: Vec<_> = indexed.iter().copied().chain(rest).collect();
        for stone in &stones {
            let value = |place: usize| stone[order[place]].clone();
            let prefix: Vec<_> = (0..range.prefix.len()).map(value).collect();
            let bound = order.get(prefix.len()).map(|column| (*column, stone[*column].clone()));
            let [after, before] =
                [&range.after, &range.before].map(|it| it.as_ref().and(bound.clone()));
            let mut expected: Vec<_> = stones
                .iter()
                .filter(|stone| STONES.indexed(range.index).iter().all(|it| !stone[*it].is_null()))
                .filter(|stone| order.iter().zip(&prefix).all(|(it, value)| stone[*it] == *value))
                .filter(|stone| after.as_ref().is_none_or(|(it, value)| stone[*it] > *value))
                .filter(|stone| before.as_ref().is_none_or(|(it, value)| stone[*it] < *value))
                .filter(|_| prefix.iter().all(|value| !value.is_null()))
                .filter(|_| {
                    [&after, &before].iter().all(|it| it.as_ref().is_none_or(|it| !it.1.is_null()))
                })
                .cloned()
                .collect();
            let by =
                |stone: &Vec<Value>| order.iter().map(|it| stone[*it].clone()).collect::<Vec<_>>();
            expected.sort_by_key(by);
            if range.is_descending {
                expected.reverse();
            }
            let terms = |values: &[Value]| values.iter().cloned().map(Term::Value).collect();
            let term = |bound: &Option<(usize, Value)>| bound.clone().map(|it| Term::Value(it.1));
            let range = Range {
                prefix: terms(&prefix),
                after: term(&after),
                before: term(&before),
                ..range.clone()
            };
            let queries = vec![Query::Count(range.clone()), Query::Rows(range.clone())];
            let answers = quarry.read(queries).await.answers;
            let found: Vec<_> = answers[1].rows().iter().map(|row| row.columns.to_vec()).collect();
            assert_eq!(found, expected, "{range:?}");
            assert_eq!(number(&answers[0]), expected.len(), "{range:?}");
            compared += expected.len();
        }
    }
    assert!(compared > 200);
}

#[tokio::test]
async fn records_are_written_replaced_changed_and_removed() {
    let quarry = Quarry::open();
    let [first, second] = [stone("a", 1, "red"), stone("a", 2, "red")];
    let texts = |note: &str| Body::of_texts(vec![Some(note.into()), None, Some("\0".into())]);
    let put = |columns: &[Value], note| Write::Put {
        table: &STONES,
        columns: terms(columns),
        body: texts(note),
    };
    let made = quarry.write(vec![put(&first, "one"), put(&second, "two")]).await;
    assert!(matches!(made.decision, Decision::Committed(_)));
    quarry.write(vec![put(&first, "again")]).await;
    let red = || Range::index(&STONES, 0, vec!["red".into()]);
    let found = quarry.rows(red()).await;
    let seen = |row: &Row| {
        let part = |at| row.body.part(at).map(|text| text.into_owned());
        (row.version, part(0), part(1), part(2))
    };
    let of = |version, note: &str| {
        (Version(version), Some(note.to_owned()), None, Some("\0".to_owned()))
    };
    assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [of(2, "again"), of(1, "two")]);

    // A column of all, whose version and parts stay; in the index, too.
    let (column, value) = (2, Term::from("blue"));
    quarry.write(vec![Write::Set { range: red(), column, value }]).await;
    assert!(quarry.rows(red()).await.is_empty());
    let blue = || Range::index(&STONES, 0, vec!["blue".into()]);
    let found = quarry.rows(blue()).await;
    assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [of(2, "again"), of(1, "two")]);

    quarry.write(vec![Write::Remove(Range { limit: 1, ..blue() })]).await;
    let reopened = quarry.reopened();
    let found = reopened.rows(blue()).await;
    assert_eq!(found.iter().map(seen).collect::<Vec<_>>(), [of(1, "two")]);
    assert_eq!(*found[0].columns, with(&second, 2, "blue".into()));
}

#[tokio::test]
async fn only_the_parts_of_a_query_are_read() {
    let quarry = Quarry::open();
    let body = Body::of_texts(["note", "picture", "commit"].map(|it| Some(it.into())).into());
    let columns = terms(&stone("a", 1, "red"));
    quarry.write(vec![Write::Insert { table: &STONES, columns, body }]).await;
    for (parts, expected) in [
        (PartSet::ALL, [Some("note"), Some("picture"), Some("commit")]),
        (PartSet::of(&[1]), [None, Some("picture"), None]),
        (PartSet::of(&[0, 2]), [Some("note"), None, Some("commit")]),
        (PartSet::NONE, [None, None, None]),
    ] {
        let found = quarry.rows(Range { parts, ..Range::all(&STONES) }).await;
        let found = [0, 1, 2].map(|part| found[0].body.part(part));
        assert_eq!(found.each_ref().map(Option::as_deref), expected);
    }
}

#[tokio::test]
async fn queries_have_joins_limits_distinct_values_and_conditions() {
    let quarry = Quarry::open();
    let name = |name: &str| Body::of_texts(vec![Some(name.into())]);
    let owner = Write::Insert { table: &OWNERS, columns: vec![7_u64.into()], body: name("Ada") };
    let stones = [("a", 7), ("b", 8), ("c", 0)].map(|(vein, owner): (&str, i64)| {
        let owner = if owner > 0 { Value::Integer(owner) } else { Value::Null };
        let body = Body::of_texts(vec![Some("0123456789".into()), None, None]);
        let columns = terms(&with(&stone(vein, 1, "red"), 5, owner));
        Write::Insert { table: &STONES, columns, body }
    });
    quarry.write(stones.into_iter().chain([owner]).collect()).await;
    let all = || Range::all(&STONES);
    let join = Join { table: &OWNERS, column: 5, parts: PartSet::ALL };
    let first = Range { limit: 1, ..all() };
    let queries = vec![
        Query::Rows(Range { join: Some(join), ..all() }),
        Query::Rows(Range { bytes: 25, ..all() }),
        Query::Rows(Range { having: Some(5), ..all() }),
        Query::Rows(Range { distinct: 1, ..Range::index(&STONES, 0, Vec::new()) }),
        Query::Rows(first),
        Query::Rows(Range::key(&OWNERS, vec![Term::Found(4, 5)])),
        Query::Rows(Range::key(&OWNERS, vec![Term::Found(5, 1)])),
    ];
    let reading = quarry.read(queries).await;
    let sizes: Vec<_> = reading.answers.iter().map(|answer| answer.rows().len()).collect();
    assert_eq!(sizes, [3, 2, 2, 1, 1, 1, 0]);
    let Answer::Rows { joined, .. } = &reading.answers[0] else { panic!() };
    let names = joined.iter().map(|row| row.as_ref().map(|row| row.body.part(0)));
    assert_eq!(names.collect::<Vec<_>>(), [Some(Some("Ada".into())), None, None]);
    let Answer::Rows { has_more, .. } = &reading.answers[1] else { panic!() };
    assert!(has_more);
}

#[tokio::test]
async fn log_has_consecutive_entries_by_topic_and_survives_a_restart() {
    let quarry = Quarry::open();
    let body = |text: &str| Body::of_texts(vec![Some(text.into())]);
    let owner =
        |name| Write::Insert { table: &OWNERS, columns: vec![Term::Assigned(0)], body: body(name) };
    assert_eq!(quarry.read(Vec::new()).await.head, Head::default());
    for (number, name) in [(1, "Ada"), (2, "Grace")] {
        let about = Append::Entry {
            topic: Some(Term::Assigned(0)),
            assigned: Some(0),
            reference: None,
            body: body("about\0"),
        };
        let each = Append::Each { range: Range::all(&OWNERS), body: Body::empty() };
        let transaction = Transaction {
            id: CommitId([number; 16]),
            sequences: vec!["owners"],
            writes: vec![owner(name), Write::Add("sum", 10), Write::Add("sum", -4)],
            entries: vec![about, each],
            ..change()
        };
        let made = quarry.commit(transaction).await.unwrap();
        let size = if number == 1 { 2 } else { 5 };
        assert_eq!((made.head.size, made.head.log), (Seq(size), 1));
    }
    let quarry = quarry.reopened();
    let entries = |topic, after, limit| {
        Query::Entries(Entries { topic, after: Seq(after), limit, parts: PartSet::ALL })
    };
    let reading = quarry.read(vec![
        entries(None, 0, 10),
        entries(None, 1, 2),
        entries(Some(2), 0, 10),
        entries(Some(2), 3, 10),
        Query::Sequence("owners"),
        Query::Sequence("sum"),
        Query::CommitOf(Seq(2)),
        Query::CommitOf(Seq(6)),
    ]);
    let reading = reading.await;
    let commit = CommitId([2; 16]);
    assert_eq!(reading.head, Head { log: 1, size: Seq(5), at: Some(now()), commit: Some(commit) });
    let shown = |entry: &Entry| {
        let text = |body: &Body| body.part(0).map(|text| text.into_owned());
        let name = entry.reference.as_ref().map(|it| text(&it.row.as_ref().unwrap().body).unwrap());
        (entry.seq.0, entry.topic, entry.assigned, name, text(&entry.body))
    };
    let seqs = |answer: &Answer| {
        let Answer::Entries(entries) = answer else { panic!() };
        entries.iter().map(|entry| entry.seq.0).collect::<Vec<_>>()
    };
    let Answer::Entries(all) = &reading.answers[0] else { panic!() };
    let about = |seq, number: u8| {
        (seq, Some(i64::from(number)), Some(u64::from(number)), None, Some("about\0".to_owned()))
    };
    let named = |seq, name: &str| (seq, None, None, Some(name.to_owned()), None);
    assert_eq!(
        all.iter().map(shown).collect::<Vec<_>>(),
        [about(1, 1), named(2, "Ada"), about(3, 2), named(4, "Ada"), named(5, "Grace")]
    );
    assert!(all.iter().all(|entry| entry.at == now()));
    let found: Vec<_> = reading.answers[1..4].iter().map(seqs).collect();
    assert_eq!(found, [vec![2, 3], vec![3], vec![]]);
    assert_eq!([4, 5].map(|at| number(&reading.answers[at])), [2, 12]);
    let Answer::Commit(found) = &reading.answers[6] else { panic!() };
    assert_eq!(*found, Some(CommitId([1; 16])));
    assert!(matches!(reading.answers[7], Answer::Commit(None)));
}

#[tokio::test]
async fn unmet_check_and_failed_change_leave_nothing() {
    let quarry = Quarry::open();
    quarry.write(["a", "b", "c"].map(|vein| insert(&STONES, stone(vein, 1, "red"))).into()).await;
    let red = || Range::index(&STONES, 0, vec!["red".into()]);
    let except = || vec!["b".into(), Value::Integer(1).into()];
    let is = |least, most| Check::Count { range: red(), except: except(), least, most };
    let checks = [is(2, 2), is(0, 1), is(3, 9), Check::None { range: red(), except: except() }];
    for (check, is_met) in checks.into_iter().zip([true, false, false, false]) {
        let writes = vec![insert(&OWNERS, vec![Value::Integer(1)])];
        let entry = Append::Each { range: red(), body: Body::empty() };
        let entries = if is_met { Vec::new() } else { vec![entry] };
        let made =
            quarry.commit(Transaction { checks: vec![check], writes, entries, ..change() }).await;
        assert_eq!(matches!(made.unwrap().decision, Decision::Committed(_)), is_met);
        quarry.write(vec![Write::Remove(Range::all(&OWNERS))]).await;
    }
    // A record that is there, by its key or in a unique index, is a fault.
    let marked = |vein| with(&stone(vein, 1, "blue"), 4, Value::from(&b"mark"[..]));
    quarry.write(vec![insert(&STONES, marked("x"))]).await;
    for twice in [stone("a", 1, "red"), marked("y")] {
        let writes = vec![insert(&OWNERS, vec![Value::Integer(1)]), insert(&STONES, twice)];
        let failed = quarry.commit(Transaction { writes, ..change() }).await.unwrap_err();
        assert_eq!((failed.kind(), failed.op()), (StoreErrorKind::Corrupt, "test"));
    }
    assert!(quarry.rows(Range::all(&OWNERS)).await.is_empty());
    assert_eq!(quarry.read(Vec::new()).await.head, Head::default());
    assert!(!quarry.backend.ready().await.unwrap().warnings.is_empty());
}

/// Ids that begin again at 1 would be those of records that are there.
#[tokio::test]
async fn invalid_number_of_a_sequence_is_damage() {
    let quarry = Quarry::open();
    quarry.write(vec![Write::Add("sum", 10)]).await;
    let db = Connection::open(quarry.folder.path().join("swarm.db")).unwrap();
    db.execute("UPDATE sequences SET number = -1", []).unwrap();
    let found = quarry.backend.read(&tenant("acme"), "test", vec![Query::Sequence("sum")]).await;
    let failed = found.unwrap_err();
    assert_eq!((failed.kind(), failed.op()), (StoreErrorKind::Corrupt, "test"));
}

/// The engine has the rules, and the error its kind and the name of the operation.
#[tokio::test]
async fn refused_commit_keeps_the_kind_of_its_error() {
    let quarry = Quarry::open();
    let seen = Head { size: Seq(3), commit: Some(CommitId([9; 16])), ..Head::default() };
    let refused = quarry.commit(Transaction { seen, ..change() }).await.unwrap_err();
    assert_eq!((refused.kind(), refused.op()), (StoreErrorKind::WentBack, "test"));
}

#[tokio::test]
async fn snapshot_shows_one_moment() {
    let quarry = Quarry::open();
    quarry.write(vec![insert(&STONES, stone("a", 1, "red"))]).await;
    let mut snapshot = quarry.backend.snapshot(&tenant("acme")).await.unwrap();
    quarry.write(vec![insert(&STONES, stone("b", 1, "red")), Write::Add("sum", 1)]).await;
    for _ in 0..2 {
        let queries = vec![Query::Rows(Range::all(&STONES)), Query::Sequence("sum")];
        let reading = snapshot.read(queries).await.unwrap();
        assert_eq!((reading.answers[0].rows().len(), number(&reading.answers[1])), (1, 0));
    }
}

#[tokio::test]
async fn load_is_committed_whole_into_tenants_without_records() {
    let quarry = Quarry::open();
    // A transient record is none, and is kept.
    let visit = insert(&VISITS, vec![Value::Integer(1), Value::Integer(-1)]);
    quarry.write(vec![visit.clone()]).await;
    assert!(quarry.backend.tenants().await.unwrap().is_empty());
    let reference = Some(Reference { table: &OWNERS, key: 4, row: None });
    let commit = CommitId([1; 16]);
    let entry = |seq, reference| {
        let body = Body::empty();
        let (topic, assigned) = (None, None);
        Item::Entry(3, Entry { seq: Seq(seq), at: now(), commit, topic, assigned, reference, body })
    };
    let items = || {
        vec![
            Item::Write(insert(&OWNERS, vec![Value::Integer(4)])),
            Item::Sequence("owners", 9),
            entry(1, None),
            entry(2, reference.clone()),
        ]
    };
    let mut discarded = quarry.backend.load().await.unwrap();
    discarded.write(&tenant("acme"), items()).await.unwrap();
    discarded.discard().await.unwrap();
    assert!(quarry.backend.tenants().await.unwrap().is_empty());

    let mut load = quarry.backend.load().await.unwrap();
    for id in ["acme", "beta"] {
        let (first, rest) = (items().remove(0), items().split_off(1));
        load.write(&tenant(id), vec![first]).await.unwrap();
        load.write(&tenant(id), rest).await.unwrap();
    }
    assert_eq!(load.commit().await.unwrap(), None);
    assert_eq!(quarry.backend.tenants().await.unwrap(), ["acme", "beta"].map(tenant));
    let all = Entries { topic: None, after: Seq(0), limit: 9, parts: PartSet::ALL };
    let queries =
        vec![Query::Rows(Range::all(&VISITS)), Query::Sequence("owners"), Query::Entries(all)];
    let reading = quarry.read(queries).await;
    assert_eq!((reading.answers[0].rows().len(), number(&reading.answers[1])), (1, 9));
    assert_eq!((reading.head.log, reading.head.size), (3, Seq(2)));
    let Answer::Entries(entries) = &reading.answers[2] else { panic!() };
    assert!(entries[1].reference.as_ref().unwrap().row.is_some());

    // Sequences count as records, too.
    quarry.commit_to("gamma", vec![Write::Add("sum", 1)]).await;
    for used in ["beta", "gamma"] {
        let mut load = quarry.backend.load().await.unwrap();
        for id in ["delta", used, "epsilon"] {
            load.write(&tenant(id), items()).await.unwrap();
        }
        assert_eq!(load.commit().await.unwrap(), Some(tenant(used)));
    }
    assert_eq!(quarry.backend.tenants().await.unwrap(), ["acme", "beta", "gamma"].map(tenant));
}

/// Of the declared tables and those of the tests, with bounds of all kinds.
#[tokio::test]
async fn ranges_are_read_in_the_order_of_their_index() {
    for declared in [TABLES, DECLARED] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.db");
        let backend = SqliteBackend::open(&path, now, declared).unwrap();
        let plans = backend.database.read(move |db| {
            let statements = Statements::new(declared);
            let mut plans = Vec::new();
            for table in declared {
                for range in ranges(table) {
                    let prefix = vec![Value::Null; range.prefix.len()];
                    let scan = Scan {
                        table,
                        index: range.index,
                        prefix: &prefix,
                        after: range.after.as_ref().map(|_| &Value::Null),
                        before: range.before.as_ref().map(|_| &Value::Null),
                        is_descending: range.is_descending,
                        parts: PartSet::ALL,
                    };
                    let extent = Extent::of(&scan);
                    for statement in [
                        Statement::Select(extent, PartSet::ALL),
                        Statement::Count { extent, has_except: true },
                    ] {
                        let sql = statements.text(table, statement);
                        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                        let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
                        let steps = steps.collect::<rusqlite::Result<Vec<_>>>()?.join("; ");
                        let index = range.index.map(|index| table.indexes[index].name);
                        plans.push((*table, index, scan.prefix.len(), steps));
                    }
                }
            }
            Ok(plans)
        });
        for (table, index, prefix, steps) in plans.await.unwrap() {
            let own = format!("sqlite_autoindex_{}_1", table.name);
            let index = format!(" INDEX {} (tenant=?", index.unwrap_or(&own));
            assert!(steps.contains(&index) && !steps.contains("TEMP"), "{steps}");
            assert_eq!(steps.matches("=?").count(), prefix + 1, "{steps}");
        }
    }
}

#[tokio::test]
async fn full_disk_is_warned_of_for_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicI64::new(1_795_000_000_000));
    let clock = Arc::clone(&time);
    let clock = move || Timestamp::from_millis(clock.load(Ordering::Relaxed)).unwrap();
    let path = folder.path().join("swarm.db");
    let backend = SqliteBackend::open(&path, clock, DECLARED).unwrap();
    let warnings = async || backend.ready().await.unwrap().warnings;
    assert!(warnings().await.is_empty());

    // Like a full disk, this allows writes to existing pages only.
    let fill = |db: &Connection| Ok(db.pragma_update(None, "max_page_count", 1)?);
    backend.database.write(fill).await.unwrap();
    let body = Body::of_texts(vec![Some("a".repeat(1_000_000).into()), None, None]);
    let columns = terms(&stone("a", 1, "red"));
    let large = Write::Insert { table: &STONES, columns, body };
    let grow = Transaction { writes: vec![large], ..change() };
    let failed = backend.commit(&tenant("acme"), "test", grow).await.unwrap_err();
    assert_eq!(failed.kind(), StoreErrorKind::Unavailable);
    let warning = "the disk had no room for a write within the last minute";
    assert_eq!(warnings().await, [warning]);
    time.fetch_add(59_999, Ordering::Relaxed);
    assert_eq!(warnings().await, [warning]);
    time.fetch_add(1, Ordering::Relaxed);
    assert!(warnings().await.is_empty());
}

/// A backend with the tables of the tests.
struct Quarry {
    folder: TempDir,
    backend: SqliteBackend,
}

impl Quarry {
    fn open() -> Self {
        Self::open_in(tempfile::tempdir().unwrap())
    }

    fn open_in(folder: TempDir) -> Self {
        let path = folder.path().join("swarm.db");
        let backend = SqliteBackend::open(&path, now, DECLARED).unwrap();
        Self { folder, backend }
    }

    fn reopened(self) -> Self {
        drop(self.backend);
        Self::open_in(self.folder)
    }

    async fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.backend.commit(&tenant("acme"), "test", transaction).await
    }

    async fn commit_to(&self, id: &str, writes: Vec<Write>) {
        let transaction = Transaction { writes, ..change() };
        self.backend.commit(&tenant(id), "test", transaction).await.unwrap();
    }

    async fn write(&self, writes: Vec<Write>) -> Committed {
        self.commit(Transaction { writes, ..change() }).await.unwrap()
    }

    async fn read(&self, queries: Vec<Query>) -> Reading {
        self.backend.read(&tenant("acme"), "test", queries).await.unwrap()
    }

    async fn rows(&self, range: Range) -> Vec<Row> {
        self.read(vec![Query::Rows(range)]).await.answers[0].rows().to_vec()
    }
}

/// Ranges of all shapes, with any values.
fn ranges(table: &'static Table) -> Vec<Range> {
    let mut ranges = Vec::new();
    for index in [None].into_iter().chain((0..table.indexes.len()).map(Some)) {
        for prefix in 0..=table.indexed(index).len() {
            // The only records of a unique index with these values is at most one.
            let is_whole = prefix == table.indexed(index).len()
                && index.is_none_or(|index| table.indexes[index].is_unique);
            for bounds in if is_whole { 0..1 } else { 0..4 } {
                for is_descending in [false, true] {
                    let bound = |bit| (bounds & bit > 0).then_some(Term::Value(Value::Null));
                    ranges.push(Range {
                        index,
                        prefix: vec![Term::Value(Value::Null); prefix],
                        after: bound(1),
                        before: bound(2),
                        is_descending,
                        ..Range::all(table)
                    });
                }
            }
        }
    }
    ranges
}

fn change() -> Transaction {
    Transaction {
        id: CommitId([0; 16]),
        kind: Kind::Usual,
        seen: Head::default(),
        repetition: None,
        checks: Vec::new(),
        sequences: Vec::new(),
        writes: Vec::new(),
        entries: Vec::new(),
        erases: false,
    }
}

fn insert(table: &'static Table, columns: Vec<Value>) -> Write {
    Write::Insert { table, columns: terms(&columns), body: Body::empty() }
}

fn terms(values: &[Value]) -> Vec<Term> {
    values.iter().cloned().map(Term::Value).collect()
}

fn stone(vein: &str, order: i64, colour: &str) -> Vec<Value> {
    let (found_at, none) = (Value::from(now()), Value::Null);
    vec![vein.into(), Value::Integer(order), colour.into(), found_at, none.clone(), none]
}

fn with(columns: &[Value], place: usize, value: Value) -> Vec<Value> {
    let mut columns = columns.to_vec();
    columns[place] = value;
    columns
}

fn number(answer: &Answer) -> usize {
    match answer {
        Answer::Number(number) => usize::try_from(*number).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(-1_000).unwrap()
}

fn tenant(id: &str) -> TenantId {
    TenantId::parse(id).unwrap()
}
