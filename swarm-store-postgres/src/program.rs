//! Queries and transactions as the functions of the database read them: a program in JSON, and its values.
//!
//! All values are texts, in two lists: those of columns, to which the functions assign what a commit assigns, and parts of
//! records, which may be long. Bytes are in hexadecimal digits. The program has the places of values, and none of them.

use serde_json::{Map, Value as Json, json};
use swarm_core::proof::hex;
use swarm_core::store::backend::{
    Append, Body, Check, CommitId, Item, Kind, PartSet, Query, Range, Table, Term, Transaction,
    Value, Write,
};

use crate::db::owned;
use crate::schema::Schema;
use crate::sql;

/// The values of a program, while it is written.
struct Program<'a> {
    schema: &'a Schema,
    values: Vec<Option<String>>,
    texts: Vec<Option<String>>,
    /// The places of the values that a commit assigns, each with that of the number; -1 for the time.
    assigned: Vec<(usize, i64)>,
    /// For each query, the places of the values that are found by it, each with that of the column.
    fills: Vec<Vec<(usize, usize)>>,
}

/// A program with its values.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) json: String,
    /// The values of columns.
    pub(crate) values: Vec<Option<String>>,
    /// Parts of records.
    pub(crate) texts: Vec<Option<String>>,
}

/// The program of a transaction.
#[derive(Debug)]
pub(crate) struct Transacted {
    pub(crate) encoded: Encoded,
    /// The table of the record that shows a repetition.
    pub(crate) repeated: Option<&'static Table>,
    /// For each check, the table of the record that it may find.
    pub(crate) found: Vec<Option<&'static Table>>,
}

impl Encoded {
    /// The approximate length of what is sent.
    pub(crate) fn len(&self) -> usize {
        let values = self.values.iter().chain(&self.texts).flatten();
        self.json.len() + values.map(String::len).sum::<usize>()
    }
}

/// The value as it is sent, and as it is stored if it is text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(text) => Some(owned(text)),
        Value::Bytes(bytes) => Some(hex(bytes)),
    }
}

/// Returns the program of the queries of a read.
pub(crate) fn of_queries(schema: &Schema, queries: &[Query]) -> Encoded {
    let mut program = Program::new(schema);
    program.fills = vec![Vec::new(); queries.len()];
    let mut encoded: Vec<_> = queries.iter().map(|query| program.query(query)).collect();
    for (query, fills) in encoded.iter_mut().zip(&program.fills) {
        if !fills.is_empty() {
            set(query, "fills", json!(fills));
        }
    }
    program.encoded(&encoded.into())
}

/// Returns the program of the items of a load.
pub(crate) fn of_items(schema: &Schema, items: &[Item]) -> Encoded {
    let mut program = Program::new(schema);
    let items: Vec<_> = items.iter().map(|item| program.item(item)).collect();
    program.encoded(&items.into())
}

/// Returns the program of a transaction.
pub(crate) fn of_transaction(schema: &Schema, transaction: &Transaction) -> Transacted {
    let Transaction { id, kind, seen, repetition, checks, sequences, writes, entries, .. } =
        transaction;
    let mut program = Program::new(schema);
    let (kind, is_checked) = match kind {
        Kind::Usual => ("usual", true),
        Kind::AcceptClock => ("accept clock", true),
        Kind::AcceptLog => ("accept log", false),
        Kind::Aside => ("aside", false),
    };
    let compared = seen.compared().filter(|_| is_checked).map_or(0, |size| size.0.min(MOST));
    let mut json = json!({
        "id": commit_text(*id), "kind": kind, "log": seen.log.min(MOST), "seen": compared,
        "last": seen.commit.map(commit_text), "sequences": sequences,
        "announced": kind != "aside" && is_lasting(transaction),
    });
    if let Some(repetition) = repetition {
        let mut range = program.first(&repetition.range, &[]);
        set(&mut range, "column", repetition.column.into());
        set(&mut json, "repetition", range);
    }
    let checks: Vec<_> = checks.iter().map(|check| program.check(check)).collect();
    let (checks, found): (Vec<_>, _) = checks.into_iter().unzip();
    let writes: Vec<_> = writes.iter().map(|write| program.write(write)).collect();
    let entries: Vec<_> = entries.iter().map(|entry| program.entry(entry)).collect();
    set(&mut json, "checks", checks.into());
    set(&mut json, "writes", writes.into());
    set(&mut json, "entries", entries.into());
    set(&mut json, "assigned", json!(program.assigned));
    set(&mut json, "values", program.values.len().into());
    set(&mut json, "texts", program.texts.len().into());
    let repeated = repetition.as_ref().map(|it| it.range.table);
    Transacted { encoded: program.encoded(&json), repeated, found }
}

impl<'a> Program<'a> {
    fn new(schema: &'a Schema) -> Self {
        let (values, texts, assigned, fills) = Default::default();
        Self { schema, values, texts, assigned, fills }
    }

    fn encoded(self, json: &Json) -> Encoded {
        Encoded { json: json.to_string(), values: self.values, texts: self.texts }
    }

    /// A statement, of which the first value has this place.
    fn statement(&self, sql: &str, (at, count): (usize, usize)) -> Json {
        json!({"sql": self.schema.qualify(sql), "at": at, "count": count})
    }

    /// Adds values; returns the place of the first.
    fn add<'t>(&mut self, terms: impl IntoIterator<Item = &'t Term>) -> usize {
        let first = self.values.len();
        for term in terms {
            let place = self.values.len();
            let mut value = None;
            let number = |sequence: usize| i64::try_from(sequence).unwrap_or(i64::MAX);
            match term {
                Term::Value(it) => value = text_of(it),
                Term::Assigned(sequence) | Term::AssignedText(sequence) => {
                    self.assigned.push((place, number(*sequence)));
                }
                Term::Now => self.assigned.push((place, -1)),
                Term::Found(query, column) => {
                    if let Some(fills) = self.fills.get_mut(*query) {
                        fills.push((place, *column));
                    }
                }
            }
            self.values.push(value);
        }
        first
    }

    /// Adds the values of a range, and others after them; returns the place of the first, and their number.
    fn add_range<'t>(
        &mut self,
        range: &'t Range,
        others: impl IntoIterator<Item = &'t Term>,
    ) -> (usize, usize) {
        let bounds = range.after.iter().chain(&range.before);
        let first = self.add(range.prefix.iter().chain(bounds).chain(others));
        (first, self.values.len() - first)
    }

    /// Adds the parts of a record; returns the place of the first.
    fn add_body(&mut self, body: &Body, parts: usize) -> usize {
        let first = self.texts.len();
        self.texts.extend((0..parts).map(|part| body.part(part).map(|text| owned(&text))));
        first
    }

    /// The first record of a range, but for the one with the key `except`.
    fn first(&mut self, range: &Range, except: &[Term]) -> Json {
        if sql::has_function(range) && range.limit > 0 {
            return self.in_table(range, except);
        }
        let values = self.add_range(range, except);
        let sql = match except.is_empty() {
            true => sql::select(&Range { limit: range.limit.min(1), ..range.clone() }),
            false => sql::first_but(range),
        };
        self.statement(&sql, values)
    }

    /// A range that a function of the table reads.
    fn in_table(&mut self, range: &Range, except: &[Term]) -> Json {
        let (at, count) = self.add_range(range, []);
        let except = (!except.is_empty()).then(|| self.add(except));
        let index = range.index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1);
        json!({
            "table": range.table.name, "index": index, "at": at, "count": count,
            "descending": range.is_descending, "except": except,
            "parts": sql::mask(range.table, range.parts),
        })
    }

    fn query(&mut self, query: &Query) -> Json {
        match query {
            Query::Rows(range) => {
                let is_single = range.limit == 1
                    || range.index.is_none() && range.prefix.len() == range.table.key;
                match is_single && range.limit > 0 && sql::has_function(range) {
                    true => self.in_table(range, &[]),
                    false => {
                        let values = self.add_range(range, []);
                        self.statement(&sql::select(range), values)
                    }
                }
            }
            Query::Count(range) => {
                let values = self.add_range(range, []);
                let enough = u64::try_from(range.limit).unwrap_or(u64::MAX).min(MOST);
                let sql = sql::count(range, false, enough);
                let sql = format!(
                    "SELECT NULL::bigint, ARRAY[count::text], NULL::text[], NULL::bigint, NULL::text[], NULL::text[],
                        NULL::bigint FROM ({sql}) AS counts (count)"
                );
                self.statement(&sql, values)
            }
            Query::Sequence(name) => json!({"sequence": name}),
            Query::CommitOf(seq) => json!({"commit": seq.0.min(MOST)}),
            Query::Entries(entries) => {
                let limit = u64::try_from(entries.limit).unwrap_or(u64::MAX).min(MOST);
                let mut query = json!({"after": entries.after.0.min(MOST), "limit": limit});
                if let Some(topic) = entries.topic {
                    set(&mut query, "topic", topic.into());
                }
                query
            }
        }
    }

    /// A check, and the table of the record that it may find.
    fn check(&mut self, check: &Check) -> (Json, Option<&'static Table>) {
        let mut found = None;
        let (name, mut json) = match check {
            Check::Version { table, key, expected } => {
                let parts = PartSet::NONE;
                let range = Range { parts, ..Range::key(table, key.clone()) };
                let mut json = self.first(&range, &[]);
                set(&mut json, "version", expected.map(|it| it.0.min(MOST)).into());
                ("version", json)
            }
            Check::NotAfter(time) => ("not after", json!({"time": time.millis()})),
            Check::First { range, column, value, version } => {
                let parts = PartSet::NONE;
                let mut json = self.first(&Range { parts, ..range.clone() }, &[]);
                set(&mut json, "column", (*column).into());
                let value = self.add([value]);
                set(&mut json, "value", value.into());
                set(&mut json, "version", version.map(|it| it.0.min(MOST)).into());
                ("first", json)
            }
            Check::AtMost { range, column, most } => {
                let values = self.add_range(range, [most]);
                let mut json = self.statement(&sql::count_more(range, *column), values);
                set(&mut json, "least", 0.into());
                set(&mut json, "most", 0.into());
                ("count", json)
            }
            Check::None { range, except } => {
                found = Some(range.table);
                let range = Range { parts: PartSet::NONE, ..range.clone() };
                ("none", self.first(&range, except))
            }
            Check::Count { range, except, least, most } => {
                let (least, most) = ((*least).min(MOST), (*most).min(MOST));
                let enough = most.saturating_add(1).min(MOST);
                let mut json = match sql::has_function(range) {
                    true => self.in_table(range, except),
                    false => {
                        let values = self.add_range(range, except);
                        let sql = sql::count(range, !except.is_empty(), enough);
                        self.statement(&sql, values)
                    }
                };
                set(&mut json, "enough", enough.into());
                set(&mut json, "least", least.into());
                set(&mut json, "most", most.into());
                ("count", json)
            }
            Check::Sum(name, most) => ("sum", json!({"name": name, "most": (*most).min(MOST)})),
        };
        set(&mut json, "check", name.into());
        (json, found)
    }

    fn write(&mut self, write: &Write) -> Json {
        match write {
            Write::Insert { table, columns, body } | Write::Put { table, columns, body } => {
                let (at, text) = (self.add(columns), self.add_body(body, table.parts.len()));
                let replaces = matches!(write, Write::Put { .. });
                json!({"table": table.name, "replaces": replaces, "at": at, "text": text})
            }
            Write::Set { range, column, value } => {
                let values = self.add_range(range, [value]);
                self.statement(&sql::set(range, *column), values)
            }
            Write::Remove(range) => {
                let values = self.add_range(range, []);
                self.statement(&sql::remove(range), values)
            }
            Write::Add(name, amount) => json!({"sum": name, "amount": amount}),
        }
    }

    fn entry(&mut self, entry: &Append) -> Json {
        match entry {
            Append::Entry { topic, assigned, reference, body } => {
                let topic = topic.as_ref().map(|topic| self.add([topic]));
                let record = reference.as_ref().map(|(_, key)| self.add([key]));
                let refers = reference.as_ref().map(|(table, _)| table.name);
                let text = self.add_body(body, 1);
                json!({
                    "topic": topic, "assigned": assigned, "refers": refers, "record": record, "text": text,
                })
            }
            Append::Each { range, body } => {
                let values = self.add_range(range, []);
                let mut json = self.statement(&sql::append_each(range), values);
                set(&mut json, "text", self.add_body(body, 1).into());
                json
            }
        }
    }

    fn item(&mut self, item: &Item) -> Json {
        match item {
            Item::Write(write) => self.write(write),
            Item::Sequence(name, number) => json!({"sequence": name, "number": number.min(&MOST)}),
            Item::Entry(log, entry) => {
                let reference = entry.reference.as_ref();
                let values: [Value; 7] = [
                    entry.seq.0.into(),
                    entry.at.into(),
                    entry.commit.0.as_slice().into(),
                    entry.topic.map_or(Value::Null, Value::Integer),
                    entry.assigned.into(),
                    reference.map(|reference| reference.table.name).into(),
                    reference.map(|reference| reference.key).into(),
                ];
                let at = self.add(&values.map(Term::Value));
                json!({"log": log, "at": at, "text": self.add_body(&entry.body, 1)})
            }
        }
    }
}

/// The largest integer of PostgreSQL.
const MOST: u64 = i64::MAX.cast_unsigned();

/// Whether others may see what a transaction changes.
fn is_lasting(transaction: &Transaction) -> bool {
    let is_lasting = |write: &Write| match write {
        Write::Insert { table, .. } | Write::Put { table, .. } => !table.is_transient,
        Write::Set { range, .. } | Write::Remove(range) => !range.table.is_transient,
        Write::Add(..) => true,
    };
    !transaction.entries.is_empty() || transaction.writes.iter().any(is_lasting)
}

/// The identity of a commit, in hexadecimal digits.
fn commit_text(commit: CommitId) -> String {
    hex(&commit.0)
}

/// Sets a field of an object.
fn set(object: &mut Json, field: &str, value: Json) {
    let fields: Option<&mut Map<_, _>> = object.as_object_mut();
    if let Some(fields) = fields {
        fields.insert(field.to_owned(), value);
    }
}
