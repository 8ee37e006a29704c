//! Queries and transactions, carried out on the tables of a store that is in the same process.
//!
//! A backend that sends queries to a server lets the server carry them out. One that has its tables at hand implements
//! [`Tables`] and [`TablesMut`], a few simple operations on one consistent state, and calls [`read`] and [`commit`].

use crate::domain::{Seq, Timestamp, Version};
use crate::store::{Result, StoreError, time_of_commit, time_of_read};

use super::own_tables::LOG_NUMBER;
use super::{
    Answer, Append, Assigned, Body, Check, CommitId, CommitOutcome, Decision, Entries, Entry, Head,
    Item, Kind, LOG, PartSet, Query, Range, Reading, Reference, Row, SEQUENCES, Table, Term,
    Transaction, Value, Write, key_length,
};

/// The records of a tenant in one consistent state. The log and the sequences are the tables [`LOG`] and [`SEQUENCES`], which
/// every backend has beside the declared ones; one that keeps them otherwise has methods of its own for them.
pub trait Tables {
    /// Returns the tables that the backend was opened with, which entries of the log refer to.
    fn declared(&self) -> &[&'static Table];

    /// Returns the record with this key.
    ///
    /// # Errors
    /// The errors of the store, here and below.
    fn row(&self, table: &'static Table, key: &[Value], parts: PartSet) -> Result<Option<Row>>;

    /// Passes the records of a range to `each`, in their order, until it returns false.
    ///
    /// # Errors
    /// Also the errors of `each`.
    fn scan(&self, scan: &Scan<'_>, each: &mut dyn FnMut(Row) -> Result<bool>) -> Result<()>;

    /// Returns the number of the records in a range, without the one with the key `except`; at most `most`.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    fn count(&self, scan: &Scan<'_>, except: &[Value], most: usize) -> Result<usize> {
        let mut counted = 0;
        if most > 0 {
            self.scan(scan, &mut |row| {
                counted += usize::from(!has_key(scan.table, &row, except));
                Ok(counted < most)
            })?;
        }
        Ok(counted)
    }

    /// Returns the last number of a sequence; 0 if there is none.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    fn sequence(&self, name: &str) -> Result<u64> {
        let Some(row) = self.row(&SEQUENCES, &[name.into()], PartSet::NONE)? else { return Ok(0) };
        let number = row.columns.last().and_then(Value::integer);
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| StoreError::corrupt("sequence", "an invalid number"))
    }

    /// Returns the end of the log.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    fn head(&self) -> Result<Head> {
        let (log, mut last) = (self.sequence(LOG_NUMBER)?.max(1), None);
        let newest = Scan { is_descending: true, ..Scan::all(&LOG) };
        self.scan(&newest, &mut |row| {
            last = Some(entry(self.declared(), row)?);
            Ok(false)
        })?;
        Ok(match last {
            Some(Entry { seq: size, at, commit, .. }) => {
                Head { log, size, at: Some(at), commit: Some(commit) }
            }
            None => Head { log, ..Head::default() },
        })
    }

    /// Returns the commit that appended the entry with this number.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    fn commit_of(&self, seq: Seq) -> Result<Option<CommitId>> {
        let row = self.row(&LOG, &[seq.0.into()], PartSet::NONE)?;
        row.map(|row| Ok(entry(self.declared(), row)?.commit)).transpose()
    }

    /// Returns entries of the log. The records that they refer to are not read.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    fn entries(&self, entries: &Entries) -> Result<Vec<Entry>> {
        let topic = entries.topic.map(Value::Integer);
        let (index, prefix) = (topic.as_ref().map(|_| 0), topic.as_slice());
        let after = Value::from(entries.after.0);
        let range =
            Scan { index, prefix, after: Some(&after), parts: PartSet::ALL, ..Scan::all(&LOG) };
        let mut found = Vec::new();
        if entries.limit > 0 {
            self.scan(&range, &mut |row| {
                found.push(entry(self.declared(), row)?);
                Ok(found.len() < entries.limit)
            })?;
        }
        Ok(found)
    }
}

fn entry(tables: &[&'static Table], row: Row) -> Result<Entry> {
    let entry = Entry::of_row(row, tables);
    let text = "an entry is invalid, or refers to a table that is not declared";
    entry.ok_or_else(|| StoreError::corrupt("log", text))
}

/// Returns whether the tenant has records other than transient ones, entries of the log, or sequences.
///
/// # Errors
/// The errors of the tables.
pub fn is_used(tables: &impl Tables) -> Result<bool> {
    let lasting = tables.declared().iter().copied().filter(|table| !table.is_transient);
    for table in lasting.chain([&LOG, &SEQUENCES]) {
        let mut is_used = false;
        tables.scan(&Scan::all(table), &mut |_| {
            is_used = true;
            Ok(false)
        })?;
        if is_used {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The records of a tenant in a transaction of the store, which is undone after an error.
pub trait TablesMut: Tables {
    /// Writes a record that is not there.
    ///
    /// # Errors
    /// The errors of the store, here and below.
    fn insert(&mut self, table: &'static Table, row: Row) -> Result<()>;

    /// Replaces a record, which was read without parts, by another one with the same key. A part that the other one lacks is
    /// gone.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn replace(&mut self, table: &'static Table, old: &Row, row: Row) -> Result<()> {
        self.remove(table, old)?;
        self.insert(table, row)
    }

    /// Changes one column of a record, which was read without parts.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn set(&mut self, table: &'static Table, old: &Row, column: usize, value: Value) -> Result<()>;

    /// Removes a record, which was read without parts.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn remove(&mut self, table: &'static Table, old: &Row) -> Result<()>;

    /// Writes the last number of a sequence.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn set_sequence(&mut self, name: &'static str, number: u64) -> Result<()> {
        match self.row(&SEQUENCES, &[name.into()], PartSet::NONE)? {
            Some(old) => self.set(&SEQUENCES, &old, 1, number.into()),
            None => {
                let columns = [name.into(), number.into()].into();
                self.insert(&SEQUENCES, Row { version: Version(1), columns, body: Body::empty() })
            }
        }
    }

    /// Appends entries to the log, with consecutive numbers after its last one. `log` is the number of the log.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    fn append(&mut self, log: u64, entries: Vec<Entry>) -> Result<()> {
        if log > 1 {
            self.set_sequence(LOG_NUMBER, log)?;
        }
        entries.into_iter().try_for_each(|entry| self.insert(&LOG, entry.into_row()))
    }
}

/// A range with values in place of terms.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The table.
    pub table: &'static Table,
    /// The position of the index; `None`: the primary key.
    pub index: Option<usize>,
    /// The values of the first columns of the index.
    pub prefix: &'a [Value],
    /// Only records with a higher value in the column after the prefix.
    pub after: Option<&'a Value>,
    /// Only records with a lower value in the column after the prefix.
    pub before: Option<&'a Value>,
    /// Whether the last records come first.
    pub is_descending: bool,
    /// The parts that are read.
    pub parts: PartSet,
}

/// The keys of bytes between which the records of a [`Scan`] are.
#[derive(Debug)]
pub struct Bounds {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

impl Bounds {
    /// Returns the lowest key that a record in the range may have.
    pub fn low(&self) -> &[u8] {
        // Without a bound of its own, the highest key begins with the lowest one.
        let length = self.low.len() - usize::from(self.high.is_none());
        self.low.get(..length).unwrap_or_default()
    }

    /// Returns the end of the range: each record in it has a lower key.
    pub fn high(&self) -> &[u8] {
        self.high.as_deref().unwrap_or(&self.low)
    }
}

impl Scan<'_> {
    /// Returns the range of all records of a table, by primary key and without parts.
    pub fn all(table: &'static Table) -> Self {
        let (after, before, is_descending) = (None, None, false);
        Self { table, index: None, prefix: &[], after, before, is_descending, parts: PartSet::NONE }
    }

    /// Returns the bounds of the range, for a backend that keeps records by keys of bytes: `base`, which may be empty, then
    /// the values of the index, as [`Value::append_to`] writes them. `None` if no record is in it.
    ///
    /// A range with a prefix ends at the prefix followed by 255, which no value begins with. It is not the range of all keys that begin with the bytes of
    /// the prefix: a text that goes on with U+0000 does, too.
    pub fn bounds(&self, base: Vec<u8>) -> Option<Bounds> {
        const BEYOND: u8 = 255;
        let mut low = base;
        low.reserve(key_length(self.prefix.iter().chain(self.after)) + 1);
        self.prefix.iter().for_each(|value| value.append_to(&mut low));
        let high = (self.after.is_some() || self.before.is_some()).then(|| {
            let mut high = low.clone();
            match self.before {
                Some(before) => before.append_to(&mut high),
                None => high.push(BEYOND),
            }
            high
        });
        if let Some(after) = self.after {
            after.append_to(&mut low);
        }
        if self.after.is_some() || high.is_none() {
            low.push(BEYOND);
        }
        let bounds = Bounds { low, high };
        (bounds.low() < bounds.high()).then_some(bounds)
    }
}

/// Writes an item of a [`Load`](super::Load).
///
/// # Errors
/// The errors of the tables.
pub fn load(tables: &mut impl TablesMut, item: Item) -> Result<()> {
    match item {
        Item::Write(change) => {
            let nothing = Assigned { at: Timestamp::EPOCH, numbers: Vec::new() };
            write(tables, &change, &nothing)
        }
        Item::Sequence(name, number) => tables.set_sequence(name, number),
        Item::Entry(log, entry) => tables.append(log, vec![entry]),
    }
}

/// Answers queries. `clock` is the time, which was read before the state of the tables was fixed.
///
/// # Errors
/// The errors of the tables.
pub fn read(tables: &impl Tables, clock: Timestamp, queries: &[Query]) -> Result<Reading> {
    let mut answers = Vec::with_capacity(queries.len());
    for query in queries {
        let answer = answer(tables, query, &answers)?;
        answers.push(answer);
    }
    Ok(Reading { clock, head: tables.head()?, answers })
}

fn answer(tables: &impl Tables, query: &Query, answers: &[Answer]) -> Result<Answer> {
    Ok(match query {
        Query::Rows(range) => {
            let sought = |term: &Term| term.sought(answers);
            rows(tables, range, &sought)?
        }
        Query::Count(range) => {
            Answer::Number(count(tables, range, &[], range.limit, &|term| term.sought(answers))?)
        }
        Query::Sequence(name) => Answer::Number(tables.sequence(name)?),
        Query::Entries(entries) => {
            Answer::Entries(referring(tables, tables.entries(entries)?, entries.parts)?)
        }
        Query::CommitOf(seq) => Answer::Commit(tables.commit_of(*seq)?),
    })
}

/// Reads the records that entries refer to.
fn referring(tables: &impl Tables, mut entries: Vec<Entry>, parts: PartSet) -> Result<Vec<Entry>> {
    for entry in &mut entries {
        if let Some(Reference { table, key, row }) = &mut entry.reference {
            let found = tables.row(table, &[Value::from(*key)], parts)?;
            *row = found.map(|found| veiled(tables, table, found, parts)).transpose()?;
        }
    }
    Ok(entries)
}

/// Returns a record as a query for these parts gets it: without a part that is [veiled](super::Veil) in it.
fn veiled(tables: &impl Tables, table: &'static Table, row: Row, parts: PartSet) -> Result<Row> {
    let veil = table.veiled.as_ref().filter(|veil| parts.has(veil.part));
    let Some(veil) = veil.filter(|veil| table.veil_of(veil.part, parts).is_some()) else {
        return Ok(row);
    };
    let value = |row: &Row, column: usize| {
        row.columns.get(column).filter(|value| !value.is_null()).cloned()
    };
    if value(&row, veil.having).is_none() {
        return Ok(row);
    }
    let other = match value(&row, veil.key) {
        Some(key) => tables.row(veil.table, &[key], PartSet::NONE)?,
        None => None,
    };
    if other.is_some_and(|other| value(&other, veil.until).is_some()) {
        return Ok(row);
    }
    Ok(Row { body: row.body.veiled(), ..row })
}

/// Makes values of terms; `None` if one of them has no value.
type Resolve<'a> = &'a dyn Fn(&Term) -> Option<Value>;

fn rows(tables: &impl Tables, range: &Range, resolve: Resolve<'_>) -> Result<Answer> {
    let (mut rows, mut has_more, mut size) = (Vec::new(), false, 0);
    each(tables, range, range.parts, resolve, &mut |row: Row| {
        if range.bytes != usize::MAX {
            let read = (0..range.table.parts.len()).filter(|part| range.parts.has(*part));
            let lengths = read.filter_map(|part| row.body.part(part));
            size += lengths.map(|text| text.len()).sum::<usize>();
            if size > range.bytes && !rows.is_empty() {
                has_more = true;
                return Ok(false);
            }
        }
        rows.push(veiled(tables, range.table, row, range.parts)?);
        Ok(true)
    })?;
    let mut joined = Vec::new();
    if let Some(join) = &range.join {
        for row in &rows {
            let key = row.columns.get(join.column).filter(|key| !key.is_null());
            let other =
                key.map(|key| tables.row(join.table, std::slice::from_ref(key), join.parts));
            joined.push(other.transpose()?.flatten());
        }
    }
    Ok(Answer::Rows { rows, joined, has_more })
}

/// The values of the terms of a range.
struct Sought {
    prefix: [Value; MAX_PREFIX],
    length: usize,
    after: Option<Value>,
    before: Option<Value>,
}

/// The maximum number of columns of a primary key or an index, and so of a prefix.
pub(crate) const MAX_PREFIX: usize = 4;

impl Sought {
    /// `None` if one of the terms has no value.
    fn of(range: &Range, resolve: Resolve<'_>) -> Option<Self> {
        let bound = |term: &Option<Term>| match term {
            Some(term) => resolve(term).map(Some),
            None => Some(None),
        };
        let (mut prefix, length) = ([const { Value::Null }; MAX_PREFIX], range.prefix.len());
        for (value, term) in prefix.get_mut(..length)?.iter_mut().zip(&range.prefix) {
            *value = resolve(term)?;
        }
        let (after, before) = (bound(&range.after)?, bound(&range.before)?);
        Some(Self { prefix, length, after, before })
    }

    fn prefix(&self) -> &[Value] {
        self.prefix.get(..self.length).unwrap_or_default()
    }

    fn scan(&self, range: &Range, parts: PartSet) -> Scan<'_> {
        let Range { table, index, is_descending, .. } = *range;
        let (after, before) = (self.after.as_ref(), self.before.as_ref());
        Scan { table, index, prefix: self.prefix(), after, before, is_descending, parts }
    }
}

/// Calls `take` with each record of a range, until it returns false or the limit of the range is reached.
fn each(
    tables: &impl Tables,
    range: &Range,
    parts: PartSet,
    resolve: Resolve<'_>,
    take: &mut dyn FnMut(Row) -> Result<bool>,
) -> Result<()> {
    let Range { table, index, having, limit, .. } = *range;
    let mut left = limit;
    let Some(sought) = Sought::of(range, resolve) else { return Ok(()) };
    if left == 0 {
        return Ok(());
    }
    let has_value = |row: &Row| {
        having.is_none_or(|column| row.columns.get(column).is_some_and(|value| !value.is_null()))
    };
    if index.is_none() && sought.length == table.key {
        return match tables.row(table, sought.prefix(), parts)?.filter(has_value) {
            Some(row) => take(row).map(drop),
            None => Ok(()),
        };
    }
    tables.scan(&sought.scan(range, parts), &mut |row| {
        if !has_value(&row) {
            return Ok(true);
        }
        left -= 1;
        Ok(take(row)? && left > 0)
    })
}

/// The number of records in a range, without the one with the key `except`, at most `most`.
fn count(
    tables: &impl Tables,
    range: &Range,
    except: &[Value],
    most: usize,
    resolve: Resolve<'_>,
) -> Result<u64> {
    let mut counted = 0;
    if range.having.is_none() {
        let Some(sought) = Sought::of(range, resolve) else { return Ok(0) };
        counted = tables.count(&sought.scan(range, PartSet::NONE), except, most)?;
    } else {
        each(tables, range, PartSet::NONE, resolve, &mut |row| {
            counted += usize::from(!has_key(range.table, &row, except));
            Ok(counted < most)
        })?;
    }
    Ok(u64::try_from(counted).unwrap_or(u64::MAX))
}

fn has_key(table: &Table, row: &Row, key: &[Value]) -> bool {
    !key.is_empty() && row.columns.get(..table.key) == Some(key)
}

/// Carries out a transaction, at the time that `clock` tells. The caller has exclusive access to the tables of the tenant, and undoes
/// the changes after an error.
///
/// # Errors
/// [`StoreErrorKind::WentBack`](crate::store::StoreErrorKind::WentBack), [`ClockBehind`](crate::store::StoreErrorKind::ClockBehind) and
/// [`Contended`](crate::store::StoreErrorKind::Contended), with nothing written; the errors of the tables.
pub fn commit(
    tables: &mut impl TablesMut,
    clock: impl FnOnce() -> Timestamp,
    transaction: &Transaction,
) -> Result<CommitOutcome> {
    let head = tables.head()?;
    let Transaction { id, kind, seen, repetition, checks, sequences, writes, entries, .. } =
        transaction;
    if matches!(kind, Kind::Usual | Kind::AcceptClock) {
        check_log(tables, &head, seen)?;
    }
    if let Some(repetition) = repetition {
        let found = rows(tables, &repetition.range, &plain)?;
        let found = found.rows().first();
        let has_id =
            |row: &&Row| row.columns.get(repetition.column).and_then(Value::bytes) == Some(&id.0);
        if let Some(row) = found.filter(has_id) {
            return Ok(CommitOutcome { head, decision: Decision::Repeated(row.clone()) });
        }
    }
    let at = match kind {
        Kind::Usual => time_of_commit(clock(), head.at)?,
        Kind::AcceptClock | Kind::Aside => clock(),
        Kind::AcceptLog => time_of_read(clock(), head.at),
    };
    for (check, condition) in checks.iter().enumerate() {
        if let Err(found) = is_met(tables, condition, at)? {
            return Ok(CommitOutcome { head, decision: Decision::Failed { check, found } });
        }
    }
    let mut numbers = Vec::with_capacity(sequences.len());
    let log = match kind {
        Kind::AcceptLog => head.log.max(seen.log).saturating_add(1),
        _ => head.log,
    };
    if *kind == Kind::AcceptLog {
        numbers.push(log);
    }
    for name in sequences {
        let number = tables.sequence(name)?.saturating_add(1);
        tables.set_sequence(name, number)?;
        numbers.push(number);
    }
    let assigned = Assigned { at, numbers };
    for change in writes {
        write(tables, change, &assigned)?;
    }
    let head = append(tables, entries, &assigned, *id, Head { log, ..head })?;
    Ok(CommitOutcome { head, decision: Decision::Committed(assigned) })
}

/// The value of a term that is no placeholder.
fn plain(term: &Term) -> Option<Value> {
    match term {
        Term::Value(value) => Some(value.clone()),
        _ => None,
    }
}

/// Checks that the log continues from the position that was seen.
fn check_log(tables: &impl Tables, head: &Head, seen: &Head) -> Result<()> {
    let Some(size) = seen.compared() else { return Ok(()) };
    let commit = if size == head.size { head.commit } else { tables.commit_of(size)? };
    if head.log > seen.log {
        return Err(StoreError::contended("commit", "another log has begun"));
    }
    if seen.continues(head.log, commit) { Ok(()) } else { Err(StoreError::went_back("commit")) }
}

/// Whether a condition is met; if not, with the record that shows it.
fn is_met(
    tables: &impl Tables,
    check: &Check,
    at: Timestamp,
) -> Result<std::result::Result<(), Option<Row>>> {
    let values = |terms: &[Term]| -> Vec<Value> { terms.iter().filter_map(plain).collect() };
    let met = match check {
        Check::Version { table, key, expected } => {
            let row = tables.row(table, &values(key), PartSet::NONE)?;
            row.map(|row| row.version) == *expected
        }
        Check::NotAfter(deadline) => at <= *deadline,
        Check::First { range, column, value, version } => {
            let mut is_met = false;
            each(tables, range, PartSet::NONE, &plain, &mut |row| {
                is_met = row.columns.get(*column) == plain(value).as_ref()
                    && version.is_none_or(|version| row.version == version);
                Ok(false)
            })?;
            is_met
        }
        Check::AtMost { range, column, most } => {
            let (most, mut is_met) = (plain(most), true);
            each(tables, range, PartSet::NONE, &plain, &mut |row| {
                is_met = row.columns.get(*column) <= most.as_ref();
                Ok(is_met)
            })?;
            is_met
        }
        Check::None { range, except } => {
            let except = values(except);
            let mut found = None;
            each(tables, range, PartSet::NONE, &plain, &mut |row| {
                if !has_key(range.table, &row, &except) {
                    found = Some(row);
                }
                Ok(found.is_none())
            })?;
            if found.is_some() {
                return Ok(Err(found));
            }
            true
        }
        Check::Count { range, except, least, most } => {
            let enough = usize::try_from(most.saturating_add(1)).unwrap_or(usize::MAX);
            (*least..=*most).contains(&count(tables, range, &values(except), enough, &plain)?)
        }
        Check::Sum(sequence, most) => tables.sequence(sequence)? <= *most,
    };
    Ok(if met { Ok(()) } else { Err(None) })
}

/// Makes a change of records.
///
/// # Errors
/// The errors of the tables.
pub fn write(tables: &mut impl TablesMut, change: &Write, assigned: &Assigned) -> Result<()> {
    let values = |columns: &[Term]| -> std::sync::Arc<[Value]> {
        columns.iter().map(|column| column.written(assigned)).collect()
    };
    match change {
        Write::Insert { table, columns, body } => {
            let (columns, body) = (values(columns), body.clone());
            tables.insert(table, Row { version: Version(1), columns, body })
        }
        Write::Put { table, columns, body } => {
            let (columns, body) = (values(columns), body.clone());
            let key = columns.get(..table.key).unwrap_or_default();
            match tables.row(table, key, PartSet::NONE)? {
                Some(old) => {
                    let version = old.version.next();
                    tables.replace(table, &old, Row { version, columns, body })
                }
                None => tables.insert(table, Row { version: Version(1), columns, body }),
            }
        }
        Write::Set { range, column, value } => {
            let value = value.written(assigned);
            for row in found(tables, range)? {
                tables.set(range.table, &row, *column, value.clone())?;
            }
            Ok(())
        }
        Write::Remove(range) => {
            for row in found(tables, range)? {
                tables.remove(range.table, &row)?;
            }
            Ok(())
        }
        Write::Add(sequence, amount) => {
            let sum = tables.sequence(sequence)?.saturating_add_signed(*amount);
            tables.set_sequence(sequence, sum)
        }
    }
}

/// The records in a range, without parts.
fn found(tables: &impl Tables, range: &Range) -> Result<Vec<Row>> {
    let range = Range { parts: PartSet::NONE, join: None, ..range.clone() };
    Ok(match rows(tables, &range, &plain)? {
        Answer::Rows { rows, .. } => rows,
        _ => Vec::new(),
    })
}

/// Appends entries; returns the end of the log.
fn append(
    tables: &mut impl TablesMut,
    entries: &[Append],
    assigned: &Assigned,
    commit: CommitId,
    head: Head,
) -> Result<Head> {
    let mut made = Vec::with_capacity(entries.len());
    let mut seq = head.size;
    let mut add = |topic, number, reference, body: &Body| {
        seq = Seq(seq.0.saturating_add(1));
        let (at, body) = (assigned.at, body.clone());
        made.push(Entry { seq, at, commit, topic, assigned: number, reference, body });
    };
    for entry in entries {
        match entry {
            Append::Entry { topic, assigned: number, reference, body } => {
                let topic = topic.as_ref().and_then(|it| it.written(assigned).integer());
                let number = number.and_then(|sequence| assigned.numbers.get(sequence).copied());
                let reference = reference.as_ref().map(|(table, key)| {
                    let key =
                        key.written(assigned).integer().and_then(|key| u64::try_from(key).ok());
                    Reference { table, key: key.unwrap_or(0), row: None }
                });
                add(topic, number, reference, body);
            }
            Append::Each { range, body } => {
                for row in found(tables, range)? {
                    let key = row.columns.first().and_then(Value::integer);
                    let key = key.and_then(|key| u64::try_from(key).ok()).unwrap_or(0);
                    add(None, None, Some(Reference { table: range.table, key, row: None }), body);
                }
            }
        }
    }
    if made.is_empty() {
        return Ok(head);
    }
    let (at, commit) = (Some(assigned.at), Some(commit));
    tables.append(head.log, made)?;
    Ok(Head { size: seq, at, commit, ..head })
}
