//! Ranges of records, as Lua.

use swarm_core::StoreError;
use swarm_core::store::Result;
use swarm_core::store::backend::shape::{LimitShape, Place, RangeShape};
use swarm_core::store::backend::{Index, Operation, PartSet, Table};

use super::{Bit, Emitter, Piece, column, literal};
use crate::schema::{code, ends_with_key, is_looked_up, is_ordered};
use crate::value::{BEYOND, DIGEST};

/// A range, as expressions.
pub(super) struct Found {
    table: &'static Table,
    /// `D` or `T`.
    part: &'static str,
    /// What must be true, or the range has no records.
    guards: Vec<String>,
    how: How,
    /// A function of a key and a record that decides whether it counts.
    matches: Option<String>,
    limit: String,
    /// Whether there is at most one record.
    is_single: bool,
    is_descending: bool,
}

enum How {
    /// The record with this field.
    Key(String),
    /// The record whose key is in this field.
    LookedUp(String),
    /// The records between two bounds. If what was found first is kept, the name of the table that keeps it.
    Between { low: String, high: String, is_index: bool, kept: Option<String> },
}

/// The values that a range begins with and ends with.
pub(super) type Resolve<'a> = &'a mut dyn FnMut(&Place) -> (Bit, Option<String>);

impl Emitter {
    /// A range. `resolve` returns the value for a place, and what must be true for it to be one. What is found first is kept for
    /// the whole call if `keeps`, because no write of the script changes it.
    pub(super) fn range(
        &mut self,
        op: Operation,
        range: &RangeShape,
        resolve: Resolve<'_>,
        keeps: bool,
    ) -> Result<Found> {
        let table = range.table;
        let index = range.index.and_then(|index| table.indexes.get(index));
        let mut guards = Vec::new();
        let mut value = |place: &Place| {
            let (bit, guard) = resolve(place);
            guards.extend(guard);
            bit
        };
        let prefix: Vec<_> = range.prefix.iter().map(&mut value).collect();
        let after: Option<Bit> = range.after.as_ref().map(&mut value);
        let before: Option<Bit> = range.before.as_ref().map(&mut value);
        let part = self.part(table);
        let is_whole = prefix.len() == index.map_or(table.key, |index| index.columns.len());
        let is_unique = index.is_none_or(|index| index.is_unique);
        let how = match index {
            None if is_whole => How::Key(self.field(table, prefix)),
            Some(index) if is_looked_up(index) && is_whole => {
                let field = self.digest(index, prefix);
                How::LookedUp(self.looked_up(table, field))
            }
            Some(index) if is_looked_up(index) => {
                return Err(unordered(op, index.name));
            }
            None if !is_ordered(table) => return Err(unordered(op, table.name)),
            _ => {
                let name = index.map_or(table.name, |index| index.name);
                let keeps = keeps && after.is_none() && before.is_none();
                let mut bound = |sign: u8, end: Option<Bit>, is_beyond: bool| {
                    let start = [sign].into_iter().chain(code(name)).collect::<Vec<_>>();
                    let beyond = is_beyond.then(|| Bit::bytes([BEYOND]));
                    let bits = [Bit::bytes(start)].into_iter().chain(prefix.iter().cloned());
                    self.concat(bits.chain(end).chain(beyond).collect())
                };
                let (is_after, is_before) = (after.is_some(), before.is_some());
                let low = bound(b'[', after, is_after);
                let high = bound(b'(', before, !is_before);
                let kept = keeps.then(|| {
                    let name = self.name("kept");
                    self.functions.push_str(&format!("local {name} = {{}}\n"));
                    name
                });
                How::Between { low, high, is_index: index.is_some(), kept }
            }
        };
        let limit = match range.limit {
            LimitShape::One => "1".to_owned(),
            LimitShape::None => "-1".to_owned(),
            LimitShape::Bound(limit) => self.number(limit),
        };
        let is_limited = matches!(range.limit, LimitShape::Bound(_));
        let is_single = range.limit == LimitShape::One || is_whole && is_unique && !is_limited;
        if is_limited && is_whole && is_unique {
            guards.push(format!("{limit} > 0"));
        }
        let matches = matching(range);
        let is_descending = range.is_descending;
        Ok(Found { table, part, guards, how, matches, limit, is_single, is_descending })
    }

    /// The function that returns the entry of a record in an index; false if it is not in it.
    pub(super) fn entry_function(&mut self, table: &'static Table, index: &Index) -> String {
        let name = format!("entry_{}", index.name);
        if self.functions.contains(&format!("function {name}(")) {
            return name;
        }
        let columns = index.columns.iter().map(|at| column(table, *at, "key", "raw"));
        let columns: Vec<_> = columns.collect();
        let locals: Vec<_> = (1..=columns.len()).map(|place| format!("c{place}")).collect();
        let nulls: Vec<_> = locals.iter().map(|local| format!("{local} == '\\0'")).collect();
        let end = match (is_looked_up(index), ends_with_key(table, index)) {
            (true, _) => "",
            (false, true) => " .. struct.pack('>I2', #key)",
            (false, false) => " .. key .. struct.pack('>I2', #key)",
        };
        let values = match is_looked_up(index) {
            true => format!("sub(redis.sha1hex({}), 1, {DIGEST})", locals.join(" .. ")),
            false => locals.join(" .. "),
        };
        self.functions.push_str(&format!(
            "local function {name}(key, raw)\nlocal {} = {}\nif {} then return false end\nreturn {} .. {}{end}\nend\n",
            locals.join(", "),
            columns.join(", "),
            nulls.join(" or "),
            literal(&code(index.name)),
            values,
        ));
        name
    }
}

fn unordered(op: Operation, name: &str) -> StoreError {
    StoreError::misconfigured(op, format!("the order of {name} is not kept"))
}

/// A function that decides whether a record counts.
fn matching(range: &RangeShape) -> Option<String> {
    let value = column(range.table, range.having?, "k", "r");
    Some(format!("(function(k, r) return {value} ~= '\\0' end)"))
}

impl Found {
    /// The field of the record with the key in a variable.
    pub(super) fn field(&self, key: &str) -> String {
        format!("{} .. {key}", literal(&code(self.table.name)))
    }

    /// The condition under which there are records.
    fn guarded(&self, code: &str) -> String {
        match self.guards.is_empty() {
            true => code.to_owned(),
            false => format!("if {} then\n{code}end\n", self.guards.join(" and ")),
        }
    }

    /// Assigns the first key to a variable, which is declared, without its record. `None` if the record is needed: because it decides,
    /// or because it `must_exist` and only it shows that.
    pub(super) fn first_key(&self, k: &str, must_exist: bool) -> Option<String> {
        if !self.is_single || self.matches.is_some() {
            return None;
        }
        let Self { part, is_descending, .. } = self;
        let code = match &self.how {
            How::Key(_) if must_exist => return None,
            How::Key(field) => format!("{k} = sub({field}, 3)\n"),
            How::LookedUp(field) => format!("{k} = call('HGET', {part}.hash, {field})\n"),
            How::Between { low, high, is_index, .. } => {
                let key = if *is_index { "key_of(entry)" } else { "own_key(entry)" };
                format!(
                    "do\nlocal entry = first({part}, {low}, {high}, {is_descending})\n{k} = entry and {key}\nend\n"
                )
            }
        };
        Some(self.guarded(&code))
    }

    /// Assigns the first key and record to two variables, which are declared; nil or false if there is none.
    pub(super) fn first(&self, k: &str, r: &str) -> String {
        let Self { part, limit, is_descending, .. } = self;
        let is_there = self.matches.as_ref().map_or_else(
            || format!("if {r} then\n"),
            |matches| format!("if {r} and {matches}(sub(field, 3), {r}) then\n"),
        );
        let missing = "corrupt('an index has a record that is not there')";
        let record = format!("{r} = get({part}, {})", self.field(k));
        let code = match &self.how {
            How::Key(field) => format!(
                "do\nlocal field = {field}\n{r} = get({part}, field)\n{is_there}{k} = sub(field, 3)\nelse\n{r} = nil\nend\nend\n"
            ),
            How::LookedUp(field) if self.matches.is_none() => format!(
                "{k} = get({part}, {field})\nif {k} then\n{record}\nif not {r} then {missing} end\nend\n"
            ),
            How::LookedUp(field) => format!(
                "{k} = get({part}, {field})\nif {k} then\nlocal field = {}\n{record}\nif not {r} then {missing} end\n{is_there}else\n{k}, {r} = nil, nil\nend\nend\n",
                self.field(k)
            ),
            How::Between { low, high, is_index, kept } if self.matches.is_none() => {
                let key = if *is_index { "key_of(entry)" } else { "own_key(entry)" };
                let first = format!("first({part}, {low}, {high}, {is_descending})");
                let first = match kept {
                    Some(kept) => format!(
                        "local low = {low}\nlocal entry = {kept}[low]\nif entry == nil then\nentry = {first} or false\n{kept}[low] = entry\nend\n"
                    ),
                    None => format!("local entry = {first}\n"),
                };
                format!(
                    "do\n{first}if entry then\n{k} = {key}\n{record}\nif not {r} then {missing} end\nend\nend\n"
                )
            }
            How::Between { .. } => {
                self.scan(limit, false, &format!("function(a, b) {k}, {r} = a, b return false end"))
            }
        };
        self.guarded(&code)
    }

    /// Carries out a body for each record, whose key and record are in `k` and `r`, and its parts in `stored`, if they are wanted.
    /// It may `return false` to stop.
    pub(super) fn each(&self, body: &str, with_parts: bool) -> String {
        if let How::Between { .. } = &self.how
            && !self.is_single
        {
            let take = format!("function(k, r, stored)\n{body}end");
            return self.guarded(&self.scan(&self.limit, with_parts, &take));
        }
        let first = self.first("k", "r");
        let stored = match with_parts {
            true => format!("get({}, {} .. '\\254')", self.part, self.field("k")),
            false => "nil".to_owned(),
        };
        format!(
            "do\nlocal k, r\n{first}local function take(k, r, stored)\n{body}end\nif r then take(k, r, {stored}) end\nend\n"
        )
    }

    fn scan(&self, limit: &str, with_parts: bool, take: &str) -> String {
        let How::Between { low, high, is_index, .. } = &self.how else { return String::new() };
        let Self { table, part, is_descending, .. } = self;
        let key_in = if *is_index { "key_of" } else { "own_key" };
        let matches = self.matches.as_deref().unwrap_or("nil");
        let code = literal(&code(table.name));
        format!(
            "scan({part}, {code}, {key_in}, {low}, {high}, {is_descending}, {limit}, {matches}, {with_parts}, {take})\n"
        )
    }

    /// Assigns the number of records to a variable, without the one with a key, which is an expression or empty.
    pub(super) fn count(
        &self,
        to: &str,
        except: &str,
        emitter: &mut Emitter,
        index: Option<&Index>,
    ) -> String {
        let Self { part, table, .. } = self;
        let is_other = match except.is_empty() {
            true => "true".to_owned(),
            false => format!("k ~= {except}"),
        };
        let each = format!("if {is_other} then {to} = {to} + 1 end\n");
        let How::Between { low, high, .. } = &self.how else { return self.each(&each, false) };
        if self.matches.is_some() {
            let count = format!("function(k, r)\n{each}end");
            return self.guarded(&self.scan("-1", false, &count));
        }
        let mut code = format!("{to} = call('ZLEXCOUNT', {part}.order, {low}, {high})\n");
        if !except.is_empty() {
            let entry = match index {
                Some(index) => format!("{}(except, row)", emitter.entry_function(table, index)),
                None => format!("{} .. except", literal(&crate::schema::code(table.name))),
            };
            code.push_str(&format!(
                "local except = {except}\nlocal row = {to} > 0 and get({part}, {})\nlocal entry = row and {entry}\nif entry and not is_less(entry, sub({low}, 2)) and is_less(entry, sub({high}, 2)) then {to} = {to} - 1 end\n",
                self.field("except")
            ));
        }
        self.guarded(&format!("do\n{code}end\n"))
    }

    /// The expressions for a record and its parts in an answer, which are read.
    pub(super) fn shown(&self, wanted: PartSet, k: &str, r: &str) -> String {
        let field = format!("{} .. '\\254'", self.field(k));
        let stored = format!("get({}, {field})", self.part);
        shown(self.table, wanted, self.part, &self.field(k), r, &stored)
    }

    /// The same, of parts that are in a variable.
    pub(super) fn shown_with(&self, wanted: PartSet, k: &str, r: &str, stored: &str) -> String {
        shown(self.table, wanted, self.part, &self.field(k), r, stored)
    }

    pub(super) fn limit(&self) -> &str {
        &self.limit
    }

    pub(super) fn is_single(&self) -> bool {
        self.is_single
    }
}

/// The expressions for a record in an answer, and for these parts.
pub(super) fn shown(
    table: &Table,
    wanted: PartSet,
    part: &str,
    field: &str,
    r: &str,
    stored: &str,
) -> String {
    match wanted_bits(table, wanted) {
        0 => format!("{r}, false"),
        bits => {
            format!(
                "{r}, byte({r}) == 1 and beside({part}, {field}, {stored}, {bits}, {r}) or {stored}"
            )
        }
    }
}

/// The parts of a table that are wanted, as bits; and the highest bit, if also a veiled one is.
pub(super) fn wanted_bits(table: &Table, parts: PartSet) -> u32 {
    let wanted = (0..table.parts.len()).filter(|part| parts.has(*part));
    let bits = wanted.fold(0, |bits, part| bits | 1 << part);
    let is_asked = table.veiled.as_ref().is_some_and(|veil| parts.has(veil.part));
    let has_veiled = is_asked && parts.has_veiled();
    if has_veiled { bits | 1 << 31 } else { bits }
}

/// The length of values, which is known if all of them are.
pub(super) fn length_of(places: &[Place]) -> Option<Piece> {
    let bound = |place: &Place| match place {
        Place::Bound(value) => Some(*value),
        _ => None,
    };
    places.iter().map(bound).collect::<Option<Vec<_>>>().map(Piece::Length)
}
