//! The places at which a call of the record layer can be changed, and the changes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::store::backend::{
    Answer, Append, Body, Check, Entries, Item, Kind, Operation, PartSet, Query, Range, Reading,
    Term, Transaction, Value, Write,
};
use swarm_core::{TenantId, Timestamp};

/// The operation of a change that is made in all.
const EVERY: Operation = "every operation";

/// The operation that reads a snapshot. It reads in batches, so that it needs little memory.
pub(super) const DUMP: Operation = "dump";

/// A change of what an operation of the record layer asks of its backend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mutation {
    pub(crate) op: Operation,
    pub(crate) what: String,
}

/// Which change is made, if one is.
pub(crate) struct Plan {
    made: Option<Mutation>,
    /// Those that could be made.
    possible: Mutex<BTreeSet<Mutation>>,
    calls: AtomicUsize,
    /// The number of calls after which it is clear that a case does not end.
    most_calls: usize,
}

impl Plan {
    pub(crate) fn survey() -> Self {
        let (possible, calls) = (Mutex::default(), AtomicUsize::new(0));
        Self { made: None, possible, calls, most_calls: usize::MAX }
    }

    pub(crate) fn mutant(mutation: &Mutation, most_calls: usize) -> Self {
        Self { made: Some(mutation.clone()), most_calls, ..Self::survey() }
    }

    /// The changes that could have been made, and the number of calls.
    pub(crate) fn surveyed(&self) -> (BTreeSet<Mutation>, usize) {
        (self.possible.lock().unwrap().clone(), self.calls.load(Ordering::Relaxed))
    }

    /// Counts a call.
    pub(crate) fn call(&self) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(calls < self.most_calls, "it does not end");
    }

    /// Returns whether the mutant under test makes this change. Without a mutant, the change is recorded as a possible one.
    pub(crate) fn makes(&self, op: Operation, what: fmt::Arguments<'_>) -> bool {
        match &self.made {
            Some(made) => made.op == op && made.what == what.to_string(),
            None => {
                self.possible.lock().unwrap().insert(Mutation { op, what: what.to_string() });
                false
            }
        }
    }
}

/// Changes the calls of an operation. A change has the name of the thing that it changes and, after a colon, what is done to it; it
/// is made in all things with that name.
pub(crate) struct Sites<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) op: Operation,
}

macro_rules! makes {
    ($sites:expr, $($what:tt)+) => {
        $sites.plan.makes($sites.op, format_args!($($what)+))
    };
}

impl Sites<'_> {
    pub(crate) fn makes_in_every(&self, what: &str) -> bool {
        self.plan.makes(EVERY, format_args!("{what}"))
    }

    pub(crate) fn tenant(&self, tenant: &TenantId) -> TenantId {
        match self.makes_in_every("tenant: one for all") {
            true => TenantId::parse("all").unwrap(),
            false => tenant.clone(),
        }
    }

    /// Changes a transaction. Whether its checks were reversed.
    pub(crate) fn transaction(&self, sent: &mut Transaction) -> bool {
        if sent.seen.compared().is_some() && self.makes_in_every("position of the log: unchecked") {
            sent.seen.size.0 = 0;
        }
        if sent.kind != Kind::Usual && makes!(self, "kind: usual") {
            sent.kind = Kind::Usual;
        }
        if sent.repetition.is_some() && makes!(self, "repetition: unrecognized") {
            sent.repetition = None;
        }
        let reverses = sent.checks.len() > 1
            && !sent.checks.iter().any(is_end_of_dry_run)
            && makes!(self, "checks: in another order");
        if reverses {
            sent.checks.reverse();
        }
        sent.checks.iter_mut().for_each(|check| self.check(check));
        let names: BTreeSet<_> = sent.sequences.iter().copied().collect();
        sent.sequences
            .extend(names.into_iter().filter(|name| makes!(self, "{name}: numbers left out")));
        sent.writes.retain(|write| !makes!(self, "{}: left out", name_of_write(write)));
        sent.writes.iter_mut().for_each(|write| self.write(write));
        sent.entries.retain(|entry| !makes!(self, "{}: left out", name_of_entry(entry)));
        for entry in &mut sent.entries {
            let name = name_of_entry(entry);
            match entry {
                Append::Entry { topic, assigned, .. } => {
                    if topic.is_some() && makes!(self, "{name}: no topic") {
                        *topic = None;
                    }
                    if assigned.is_some() && makes!(self, "{name}: no number") {
                        *assigned = None;
                    }
                }
                Append::Each { range, .. } => self.range(&name, range),
            }
        }
        reverses
    }

    fn check(&self, check: &mut Check) {
        let Some(name) = name_of_check(check) else { return };
        if makes!(self, "{name}: unchecked") {
            *check = Check::NotAfter(Timestamp::EPOCH.plus_millis(i64::MAX));
            return;
        }
        if is_end_of_dry_run(check) {
            return;
        }
        match check {
            Check::Version { .. } => {}
            Check::NotAfter(deadline) => {
                for (millis, change) in [(1, "later"), (-1, "earlier")] {
                    if makes!(self, "{name}: {change}") {
                        *deadline = deadline.plus_millis(millis);
                    }
                }
            }
            Check::First { range, version, .. } => {
                self.range(&name, range);
                self.order(&name, range);
                if version.is_some() && makes!(self, "{name}: at any version") {
                    *version = None;
                }
            }
            Check::AtMost { range, .. } => self.range(&name, range),
            Check::None { range, except } => {
                self.range(&name, range);
                self.except(&name, except);
            }
            Check::Count { range, except, least, most } => {
                self.range(&name, range);
                self.except(&name, except);
                if makes!(self, "{name}: one more") {
                    *most = most.saturating_add(1);
                }
                if *most > 0 && makes!(self, "{name}: one less") {
                    *most -= 1;
                }
                if *least > 0 && makes!(self, "{name}: any less") {
                    *least = 0;
                }
            }
            Check::Sum(_, most) => {
                if makes!(self, "{name}: one more") {
                    *most = most.saturating_add(1);
                }
            }
        }
    }

    fn except(&self, name: &str, except: &mut Vec<Term>) {
        if !except.is_empty() && makes!(self, "{name}: without exception") {
            except.clear();
        }
    }

    /// The columns and parts of a record are made by one function for all operations.
    fn write(&self, write: &mut Write) {
        let name = name_of_write(write);
        let every = Self { op: EVERY, ..*self };
        match write {
            Write::Insert { table, columns, body } | Write::Put { table, columns, body } => {
                let (name, null) = (table.name, Term::from(Value::Null));
                for (column, term) in table.columns.iter().zip(columns).skip(table.key) {
                    if *term != null && makes!(every, "{name}: no {}", column.name) {
                        *term = null.clone();
                    }
                }
                let written = body.written(table.parts.len());
                let text = |part| written.part(part).map(|it| it.into_owned().into_boxed_str());
                let mut texts: Vec<_> = (0..table.parts.len()).map(text).collect();
                for (part, text) in table.parts.iter().zip(&mut texts) {
                    if text.is_some() && makes!(every, "{name}: no {part}") {
                        *text = None;
                    }
                }
                *body = Body::of_texts(texts);
            }
            Write::Set { range, .. } | Write::Remove(range) => {
                self.range(&name, range);
                self.order(&name, range);
            }
            Write::Add(..) => {}
        }
    }

    /// Changes items of a load.
    pub(crate) fn items(&self, items: &mut Vec<Item>) {
        items.retain(|item| match item {
            Item::Write(write) => !makes!(self, "{}: left out", name_of_write(write)),
            Item::Sequence(name, _) => !makes!(self, "{name}: left out"),
            Item::Entry(..) => !makes!(self, "entry: left out"),
        });
        for item in items {
            match item {
                Item::Write(write) => self.write(write),
                Item::Sequence(..) => {}
                Item::Entry(log, entry) => {
                    if *log > 1 && makes!(self, "entry: of the first log") {
                        *log = 1;
                    }
                    if entry.topic.is_some() && makes!(self, "entry: no topic") {
                        entry.topic = None;
                    }
                    if entry.assigned.is_some() && makes!(self, "entry: no number") {
                        entry.assigned = None;
                    }
                }
            }
        }
    }

    /// Changes queries. Their names.
    pub(crate) fn queries(&self, queries: &mut [Query]) -> Vec<String> {
        let names = queries.iter().map(name_of_query).collect::<Vec<_>>();
        for (name, query) in names.iter().zip(queries) {
            match query {
                Query::Rows(range) => {
                    self.range(name, range);
                    self.order(name, range);
                    let is_list = range.limit < usize::MAX && self.is_met(range.limit > 1);
                    if is_list && self.op != DUMP && makes!(self, "{name}: no limit") {
                        range.limit = usize::MAX;
                    }
                }
                Query::Count(range) => self.range(name, range),
                Query::Entries(entries) => self.entries(name, entries),
                Query::Sequence(_) | Query::CommitOf(_) => {}
            }
        }
        names
    }

    fn entries(&self, name: &str, entries: &mut Entries) {
        if entries.topic.is_some() && makes!(self, "{name}: of any topic") {
            entries.topic = None;
        }
        if entries.after.0 > 0 && makes!(self, "{name}: from the first") {
            entries.after.0 = 0;
        }
        if entries.limit < usize::MAX && self.op != DUMP && makes!(self, "{name}: no limit") {
            entries.limit = usize::MAX;
        }
        if entries.parts == PartSet::SHOWN && makes!(self, "{name}: unveiled") {
            entries.parts = PartSet::ALL;
        }
    }

    fn range(&self, name: &str, range: &mut Range) {
        let is_key = range.index.is_none() && range.prefix.len() == range.table.key;
        let indexed = range.table.indexed(range.index);
        let last = range.prefix.len().checked_sub(1).and_then(|last| indexed.get(last));
        let last = last.and_then(|column| range.table.columns.get(*column));
        if last.is_some_and(|last| makes!(self, "{name}: of any {}", last.name)) {
            range.prefix.pop();
        }
        if range.parts == PartSet::SHOWN
            && range.table.veiled.is_some()
            && makes!(self, "{name}: unveiled")
        {
            range.parts = PartSet::ALL;
        }
        if is_key {
            return;
        }
        if range.after.is_some() && makes!(self, "{name}: from the first") {
            range.after = None;
        }
        if range.before.is_some() && makes!(self, "{name}: to the last") {
            range.before = None;
        }
        if range.having.is_some() && makes!(self, "{name}: having nothing") {
            range.having = None;
        }
        if range.bytes < usize::MAX && self.op != DUMP && makes!(self, "{name}: of any size") {
            range.bytes = usize::MAX;
        }
    }

    /// Changes the order of a range of which the first records count.
    fn order(&self, name: &str, range: &mut Range) {
        let columns = range.prefix.len();
        let is_single = match range.index.and_then(|index| range.table.indexes.get(index)) {
            Some(index) => index.is_unique && columns == index.columns.len(),
            None => columns == range.table.key,
        };
        let has_order = self.is_met(range.is_descending || range.limit < usize::MAX);
        if !is_single && has_order && makes!(self, "{name}: in the other order") {
            range.is_descending ^= true;
        }
    }

    /// Whether a change means something for a call, or is made of a call for which it means nothing: a query for a single record has the
    /// name of a query for several.
    fn is_met(&self, means_something: bool) -> bool {
        means_something || self.plan.made.is_some()
    }

    /// Changes the answers to queries with these names.
    pub(crate) fn answers(&self, names: &[String], reading: &mut Reading) {
        for (name, answer) in names.iter().zip(&mut reading.answers) {
            if let Answer::Commit(_) = answer {
                // That of a later log need not be compared.
                if makes!(self, "{name}: uncompared") {
                    reading.head.log = u64::MAX;
                }
            } else if makes!(self, "{name}: finds nothing") {
                match answer {
                    Answer::Rows { rows, joined, .. } => {
                        rows.clear();
                        joined.clear();
                    }
                    Answer::Number(number) => *number = 0,
                    Answer::Entries(entries) => entries.clear(),
                    Answer::Commit(_) => {}
                }
            }
        }
    }
}

/// Returns whether `check` is the one that makes a dry run fail at its end.
fn is_end_of_dry_run(check: &Check) -> bool {
    matches!(check, Check::NotAfter(time) if *time == Timestamp::EPOCH)
}

/// `None` for a check that is always or never met.
fn name_of_check(check: &Check) -> Option<String> {
    Some(match check {
        Check::Version { table, expected: Some(_), .. } => format!("version of {}", table.name),
        Check::Version { table, expected: None, .. } => format!("absence from {}", table.name),
        Check::NotAfter(_) if is_end_of_dry_run(check) => "end of a dry run".to_owned(),
        Check::NotAfter(_) => "deadline".to_owned(),
        Check::First { range, .. } => format!("first of {}", name_of_range(range)),
        Check::AtMost { range, .. } => format!("highest of {}", name_of_range(range)),
        Check::None { range, .. } => format!("absence from {}", name_of_range(range)),
        Check::Count { least, most, .. } if least > most || *most >= u32::MAX.into() => {
            return None;
        }
        Check::Count { range, .. } => format!("number of {}", name_of_range(range)),
        Check::Sum(name, _) => format!("sum of {name}"),
    })
}

fn name_of_write(write: &Write) -> String {
    match write {
        Write::Insert { table, .. } => format!("new {}", table.name),
        Write::Put { table, .. } => format!("saved {}", table.name),
        Write::Set { range, column, .. } => {
            format!("{} of {}", range.table.columns[*column].name, name_of_range(range))
        }
        Write::Remove(range) if range.before.is_some() => {
            format!("removal of earlier {}", name_of_range(range))
        }
        Write::Remove(range) => format!("removal of {}", name_of_range(range)),
        Write::Add(name, _) => format!("addition to {name}"),
    }
}

fn name_of_entry(entry: &Append) -> String {
    match entry {
        Append::Entry { reference: Some((table, _)), .. } => format!("entry of {}", table.name),
        Append::Entry { .. } => "entry".to_owned(),
        Append::Each { range, .. } => format!("entries of {}", name_of_range(range)),
    }
}

fn name_of_query(query: &Query) -> String {
    match query {
        Query::Rows(range) => name_of_range(range),
        Query::Count(range) => format!("number of {}", name_of_range(range)),
        Query::Sequence(name) => format!("last of {name}"),
        Query::Entries(_) => "log".to_owned(),
        Query::CommitOf(_) => "commit".to_owned(),
    }
}

fn name_of_range(range: &Range) -> String {
    let index = range.index.and_then(|index| range.table.indexes.get(index));
    let name = index.map_or(range.table.name, |index| index.name);
    if range.is_descending { format!("{name}, the last first") } else { name.to_owned() }
}
