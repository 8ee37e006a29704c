//! The layout and the statements, generated from the declared tables.
//!
//! What most calls do has functions of its own for each table, whose plans PostgreSQL keeps: the first record of a range, the
//! number of its records, a write. The functions in `layout/functions.sql` call them. Everything else is a statement that a call
//! brings along.
//!
//! The values of a statement are texts: see [`Program`](crate::program::Program).

use std::fmt::Write as _;

use swarm_core::store::TABLES;
use swarm_core::store::backend::{Column, ColumnKind, Index, Join, PartSet, Range, Table};

/// Tables that are declared.
pub(crate) type Declared = &'static [&'static Table];

/// The statements that create the layout in an empty schema. The tables of the record layer have views.
pub(crate) fn layout(tables: Declared) -> String {
    let mut layout = include_str!("layout/tables.sql").to_owned();
    for table in tables {
        layout += &definition(table);
    }
    for table in tables {
        layout += &first_function(table);
        layout += &count_function(table);
        layout += &write_function(table);
    }
    layout += &dispatchers(tables);
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
    columns.push("version bigint NOT NULL".to_owned());
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

/// The parameters of a function of a table that reads a range.
const RANGE: &str =
    "the_tenant text, the_index integer, the_values text[], the_place integer, the_count integer";

/// The function that returns the first record of a range, but for the one whose key is at `the_except`. The primary key is the
/// index -1.
fn first_function(table: &Table) -> String {
    let name = table.name;
    let selected = selected(table, |part| format!("(the_parts & {}) <> 0", 1_u64 << part));
    let first = |index, prefix, is_descending| {
        let source = Source::of_function(table, index, prefix);
        let order = source.order(is_descending);
        format!(
            "SELECT {selected} INTO result FROM swarm.{name} WHERE {}{}{order} LIMIT 1;",
            source.conditions,
            except(table)
        )
    };
    let mut cases = String::new();
    for (index, prefix) in variants(table) {
        for is_descending in [false, true] {
            let case = case(index, prefix) + i64::from(is_descending);
            let first = first(index, prefix, is_descending);
            let _ = write!(cases, "\n    WHEN {case} THEN\n      {first}");
        }
    }
    format!(
        "\nCREATE FUNCTION swarm.first_{name}_2({RANGE}, is_descending boolean, the_except integer, the_parts integer)
RETURNS swarm.found_2 LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  result swarm.found_2;
BEGIN
  CASE the_index * 20 + the_count * 2 + is_descending::integer{cases}
  END CASE;
  RETURN result;
END $$;\n"
    )
}

/// The function that returns the number of the records in a range, at most `enough`, without the one whose key is at
/// `the_except`.
fn count_function(table: &Table) -> String {
    let name = table.name;
    let mut cases = String::new();
    for (index, prefix) in variants(table) {
        let (case, source) = (case(index, prefix), Source::of_function(table, index, prefix));
        let _ = write!(
            cases,
            "\n    WHEN {case} THEN
      SELECT count(*) INTO result FROM (SELECT FROM swarm.{name} WHERE {}{}{} LIMIT enough) AS counted;",
            source.conditions,
            except(table),
            source.order(false)
        );
    }
    format!(
        "\nCREATE FUNCTION swarm.count_{name}_2({RANGE}, the_except integer, enough bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  result bigint;
BEGIN
  CASE the_index * 20 + the_count * 2{cases}
  END CASE;
  RETURN result;
END $$;\n"
    )
}

/// The number by which a function finds the statement of an index and a number of columns.
fn case(index: Option<usize>, prefix: usize) -> i64 {
    let index = index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1);
    index * 20 + i64::try_from(prefix).unwrap_or(0) * 2
}

/// The indexes, and the numbers of their first columns that a range may give values for.
fn variants(table: &Table) -> impl Iterator<Item = (Option<usize>, usize)> {
    let indexes = std::iter::once(None).chain((0..table.indexes.len()).map(Some));
    indexes.flat_map(|index| (0..=ordered(table, index).len()).map(move |prefix| (index, prefix)))
}

/// The condition that a record is not the one whose key is at `the_except`.
fn except(table: &Table) -> String {
    let values = (1..).map(|place| format!("the_values[the_except + {place}]"));
    let key = equal(table, (0..table.key).zip(values));
    format!(" AND (the_except IS NULL OR NOT ({key}))")
}

/// The function that writes a record.
fn write_function(table: &Table) -> String {
    let name = table.name;
    let places = |count: usize, array: &'static str, first: &'static str| {
        (1..=count).map(move |place| format!("{array}[{first} + {place}]"))
    };
    let columns = table.columns.iter().zip(places(table.columns.len(), "the_values", "the_place"));
    let values: Vec<_> = columns.map(|(column, value)| typed(column, &value)).collect();
    let parts: Vec<_> = places(table.parts.len(), "the_texts", "the_text").collect();
    let stored = table.columns.iter().map(|column| column.name).chain(table.parts.iter().copied());
    let stored: Vec<_> = stored.map(|name| format!("\"{name}\"")).collect();
    let replaced = stored.iter().skip(table.key).map(|name| format!("{name} = excluded.{name}, "));
    let values = values.into_iter().chain(parts).collect::<Vec<_>>().join(", ");
    let insert = format!(
        "INSERT INTO swarm.{name} AS stored (tenant, version, {}) VALUES (the_tenant, 1, {values})",
        stored.join(", ")
    );
    let (key, replaced) = (list(table, 0..table.key), replaced.collect::<String>());
    format!(
        "\nCREATE FUNCTION swarm.write_{name}_2(the_tenant text, replaces boolean, the_values text[], the_place integer,
  the_texts text[], the_text integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  IF replaces THEN
    {insert}
      ON CONFLICT (tenant, {key}) DO UPDATE SET {replaced}version = stored.version + 1;
  ELSE
    {insert};
  END IF;
END $$;\n"
    )
}

/// The functions that call those of a table by its name.
fn dispatchers(tables: Declared) -> String {
    let dispatcher = |function: &str, returned: &str, volatility: &str, parameters: &str| {
        let names = parameters.split(',').filter_map(|it| it.split_whitespace().next());
        let arguments = names.collect::<Vec<_>>().join(", ");
        let mut cases = String::new();
        for table in tables {
            let name = table.name;
            let _ =
                write!(cases, "\n    WHEN '{name}' THEN swarm.{function}_{name}_2({arguments})");
        }
        format!(
            "\nCREATE FUNCTION swarm.{function}_2(the_table text, {parameters}) RETURNS {returned}
LANGUAGE plpgsql {volatility} AS $$
BEGIN
  RETURN CASE the_table{cases} END;
END $$;\n"
        )
    };
    let first = format!("{RANGE}, is_descending boolean, the_except integer, the_parts integer");
    let count = format!("{RANGE}, the_except integer, enough bigint");
    let write = "the_tenant text, replaces boolean, the_values text[], the_place integer, the_texts text[], the_text integer";
    dispatcher("first", "swarm.found_2", "STABLE", &first)
        + &dispatcher("count", "bigint", "STABLE", &count)
        + &write_dispatcher(tables, write)
}

/// A function without a result is called by a statement.
fn write_dispatcher(tables: Declared, parameters: &str) -> String {
    let names = parameters.split(',').filter_map(|it| it.split_whitespace().next());
    let arguments = names.collect::<Vec<_>>().join(", ");
    let mut cases = String::new();
    for table in tables {
        let name = table.name;
        let _ =
            write!(cases, "\n    WHEN '{name}' THEN PERFORM swarm.write_{name}_2({arguments});");
    }
    format!(
        "\nCREATE FUNCTION swarm.write_2(the_table text, {parameters}) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  CASE the_table{cases}
  END CASE;
END $$;\n"
    )
}

/// Whether the first record of this range, and the number of its records, are found by the functions of its table.
pub(crate) fn has_function(range: &Range) -> bool {
    let Range { after, before, distinct, having, join, .. } = range;
    after.is_none() && before.is_none() && *distinct == 0 && having.is_none() && join.is_none()
}

/// Selects the records of a range, in their order: version, columns, parts, then the same of the joined record, and the number of
/// the records of which those beyond the maximum size are left out.
pub(crate) fn select(range: &Range) -> String {
    let table = range.table;
    let (source, direction) = (Source::of_statement(range), range.is_descending);
    let order = source.order(direction);
    let mut from = format!("({}) AS r", source.records(range));
    let (mut total, mut filter) = ("NULL::bigint", String::new());
    if range.bytes != usize::MAX {
        let lengths = (0..table.parts.len()).filter(|part| range.parts.has(*part));
        let lengths = lengths.filter_map(|part| table.parts.get(part));
        let lengths: String =
            lengths.map(|part| format!(" + coalesce(octet_length(\"{part}\"), 0)")).collect();
        from = format!(
            "(SELECT r.*, sum(0{lengths}) OVER ({order}) AS up_to, row_number() OVER ({order}) AS place,
                count(*) OVER () AS total FROM {from}) AS r"
        );
        let bytes = i64::try_from(range.bytes).unwrap_or(i64::MAX);
        (total, filter) = ("total", format!(" WHERE place = 1 OR up_to <= {bytes}"));
    }
    let mut joined = "NULL::bigint, NULL::text[], NULL::text[]";
    if let Some(Join { table: other, column: key, parts }) = &range.join {
        let (parts, key) = (mask(other, *parts), column(table, *key));
        joined = "j.version, j.columns, j.parts";
        let _ = write!(
            from,
            " LEFT JOIN LATERAL swarm.first_{}_2($1, -1, ARRAY[r.{key}::text], 0, 1, false, NULL, {parts}) AS j
                ON r.{key} IS NOT NULL",
            other.name
        );
    }
    let selected = selected_of("r.", table, |part| range.parts.has(part).to_string());
    let order = source.order_of("r.", direction);
    format!("SELECT {selected}, {joined}, {total} FROM {from}{filter}{order}")
}

/// Counts the records of a range, at most `enough`, without the one whose key follows its values, if there is one.
pub(crate) fn count(range: &Range, has_except: bool, enough: u64) -> String {
    let source = Source::of_statement(range);
    let mut except = String::new();
    if has_except {
        let key = equal(range.table, (0..range.table.key).zip(places(source.values + 1)));
        except = format!(" WHERE NOT ({key})");
    }
    let unlimited = Range { limit: usize::MAX, ..range.clone() };
    let records = source.records(&unlimited);
    format!("SELECT count(*) FROM (SELECT FROM ({records}) AS r{except} LIMIT {enough}) AS counted")
}

/// Counts the records of a range that have more in a column than the value that follows its values; at most one.
pub(crate) fn count_more(range: &Range, position: usize) -> String {
    let source = Source::of_statement(range);
    let (records, more) = (source.records(range), source.next(range.table, position));
    let column = column(range.table, position);
    format!(
        "SELECT count(*) FROM (SELECT FROM ({records}) AS r WHERE {column} > {more} LIMIT 1) AS more"
    )
}

/// The first record of a range, but for the one whose key follows its values.
pub(crate) fn first_but(range: &Range) -> String {
    let source = Source::of_statement(range);
    let key = equal(range.table, (0..range.table.key).zip(places(source.values + 1)));
    let selected = selected(range.table, |part| range.parts.has(part).to_string());
    let order = source.order(range.is_descending);
    let records = source.records(range);
    format!("SELECT {selected} FROM ({records}) AS r WHERE NOT ({key}){order} LIMIT 1")
}

/// Changes one column of the records of a range to the value that follows its values.
pub(crate) fn set(range: &Range, position: usize) -> String {
    let source = Source::of_statement(range);
    let (value, column) = (source.next(range.table, position), column(range.table, position));
    format!(
        "UPDATE swarm.{} SET {column} = {value} WHERE {}",
        range.table.name,
        source.row_ids(range)
    )
}

/// Removes the records of a range.
pub(crate) fn remove(range: &Range) -> String {
    let source = Source::of_statement(range);
    format!("DELETE FROM swarm.{} WHERE {}", range.table.name, source.row_ids(range))
}

/// Appends an entry for each record of a range. After its values come the number of the last entry, the time, the commit, and the
/// text.
pub(crate) fn append_each(range: &Range) -> String {
    let source = Source::of_statement(range);
    let (records, order) = (source.records(range), source.order(range.is_descending));
    let (key, table) = (column(range.table, 0), range.table.name);
    format!(
        "INSERT INTO swarm.log (tenant, seq, at, commit_id, refers, record, entry)
            SELECT $1, $3 + row_number() OVER ({order}), $4, $5, '{table}', {key}, $6 FROM ({records}) AS r"
    )
}

/// The records of a range.
struct Source<'a> {
    table: &'a Table,
    conditions: String,
    /// The columns by which the records are ordered, where they differ: also the last one that has a given value, so that only
    /// one index has this order.
    order: Vec<usize>,
    /// The number of the values.
    values: usize,
}

impl<'a> Source<'a> {
    /// In a function of the table.
    fn of_function(table: &'a Table, index: Option<usize>, prefix: usize) -> Self {
        let values = (1..).map(|place| format!("the_values[the_place + {place}]"));
        Self::new(table, index, "the_tenant", values.take(prefix).collect())
    }

    /// In a statement, whose values are `$2`.
    fn of_statement(range: &'a Range) -> Self {
        let Range { table, index, prefix, after, before, having, .. } = range;
        let mut source = Self::new(table, *index, "$1", places(1).take(prefix.len()).collect());
        let bounded = ordered(table, *index).get(prefix.len()).copied();
        for (bound, than) in [(after, '>'), (before, '<')] {
            if bound.is_some() {
                if let Some(bounded) = bounded {
                    let (column, value) = (column(table, bounded), source.next(table, bounded));
                    let _ = write!(source.conditions, " AND {column} {than} {value}");
                }
                source.values += 1;
            }
        }
        if let Some(having) = having {
            let _ = write!(source.conditions, " AND {} IS NOT NULL", column(table, *having));
        }
        source
    }

    fn new(table: &'a Table, index: Option<usize>, tenant: &str, prefix: Vec<String>) -> Self {
        let (mut order, values) = (ordered(table, index), prefix.len());
        let last = values.saturating_sub(1);
        let mut conditions = format!("tenant = {tenant}");
        for (place, (position, value)) in order.iter().zip(&prefix).enumerate() {
            let Some(kind) = table.columns.get(*position) else { continue };
            let (column, value) = (column(table, *position), typed(kind, value));
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
        order.drain(..last.min(order.len()));
        Self { table, conditions, order, values }
    }

    /// The value of a column that follows the others.
    fn next(&self, table: &Table, position: usize) -> String {
        let value = format!("($2)[{}]", self.values + 1);
        table.columns.get(position).map_or_else(String::new, |column| typed(column, &value))
    }

    fn order(&self, is_descending: bool) -> String {
        self.order_of("", is_descending)
    }

    fn order_of(&self, prefix: &str, is_descending: bool) -> String {
        let direction = if is_descending { " DESC" } else { "" };
        let columns =
            self.order.iter().map(|it| format!("{prefix}{}{direction}", column(self.table, *it)));
        format!(" ORDER BY {}", columns.collect::<Vec<_>>().join(", "))
    }

    /// Selects the records as they are.
    fn records(&self, range: &Range) -> String {
        self.columns("*", range)
    }

    fn columns(&self, columns: &str, range: &Range) -> String {
        let Range { table, index, is_descending, distinct, limit, .. } = range;
        let (mut first, mut limit) = (String::new(), *limit);
        if *distinct > 0 {
            let skipped = range.prefix.len().saturating_sub(1);
            let distinct: Vec<_> =
                ordered(table, *index).into_iter().take(*distinct).skip(skipped).collect();
            match distinct.is_empty() {
                true => limit = limit.min(1),
                false => first = format!("DISTINCT ON ({}) ", list(table, distinct)),
            }
        }
        let limit = match limit {
            usize::MAX => String::new(),
            limit => format!(" LIMIT {limit}"),
        };
        let (name, order) = (table.name, self.order(*is_descending));
        format!("SELECT {first}{columns} FROM swarm.{name} WHERE {}{order}{limit}", self.conditions)
    }

    /// The condition of a statement that changes the records.
    fn row_ids(&self, range: &Range) -> String {
        format!("ctid = ANY (ARRAY({}))", self.columns("ctid", range))
    }
}

/// The values of a statement from this place on.
fn places(first: usize) -> impl Iterator<Item = String> {
    (first..).map(|place| format!("($2)[{place}]"))
}

/// The version, the columns and the parts of a record, of which those are read for which a condition is true.
fn selected(table: &Table, is_read: impl Fn(usize) -> String) -> String {
    selected_of("", table, is_read)
}

fn selected_of(prefix: &str, table: &Table, is_read: impl Fn(usize) -> String) -> String {
    let columns = table.columns.iter().map(|column| {
        let name = format!("{prefix}\"{}\"", column.name);
        match column.kind {
            ColumnKind::Integer | ColumnKind::Time => format!("{name}::text"),
            ColumnKind::Text => name,
            ColumnKind::Bytes => format!("encode({name}, 'hex')"),
        }
    });
    let parts = table.parts.iter().enumerate().map(|(part, name)| match &*is_read(part) {
        "true" => format!("{prefix}\"{name}\""),
        "false" => "NULL".to_owned(),
        condition => format!("CASE WHEN {condition} THEN {prefix}\"{name}\" END"),
    });
    let (columns, parts) = (columns.collect::<Vec<_>>(), parts.collect::<Vec<_>>());
    format!(
        "{prefix}version, ARRAY[{}]::text[], ARRAY[{}]::text[]",
        columns.join(", "),
        parts.join(", ")
    )
}

/// The parts that are read, as an integer.
pub(crate) fn mask(table: &Table, parts: PartSet) -> i64 {
    (0..table.parts.len()).filter(|part| parts.has(*part)).fold(0, |mask, part| mask | 1 << part)
}

/// A text as the value of a column.
fn typed(column: &Column, value: &str) -> String {
    match column.kind {
        ColumnKind::Integer | ColumnKind::Time => format!("({value})::bigint"),
        ColumnKind::Text => value.to_owned(),
        ColumnKind::Bytes => format!("decode({value}, 'hex')"),
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

/// The condition that columns have these values.
fn equal(table: &Table, values: impl IntoIterator<Item = (usize, String)>) -> String {
    let conditions = values.into_iter().filter_map(|(position, value)| {
        let value = typed(table.columns.get(position)?, &value);
        Some(format!("{} = {value}", column(table, position)))
    });
    conditions.collect::<Vec<_>>().join(" AND ")
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
fn column(table: &Table, position: usize) -> String {
    format!("\"{}\"", table.columns.get(position).map_or("", |column| column.name))
}
