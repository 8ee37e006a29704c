//! Compiles queries.

use swarm_core::store::Result;
use swarm_core::store::backend::Operation;
use swarm_core::store::backend::shape::{LimitShape, Place, QueryShape, RangeShape};

use super::range::{shown, wanted_bits};
use super::{Argument, Bit, Compiled, Emitter, Piece, TRANSIENT, column};
use crate::schema::{TOPICS, code};
use crate::value::BEYOND;

/// What the script for queries depends on.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct ReadShape {
    pub(crate) queries: Vec<QueryShape>,
    /// Whether only a server that takes writes may answer.
    pub(crate) is_judged: bool,
}

impl ReadShape {
    /// Compiles the queries to a script, which returns the time, the head of the log, and the answers.
    pub(crate) fn compile(&self, op: Operation) -> Result<Compiled> {
        if let Some(compiled) = self.compile_alike(op)? {
            return Ok(compiled);
        }
        let mut emitter = Emitter::default();
        let mut body = String::new();
        for (place, query) in self.queries.iter().enumerate() {
            let columns: Vec<_> = self.referred(place).collect();
            emitter.query(op, place, query, &columns, &mut body)?;
        }
        Ok(self.finish(emitter, &body))
    }

    /// Queries that differ in nothing but their values are a loop, so that the text is the same for any number of them.
    fn compile_alike(&self, op: Operation) -> Result<Option<Compiled>> {
        if self.queries.len() < 2 || (0..self.queries.len()).any(|place| self.is_referred(place)) {
            return Ok(None);
        }
        let (mut arguments, mut first) = (Vec::new(), None);
        let mut emitter = Emitter::default();
        for query in &self.queries {
            let mut block = Emitter { in_block: true, ..Emitter::default() };
            let mut body = String::new();
            block.query(op, 0, query, &[], &mut body)?;
            let this = (body, block.functions, block.arguments.len());
            if first.get_or_insert_with(|| this.clone()) != &this {
                return Ok(None);
            }
            emitter.is_transient_used |= block.is_transient_used;
            arguments.extend(block.arguments);
        }
        let Some((body, functions, each)) = first else { return Ok(None) };
        if each == 0 {
            return Ok(None);
        }
        emitter.functions = functions;
        emitter.arguments = arguments;
        let body = format!("for b = p, #A - {each}, {each} do\n{body}end\n");
        Ok(Some(self.finish(emitter, &body)))
    }

    /// Whether a later query refers to what a query finds.
    fn is_referred(&self, place: usize) -> bool {
        self.referred(place).next().is_some()
    }

    /// The columns that later queries take from the first record that a query finds.
    fn referred(&self, place: usize) -> impl Iterator<Item = usize> {
        let ranges = self.queries.iter().filter_map(|query| match query {
            QueryShape::Rows(range) | QueryShape::Count(range) => Some(range),
            _ => None,
        });
        let places =
            ranges.flat_map(|range| range.prefix.iter().chain(&range.after).chain(&range.before));
        places.filter_map(move |found| match found {
            Place::Found(query, column) if *query == place => Some(*column),
            _ => None,
        })
    }

    fn finish(&self, emitter: Emitter, body: &str) -> Compiled {
        let beginning = if emitter.is_transient_used { TRANSIENT } else { "" };
        let functions = &emitter.functions;
        // Changes nothing. A replica rejects this write, so nothing is judged by its stale facts.
        let judged = if self.is_judged { "call('HDEL', D.hash, '')\n" } else { "" };
        let (fields, answers) = (emitter.deferred.concat(), &emitter.answers);
        let (before, head) = match body.contains("head") {
            true => ("local head = call('HGET', D.hash, 'head')\n", ""),
            false => ("", "local head = found[1]\n"),
        };
        let after = match (head.is_empty(), answers.is_empty()) {
            (true, true) => String::new(),
            _ => format!("local found = call('HMGET', D.hash, 'head'{fields})\n{head}{answers}"),
        };
        let text = format!(
            "{functions}{judged}local now, answers, p = call('TIME'), {{}}, 0\n{before}{body}{after}return {{ now, head, answers }}\n"
        );
        emitter.compiled(beginning, &text, false)
    }
}

impl Emitter {
    /// Adds the answer to a query. If later queries refer to columns of it, the first record stays in variables.
    fn query(
        &mut self,
        op: Operation,
        place: usize,
        query: &QueryShape,
        referred: &[usize],
        body: &mut String,
    ) -> Result<()> {
        let answer = match self.in_block {
            true => "answers[#answers + 1]".to_owned(),
            false => format!("answers[{}]", place + 1),
        };
        self.found.push(None);
        match query {
            QueryShape::Rows(range) => self.rows(op, place, range, referred, &answer, body)?,
            QueryShape::Count(range) => {
                let index = range.index.and_then(|index| range.table.indexes.get(index));
                let found = self.range(op, range, &mut sought, false)?;
                let count = found.count("count", "", self, index);
                body.push_str(&format!("do\nlocal count = 0\n{}{count}", self.found_values(range)));
                body.push_str(&match range.limit {
                    LimitShape::None => String::new(),
                    _ => format!("count = math.min(count, {})\n", found.limit()),
                });
                body.push_str(&format!("{answer} = count\nend\n"));
            }
            QueryShape::Sequence(name) => {
                let field = Argument::Bytes(vec![Piece::Bytes(sequence(name))]);
                let field = self.argument(field);
                match self.in_block {
                    true => body.push_str(&format!("{answer} = get(D, {field})\n")),
                    false => {
                        let found = self.deferred(&field);
                        self.answers.push_str(&format!("{answer} = {found}\n"));
                    }
                }
            }
            QueryShape::Entries { topic, after, limit, parts } => {
                let bounds = topic.map(|topic| {
                    let low = self.argument(Argument::Topic(topic, *after));
                    let start = [b"(", &TOPICS[..]].concat();
                    let high = [Bit::bytes(start), Bit::Known(Piece::Value(topic))];
                    let high = self.concat([&high[..], &[Bit::bytes([BEYOND])]].concat());
                    format!(", {low}, {high}")
                });
                let (after, limit) = (self.number(*after), self.number(*limit));
                let wanted = if parts.has_veiled() { u32::MAX } else { u32::MAX >> 1 };
                body.push_str(&format!(
                    "{answer} = entries(head, {after}, {limit}, {wanted}{})\n",
                    bounds.unwrap_or_default()
                ));
            }
            QueryShape::CommitOf(seq) => {
                let place = self.argument(Argument::Index(*seq));
                body.push_str(&format!(
                    "local entry = call('LINDEX', LOG, {place})\n{answer} = entry and sub(entry, 1, 16)\n"
                ));
            }
        }
        Ok(())
    }

    fn rows(
        &mut self,
        op: Operation,
        place: usize,
        range: &RangeShape,
        referred: &[usize],
        answer: &str,
        body: &mut String,
    ) -> Result<()> {
        let (k, r) = (format!("k{place}"), format!("r{place}"));
        let found = self.range(op, range, &mut sought, false)?;
        let values = self.found_values(range);
        let joined = if range.join.is_some() { ", joined, joined_parts" } else { "" };
        let shown = found.shown_with(range.parts, "k", "r", "stored");
        let is_of_key = referred.iter().all(|column| *column < range.table.key);
        let is_deferred = !self.in_block && !range.table.is_transient && range.join.is_none();
        let key = found.first_key(&k, !referred.is_empty());
        if let Some(key) = key.filter(|_| is_deferred && is_of_key) {
            body.push_str(&format!("local {k}\n{values}{key}"));
            let raw = self.deferred(&format!("{k} and {} or ''", found.field(&k)));
            let shown = match wanted_bits(range.table, range.parts) {
                0 => format!("{raw}, false"),
                _ => {
                    let field = format!("{k} and {} .. '\\254' or ''", found.field(&k));
                    let stored = self.deferred(&field);
                    let shown = found.shown_with(range.parts, &k, &raw, &stored);
                    shown.replacen(", byte", &format!(", {raw} and byte"), 1)
                }
            };
            self.answers.push_str(&format!("{answer} = {{ 0, {k}, {shown} }}\n"));
            self.set_found(place, range, true);
            return Ok(());
        }
        self.set_found(place, range, false);
        if found.is_single() {
            body.push_str(&format!("local {k}, {r}\n{values}{}", found.first(&k, &r)));
            let row = format!("{{ 0, {k}, {}{} }}", found.shown(range.parts, &k, &r), joined);
            let join = self.join(range, &k, &r);
            body.push_str(&format!(
                "if {r} then\n{join}{answer} = {row}\nelse\n{answer} = {{ 0 }}\nend\n"
            ));
            return Ok(());
        }
        body.push_str(&format!("local {k}, {r}\nlocal rows{place} = {{ 0 }}\n{values}"));
        let mut each = String::new();
        if let Some(most) = range.bytes {
            let (most, wanted) = (self.number(most), wanted_bits(range.table, range.parts));
            body.push_str(&format!("local size{place} = 0\n"));
            each.push_str(&format!(
                "size{place} = size{place} + size_of(stored, {wanted})\nif size{place} > {most} and #rows{place} > 1 then\nrows{place}[1] = 1\nreturn false\nend\n"
            ));
        }
        if !referred.is_empty() {
            each.push_str(&format!("{k}, {r} = {k} or k, {r} or r\n"));
        }
        each.push_str(&self.join(range, "k", "r"));
        each.push_str(&format!(
            "local n = #rows{place}\nrows{place}[n + 1], rows{place}[n + 2], rows{place}[n + 3] = k, {shown}\n"
        ));
        if range.join.is_some() {
            each.push_str(&format!(
                "rows{place}[n + 4], rows{place}[n + 5] = joined, joined_parts\n"
            ));
        }
        body.push_str(&found.each(&each, wanted_bits(range.table, range.parts) != 0));
        body.push_str(&format!("{answer} = rows{place}\n"));
        Ok(())
    }

    /// Remembers the table of what a query finds, and whether only the key is known.
    fn set_found(&mut self, place: usize, range: &RangeShape, is_key: bool) {
        if let Some(found) = self.found.get_mut(place) {
            *found = Some((range.table, is_key));
        }
    }

    /// Assigns the record that another one is joined with to a variable.
    fn join(&mut self, range: &RangeShape, k: &str, r: &str) -> String {
        let Some(join) = &range.join else { return String::new() };
        let part = self.part(join.table);
        let value = column(range.table, join.column, k, r);
        let field = format!("{} .. with", super::literal(&code(join.table.name)));
        let stored = format!("get({part}, {field} .. '\\254')");
        let shown = shown(join.table, join.parts, part, &field, "joined", &stored);
        format!(
            "local with = {value}\nlocal joined, joined_parts = with ~= '\\0' and get({part}, {field}), false\nif joined then joined, joined_parts = {shown} end\n"
        )
    }

    /// The expression for a field that is read at the end.
    fn deferred(&mut self, field: &str) -> String {
        self.deferred.push(format!(", {field}"));
        format!("found[{}]", self.deferred.len() + 1)
    }

    /// Declares the values that a range takes from earlier answers.
    fn found_values(&mut self, range: &RangeShape) -> String {
        let places = range.prefix.iter().chain(&range.after).chain(&range.before);
        let mut values = String::new();
        for place in places {
            if let Place::Found(query, at) = place {
                let table = self.found.get(*query).copied().flatten();
                let value = table.map_or_else(
                    || "nil".to_owned(),
                    |(table, is_key)| {
                        let (k, r) = (format!("k{query}"), format!("r{query}"));
                        let is_there = if is_key { &k } else { &r };
                        format!("{is_there} and {}", column(table, *at, &k, &r))
                    },
                );
                values.push_str(&format!("local found{query}_{at} = {value}\n"));
            }
        }
        values
    }
}

/// The field of a sequence.
pub(super) fn sequence(name: &str) -> Vec<u8> {
    [b"sequence ", name.as_bytes()].concat()
}

/// The value for a place, and what must be true for it to be one.
fn sought(place: &Place) -> (Bit, Option<String>) {
    match place {
        Place::Bound(value) => (Bit::Known(Piece::Value(*value)), None),
        Place::Found(query, at) => {
            let value = format!("found{query}_{at}");
            (Bit::Lua(value.clone()), Some(format!("{value} and {value} ~= '\\0'")))
        }
        _ => (Bit::bytes([]), Some("false".to_owned())),
    }
}
