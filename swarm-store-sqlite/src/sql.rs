//! The schema and the statements, generated from the declared tables.
//!
//! In every statement `?1` is the tenant. The values of columns follow from `?2`, in the order of the declaration: those of
//! the key come first.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use swarm_core::store::backend::engine::Scan;
use swarm_core::store::backend::{ColumnKind, Index, LOG, PartSet, SEQUENCES, Table, Veil};

/// The tables that every file has beside the declared ones. Their records are short, and kept in the order of the key.
static OWN: [&Table; 2] = [&LOG, &SEQUENCES];

/// The declared tables, and the statements on them, each generated once.
pub(crate) struct Statements {
    pub(crate) tables: &'static [&'static Table],
    texts: RwLock<HashMap<(&'static str, Statement), Arc<str>>>,
}

/// A statement on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Statement {
    /// Selects the version, the columns and some parts of the records of a range.
    Select(Extent, PartSet),
    /// Counts the records of a range, without the one whose key follows the bounds, if it is bound. The last value is the
    /// highest number that matters.
    Count {
        extent: Extent,
        has_except: bool,
    },
    /// Binds the columns, the version and all parts.
    Insert,
    /// Replaces all but the key of a record. Binds what [`Insert`](Self::Insert) binds.
    Replace,
    /// Changes one column. Its value follows the key.
    Set(usize),
    Remove,
}

/// The records of a range, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    index: Option<usize>,
    /// The number of the columns with a given value.
    prefix: usize,
    has_after: bool,
    has_before: bool,
    is_descending: bool,
}

impl Statements {
    pub(crate) fn new(tables: &'static [&'static Table]) -> Self {
        Self { tables, texts: RwLock::default() }
    }

    /// The text of a statement.
    pub(crate) fn text(&self, table: &'static Table, statement: Statement) -> Arc<str> {
        let key = (table.name, statement);
        let found = self.texts.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        found.unwrap_or_else(|| {
            let text: Arc<str> = statement.text(table).into();
            let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
            texts.insert(key, Arc::clone(&text));
            text
        })
    }

    /// The statements that create the schema.
    pub(crate) fn schema(&self) -> String {
        let own = OWN.map(|table| definition(table, "STRICT, WITHOUT ROWID"));
        let declared = self.tables.iter().map(|table| definition(table, "STRICT"));
        own.into_iter().chain(declared).collect()
    }

    /// Selects the tenants that have records other than transient ones, by id.
    pub(crate) fn tenants(&self) -> String {
        let lasting = OWN.iter().chain(self.tables).filter(|table| !table.is_transient);
        let select = |table: &&Table| format!("SELECT tenant FROM \"{}\"", table.name);
        lasting.map(select).collect::<Vec<_>>().join(" UNION ") + " ORDER BY tenant"
    }

    /// Deletes all that a tenant has, a statement for each table.
    pub(crate) fn removals(&self) -> Vec<String> {
        let delete = |table: &&Table| format!("DELETE FROM \"{}\" WHERE tenant = ?1", table.name);
        OWN.iter().chain(self.tables).map(delete).collect()
    }
}

/// The statements that create a table, with these options, and its indexes.
fn definition(table: &Table, options: &str) -> String {
    let mut columns = vec!["tenant TEXT NOT NULL".to_owned()];
    for (position, column) in table.columns.iter().enumerate() {
        let kind = match column.kind {
            ColumnKind::Integer | ColumnKind::Time => "INTEGER",
            ColumnKind::Text => "TEXT",
            ColumnKind::Bytes => "BLOB",
        };
        let not_null = if position < table.key { " NOT NULL" } else { "" };
        columns.push(format!("\"{}\" {kind}{not_null}", column.name));
    }
    columns.push("version INTEGER NOT NULL".to_owned());
    columns.extend(table.parts.iter().map(|part| format!("\"{part}\" TEXT")));
    let key = list(table, 0..table.key);
    columns.push(format!("PRIMARY KEY (tenant, {key})"));
    let (name, columns) = (table.name, columns.join(",\n  "));
    let mut text = format!("\nCREATE TABLE \"{name}\" (\n  {columns}\n) {options};\n");
    for (position, index) in table.indexes.iter().enumerate() {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        let columns = list(table, ordered(table, Some(position)));
        let conditions: Vec<_> = not_null(table, index).collect();
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        let index = index.name;
        text += &format!(
            "CREATE {unique}INDEX \"{index}\" ON \"{name}\" (tenant, {columns}){conditions};\n"
        );
    }
    text
}

impl Statement {
    fn text(self, table: &Table) -> String {
        let name = table.name;
        let key = format!("tenant = ?1 AND {}", equal(table, 0..table.key, 2));
        match self {
            Self::Select(extent, parts) => {
                let read = (0..table.parts.len()).filter(|part| parts.has(*part));
                let parts: String =
                    read.map(|it| format!(", {}", part(table, it, parts))).collect();
                let columns = list(table, 0..table.columns.len());
                let (from, order) = (extent.source(table), extent.order(table));
                format!("SELECT version, {columns}{parts} FROM {from}{order}")
            }
            Self::Count { extent, has_except } => {
                let (from, mut next) = (extent.source(table), extent.values() + 2);
                let mut except = String::new();
                if has_except {
                    except = format!(" AND NOT ({})", equal(table, 0..table.key, next));
                    next += table.key;
                }
                format!("SELECT count(*) FROM (SELECT 1 FROM {from}{except} LIMIT ?{next})")
            }
            Self::Insert => {
                let last = table.columns.len() + table.parts.len() + 2;
                let values: Vec<_> = (1..=last).map(|parameter| format!("?{parameter}")).collect();
                format!("INSERT INTO \"{name}\" VALUES ({})", values.join(", "))
            }
            Self::Replace => {
                let stored = table.columns.iter().map(|column| column.name);
                let stored = stored.chain(["version"]).chain(table.parts.iter().copied());
                let values = stored.zip(2..).skip(table.key);
                let values = values.map(|(name, parameter)| format!("\"{name}\" = ?{parameter}"));
                let values = values.collect::<Vec<_>>().join(", ");
                format!("UPDATE \"{name}\" SET {values} WHERE {key}")
            }
            Self::Set(changed) => {
                let (changed, parameter) = (column(table, changed), table.key + 2);
                format!("UPDATE \"{name}\" SET {changed} = ?{parameter} WHERE {key}")
            }
            Self::Remove => format!("DELETE FROM \"{name}\" WHERE {key}"),
        }
    }
}

impl Extent {
    pub(crate) fn of(scan: &Scan<'_>) -> Self {
        Self {
            index: scan.index,
            prefix: scan.prefix.len(),
            has_after: scan.after.is_some(),
            has_before: scan.before.is_some(),
            is_descending: scan.is_descending,
        }
    }

    /// The number of the values that are bound.
    fn values(self) -> usize {
        self.prefix + usize::from(self.has_after) + usize::from(self.has_before)
    }

    /// The table, its index and the conditions.
    fn source(self, table: &Table) -> String {
        let order = ordered(table, self.index);
        let mut from = format!("\"{}\"", table.name);
        if let Some(index) = self.index.and_then(|index| table.indexes.get(index)) {
            from += &format!(" INDEXED BY \"{}\"", index.name);
        }
        from += " WHERE tenant = ?1";
        if self.prefix > 0 {
            from += &format!(" AND {}", equal(table, order.iter().copied().take(self.prefix), 2));
        }
        let bounds = [(self.has_after, '>'), (self.has_before, '<')].into_iter();
        let bounds = bounds.filter(|(is_bounded, _)| *is_bounded).zip(self.prefix + 2..);
        for ((_, than), value) in bounds {
            let bounded = order.get(self.prefix).copied().unwrap_or_default();
            from += &format!(" AND {} {than} ?{value}", column(table, bounded));
        }
        if let Some(index) = self.index.and_then(|index| table.indexes.get(index)) {
            from.extend(not_null(table, index).map(|condition| format!(" AND {condition}")));
        }
        from
    }

    fn order(self, table: &Table) -> String {
        let direction = if self.is_descending { " DESC" } else { "" };
        let order = ordered(table, self.index).into_iter().skip(self.prefix);
        let order: Vec<_> = order.map(|it| column(table, it) + direction).collect();
        match order.is_empty() {
            true => String::new(),
            false => format!(" ORDER BY {}", order.join(", ")),
        }
    }
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

/// The condition that these columns have the values that are bound from `first`.
fn equal(table: &Table, columns: impl IntoIterator<Item = usize>, first: usize) -> String {
    let conditions = columns.into_iter().zip(first..);
    let conditions = conditions.map(|(it, value)| format!("{} = ?{value}", column(table, it)));
    conditions.collect::<Vec<_>>().join(" AND ")
}

/// The conditions under which a record is in an index.
fn not_null(table: &Table, index: &Index) -> impl Iterator<Item = String> {
    let nullable = index.columns.iter().filter(|column| **column >= table.key);
    nullable.map(|it| column(table, *it) + " IS NOT NULL")
}

/// The expression for a part that is read together with these.
fn part(table: &Table, position: usize, parts: PartSet) -> String {
    let name = table.parts.get(position).copied().unwrap_or_default();
    match table.veil_of(position, parts) {
        Some(Veil { having, key, table: other, until, .. }) => {
            let (own, key) = (column(table, *having), column(table, *key));
            let (other_key, until) = (column(other, 0), column(other, *until));
            format!(
                "CASE WHEN {own} IS NULL OR (SELECT o.{until} FROM \"{}\" o WHERE o.tenant = ?1
                    AND o.{other_key} = \"{}\".{key}) IS NOT NULL THEN \"{name}\" END",
                other.name, table.name
            )
        }
        None => format!("\"{name}\""),
    }
}

fn list(table: &Table, columns: impl IntoIterator<Item = usize>) -> String {
    columns.into_iter().map(|it| column(table, it)).collect::<Vec<_>>().join(", ")
}

/// The quoted name of a column.
fn column(table: &Table, position: usize) -> String {
    format!("\"{}\"", table.columns.get(position).map_or("", |column| column.name))
}
