//! Tests of what the suite of `swarm-testing` does not see: all shapes of ranges compared with a model, their plans, and damage.

use swarm_core::domain::Seq;
use swarm_core::store::backend::engine::Scan;
use swarm_core::store::backend::{
    Answer, Body, Column, ColumnKind, CommitId, Head, Index, Kind, PartSet, Range, Row, Term,
    Value, Write,
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

static DECLARED: &[&Table] = &[&STONES, &OWNERS];

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
async fn record_that_is_there_is_a_fault() {
    let quarry = Quarry::open();
    quarry.write(vec![insert(&STONES, stone("a", 1, "red"))]).await;
    // By its key, or in a unique index.
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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.db");
        let backend = SqliteBackend::open(&path, now, DECLARED).unwrap();
        Self { folder, backend }
    }

    async fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.backend.commit(&tenant("acme"), "test", transaction).await
    }

    async fn write(&self, writes: Vec<Write>) {
        self.commit(Transaction { writes, ..change() }).await.unwrap();
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
