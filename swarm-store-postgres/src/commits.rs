//! Commits: a temporary function for each shape of a transaction, which makes many transactions of the shape one after another.
//!
//! Its values are in three arrays: numbers, texts and bytes, those of one transaction after those of another. In its body, all
//! names of variables have a digit, which no name of a column has. The state of the log and of sequences is in variables, and
//! is written once.
//!
//! Writes are made in a loop, so that their number does not matter to the shape.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use swarm_core::domain::Seq;
use swarm_core::store::backend::shape::{
    AppendShape, Bindings, CheckShape, LimitShape, Place, RangeShape, TransactionShape, WriteShape,
    of_transaction, of_write,
};
use swarm_core::store::backend::{
    Assigned, ColumnKind, CommitOutcome as Committed, Decision, Head, Item, Kind as Mode, LOG,
    PartSet, Table, Term, Transaction, Value, Write,
};
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, Result, StoreError};
use tokio_postgres::Row;

use crate::failure::{Failure, LAYOUT, Outcome};
use crate::schema::Schema;
use crate::script::Script;
use crate::sql::{Kind, Slot, Slots, Source, Style, column, record};
use crate::values::{Fields, commit_id, escaped, number_of, timestamp, unsigned};

/// How long a transaction is recognized that no record of its own identifies, in milliseconds.
const ATTEMPTS_MILLIS: i64 = 600_000;

/// What becomes of a transaction; a check that is not met has its position instead.
const COMMITTED: i32 = -1;
const REPEATED: i32 = -2;
const CLOCK_BEHIND: i32 = -3;
const ANOTHER_LOG: i32 = -4;
const WENT_BACK: i32 = -5;

/// Values as a function takes them.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub(crate) numbers: Vec<Option<i64>>,
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) bytes: Vec<Option<Vec<u8>>>,
}

/// Kinds of writes, each with its values.
type Kinds = Vec<(WriteShape, Vec<(Slot, Kind)>)>;

/// A function that makes transactions.
#[derive(Debug)]
pub(crate) struct CommitScript {
    pub(crate) script: Script,
    slots: Vec<(Slot, Kind)>,
    kinds: Kinds,
    /// The table and the parts of the record that shows a repetition.
    repeated: Option<(&'static Table, PartSet)>,
    /// For each check, the table of the record that it may find.
    found: Vec<Option<&'static Table>>,
}

/// A function that makes the writes of a load.
#[derive(Debug)]
pub(crate) struct LoadScript {
    pub(crate) script: Script,
    kinds: Kinds,
}

/// The key of a transaction's function: its shape without its writes, and the kinds of these.
pub(crate) type CommitKey = (TransactionShape, Vec<WriteShape>);

impl Values {
    fn add(&mut self, slots: &[(Slot, Kind)], from: &Bindings<'_>) {
        for (slot, kind) in slots {
            let value = match slot {
                Slot::Value(position) => from.values.get(*position).map(AsRef::as_ref),
                Slot::Text(position) => {
                    let text = from.texts.get(*position).and_then(Option::as_deref);
                    self.texts.push(text.map(|text| escaped(text).into_owned()));
                    continue;
                }
            };
            match kind {
                Kind::Number => self.numbers.push(value.and_then(Value::integer)),
                Kind::Text => {
                    let text = value.and_then(Value::text);
                    self.texts.push(text.map(|text| escaped(text).into_owned()));
                }
                Kind::Bytes => self.bytes.push(value.and_then(Value::bytes).map(<[u8]>::to_vec)),
            }
        }
    }

    /// Adds writes, each after the number of its kind.
    fn add_writes(&mut self, kinds: &Kinds, writes: &[(WriteShape, Bindings<'_>)]) {
        for (shape, values) in writes {
            let kind = (0..).zip(kinds).find(|(_, (kind, _))| kind == shape);
            if let Some((number, (_, slots))) = kind {
                self.numbers.push(Some(number));
                self.add(slots, values);
            }
        }
    }

    /// The approximate length of what is sent.
    pub(crate) fn len(&self) -> usize {
        let texts = self.texts.iter().flatten().map(String::len).sum::<usize>();
        self.bytes.iter().flatten().map(Vec::len).sum::<usize>() + texts + self.numbers.len() * 8
    }
}

/// The kinds of writes, in an order that does not depend on theirs.
fn kinds_of(writes: &[(WriteShape, Bindings<'_>)]) -> Vec<WriteShape> {
    let mut kinds: Vec<&WriteShape> = Vec::new();
    for (shape, _) in writes {
        if !kinds.contains(&shape) {
            kinds.push(shape);
        }
    }
    kinds.sort_by_cached_key(|shape| {
        let mut hasher = DefaultHasher::new();
        shape.hash(&mut hasher);
        hasher.finish()
    });
    kinds.into_iter().cloned().collect()
}

/// Returns the function of a transaction, which `script` finds, and its values.
pub(crate) fn encoded(
    mut transaction: Transaction,
    script: impl FnOnce(CommitKey) -> Arc<CommitScript>,
) -> (Arc<CommitScript>, Values) {
    let writes = std::mem::take(&mut transaction.writes);
    let writes: Vec<_> = writes.iter().map(of_write).collect();
    let (shape, bindings) = of_transaction(&transaction);
    let script = script((shape, kinds_of(&writes)));
    let CommitScript { slots, kinds, .. } = &*script;
    let mut values = Values::default();
    let seen = &transaction.seen;
    let compared = seen.compared().map_or(0, |size| size.0);
    values.numbers.extend([integer(seen.log), integer(compared)]);
    values.bytes.push(Some(transaction.id.0.to_vec()));
    values.bytes.push(seen.commit.map(|commit| commit.0.to_vec()));
    // The number of writes, and the ends of the values, for a transaction that is refused.
    let ends = values.numbers.len();
    values.numbers.extend([None; 4]);
    values.add(slots, &bindings);
    values.add_writes(kinds, &writes);
    let lengths = [writes.len(), values.numbers.len(), values.texts.len(), values.bytes.len()];
    for (place, length) in values.numbers.iter_mut().skip(ends).zip(lengths) {
        *place = i64::try_from(length).ok();
    }
    (script, values)
}

fn integer(number: u64) -> Option<i64> {
    Value::from(number).integer()
}

/// Returns the function that makes writes of a load, which `script` finds, and its values.
pub(crate) fn encoded_load(
    items: impl IntoIterator<Item = Write>,
    script: impl FnOnce(Vec<WriteShape>) -> Arc<LoadScript>,
) -> (Arc<LoadScript>, Values) {
    let items: Vec<_> = items.into_iter().collect();
    let writes: Vec<_> = items.iter().map(of_write).collect();
    let script = script(kinds_of(&writes));
    let mut values = Values::default();
    values.numbers.push(i64::try_from(writes.len()).ok());
    values.add_writes(&script.kinds, &writes);
    (script, values)
}

/// The write of an item, unless it is the number of a sequence.
pub(crate) fn write_of(item: Item) -> Option<Write> {
    match item {
        Item::Write(write) => Some(write),
        Item::Sequence(..) => None,
        Item::Entry(_, entry) => {
            let row = entry.into_row();
            let columns = row.columns.iter().cloned().map(Term::Value).collect();
            Some(Write::Insert { table: &LOG, columns, body: row.body })
        }
    }
}

const TENANT: &str = "tenant1";

impl CommitScript {
    /// Compiles a function.
    pub(crate) fn compile(
        shape: &TransactionShape,
        writes: &[WriteShape],
        schema: &Schema,
    ) -> Self {
        // The position of the log that was seen, and the number of the writes with the ends of all values.
        const NUMBERS: usize = 6;
        let slots = Slots::new(Style::Arrays("b", NUMBERS, 2));
        let mut compiler = Compiler { slots, sums: sums(shape, writes) };
        let decision = compiler.decision(shape);
        let evidence = compiler.evidence(shape);
        let mut changes = compiler.assignments(shape);
        let entries: Vec<_> = shape.entries.iter().map(|entry| compiler.append(entry)).collect();
        let Compiler { slots: Slots { slots, .. }, sums } = compiler;
        let count = |kind| slots.iter().filter(|(_, it)| *it == kind).count();
        let lengths = [count(Kind::Number) + NUMBERS, count(Kind::Text), count(Kind::Bytes) + 2];
        let (steps, kinds) = steps(writes, "n1[bn1 + 3]", &sums);
        changes.push(each_cursor(lengths, |array, length| {
            format!("c{array}1 := b{array}1 + {length};")
        }));
        changes.push(steps);
        changes.extend(entries);
        let is_announced = is_announced(shape, writes);
        let body =
            function(shape, is_announced, &sums, [&decision, &evidence, &changes.join("\n")]);
        let signature = "(tenant1 text, patience1 bigint, count1 bigint, n1 bigint[], t1 text[], b1 bytea[])
            RETURNS TABLE (outcome0 integer, at0 bigint, numbers0 bigint[], log0 bigint, size0 bigint, last0 bigint,
                commit0 bytea, found0 bytea)";
        let found = |check: &CheckShape| match check {
            CheckShape::None(range, _) => Some(range.table),
            _ => None,
        };
        Self {
            script: Script::of_function(signature, &schema.qualify(&body)),
            slots,
            kinds,
            repeated: shape.repetition.as_ref().map(|(range, _)| (range.table, range.parts)),
            found: shape.checks.iter().map(found).collect(),
        }
    }

    /// Returns what became of a transaction, from its row.
    pub(crate) fn outcome(&self, row: &Row, op: &'static str) -> Outcome<Result<Committed>> {
        let head = Head {
            log: number_of(row, 3)?,
            size: Seq(number_of(row, 4)?),
            at: row.try_get::<_, Option<i64>>(5)?.map(timestamp).transpose()?,
            commit: row.try_get::<_, Option<&[u8]>>(6)?.map(commit_id).transpose()?,
        };
        let record = |table, parts| -> Outcome<_> {
            let found: Option<Fields<'_>> = row.try_get(7)?;
            found.map(|mut fields| fields.record(table, parts)).transpose()
        };
        let decision = match row.try_get(0)? {
            ANOTHER_LOG => return Ok(Err(StoreError::contended(op, "another log has begun"))),
            WENT_BACK => return Ok(Err(StoreError::went_back(op))),
            CLOCK_BEHIND => return Ok(Err(StoreError::clock_behind(op))),
            COMMITTED => committed(row)?,
            REPEATED => match self.repeated {
                Some((table, parts)) => {
                    let found = record(table, parts)?;
                    Decision::Repeated(found.ok_or_else(|| Failure::corrupt("no repetition"))?)
                }
                None => committed(row)?,
            },
            check => {
                let check = usize::try_from(check).map_err(|_| Failure::corrupt("no check"))?;
                let table = self.found.get(check).copied().flatten();
                let found = table.map(|table| record(table, PartSet::NONE)).transpose()?;
                Decision::Failed { check, found: found.flatten() }
            }
        };
        Ok(Ok(Committed { head, decision }))
    }
}

fn committed(row: &Row) -> Outcome<Decision> {
    let numbers: Vec<i64> = row.try_get(2)?;
    let numbers = numbers.into_iter().map(unsigned).collect::<Outcome<_>>()?;
    Ok(Decision::Committed(Assigned { at: timestamp(row.try_get(1)?)?, numbers }))
}

/// The sequences of a transaction, each with whether it is written. That with the position N is in the variable `sN`.
type Sums = Vec<(&'static str, bool)>;

fn sums(shape: &TransactionShape, writes: &[WriteShape]) -> Sums {
    let mut sums = Sums::new();
    let mut add = |name, is_written| match sums.iter_mut().find(|(known, _)| *known == name) {
        Some((_, written)) => *written |= is_written,
        None => sums.push((name, is_written)),
    };
    for check in &shape.checks {
        if let CheckShape::Sum(name, _) = check {
            add(name, false);
        }
    }
    shape.sequences.iter().for_each(|name| add(name, true));
    for write in writes {
        if let WriteShape::Add(name, _) = write {
            add(name, true);
        }
    }
    sums
}

/// The body of a function: `decision` finds what becomes of a transaction, `evidence` the record that shows it, `changes` makes it.
fn function(
    shape: &TransactionShape,
    is_announced: bool,
    sums: &Sums,
    [decision, evidence, changes]: [&str; 3],
) -> String {
    let mut declared = String::new();
    for place in 0..sums.len() {
        let _ = write!(declared, " s{place} bigint;");
    }
    let assigned = shape.sequences.len() + usize::from(shape.kind == Mode::AcceptLog);
    for place in 0..assigned {
        let _ = write!(declared, " a{place} bigint;");
    }
    let numbers: Vec<_> = (0..assigned).map(|place| format!("a{place}")).collect();
    let numbers = numbers.join(", ");
    let read: Vec<_> = sums.iter().map(|(name, _)| format!(
        "coalesce((SELECT number FROM swarm.sequences WHERE tenant = tenant1 AND name = '{name}'), 0)"
    )).collect();
    let into: Vec<_> = (0..sums.len()).map(|place| format!("s{place}")).collect();
    let read = match sums.is_empty() {
        true => String::new(),
        false => format!("SELECT {} INTO {};", read.join(", "), into.join(", ")),
    };
    let written = sums.iter().zip(&into).filter(|((_, is_written), _)| *is_written);
    let written: Vec<_> =
        written.map(|((name, _), sum)| format!("(tenant1, '{name}', {sum})")).collect();
    let mut end = String::new();
    if !written.is_empty() {
        let _ = write!(
            end,
            "INSERT INTO swarm.sequences (tenant, name, number) VALUES {}
                ON CONFLICT (tenant, name) DO UPDATE SET number = excluded.number;",
            written.join(", ")
        );
    }
    let mut attempt = String::new();
    if shape.repetition.is_none() {
        attempt = format!(
            "INSERT INTO swarm.attempts (tenant, attempt, made_at, at, numbers)
                VALUES (tenant1, id1, clock1, at1, ARRAY[{numbers}]::bigint[]);"
        );
        let _ = write!(
            end,
            "DELETE FROM swarm.attempts WHERE tenant = tenant1 AND made_at < clock1 - {ATTEMPTS_MILLIS};"
        );
    }
    let announced = i32::from(is_announced);
    if announced == 1 || !shape.entries.is_empty() {
        let _ = write!(
            end,
            "UPDATE swarm.tenants SET log = log1, seq = seq1, last_at = last1, last_commit = commit1,
                commits = commits + {announced} WHERE tenant = tenant1;"
        );
    }
    let seen = match shape.kind {
        Mode::Usual | Mode::AcceptClock => format!(
            "IF n1[bn1 + 2] > 0 THEN
              IF n1[bn1 + 2] = seq1 THEN
                seen1 := commit1;
              ELSE
                IF looked1 IS DISTINCT FROM n1[bn1 + 2] THEN
                  looked1 := n1[bn1 + 2];
                  found1 := (SELECT commit_id FROM swarm.log WHERE tenant = tenant1 AND seq = looked1);
                END IF;
                seen1 := found1;
              END IF;
              IF log1 > n1[bn1 + 1] THEN
                outcome0 := {ANOTHER_LOG};
              ELSIF log1 <> n1[bn1 + 1] OR seen1 IS NULL OR seen1 IS DISTINCT FROM b1[bb1 + 2] THEN
                outcome0 := {WENT_BACK};
              END IF;
            END IF;"
        ),
        Mode::AcceptLog | Mode::Aside => String::new(),
    };
    let time = match shape.kind {
        Mode::Usual | Mode::AcceptLog => "greatest(clock1, last1)",
        Mode::AcceptClock | Mode::Aside => "clock1",
    };
    let next = match shape.kind {
        Mode::AcceptLog => "log1 := a0;",
        _ => "",
    };
    format!(
        "
#variable_conflict use_column
DECLARE
  state1 swarm.state := swarm.begin_commits(tenant1, patience1, {LAYOUT});
  clock1 bigint := state1.clock; log1 bigint := state1.log; seq1 bigint := state1.seq; last1 bigint := state1.last_at;
  commit1 bytea := state1.last_commit; id1 bytea; at1 bigint; looked1 bigint; found1 bytea; seen1 bytea; made1 integer := 0;
  bn1 integer := 0; bt1 integer := 0; bb1 integer := 0; cn1 integer; ct1 integer; cb1 integer; before1 bigint; rows1 bigint;
  met1 boolean; any1 boolean;{declared}
BEGIN
  {read}
  FOR transaction1 IN 1 .. count1 LOOP
    outcome0 := NULL; at0 := NULL; numbers0 := NULL; found0 := NULL;
    id1 := b1[bb1 + 1]; before1 := seq1;
    {seen}
    IF outcome0 IS NULL THEN
      at1 := {time};
      {decision}
      IF outcome0 = {COMMITTED} THEN
        {changes}
        IF seq1 > before1 THEN
          last1 := at1; commit1 := id1; {next}
        END IF;
        {attempt}
        at0 := at1; numbers0 := ARRAY[{numbers}]::bigint[]; made1 := made1 + 1;
      ELSE
        {evidence}
      END IF;
    END IF;
    log0 := log1; size0 := seq1; last0 := last1; commit0 := commit1;
    bt1 := bt1 + n1[bn1 + 5]; bb1 := bb1 + n1[bn1 + 6]; bn1 := bn1 + n1[bn1 + 4];
    RETURN NEXT;
  END LOOP;
  IF made1 > 0 THEN
    {end}
  END IF;
END "
    )
}

/// Whether the change feed announces what a transaction changes.
fn is_announced(shape: &TransactionShape, writes: &[WriteShape]) -> bool {
    let is_lasting = |write: &WriteShape| match write {
        WriteShape::Insert(table, ..) | WriteShape::Put(table, ..) => !table.is_transient,
        WriteShape::Set(range, ..) | WriteShape::Remove(range) => !range.table.is_transient,
        WriteShape::Add(..) => true,
    };
    shape.kind != Mode::Aside && (!shape.entries.is_empty() || writes.iter().any(is_lasting))
}

impl LoadScript {
    /// Compiles a function.
    pub(crate) fn compile(kinds: &[WriteShape], schema: &Schema) -> Self {
        let (looped, kinds) = steps(kinds, "n1[1]", &Sums::new());
        let body = format!(
            "
#variable_conflict use_column
DECLARE
  cn1 integer := 1; ct1 integer := 0; cb1 integer := 0;
BEGIN
  {looped}
END "
        );
        let signature = "(tenant1 text, n1 bigint[], t1 text[], b1 bytea[]) RETURNS void";
        Self { script: Script::of_function(signature, &schema.qualify(&body)), kinds }
    }
}

/// A loop over writes of these kinds, whose values follow each other at a cursor.
fn steps(kinds: &[WriteShape], count: &str, sums: &Sums) -> (String, Kinds) {
    let mut cases = String::new();
    let mut compiled = Kinds::new();
    for (number, shape) in kinds.iter().enumerate() {
        // The number of the kind comes first.
        let slots = Slots::new(Style::Arrays("c", 1, 0));
        let mut compiler = Compiler { slots, sums: sums.clone() };
        let write = compiler.write(shape);
        let slots = compiler.slots.slots;
        let count = |kind| slots.iter().filter(|(_, it)| *it == kind).count();
        let lengths = [count(Kind::Number) + 1, count(Kind::Text), count(Kind::Bytes)];
        let advance =
            each_cursor(lengths, |array, length| format!("c{array}1 := c{array}1 + {length};"));
        let _ = write!(cases, "\nWHEN {number} THEN {write} {advance}");
        compiled.push((shape.clone(), slots));
    }
    let looped = match kinds.is_empty() {
        true => String::new(),
        false => {
            format!("FOR step1 IN 1 .. {count} LOOP CASE n1[cn1 + 1]{cases} END CASE; END LOOP;")
        }
    };
    (looped, compiled)
}

/// Statements about the cursors of numbers, texts and bytes, of which there are so many.
fn each_cursor(lengths: [usize; 3], each: impl Fn(&str, usize) -> String) -> String {
    let each = ["n", "t", "b"].iter().zip(lengths).map(|(name, length)| each(name, length));
    each.collect::<Vec<_>>().join(" ")
}

/// Generates the statements of a function.
struct Compiler {
    slots: Slots,
    sums: Sums,
}

impl Compiler {
    fn sum(&self, name: &str) -> String {
        let place = self.sums.iter().position(|(known, _)| *known == name);
        format!("s{}", place.unwrap_or_default())
    }

    fn source(&mut self, range: &RangeShape) -> Source {
        Source::of(range, TENANT, &mut self.slots)
    }

    /// Sets `outcome0`: one small statement after another, because one that has all of them takes longer to begin.
    fn decision(&mut self, shape: &TransactionShape) -> String {
        let repeated = match &shape.repetition {
            Some((range, position)) => {
                let column = column(range.table, *position);
                self.source(range).first().select(&format!("{column} = id1 INTO met1"))
            }
            None => {
                "SELECT true INTO met1 FROM swarm.attempts WHERE tenant = tenant1 AND attempt = id1"
                    .to_owned()
            }
        };
        let mut checks =
            format!("outcome0 := {REPEATED}; {repeated}; any1 := FOUND; EXIT checks1 WHEN met1;");
        if shape.kind == Mode::Usual {
            let _ = write!(
                checks,
                "\noutcome0 := {CLOCK_BEHIND}; EXIT checks1 WHEN at1 - clock1 > {CLOCK_TOLERANCE_MILLIS};"
            );
        }
        for (place, check) in shape.checks.iter().enumerate() {
            let check = self.check(check, shape);
            let _ = write!(checks, "\noutcome0 := {place}; {check}");
        }
        format!("<<checks1>> BEGIN\n{checks}\noutcome0 := {COMMITTED};\nEND;")
    }

    /// Exits unless a check is met.
    fn check(&mut self, check: &CheckShape, shape: &TransactionShape) -> String {
        const UNLESS_MET: &str = "EXIT checks1 WHEN met1 IS NOT TRUE;";
        const IF_FOUND: &str = "EXIT checks1 WHEN FOUND;";
        match check {
            CheckShape::Version(table, key, expected) => {
                let source = self.source(&key_range(table, key));
                match expected {
                    Some(expected) => {
                        let met = format!("version = {} INTO met1", self.slots.number(*expected));
                        format!("{}; {UNLESS_MET}", source.select(&met))
                    }
                    None => format!("{}; {IF_FOUND}", source.select("true INTO met1")),
                }
            }
            CheckShape::NotAfter(time) => {
                format!("EXIT checks1 WHEN at1 > {};", self.slots.number(*time))
            }
            CheckShape::First { range, column: position, value, version } => {
                let value = self.slots.column(range.table, *position, *value);
                let mut met =
                    format!("{} IS NOT DISTINCT FROM {value}", column(range.table, *position));
                if let Some(version) = version {
                    let _ = write!(met, " AND version = {}", self.slots.number(*version));
                }
                format!(
                    "{}; {UNLESS_MET}",
                    self.source(range).first().select(&(met + " INTO met1"))
                )
            }
            CheckShape::AtMost(range, position, most) => {
                let most = self.slots.column(range.table, *position, *most);
                let (records, column) =
                    (self.source(range).select("*"), column(range.table, *position));
                format!(
                    "SELECT true INTO met1 FROM ({records}) AS r WHERE {column} > {most} LIMIT 1; {IF_FOUND}"
                )
            }
            CheckShape::None(range, except) => {
                let records = self.source(range).select("*");
                let except_key = self.except(range, except);
                let exit = format!(
                    "SELECT true INTO met1 FROM ({records}) AS r{except_key} LIMIT 1; {IF_FOUND}"
                );
                match self.is_same(range, shape) {
                    // The search for a repetition has found it already.
                    Some(same) if except.is_empty() => {
                        format!("IF {same} THEN EXIT checks1 WHEN any1; ELSE {exit} END IF;")
                    }
                    _ => exit,
                }
            }
            CheckShape::Count { range, except, least, most } => {
                let (least, most) = (self.slots.number(*least), self.slots.number(*most));
                let except = self.except(range, except);
                let enough = format!("least({most}, {} - 1) + 1", i64::MAX);
                let count = self.source(range).count(range, &except, Some(&enough));
                format!("met1 := ({count}) BETWEEN {least} AND {most}; {UNLESS_MET}")
            }
            CheckShape::Sum(name, most) => {
                let (sum, most) = (self.sum(name), self.slots.number(*most));
                format!("EXIT checks1 WHEN {sum} > {most};")
            }
        }
    }

    /// The condition that a range is the one in which a repetition is searched; `None` if it cannot be.
    fn is_same(&mut self, range: &RangeShape, shape: &TransactionShape) -> Option<String> {
        let (other, _) = shape.repetition.as_ref()?;
        let without = |range: &RangeShape| RangeShape {
            prefix: Vec::new(),
            parts: PartSet::NONE,
            ..range.clone()
        };
        let is_same = without(range) == without(other) && range.limit == LimitShape::One;
        if !is_same || range.prefix.len() != other.prefix.len() {
            return None;
        }
        let columns = range.table.indexed(range.index);
        let equal = columns.iter().zip(range.prefix.iter().zip(&other.prefix));
        let equal = equal.map(|(position, (one, other))| {
            let (one, other) = (
                self.slots.column(range.table, *position, *one),
                self.slots.column(range.table, *position, *other),
            );
            format!("{one} = {other}")
        });
        Some(equal.collect::<Vec<_>>().join(" AND "))
    }

    /// The condition that a record `r` is not the one with a key.
    fn except(&mut self, range: &RangeShape, key: &[Place]) -> String {
        match key.is_empty() {
            true => String::new(),
            false => format!(" WHERE NOT ({})", self.slots.has_key(range.table, key)),
        }
    }

    /// Finds what an outcome shows beside it.
    fn evidence(&mut self, shape: &TransactionShape) -> String {
        let mut evidence = String::new();
        match &shape.repetition {
            Some((range, _)) => {
                let record = record("r.", range.table, range.parts);
                let records = self.source(range).first().select("*");
                let _ = write!(
                    evidence,
                    "IF outcome0 = {REPEATED} THEN found0 := (SELECT record_send({record}) FROM ({records}) AS r); END IF;"
                );
            }
            None => {
                let _ = write!(
                    evidence,
                    "IF outcome0 = {REPEATED} THEN
                       SELECT at, numbers INTO at0, numbers0 FROM swarm.attempts WHERE tenant = tenant1 AND attempt = id1;
                     END IF;"
                );
            }
        }
        for (place, check) in shape.checks.iter().enumerate() {
            if let CheckShape::None(range, except) = check {
                let record = record("r.", range.table, PartSet::NONE);
                let source = self.source(range);
                let (records, order) = (source.select("*"), source.order("r."));
                let except = self.except(range, except);
                let _ = write!(
                    evidence,
                    "\nIF outcome0 = {place} THEN
                       found0 := (SELECT record_send({record}) FROM ({records}) AS r{except}{order} LIMIT 1);
                     END IF;"
                );
            }
        }
        evidence
    }

    /// Takes the numbers that a transaction assigns.
    fn assignments(&self, shape: &TransactionShape) -> Vec<String> {
        let mut assignments = Vec::new();
        if shape.kind == Mode::AcceptLog {
            assignments.push("a0 := greatest(log1, n1[bn1 + 1]) + 1;".to_owned());
        }
        for name in &shape.sequences {
            let (place, sum) = (assignments.len(), self.sum(name));
            assignments.push(format!("{sum} := {sum} + 1; a{place} := {sum};"));
        }
        assignments
    }

    fn write(&mut self, write: &WriteShape) -> String {
        match write {
            WriteShape::Insert(table, columns, text) => self.insert(table, columns, *text) + ";",
            WriteShape::Put(table, columns, text) => {
                let insert = self.insert(table, columns, *text);
                let names = table.columns.iter().skip(table.key).map(|column| column.name);
                let names = names.chain(table.parts.iter().copied());
                let set: String =
                    names.map(|name| format!("\"{name}\" = excluded.\"{name}\", ")).collect();
                let key: String =
                    (0..table.key).map(|it| format!(", {}", column(table, it))).collect();
                format!(
                    "{insert} ON CONFLICT (tenant{key}) DO UPDATE SET {set}version = stored.version + 1;"
                )
            }
            WriteShape::Set(range, position, value) => {
                let value = self.slots.column(range.table, *position, *value);
                let (ids, column) = (self.source(range).row_ids(), column(range.table, *position));
                format!("UPDATE swarm.{} SET {column} = {value} WHERE {ids};", range.table.name)
            }
            WriteShape::Remove(range) => {
                let ids = self.source(range).row_ids();
                format!("DELETE FROM swarm.{} WHERE {ids};", range.table.name)
            }
            WriteShape::Add(name, amount) => {
                let (sum, amount) = (self.sum(name), self.slots.number(*amount));
                format!("{sum} := greatest({sum} + {amount}, 0);")
            }
        }
    }

    fn insert(&mut self, table: &Table, columns: &[Place], text: usize) -> String {
        let names = table.columns.iter().map(|column| column.name);
        let names: String =
            names.chain(table.parts.iter().copied()).map(|name| format!(", \"{name}\"")).collect();
        let mut values = String::new();
        for (position, place) in columns.iter().enumerate() {
            let _ = write!(values, ", {}", self.slots.column(table, position, *place));
        }
        for part in 0..table.parts.len() {
            let _ = write!(values, ", {}", self.slots.text(text + part));
        }
        let name = table.name;
        format!("INSERT INTO swarm.{name} AS stored (tenant{names}) VALUES (tenant1{values})")
    }

    fn append(&mut self, entry: &AppendShape) -> String {
        match entry {
            AppendShape::Entry { topic, assigned, reference, text } => {
                let topic = topic.map(|topic| self.slots.place(topic, ColumnKind::Integer));
                let topic = topic.unwrap_or_else(|| "NULL".to_owned());
                let assigned = assigned.map_or_else(|| "NULL".to_owned(), |it| format!("a{it}"));
                let (refers, key) = match reference {
                    Some((table, key)) => {
                        (format!("'{}'", table.name), self.slots.place(*key, ColumnKind::Integer))
                    }
                    None => ("NULL".to_owned(), "NULL".to_owned()),
                };
                let text = self.slots.text(*text);
                format!(
                    "seq1 := seq1 + 1;
                     INSERT INTO swarm.log (tenant, seq, at, commit_id, topic, assigned, refers, record, entry)
                       VALUES (tenant1, seq1, at1, id1, {topic}, {assigned}, {refers}, {key}, {text});"
                )
            }
            AppendShape::Each(range, text) => {
                let source = self.source(range);
                let (records, order) = (source.select("*"), source.order("r."));
                let (table, key) = (range.table.name, column(range.table, 0));
                let text = self.slots.text(*text);
                format!(
                    "INSERT INTO swarm.log (tenant, seq, at, commit_id, refers, record, entry)
                       SELECT tenant1, seq1 + row_number() OVER ({order}), at1, id1, '{table}', r.{key}, {text}
                       FROM ({records}) AS r;
                     GET DIAGNOSTICS rows1 = ROW_COUNT;
                     seq1 := seq1 + rows1;"
                )
            }
        }
    }
}

/// The record with a key, as a range.
fn key_range(table: &'static Table, key: &[Place]) -> RangeShape {
    RangeShape {
        table,
        index: None,
        prefix: key.to_vec(),
        after: None,
        before: None,
        is_descending: false,
        having: None,
        limit: LimitShape::One,
        bytes: None,
        parts: PartSet::NONE,
        join: None,
    }
}
