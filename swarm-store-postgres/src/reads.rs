//! Reads: a prepared statement for each list of shapes of queries.
//!
//! The statement is prepared and executed by SQL, and has a name of its own, the same in every process. So a session that a pooler gives to
//! several programs never executes another statement than was meant. It is a single one, so all queries see one
//! snapshot. Its rows have five columns: the position of the group of queries, that of the query in it, a record, the record that is
//! joined with it, and the number of the records before some were left out. The time and the end of the log have the position -1.

use std::fmt::Write as _;

use swarm_core::proof::hex;
use swarm_core::store::backend::shape::{
    Bindings, LimitShape, Place, QueryShape, RangeShape, of_queries,
};
use swarm_core::store::backend::{
    Answer, ColumnKind, Entry, Join, LOG, PartSet, Query, Range, Reading, Reference, Table, Value,
};
use tokio_postgres::Row;

use crate::failure::{Failure, Outcome};
use crate::schema::Schema;
use crate::script::{Script, quote};
use crate::sql::{Declared, Kind, Slot, Slots, Source, Style, column, record};
use crate::values::{Fields, escaped, unsigned};

/// From this number of queries with one shape on, they are a single part of the statement.
const MANY: usize = 3;

/// The shape of one query; or of many with the same one, whose number does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    shape: QueryShape,
    is_many: bool,
}

/// The queries of a group, with their values.
pub(crate) type Members<'a> = Vec<Bindings<'a>>;

/// A statement that answers queries.
#[derive(Debug)]
pub(crate) struct ReadScript {
    pub(crate) script: Script,
    groups: Vec<Group>,
    /// The values of each group.
    slots: Vec<Vec<(Slot, Kind)>>,
}

/// Returns the groups of queries, and their values.
pub(crate) fn grouped(queries: &[Query]) -> (Vec<Group>, Vec<Members<'_>>) {
    let mut groups: Vec<(QueryShape, Members<'_>)> = Vec::new();
    for query in queries {
        let (shapes, values) = of_queries(std::slice::from_ref(query));
        let Some(shape) = shapes.into_iter().next() else { continue };
        match groups.last_mut() {
            Some((last, members)) if *last == shape => members.push(values),
            _ => groups.push((shape, vec![values])),
        }
    }
    // In a group, queries have no positions that others could refer to.
    let has_references = groups.iter().any(|(shape, _)| references(shape).next().is_some());
    let mut split = (Vec::new(), Vec::new());
    for (shape, members) in groups {
        let has_values = matches!(&shape, QueryShape::Rows(range) if !range.prefix.is_empty());
        if members.len() >= MANY && has_values && !has_references {
            split.0.push(Group { shape, is_many: true });
            split.1.push(members);
            continue;
        }
        for values in members {
            split.0.push(Group { shape: shape.clone(), is_many: false });
            split.1.push(vec![values]);
        }
    }
    split
}

/// The positions of the queries that one refers to.
fn references(shape: &QueryShape) -> impl Iterator<Item = usize> {
    let range = match shape {
        QueryShape::Rows(range) | QueryShape::Count(range) => Some(range),
        _ => None,
    };
    let places =
        range.into_iter().flat_map(|it| it.prefix.iter().chain(&it.after).chain(&it.before));
    places.filter_map(|place| match place {
        Place::Found(query, _) => Some(*query),
        _ => None,
    })
}

impl ReadScript {
    /// Compiles a statement.
    pub(crate) fn compile(groups: &[Group], schema: &Schema) -> Self {
        let mut compiler = Compiler::new(groups, schema.tables());
        let mut branches = vec![
            "SELECT -1, 0, ROW(swarm.clock(transaction_timestamp()), coalesce(t.log, 1), coalesce(t.seq, 0), t.last_at,
                t.last_commit), NULL::record, NULL::bigint
             FROM (SELECT) AS one LEFT JOIN swarm.tenants t ON t.tenant = $1"
                .to_owned(),
        ];
        branches
            .extend(groups.iter().enumerate().map(|(place, group)| compiler.branch(place, group)));
        let ctes = match compiler.ctes.is_empty() {
            true => String::new(),
            false => format!("WITH {} ", compiler.ctes.join(", ")),
        };
        let sql = format!("{ctes}({})", branches.join(")\nUNION ALL ("));
        let types: String = compiler.types.iter().map(|kind| format!(", {kind}")).collect();
        let sql = format!("(text{types}) AS {}", schema.qualify(&sql));
        let script = Script::of_statement(&sql);
        Self { script, groups: groups.to_vec(), slots: compiler.slots }
    }

    /// The statement that executes it with these values.
    pub(crate) fn execute(&self, tenant: &str, members: &[Members<'_>]) -> String {
        let mut sql = format!("EXECUTE {}(", self.script.name);
        quote(tenant, &mut sql);
        for ((group, members), slots) in self.groups.iter().zip(members).zip(&self.slots) {
            if !group.is_many {
                if let Some(values) = members.first() {
                    for (slot, _) in slots {
                        sql.push_str(", ");
                        literal(*slot, values, &mut sql);
                    }
                }
                continue;
            }
            for (slot, kind) in slots {
                sql.push_str(", ARRAY[");
                for (place, values) in members.iter().enumerate() {
                    sql.push_str(if place == 0 { "" } else { "," });
                    literal(*slot, values, &mut sql);
                }
                let _ = write!(sql, "]::{}[]", kind.name());
            }
        }
        sql.push(')');
        sql
    }
}

/// Writes a value as SQL.
fn literal(slot: Slot, values: &Bindings<'_>, sql: &mut String) {
    let value = match slot {
        Slot::Value(position) => values.values.get(position),
        Slot::Text(_) => None,
    };
    match value.map(AsRef::as_ref) {
        Some(Value::Integer(number)) => drop(write!(sql, "'{number}'")),
        Some(Value::Text(text)) => quote(&escaped(text), sql),
        Some(Value::Bytes(bytes)) => drop(write!(sql, "E'\\\\x{}'", hex(bytes))),
        Some(Value::Null) | None => sql.push_str("NULL"),
    }
}

struct Compiler {
    schema: Declared,
    /// The table of each query, for later ones that refer to it.
    tables: Vec<Option<&'static Table>>,
    /// The queries that later ones refer to.
    found: Vec<usize>,
    ctes: Vec<String>,
    /// The types of the parameters that follow the tenant.
    types: Vec<String>,
    slots: Vec<Vec<(Slot, Kind)>>,
}

impl Compiler {
    fn new(groups: &[Group], schema: Declared) -> Self {
        let table = |group: &Group| match &group.shape {
            QueryShape::Rows(range) => Some(range.table),
            _ => None,
        };
        let tables = groups.iter().map(table).collect();
        let found = groups.iter().flat_map(|group| references(&group.shape)).collect();
        let (ctes, types, slots) = Default::default();
        Self { schema, tables, found, ctes, types, slots }
    }

    /// The part of the statement that answers a group.
    fn branch(&mut self, place: usize, group: &Group) -> String {
        let first = self.types.len() + 2;
        let style = if group.is_many { Style::Rows } else { Style::Parameters(first) };
        let mut slots = Slots::new(style);
        slots.found.clone_from(&self.tables);
        let answer = match &group.shape {
            QueryShape::Rows(range) => self.rows(place, range, &mut slots),
            QueryShape::Count(range) => {
                let enough = match range.limit {
                    LimitShape::One => Some("1".to_owned()),
                    LimitShape::Bound(position) => Some(slots.number(position)),
                    LimitShape::None => None,
                };
                single(&Source::of(range, "$1", &mut slots).count(range, "", enough.as_deref()))
            }
            QueryShape::Sequence(name) => single(&format!(
                "SELECT number FROM swarm.sequences WHERE tenant = $1 AND name = '{name}'"
            )),
            QueryShape::CommitOf(seq) => single(&format!(
                "SELECT commit_id FROM swarm.log WHERE tenant = $1 AND seq = {}",
                slots.number(*seq)
            )),
            QueryShape::Entries { topic, after, limit, parts } => {
                self.entries((*topic, *after, *limit), *parts, &mut slots)
            }
        };
        let suffix = if group.is_many { "[]" } else { "" };
        let types = slots.slots.iter().map(|(_, kind)| format!("{}{suffix}", kind.name()));
        self.types.extend(types);
        let values = 0..slots.slots.len();
        self.slots.push(slots.slots);
        if !group.is_many {
            return format!("SELECT {place}, 0, {answer}");
        }
        let arrays: Vec<_> = values.clone().map(|value| format!("${}", first + value)).collect();
        let names: String = values.map(|value| format!("v{value}, ")).collect();
        format!(
            "SELECT {place}, (k.i - 1)::integer, r.* FROM unnest({}) WITH ORDINALITY AS k ({names}i),
                LATERAL (SELECT {answer}) AS r ORDER BY k.i",
            arrays.join(", ")
        )
    }

    fn rows(&mut self, place: usize, range: &RangeShape, slots: &mut Slots) -> String {
        let table = range.table;
        let source = Source::of(range, "$1", slots);
        let order = source.order("r.");
        let records = source.select("*");
        let mut from = format!("({records}) AS r");
        if self.found.contains(&place) {
            self.ctes.push(format!("q{place} AS MATERIALIZED ({records})"));
            from = format!("q{place} AS r");
        }
        let (mut total, mut filter) = ("NULL::bigint", String::new());
        if let Some(bytes) = range.bytes {
            let lengths = table.parts.iter().enumerate();
            let lengths = lengths.filter(|(part, _)| range.parts.has(*part));
            let lengths: String = lengths
                .map(|(_, part)| format!(" + coalesce(octet_length(\"{part}\"), 0)"))
                .collect();
            from = format!(
                "(SELECT r.*, sum(0{lengths}) OVER ({order}) AS up_to1, row_number() OVER ({order}) AS place1,
                    count(*) OVER () AS total1 FROM {from}) AS r"
            );
            (total, filter) =
                ("total1", format!(" WHERE place1 = 1 OR up_to1 <= {}", slots.number(bytes)));
        }
        let mut joined = "NULL::record";
        if let Some(Join { table: other, column: key, parts }) = &range.join {
            joined = "j.record";
            let key = format!("r.{}", column(table, *key));
            from += &lateral("j", other, &key, *parts, "");
        }
        let record = record("r.", table, range.parts);
        let order = if range.limit == LimitShape::One { String::new() } else { order };
        format!("{record}, {joined}, {total} FROM {from}{filter}{order}")
    }

    /// Entries of the log, each joined with the record that it refers to.
    fn entries(
        &self,
        (topic, after, limit): (Option<usize>, usize, usize),
        parts: PartSet,
        slots: &mut Slots,
    ) -> String {
        let range = RangeShape {
            table: &LOG,
            index: topic.map(|_| 0),
            prefix: topic.map(Place::Bound).into_iter().collect(),
            after: Some(Place::Bound(after)),
            before: None,
            is_descending: false,
            having: None,
            limit: LimitShape::Bound(limit),
            bytes: None,
            parts: PartSet::ALL,
            join: None,
        };
        let source = Source::of(&range, "$1", slots);
        let (record, order) = (record("r.", &LOG, PartSet::ALL), source.order("r."));
        let mut from = format!("({}) AS r", source.select("*"));
        let mut joined = "NULL::record".to_owned();
        for (place, table) in self.schema.iter().copied().filter(has_number).enumerate() {
            let refers = format!(" AND r.refers = '{}'", table.name);
            from += &lateral(&format!("j{place}"), table, "r.record", parts, &refers);
            let _ = write!(joined, ", j{place}.record");
        }
        format!("{record}, coalesce({joined}), NULL::bigint FROM {from}{order}")
    }
}

/// Whether the key of a table is a single number, so that an entry may refer to its records.
fn has_number(table: &&'static Table) -> bool {
    let first = table.columns.first().map(|column| column.kind);
    table.key == 1 && first == Some(ColumnKind::Integer)
}

/// A join with the record of a table that has a key, under a condition.
fn lateral(alias: &str, table: &Table, key: &str, parts: PartSet, condition: &str) -> String {
    let (name, own) = (table.name, column(table, 0));
    let record = record(&format!("{name}."), table, parts);
    format!(
        " LEFT JOIN LATERAL (SELECT {record} FROM swarm.{name}
            WHERE tenant = $1 AND {own} BETWEEN {key} AND {key}{condition}
            ORDER BY {own} LIMIT 1) AS {alias} (record) ON true"
    )
}

fn single(value: &str) -> String {
    format!("ROW(({value})), NULL::record, NULL::bigint")
}

/// Returns the answers to queries, from the rows of their statement.
pub(crate) fn reading(
    rows: &[Row],
    queries: &[Query],
    members: &[Members<'_>],
    tables: Declared,
) -> Outcome<Reading> {
    let (first, mut rows) = rows.split_first().ok_or_else(|| Failure::corrupt("no answer"))?;
    let mut head: Fields<'_> = first.try_get(2)?;
    let clock = head.time()?.ok_or_else(|| Failure::corrupt("no time"))?;
    let head = head.head()?;
    let places = (0_i32..).zip(members);
    let places =
        places.flat_map(|(group, members)| (0_i32..).zip(members).map(move |(it, _)| (group, it)));
    let mut answers = Vec::with_capacity(queries.len());
    for (place, query) in places.zip(queries) {
        let mut count = 0;
        for row in rows {
            if (row.try_get(0)?, row.try_get(1)?) != place {
                break;
            }
            count += 1;
        }
        let (of_query, rest) = rows.split_at_checked(count).unwrap_or((rows, &[]));
        rows = rest;
        answers.push(answer(of_query, query, tables)?);
    }
    Ok(Reading { clock, head, answers })
}

fn answer(rows: &[Row], query: &Query, tables: Declared) -> Outcome<Answer> {
    let single = || rows.first().map(|row| row.try_get::<_, Fields<'_>>(2)).transpose();
    Ok(match query {
        Query::Rows(range) => records(rows, range)?,
        Query::Count(_) | Query::Sequence(_) => {
            let number = single()?.map(|mut fields| fields.number()).transpose()?.flatten();
            Answer::Number(unsigned(number.unwrap_or(0))?)
        }
        Query::CommitOf(_) => {
            Answer::Commit(single()?.map(|mut fields| fields.commit()).transpose()?.flatten())
        }
        Query::Entries(entries) => {
            let entry = |row| entry(row, entries.parts, tables);
            Answer::Entries(rows.iter().map(entry).collect::<Outcome<_>>()?)
        }
    })
}

fn records(rows: &[Row], range: &Range) -> Outcome<Answer> {
    let (mut found, mut joined) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        found.push(row.try_get::<_, Fields<'_>>(2)?.record(range.table, range.parts)?);
        if let Some(join) = &range.join {
            let other: Option<Fields<'_>> = row.try_get(3)?;
            joined.push(other.map(|mut it| it.record(join.table, join.parts)).transpose()?);
        }
    }
    let total = rows.first().map(|row| row.try_get::<_, Option<i64>>(4)).transpose()?.flatten();
    let has_more = total.is_some_and(|total| total.unsigned_abs() > rows.len() as u64);
    Ok(Answer::Rows { rows: found, joined, has_more })
}

fn entry(row: &Row, parts: PartSet, tables: Declared) -> Outcome<Entry> {
    let record = row.try_get::<_, Fields<'_>>(2)?.record(&LOG, PartSet::ALL)?;
    let entry = Entry::of_row(record, tables);
    let mut entry = entry.ok_or_else(|| Failure::corrupt("an entry of the log"))?;
    if let Some(Reference { table, row: found, .. }) = &mut entry.reference {
        let other: Option<Fields<'_>> = row.try_get(3)?;
        *found = other.map(|mut it| it.record(table, parts)).transpose()?;
    }
    Ok(entry)
}
