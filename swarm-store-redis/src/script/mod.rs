//! Compiles each shape of queries and transactions to a Lua script, once.
//!
//! A script has no structure to interpret: the names of fields, the entries of indexes and the records are its arguments, already
//! as they are stored, and it concatenates them with what only the server knows. What a script calls is in `lua/functions.lua`.
//!
//! The text of a script does not contain how many writes of a kind a transaction has, so there are as many texts as kinds of
//! transactions: a few dozen. Servers keep them until they restart.

mod commit;
mod range;
mod read;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use swarm_core::store::backend::shape::Place;
use swarm_core::store::backend::{Index, Table};

use crate::schema::code;
use crate::script_call::Script;
use crate::value::DIGEST;

pub(crate) use commit::{CommitShape, PartKind};
pub(crate) use read::ReadShape;

/// How many shapes are kept. A client that has more compiles some of them again.
const MAX_SHAPES: usize = 1_000;

/// The number of keys that scripts declare, with and without those of transient records: see [`crate::keys::Keys::declared`].
pub(crate) const DECLARED: usize = 7;
pub(crate) const LASTING: usize = 4;

/// A script, and what it is called with.
pub(crate) struct Compiled {
    pub(crate) script: Script,
    /// The fields of the hash that it reads first, for each transaction.
    pub(crate) fields: Vec<Argument>,
    /// The other arguments, for each transaction.
    pub(crate) arguments: Vec<Argument>,
    /// Whether several transactions may be sent in one call.
    pub(crate) takes_several: bool,
    /// Whether transient records are used.
    pub(crate) is_transient_used: bool,
}

/// An argument of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Bytes, one after another.
    Bytes(Vec<Piece>),
    /// The bound value with this position, in decimal digits.
    Number(usize),
    /// The place of the entry of the log with this bound number, in decimal digits.
    Index(usize),
    /// The lowest entry about a topic after a number: the positions of both.
    Topic(usize, usize),
    /// The identity of the transaction, and the position that was seen.
    Id,
    Seen,
    /// What is stored of the parts of a record: the table, the position of the first, and the columns that they may refer to, with
    /// the bound values.
    Parts(&'static Table, usize, Vec<(usize, usize)>),
    /// The names of those in keys of their own.
    Names(&'static Table, usize),
    /// The text with this position.
    Text(usize),
    /// How many pieces each of the long parts has.
    Pieces,
    /// The text with this position as it is stored in an entry of the log, and whether the entry has no topic and no number.
    Entry(usize, bool),
    /// Which block carries out each write.
    Blocks(Vec<u8>),
}

/// A piece of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    /// The bound value with this position.
    Value(usize),
    /// The length of these values together, in two bytes.
    Length(Vec<usize>),
    /// The identity of the transaction, as a value.
    Id,
    /// The digest of these values together.
    Digest(Vec<usize>),
}

/// A piece of a value that a script calculates with.
#[derive(Clone)]
enum Bit {
    Known(Piece),
    /// An expression.
    Lua(String),
}

/// Scripts that have been compiled.
pub(crate) struct Cache<S>(Mutex<HashMap<S, Arc<Compiled>>>);

impl<S> Default for Cache<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: Hash + Eq> Cache<S> {
    pub(crate) fn get<E>(
        &self,
        shape: S,
        compile: impl FnOnce(&S) -> Result<Compiled, E>,
    ) -> Result<Arc<Compiled>, E> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&shape).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let compiled = Arc::new(compile(&shape)?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SHAPES {
            all.clear();
        }
        all.insert(shape, Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// Arguments, and the names of variables, while a script is written.
#[derive(Default)]
struct Emitter {
    fields: Vec<Argument>,
    arguments: Vec<Argument>,
    /// Whether the arguments are those of a block, which are after those of the transaction.
    in_block: bool,
    /// Whether fields that are known are read first, with others.
    reads_first: bool,
    /// Functions that are particular to the script.
    functions: String,
    names: usize,
    /// The tables of the records that the queries so far find, and whether only a key is known.
    found: Vec<Option<(&'static Table, bool)>>,
    /// Fields that queries read at the end, all at once, and the answers that are then assigned. So the facts of a submission cost
    /// the server half of what a call for each field would: 33 µs instead of 72.
    deferred: Vec<String>,
    answers: String,
    /// Whether the transient records are used.
    is_transient_used: bool,
}

impl Emitter {
    /// Another name of a variable.
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// The expression for an argument.
    fn argument(&mut self, argument: Argument) -> String {
        if let Some(place) = self.fields.iter().position(|known| *known == argument)
            && !self.in_block
        {
            return format!("A[h+{}]", place + 1);
        }
        let known = self.arguments.iter().position(|known| *known == argument);
        let place = known.unwrap_or_else(|| {
            self.arguments.push(argument);
            self.arguments.len() - 1
        });
        format!("A[{}+{}]", if self.in_block { 'b' } else { 'p' }, place + 1)
    }

    /// The expression for a field of the hash. A script of a transaction reads it first, with others, if its name is known.
    fn field(&mut self, table: &Table, bits: Vec<Bit>) -> String {
        let bits: Vec<_> = [Bit::bytes(code(table.name))].into_iter().chain(bits).collect();
        self.looked_up(table, bits)
    }

    /// The same, for a name that is complete.
    fn looked_up(&mut self, table: &Table, bits: Vec<Bit>) -> String {
        let pieces: Option<Vec<_>> = bits.iter().map(Bit::known).collect();
        if let Some(pieces) = pieces
            && self.reads_first
            && !self.in_block
            && !table.is_transient
        {
            let argument = Argument::Bytes(merged(pieces));
            if !self.fields.contains(&argument) {
                self.fields.push(argument.clone());
            }
            return self.argument(argument);
        }
        self.concat(bits)
    }

    /// The field of an index that is only looked up, with these values.
    fn digest(&mut self, index: &Index, values: Vec<Bit>) -> Vec<Bit> {
        let start = Bit::bytes(code(index.name));
        let bound = values.iter().map(|bit| match bit {
            Bit::Known(Piece::Value(value)) => Some(*value),
            _ => None,
        });
        if let Some(bound) = bound.collect() {
            return vec![start, Bit::Known(Piece::Digest(bound))];
        }
        let values = self.concat(values);
        vec![start, Bit::Lua(format!("sub(redis.sha1hex({values}), 1, {DIGEST})"))]
    }

    /// The expression for pieces one after another. What is known is a single argument.
    fn concat(&mut self, bits: Vec<Bit>) -> String {
        let (mut terms, mut known) = (Vec::new(), Vec::new());
        for bit in bits {
            match bit {
                Bit::Known(piece) => known.push(piece),
                Bit::Lua(term) => {
                    terms.extend(self.constant(std::mem::take(&mut known)));
                    terms.push(term);
                }
            }
        }
        terms.extend(self.constant(known));
        if terms.is_empty() { "''".to_owned() } else { terms.join(" .. ") }
    }

    fn constant(&mut self, pieces: Vec<Piece>) -> Option<String> {
        let pieces = merged(pieces);
        match pieces.as_slice() {
            [] => None,
            [Piece::Bytes(bytes)] => Some(literal(bytes)),
            _ => Some(self.argument(Argument::Bytes(pieces))),
        }
    }

    fn number(&mut self, value: usize) -> String {
        format!("tonumber({})", self.argument(Argument::Number(value)))
    }

    /// The name of the part of the records that a table is in.
    fn part(&mut self, table: &Table) -> &'static str {
        self.is_transient_used |= table.is_transient;
        if table.is_transient { "T" } else { "D" }
    }
}

impl Bit {
    fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Known(Piece::Bytes(bytes.into()))
    }

    fn known(&self) -> Option<Piece> {
        match self {
            Self::Known(piece) => Some(piece.clone()),
            Self::Lua(_) => None,
        }
    }

    /// The value of a commit: bound, or what the commit assigns.
    fn of_commit(place: &Place) -> Self {
        match place {
            Place::Bound(value) => Self::Known(Piece::Value(*value)),
            Place::Assigned(sequence) => Self::Lua(format!("value_{}", sequence + 1)),
            Place::AssignedText(sequence) => Self::Lua(format!("text_{}", sequence + 1)),
            Place::Now => Self::Lua("dated".to_owned()),
            Place::Found(..) => Self::bytes([0]),
        }
    }
}

/// The same pieces, with bytes that follow each other together.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (all.last_mut(), piece) {
            (Some(Piece::Bytes(before)), Piece::Bytes(bytes)) => before.extend(bytes),
            (_, piece) => all.push(piece),
        }
    }
    all
}

/// A string of Lua with these bytes.
fn literal(bytes: &[u8]) -> String {
    let escaped: String = bytes.iter().map(|byte| format!("\\{byte:03}")).collect();
    format!("'{escaped}'")
}

/// The expression for a column of a record: of the variables that have its key and the record.
fn column(table: &Table, column: usize, key: &str, raw: &str) -> String {
    match column.checked_sub(table.key) {
        None if table.key == 1 => key.to_owned(),
        None => format!("nth({key}, 1, {column})"),
        Some(place) => format!("nth({raw}, 2, {})", place + 1),
    }
}

/// What scripts begin with.
const BEGINNING: &str = "\
local A, call, byte, char, sub = ARGV, redis.call, string.byte, string.char, string.sub
local D = { hash = KEYS[1], order = KEYS[2], parts = KEYS[3], rows = {}, written = {} }
local LOG = KEYS[4]
";

const TRANSIENT: &str = "\
local T = { hash = KEYS[5], order = KEYS[6], parts = KEYS[7], rows = {}, written = {} }
";

/// The functions by name, in their order.
static FUNCTIONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let sections = include_str!("../lua/functions.lua").split("\n--- ").skip(1);
    sections.filter_map(|section| section.split_once('\n')).collect()
});

impl Emitter {
    /// Returns the script with a beginning and a body, with the functions that it calls between them.
    fn compiled(self, beginning: &str, body: &str, takes_several: bool) -> Compiled {
        let Self { fields, arguments, is_transient_used, .. } = self;
        let script = Script::new(text(beginning, body));
        Compiled { script, fields, arguments, takes_several, is_transient_used }
    }
}

fn text(beginning: &str, body: &str) -> String {
    let mut text = body.to_owned();
    for (name, function) in FUNCTIONS.iter().rev() {
        let is_passed = name.ends_with("key") || *name == "key_of";
        if text.contains(&format!("{name}(")) || is_passed && text.contains(&format!(" {name},")) {
            text = [function, "\n", &text].concat();
        }
    }
    [BEGINNING, beginning, &text].concat()
}
