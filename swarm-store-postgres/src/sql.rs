//! The layout, and the parts of which statements are generated: the conditions of a range, and the places of values.
//!
//! Plans are kept, maybe from a time when the tables were empty, where all indexes seem to be as good. So every range orders
//! its rows in the way of one index: each of the others would read more rows.

use std::fmt::Write as _;

use swarm_core::store::TABLES;
use swarm_core::store::backend::shape::{LimitShape, Place, RangeShape};
use swarm_core::store::backend::{ColumnKind, Index, LOG, PartSet, Table, Veil};

/// Tables that are declared.
pub(crate) type Declared = &'static [&'static Table];

/// The statements that create the layout in an empty schema. The tables of the record layer have views.
pub(crate) fn layout(tables: Declared) -> String {
    let mut layout = include_str!("layout/tables.sql").to_owned();
    for table in tables.iter().copied().chain([&LOG]) {
        layout += &definition(table);
    }
    layout += include_str!("layout/functions.sql");
    if tables == TABLES {
        layout += include_str!("layout/views.sql");
    }
    layout
}

/// The condition that the tenant `t` has records other than transient ones.
pub(crate) fn is_used(tables: Declared) -> String {
    let declared = tables.iter().filter(|table| !table.is_transient).map(|table| table.name);
    let tables = ["log", "sequences"].into_iter().chain(declared);
    let exists =
        tables.map(|name| format!("EXISTS (SELECT FROM swarm.{name} r WHERE r.tenant = t.tenant)"));
    exists.collect::<Vec<_>>().join(" OR ")
}

/// The statements that create a table and its indexes.
fn definition(table: &Table) -> String {
    let mut columns = vec!["tenant text COLLATE \"C\" NOT NULL".to_owned()];
    for (position, column) in table.columns.iter().enumerate() {
        let kind = match column.kind {
            ColumnKind::Integer | ColumnKind::Time => "bigint",
            ColumnKind::Text => "text COLLATE \"C\"",
            ColumnKind::Bytes => "bytea",
        };
        let not_null = if position < table.key { " NOT NULL" } else { "" };
        columns.push(format!("\"{}\" {kind}{not_null}", column.name));
    }
    columns.push("version bigint NOT NULL DEFAULT 1".to_owned());
    columns.extend(table.parts.iter().map(|part| format!("\"{part}\" text")));
    columns.push(format!("PRIMARY KEY (tenant, {})", list(table, 0..table.key)));
    let (name, columns) = (table.name, columns.join(",\n  "));
    let mut text = format!("\nCREATE TABLE swarm.{name} (\n  {columns}\n);\n");
    if let Some(last) = table.parts.last() {
        // It may be long, and to compress it takes longer than to write it.
        let _ = writeln!(
            text,
            "ALTER TABLE swarm.{name} ALTER COLUMN \"{last}\" SET STORAGE EXTERNAL;"
        );
    }
    for (position, index) in table.indexes.iter().enumerate() {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        let columns = list(table, ordered(table, Some(position)));
        let conditions: Vec<_> = not_null(table, index).collect();
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        let _ = writeln!(
            text,
            "CREATE {unique}INDEX {} ON swarm.{name} (tenant, {columns}){conditions};",
            index.name
        );
    }
    text
}

/// The type of values that a call brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Text,
    Bytes,
}

impl Kind {
    pub(crate) fn of(column: ColumnKind) -> Self {
        match column {
            ColumnKind::Integer | ColumnKind::Time => Self::Number,
            ColumnKind::Text => Self::Text,
            ColumnKind::Bytes => Self::Bytes,
        }
    }

    /// The name of the type.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "bigint",
            Self::Text => "text",
            Self::Bytes => "bytea",
        }
    }
}

/// A value of a shape: its position among the bound values, or among the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Value(usize),
    Text(usize),
}

/// The values that a statement takes from its call, in the order in which they are sent.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) slots: Vec<(Slot, Kind)>,
    pub(crate) style: Style,
    /// The tables of the queries that this one may refer to.
    pub(crate) found: Vec<Option<&'static Table>>,
}

/// How a statement names its values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// As parameters, the first of which has this number.
    Parameters(usize),
    /// As columns of `k`, which has a row for each of many queries.
    Rows,
    /// As elements of the arrays `n1`, `t1` and `b1`, after a cursor with this name and so many numbers and bytes.
    Arrays(&'static str, usize, usize),
}

impl Slots {
    pub(crate) fn new(style: Style) -> Self {
        Self { slots: Vec::new(), style, found: Vec::new() }
    }

    /// The expression of a value.
    pub(crate) fn value(&mut self, position: usize, kind: Kind) -> String {
        self.named(Slot::Value(position), kind)
    }

    pub(crate) fn number(&mut self, position: usize) -> String {
        self.value(position, Kind::Number)
    }

    /// The expression of a part of a record.
    pub(crate) fn text(&mut self, position: usize) -> String {
        self.named(Slot::Text(position), Kind::Text)
    }

    fn named(&mut self, slot: Slot, kind: Kind) -> String {
        let known = self.slots.iter().position(|known| *known == (slot, kind));
        let position = known.unwrap_or(self.slots.len());
        if known.is_none() {
            self.slots.push((slot, kind));
        }
        match self.style {
            Style::Parameters(first) => format!("${}", first + position),
            Style::Rows => format!("k.v{position}"),
            Style::Arrays(cursor, numbers, bytes) => {
                let before = self.slots.iter().take(position).filter(|(_, it)| *it == kind).count();
                let (array, skipped) = match kind {
                    Kind::Number => ('n', numbers),
                    Kind::Text => ('t', 0),
                    Kind::Bytes => ('b', bytes),
                };
                format!("{array}1[{cursor}{array}1 + {}]", before + skipped + 1)
            }
        }
    }

    /// The expression of the value of a column.
    pub(crate) fn place(&mut self, place: Place, kind: ColumnKind) -> String {
        match place {
            Place::Bound(position) => self.value(position, Kind::of(kind)),
            Place::Found(query, position) => {
                let table = self.found.get(query).copied().flatten();
                let column = table.map_or_else(|| "NULL".to_owned(), |it| column(it, position));
                format!("(SELECT {column} FROM q{query} LIMIT 1)")
            }
            Place::Assigned(sequence) => format!("a{sequence}"),
            Place::AssignedText(sequence) => format!("a{sequence}::text"),
            Place::Now => "at1".to_owned(),
        }
    }

    /// The expression of the value of a column of a table.
    pub(crate) fn column(&mut self, table: &Table, position: usize, place: Place) -> String {
        match table.columns.get(position) {
            Some(column) => self.place(place, column.kind),
            None => "NULL".to_owned(),
        }
    }

    /// The condition that a record has this key.
    pub(crate) fn has_key(&mut self, table: &Table, key: &[Place]) -> String {
        let equal = key.iter().enumerate().map(|(position, place)| {
            format!("{} = {}", column(table, position), self.column(table, position, *place))
        });
        equal.collect::<Vec<_>>().join(" AND ")
    }
}

/// The records of a range.
pub(crate) struct Source {
    table: &'static Table,
    conditions: String,
    /// The columns by which the records are ordered, where they differ: also the last one that has a given value, so that only
    /// one index has this order.
    order: Vec<usize>,
    is_descending: bool,
    limit: Option<String>,
}

impl Source {
    /// `tenant` is the expression of the tenant.
    pub(crate) fn of(range: &RangeShape, tenant: &str, slots: &mut Slots) -> Self {
        let RangeShape { table, index, prefix, .. } = range;
        let mut order = ordered(table, *index);
        let mut conditions = format!("tenant = {tenant}");
        let last = prefix.len().saturating_sub(1);
        for (place, (position, value)) in order.iter().zip(prefix).enumerate() {
            let (column, value) =
                (column(table, *position), slots.column(table, *position, *value));
            let _ = match place == last {
                true => write!(conditions, " AND {column} BETWEEN {value} AND {value}"),
                false => write!(conditions, " AND {column} = {value}"),
            };
        }
        if let Some(index) = index.and_then(|index| table.indexes.get(index)) {
            for condition in not_null(table, index) {
                let _ = write!(conditions, " AND {condition}");
            }
        }
        if let Some(bounded) = order.get(prefix.len()).copied() {
            for (bound, than) in [(range.after, '>'), (range.before, '<')] {
                if let Some(bound) = bound {
                    let value = slots.column(table, bounded, bound);
                    let _ = write!(conditions, " AND {} {than} {value}", column(table, bounded));
                }
            }
        }
        if let Some(having) = range.having {
            let _ = write!(conditions, " AND {} IS NOT NULL", column(table, having));
        }
        let limit = match range.limit {
            LimitShape::One => Some("1".to_owned()),
            LimitShape::Bound(position) => Some(slots.number(position)),
            LimitShape::None => None,
        };
        order.drain(..last.min(order.len()));
        let is_descending = range.is_descending;
        Self { table, conditions, order, is_descending, limit }
    }

    /// The order of the records in a table expression with this alias, which ends with a full stop.
    pub(crate) fn order(&self, alias: &str) -> String {
        let direction = if self.is_descending { " DESC" } else { "" };
        let columns =
            self.order.iter().map(|it| format!("{alias}{}{direction}", column(self.table, *it)));
        format!(" ORDER BY {}", columns.collect::<Vec<_>>().join(", "))
    }

    /// Selects columns of the records.
    pub(crate) fn select(&self, columns: &str) -> String {
        let limit = self.limit.as_ref().map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let (name, order) = (self.table.name, self.order(""));
        format!("SELECT {columns} FROM swarm.{name} WHERE {}{order}{limit}", self.conditions)
    }

    /// The first record alone.
    pub(crate) fn first(mut self) -> Self {
        self.limit = match self.limit {
            Some(limit) if limit != "1" => Some(format!("least({limit}, 1)")),
            _ => Some("1".to_owned()),
        };
        self
    }

    /// Counts the records, without the one that has a key for which `except` is true: at most `enough`.
    pub(crate) fn count(
        mut self,
        range: &RangeShape,
        except: &str,
        enough: Option<&str>,
    ) -> String {
        if range.having.is_none() {
            self.limit = None;
        }
        let records = self.select("*");
        let enough = enough.map(|enough| format!(" LIMIT {enough}")).unwrap_or_default();
        format!("SELECT count(*) FROM (SELECT FROM ({records}) AS r{except}{enough}) AS counted")
    }

    /// The condition of a statement that changes the records.
    pub(crate) fn row_ids(&self) -> String {
        format!("ctid = ANY (ARRAY({}))", self.select("ctid"))
    }
}

/// A record as a value: its version, its columns, and the parts that are read.
pub(crate) fn record(alias: &str, table: &Table, parts: PartSet) -> String {
    let mut record = format!("ROW({alias}version");
    for column in table.columns {
        let _ = write!(record, ", {alias}\"{}\"", column.name);
    }
    for (part, name) in table.parts.iter().enumerate().filter(|(part, _)| parts.has(*part)) {
        let _ = match table.veil_of(part, parts) {
            Some(Veil { having, key, table: other, until, .. }) => {
                let (own, key) = (column(table, *having), column(table, *key));
                let (other_key, until) = (column(other, 0), column(other, *until));
                // Nested, since the planner may evaluate the sides of an OR in any order.
                write!(
                    record,
                    ", CASE WHEN {alias}{own} IS NULL THEN {alias}\"{name}\"
                        WHEN (SELECT o.{until} FROM swarm.{} o WHERE o.tenant = $1
                            AND o.{other_key} BETWEEN {alias}{key} AND {alias}{key}
                            ORDER BY o.{other_key} LIMIT 1) IS NOT NULL THEN {alias}\"{name}\" END",
                    other.name
                )
            }
            None => write!(record, ", {alias}\"{name}\""),
        };
    }
    record + ")"
}

/// The columns of an index in its order. The key of the table comes last, unless the other columns determine it.
fn ordered(table: &Table, index: Option<usize>) -> Vec<usize> {
    let mut columns = table.indexed(index);
    if index.and_then(|index| table.indexes.get(index)).is_some_and(|index| !index.is_unique) {
        let rest: Vec<_> = (0..table.key).filter(|column| !columns.contains(column)).collect();
        columns.extend(rest);
    }
    columns
}

/// The conditions under which a record is in an index.
fn not_null(table: &Table, index: &Index) -> impl Iterator<Item = String> {
    let nullable = index.columns.iter().filter(|column| **column >= table.key);
    nullable.map(|it| column(table, *it) + " IS NOT NULL")
}

fn list(table: &Table, columns: impl IntoIterator<Item = usize>) -> String {
    columns.into_iter().map(|it| column(table, it)).collect::<Vec<_>>().join(", ")
}

/// The quoted name of a column.
pub(crate) fn column(table: &Table, position: usize) -> String {
    format!("\"{}\"", table.columns.get(position).map_or("", |column| column.name))
}
