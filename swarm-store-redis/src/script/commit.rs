//! Compiles transactions.
//!
//! A script carries out several transactions of its shape, each whole or not at all. What may fail is done before the first change
//! of a transaction: the types of the keys are compared, and all records that it changes are read. Fields of the hash are
//! written at the end, all at once; until then the script reads what it will write. So are entries of the log.

use swarm_core::StoreError;
use swarm_core::store::backend::shape::{
    AppendShape, CheckShape, Place, RangeShape, TransactionShape, WriteShape,
};
use swarm_core::store::backend::{Index, Kind, Operation, Table};
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, Result};

use super::range::{Found, length_of};
use super::read::sequence;
use super::{
    Argument, Bit, Compiled, DECLARED, Emitter, LASTING, Piece, TRANSIENT, column, literal,
};
use crate::schema::{TOPICS, code, ends_with_key, is_looked_up, is_ordered};

/// What the script for a transaction depends on.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct CommitShape {
    pub(crate) shape: TransactionShape,
    /// Where each of the texts is stored.
    pub(crate) parts: Vec<PartKind>,
    /// The positions of the bound values that are null.
    pub(crate) nulls: Vec<usize>,
    /// Whether records are loaded: they expire, and the log and the sequences are given.
    pub(crate) is_load: bool,
}

/// Where a part of a record is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PartKind {
    /// In the record, or there is none.
    Inside,
    /// In the hash of parts.
    Beside,
    /// There too, whatever its length, because queries may leave it out.
    Veiled,
    /// In a key of its own.
    Apart,
}

impl PartKind {
    /// Whether it is in the hash of parts.
    fn is_beside(self) -> bool {
        matches!(self, Self::Beside | Self::Veiled)
    }
}

/// A change: what it reads beforehand, and what it does.
#[derive(Clone, PartialEq)]
struct Block {
    rehearsal: String,
    change: String,
}

/// What a script must be sure of before it writes.
#[derive(Default)]
struct Uses {
    writes_order: bool,
    writes_transient_order: bool,
    removes_order: bool,
    writes_parts: bool,
}

struct Compiler<'a> {
    op: Operation,
    commit: &'a CommitShape,
    emitter: Emitter,
    uses: Uses,
}

impl CommitShape {
    /// Compiles the transaction.
    pub(crate) fn compile(&self, op: Operation) -> Result<Compiled> {
        let emitter = Emitter { reads_first: true, ..Emitter::default() };
        let uses = Uses::default();
        Compiler { op, commit: self, emitter, uses }.compile()
    }

    fn written_tables(&self) -> impl Iterator<Item = &'static Table> {
        self.shape.writes.iter().filter_map(written_table)
    }
}

fn written_table(write: &WriteShape) -> Option<&'static Table> {
    match write {
        WriteShape::Insert(table, ..) | WriteShape::Put(table, ..) => Some(table),
        WriteShape::Set(range, ..) | WriteShape::Remove(range) => Some(range.table),
        WriteShape::Add(..) => None,
    }
}

impl Compiler<'_> {
    fn compile(mut self) -> Result<Compiled> {
        let TransactionShape { repetition, sequences, .. } = &self.commit.shape;
        let is_load = self.commit.is_load;
        let conditions = self.conditions()?;
        let takes = self.sequences();
        let entries = self.entries()?;
        let long_parts = self.long_parts();
        let Blocks { rehearsal, changes, is_list } = self.blocks()?;
        let dated = "local dated = value_at(at)\n";
        let values = (1..=sequences.len() + 1).map(|place| {
            format!(
                "local value_{place} = numbers[{place}] and integer(numbers[{place}]) or '\\0'\nlocal text_{place} = numbers[{place}] and '\\48' .. string.format('%d', numbers[{place}]) .. '\\0' or '\\0'\n"
            )
        });
        let used = |line: &str| {
            let name = line.split(' ').nth(1).unwrap_or_default();
            [&rehearsal, &changes, &entries].iter().any(|code| code.contains(name))
        };
        let values: String = values.collect::<String>() + dated;
        let values: String =
            values.lines().filter(|line| used(line)).flat_map(|line| [line, "\n"]).collect();
        let (stage, place) = long_parts;
        // Removals need no memory, and after one a full server takes the other writes of a script, too.
        let place = match self.uses.removes_order && repetition.is_none() {
            true => ["call('SETRANGE', attempt, 0, '')\n", &place].concat(),
            false => place,
        };
        let taken = self.taken();
        let outcome = match is_load {
            true => LOADED.to_owned(),
            false => {
                let numbers = (1..=self.numbers()).map(|place| format!(", numbers[{place}]"));
                let is_logged = self
                    .commit
                    .shape
                    .entries
                    .iter()
                    .any(|entry| matches!(entry, AppendShape::Entry { .. }));
                let packed = "I8".repeat(self.numbers());
                let numbers = numbers.collect::<String>();
                if is_logged {
                    format!(
                        "return 'made\\40' .. struct.pack('>I8I8i8c16i8{packed}', log, size, log_at, last, at{numbers})\n"
                    )
                } else {
                    format!(
                        "local head = head_text()\nreturn 'made' .. char(#head) .. head .. struct.pack('>i8{packed}', at{numbers})\n"
                    )
                }
            }
        };
        let transaction = format!(
            "local function transaction()\n{conditions}{stage}{takes}{values}{rehearsal}{place}{taken}{changes}{entries}{outcome}end\n"
        );
        let is_recognized = repetition.is_some();
        Ok(self.finish(&transaction, !is_recognized, is_recognized && !is_list && stage.is_empty()))
    }

    /// The number of numbers that the commit assigns.
    fn numbers(&self) -> usize {
        let TransactionShape { kind, sequences, .. } = &self.commit.shape;
        sequences.len() + usize::from(*kind == Kind::AcceptLog)
    }

    /// The whole script.
    fn finish(self, transaction: &str, has_attempt: bool, takes_several: bool) -> Compiled {
        let Self { commit, emitter, uses, .. } = self;
        let is_load = commit.is_load;
        let is_transient_used = emitter.is_transient_used;
        let declared = if is_transient_used { DECLARED } else { LASTING };
        let mut beginning = String::new();
        if is_transient_used {
            beginning.push_str(TRANSIENT);
        }
        beginning.push_str(
            "local log, size, log_at, last = 1, 0, false, ''\nlocal pushed, garbage, seen = {}, {}, {}\n",
        );
        let mut text = format!("local declared = {declared}\n{}", emitter.functions);
        text.push_str(COMMITTING);
        if has_attempt {
            text.push_str(&format!(
                "local attempt = KEYS[{}]\nlocal earlier = call('GET', attempt)\nif earlier then return {{ earlier }} end\n",
                declared + 1
            ));
        }
        let names = sequence_names(&commit.shape);
        let quoted: String =
            names.iter().map(|name| format!(", {}", literal(&sequence(name)))).collect();
        let (each, known) = (emitter.fields.len(), names.len() + 1);
        if !is_load {
            text.push_str("local now = time()\n");
        }
        let unpacked =
            if each > 0 { format!(", unpack(A, 2, 1 + A[1] * {each})") } else { String::new() };
        text.push_str(&format!(
            "local found = call('HMGET', D.hash, 'head'{quoted}{unpacked})\nlog, size, log_at, last = end_of(found[1])\n"
        ));
        if each > 0 {
            text.push_str(&format!(
                "for place = 1, A[1] * {each} do D.rows[A[1 + place]] = found[{known} + place] end\n"
            ));
        }
        for place in 0..names.len() {
            text.push_str(&format!(
                "local sequence_{place} = tonumber(found[{}] or 0) or corrupt('a sequence is none')\nlocal is_changed_{place} = false\n",
                place + 2
            ));
        }
        let mut write = String::new();
        if !commit.shape.entries.is_empty() || is_load {
            text.push_str("call('LLEN', LOG)\nlocal is_logged = false\n");
            write.push_str("for first = 1, #pushed, 1000 do call('RPUSH', LOG, unpack(pushed, first, math.min(first + 999, #pushed))) end\nif is_logged then put(D, 'head', head_text()) end\n");
        }
        let checks = [
            (uses.writes_order, "call('ZCARD', D.order)\n"),
            (uses.writes_parts, "call('HLEN', D.parts)\n"),
            (is_transient_used, "call('HLEN', T.hash)\n"),
            (uses.writes_transient_order, "call('ZCARD', T.order)\n"),
            (uses.writes_parts && is_transient_used, "call('HLEN', T.parts)\n"),
        ];
        checks.iter().filter(|(is_used, _)| *is_used).for_each(|(_, check)| text.push_str(check));
        for (place, name) in names.iter().enumerate() {
            write.push_str(&format!(
                "if is_changed_{place} then put(D, {}, string.format('%d', sequence_{place})) end\n",
                literal(&sequence(name))
            ));
        }
        write.push_str("flush(D)\n");
        if is_transient_used {
            write.push_str("flush(T)\n");
        }
        if transaction.contains("remove_parts(") {
            // One that stays is never read.
            write.push_str("for _, key in ipairs(garbage) do redis.pcall('UNLINK', key) end\n");
        }
        text.push_str(&format!("local h, p = 1, 1 + A[1] * {each}\n{transaction}"));
        let advance = format!("h, p = h + {each}, p + {}\n", emitter.arguments.len());
        text.push_str(&format!("local function write()\n{write}end\n"));
        text.push_str(CARRYING_OUT);
        if takes_several {
            text.push_str(&advance);
        }
        text.push_str("end\nwrite()\n");
        if has_attempt {
            text.push_str(KEEPING);
        }
        if is_load {
            text.push_str(EXPIRING);
        }
        text.push_str("return outcomes\n");
        emitter.compiled(&beginning, &text, takes_several)
    }

    /// What is compared before anything is written, until `at` is the time of the commit.
    fn conditions(&mut self) -> Result<String> {
        let TransactionShape { kind, repetition, checks, .. } = &self.commit.shape;
        let mut code = String::new();
        if matches!(kind, Kind::Usual | Kind::AcceptClock) && !self.commit.is_load {
            let position = self.emitter.argument(Argument::Seen);
            code.push_str(&format!(
                "local position = {position}\nlocal difference = seen[position]\nif difference == nil then\ndifference = differs(position)\nseen[position] = difference\nend\nif difference then return {{ 'error', difference }} end\n"
            ));
        }
        if let Some((range, at)) = repetition {
            let found = self.plain(range)?;
            let id = self.emitter.argument(Argument::Bytes(vec![Piece::Id]));
            code.push_str(&format!(
                "do\nlocal k, r\n{}if r and {} == {id} then return {{ 'repeated', head_text(), k, {} }} end\nend\n",
                found.first("k", "r"),
                column(range.table, *at, "k", "r"),
                found.shown(range.parts, "k", "r")
            ));
        }
        if self.commit.is_load {
            self.uses.writes_order = true;
            return Ok(code);
        }
        code.push_str(&match kind {
            Kind::Usual => format!(
                "local at = now\nif log_at and now < log_at then\nif log_at - now > {CLOCK_TOLERANCE_MILLIS} then return {{ 'error', 'BEHIND ' }} end\nat = log_at\nend\n"
            ),
            Kind::AcceptClock | Kind::Aside => "local at = now\n".to_owned(),
            Kind::AcceptLog => "local at = log_at and math.max(now, log_at) or now\n".to_owned(),
        });
        for (place, check) in checks.iter().enumerate() {
            code.push_str(&self.check(place, check)?);
        }
        Ok(code)
    }

    /// A range of a transaction: its values are bound, or it has no records.
    fn plain(&mut self, range: &RangeShape) -> Result<Found> {
        let mut resolve = |place: &Place| match place {
            Place::Bound(value) => (Bit::Known(Piece::Value(*value)), None),
            _ => (Bit::bytes([]), Some("false".to_owned())),
        };
        let keeps = self.commit.written_tables().all(|table| table != range.table);
        let keeps = keeps && !self.emitter.in_block;
        self.emitter.range(self.op, range, &mut resolve, keeps)
    }

    /// The known bytes of bound values.
    fn bound(places: &[Place]) -> Vec<Bit> {
        let bound = places.iter().filter_map(|place| match place {
            Place::Bound(value) => Some(Bit::Known(Piece::Value(*value))),
            _ => None,
        });
        bound.collect()
    }

    fn check(&mut self, place: usize, check: &CheckShape) -> Result<String> {
        let failed = format!("return {{ 'failed', head_text(), {place} }}");
        Ok(match check {
            CheckShape::Version(table, key, expected) => {
                let part = self.emitter.part(table);
                let field = self.emitter.field(table, Self::bound(key));
                let count = table.columns.len() - table.key;
                let get = format!("local raw = get({part}, {field})\n");
                let differs = match expected {
                    Some(version) => {
                        let version = Bit::Known(Piece::Value(*version));
                        let version = self.emitter.concat(vec![version]);
                        format!("not raw or sub(raw, 2, 1 + #{version}) ~= {version}")
                    }
                    None => "raw".to_owned(),
                };
                format!(
                    "do\n{get}if {differs} then\nif raw then checked(raw, {count}) end\n{failed}\nend\nend\n"
                )
            }
            CheckShape::NotAfter(deadline) => {
                format!("if at > {} then {failed} end\n", self.emitter.number(*deadline))
            }
            CheckShape::First { range, column: at, value, version } => {
                let found = self.plain(range)?;
                let value = self.emitter.concat(Self::bound(std::slice::from_ref(value)));
                let mut differs =
                    format!("not r or {} ~= {value}", column(range.table, *at, "k", "r"));
                if let Some(version) = version {
                    let version = Bit::Known(Piece::Value(*version));
                    let version = self.emitter.concat(vec![version]);
                    differs.push_str(&format!(" or sub(r, 2, 1 + #{version}) ~= {version}"));
                }
                let count = range.table.columns.len() - range.table.key;
                format!(
                    "do\nlocal k, r\n{}if {differs} then\nif r then checked(r, {count}) end\n{failed}\nend\nend\n",
                    found.first("k", "r")
                )
            }
            CheckShape::AtMost(range, at, most) => {
                let found = self.plain(range)?;
                let most = self.emitter.concat(Self::bound(std::slice::from_ref(most)));
                let value = column(range.table, *at, "k", "r");
                let each = found.each(
                    &format!(
                        "if is_less({most}, {value}) then\nis_met = false\nreturn false\nend\n"
                    ),
                    false,
                );
                format!("do\nlocal is_met = true\n{each}if not is_met then {failed} end\nend\n")
            }
            CheckShape::None(range, except) => {
                let found = self.plain(range)?;
                let shows = |k: &str, r: &str| {
                    let shown = found.shown(swarm_core::store::backend::PartSet::NONE, k, r);
                    format!("return {{ 'failed', head_text(), {place}, {k}, {shown} }}")
                };
                if except.is_empty() {
                    let (first, shows) = (found.first("k", "r"), shows("k", "r"));
                    format!("do\nlocal k, r\n{first}if r then {shows} end\nend\n")
                } else {
                    let except = self.emitter.concat(Self::bound(except));
                    let each = found.each(
                        &format!(
                            "if k ~= {except} then\nother_k, other = k, r\nreturn false\nend\n"
                        ),
                        false,
                    );
                    let shows = shows("other_k", "other");
                    format!("do\nlocal other_k, other\n{each}if other then {shows} end\nend\n")
                }
            }
            CheckShape::Count { range, except, least, most } => {
                let found = self.plain(range)?;
                let except = match except.as_slice() {
                    [] => String::new(),
                    except => self.emitter.concat(Self::bound(except)),
                };
                let index = range.index.and_then(|index| range.table.indexes.get(index));
                let count = found.count("count", &except, &mut self.emitter, index);
                let (least, most) = (self.emitter.number(*least), self.emitter.number(*most));
                format!(
                    "do\nlocal count = 0\n{count}if count < {least} or count > {most} then {failed} end\nend\n"
                )
            }
            CheckShape::Sum(name, most) => {
                let sum = self.sequence(name);
                format!("if {sum} > {} then {failed} end\n", self.emitter.number(*most))
            }
        })
    }

    /// The variable of a sequence.
    fn sequence(&self, name: &str) -> String {
        let names = sequence_names(&self.commit.shape);
        let place = names.iter().position(|known| *known == name).unwrap_or(0);
        format!("sequence_{place}")
    }

    /// Assigns numbers, without changing the sequences, and declares how they are changed.
    fn sequences(&mut self) -> String {
        let TransactionShape { kind, sequences, .. } = &self.commit.shape;
        let mut numbers = Vec::new();
        if *kind == Kind::AcceptLog {
            let position = self.emitter.argument(Argument::Seen);
            numbers.push(format!("math.max(log, (struct.unpack('>I8', {position}))) + 1"));
        }
        for (place, name) in sequences.iter().enumerate() {
            // A name that is given twice takes two numbers.
            let taken = sequences.iter().take(place + 1).filter(|known| *known == name).count();
            numbers.push(format!("{} + {taken}", self.sequence(name)));
        }
        let mut code = match self.commit.is_load {
            true => "local at = 0\n".to_owned(),
            false => String::new(),
        };
        code.push_str(&format!("local numbers = {{ {} }}\n", numbers.join(", ")));
        code
    }

    /// Changes the log and the sequences from which numbers are taken.
    fn taken(&self) -> String {
        let TransactionShape { kind, sequences, .. } = &self.commit.shape;
        let (mut code, mut place) = (String::new(), 0);
        if *kind == Kind::AcceptLog {
            (code, place) = ("log = numbers[1]\n".to_owned(), 1);
        }
        for name in sequences {
            place += 1;
            code.push_str(&self.changed(name, &format!("numbers[{place}]")));
        }
        code
    }

    fn changed(&self, name: &str, to: &str) -> String {
        let sequence = self.sequence(name);
        format!("{sequence}, is_changed_{} = {to}, true\n", sequence.replace("sequence_", ""))
    }

    /// What comes before the first change, and what comes with it: whether the pieces of the long parts are there, staged or in
    /// their place; and their renaming. That comes first, because it fails if the user lacks the right. The first PERSIST has no
    /// effect: after a RENAME it would be too late to fail.
    fn long_parts(&mut self) -> (String, String) {
        if !self.commit.parts.contains(&PartKind::Apart) {
            return Default::default();
        }
        let first = 1 + usize::from(self.commit.shape.repetition.is_none());
        let first = format!("declared + {first}");
        let pieces = self.emitter.argument(Argument::Pieces);
        let each = format!(
            "for place = {first}, #KEYS, 2 do\nlocal count = struct.unpack('>I4', {pieces}, 2 * (place - ({first})) + 1)\nlocal key, staged = KEYS[place], KEYS[place + 1]\n"
        );
        let missing = "if call('LLEN', key) ~= count and call('LLEN', staged) ~= count then return { 'missing' } end\nend\n";
        let stays = if self.commit.is_load { "" } else { "call('PERSIST', key)\n" };
        let placed = format!(
            "if call('LLEN', key) ~= count then\ncall('PERSIST', key)\ncall('RENAME', staged, key)\nend\n{stays}end\n"
        );
        ([&each, missing].concat(), [&each, &placed[..]].concat())
    }

    /// Appends to the log.
    fn entries(&mut self) -> Result<String> {
        let entries = &self.commit.shape.entries;
        if entries.is_empty() {
            return Ok(String::new());
        }
        let id = self.emitter.argument(Argument::Id);
        let mut pushes = format!("local id, before = {id}, size\n");
        for entry in entries {
            match entry {
                AppendShape::Entry { topic, assigned, reference, text } => {
                    let topic = topic.as_ref().filter(|topic| !self.is_null(topic));
                    let topic = topic.map(Bit::of_commit);
                    let assigned = assigned.filter(|place| *place < self.numbers());
                    let assigned = assigned.map(|place| Bit::of_commit(&Place::Assigned(place)));
                    let is_plain = topic.is_none() && assigned.is_none();
                    let text = self.emitter.argument(Argument::Entry(*text, is_plain));
                    let null = || Bit::bytes([0]);
                    let dated = Bit::Lua("dated".to_owned());
                    let mut rest = vec![dated];
                    if !is_plain {
                        rest.push(topic.clone().unwrap_or_else(null));
                        rest.push(assigned.unwrap_or_else(null));
                    }
                    rest.push(Bit::Lua(text));
                    let rest = self.emitter.concat(rest);
                    let field = match reference {
                        Some((table, key)) => {
                            vec![Bit::bytes(code(table.name)), Bit::of_commit(key)]
                        }
                        None => Vec::new(),
                    };
                    let field = self.emitter.concat(field);
                    let topic = topic.map(|topic| {
                        self.uses.writes_order = true;
                        let topic = self.emitter.concat(vec![Bit::bytes(TOPICS), topic]);
                        format!(", {topic}")
                    });
                    let topic = topic.unwrap_or_default();
                    pushes.push_str(&format!("push(id, {field}, {rest}{topic})\n"));
                }
                AppendShape::Each(range, text) => {
                    let found = self.plain(range)?;
                    let text = self.emitter.argument(Argument::Entry(*text, true));
                    let field = found.field("k");
                    pushes.push_str(
                        &found.each(&format!("push(id, {field}, dated .. {text})\n"), false),
                    );
                }
            }
        }
        pushes.push_str("if size > before then log_at, last, is_logged = at, id, true end\n");
        Ok(pushes)
    }

    fn is_null(&self, place: &Place) -> bool {
        match place {
            Place::Bound(value) => self.commit.nulls.contains(value),
            Place::Found(..) => true,
            _ => false,
        }
    }

    /// The changes. If some of them differ in nothing but their values, they are functions that are called for each, so that
    /// the text is the same for any number of them.
    fn blocks(&mut self) -> Result<Blocks> {
        let writes = &self.commit.shape.writes;
        let mut distinct: Vec<(Block, usize)> = Vec::new();
        let (mut places, mut arguments) = (Vec::new(), Vec::new());
        for write in writes {
            let mut emitter = Emitter { in_block: true, ..Emitter::default() };
            std::mem::swap(&mut self.emitter.functions, &mut emitter.functions);
            let outer = std::mem::replace(&mut self.emitter, emitter);
            let block = self.block(write, false)?;
            let mut emitter = std::mem::replace(&mut self.emitter, outer);
            std::mem::swap(&mut self.emitter.functions, &mut emitter.functions);
            self.emitter.is_transient_used |= emitter.is_transient_used;
            let this = (block, emitter.arguments.len());
            let place = distinct.iter().position(|known| *known == this);
            let place = place.unwrap_or_else(|| {
                distinct.push(this);
                distinct.len() - 1
            });
            places.push(u8::try_from(place + 1).map_err(|_| self.too_many())?);
            arguments.extend(emitter.arguments);
        }
        let rehearsed: String = match self.commit.is_load {
            true => String::new(),
            false => self.rehearsed_entries()?,
        };
        if distinct.len() == writes.len() && !self.commit.is_load {
            let mut blocks =
                Blocks { rehearsal: rehearsed, changes: String::new(), is_list: false };
            for (place, write) in writes.iter().enumerate() {
                let earlier = writes.iter().take(place).filter_map(written_table);
                let is_fresh = earlier.into_iter().all(|table| Some(table) != written_table(write));
                let Block { rehearsal, change } = self.block(write, is_fresh)?;
                blocks.rehearsal.push_str(&rehearsal);
                blocks.changes.push_str(&change);
            }
            return Ok(blocks);
        }
        let list = self.emitter.argument(Argument::Blocks(places));
        let begin = format!("local b = p + {}\n", self.emitter.arguments.len());
        self.emitter.arguments.extend(arguments);
        let lengths = distinct.iter().map(|(_, length)| length.to_string());
        let lengths = lengths.collect::<Vec<_>>().join(", ");
        let functions = |code: fn(&Block) -> &str| {
            let functions =
                distinct.iter().map(|(block, _)| format!("function(b)\n{}end", code(block)));
            functions.collect::<Vec<_>>().join(",\n")
        };
        let (rehearse, change) =
            (functions(|block| &block.rehearsal), functions(|block| &block.change));
        let lengths = format!("local lengths = {{ {lengths} }}\n");
        let each = |function: &str| {
            format!(
                "for place = 1, #{list} do\nlocal block = byte({list}, place)\n{function}[block](b)\nb = b + lengths[block]\nend\n"
            )
        };
        let rehearsal = match self.commit.is_load {
            true => String::new(),
            false => format!(
                "do\n{begin}{lengths}local rehearse = {{\n{rehearse}\n}}\n{}end\n",
                each("rehearse")
            ),
        };
        let changes =
            format!("{begin}{lengths}local change = {{\n{change}\n}}\n{}", each("change"));
        Ok(Blocks { rehearsal: [rehearsed, rehearsal].concat(), changes, is_list: true })
    }

    fn too_many(&self) -> StoreError {
        StoreError::misconfigured(self.op, "too many kinds of changes in one transaction")
    }

    /// Reads the records that entries will refer to, so that nothing fails once something is written.
    fn rehearsed_entries(&mut self) -> Result<String> {
        let mut code = String::new();
        for entry in &self.commit.shape.entries {
            if let AppendShape::Each(range, _) = entry {
                code.push_str(&self.plain(range)?.each("", false));
            }
        }
        Ok(code)
    }

    fn block(&mut self, write: &WriteShape, is_fresh: bool) -> Result<Block> {
        Ok(match write {
            WriteShape::Insert(table, columns, first) => self.insert(table, columns, *first),
            WriteShape::Put(table, columns, first) => self.put(table, columns, *first),
            WriteShape::Set(range, at, value) => {
                let table = range.table;
                let Some(others) = at.checked_sub(table.key) else {
                    return Err(StoreError::misconfigured(self.op, "a key never changes"));
                };
                if table
                    .indexes
                    .iter()
                    .any(|index| is_looked_up(index) && index.columns.contains(at))
                {
                    return Err(StoreError::misconfigured(self.op, "a column never changes"));
                }
                let part = self.emitter.part(table);
                let value = self.emitter.concat(vec![self.written(value)]);
                let mut each = format!("local new = with(r, {}, {value})\n", others + 1);
                let indexes = table.indexes.iter().filter(|index| index.columns.contains(at));
                for index in indexes {
                    let entry = self.emitter.entry_function(table, index);
                    let (new, before) = (format!("{entry}(k, new)"), format!("{entry}(k, r)"));
                    each.push_str(&self.moved(table, index, &new, &before));
                }
                each.push_str(&format!("put({part}, {} .. k, new)\n", literal(&code(table.name))));
                self.rows(range, is_fresh, &each)?
            }
            WriteShape::Remove(range) => {
                let table = range.table;
                let part = self.emitter.part(table);
                let mut each = format!("local field = {} .. k\n", literal(&code(table.name)));
                if is_ordered(table) {
                    self.writes_order(table);
                    self.uses.removes_order = true;
                    each.push_str(&format!("call('ZREM', {part}.order, field)\n"));
                }
                for index in table.indexes {
                    let entry = self.emitter.entry_function(table, index);
                    let before = format!("{entry}(k, r)");
                    each.push_str(&self.moved(table, index, "false", &before));
                }
                if !table.parts.is_empty() {
                    self.uses.writes_parts = true;
                    each.push_str(&format!(
                        "remove_parts({part}, field, r, {{}}, '')\nput({part}, field .. '\\254', false)\n"
                    ));
                }
                each.push_str(&format!("put({part}, field, false)\n"));
                self.rows(range, is_fresh, &each)?
            }
            WriteShape::Add(name, amount) => {
                let amount = self.emitter.number(*amount);
                let sum = format!("math.max({} + {amount}, 0)", self.sequence(name));
                Block { rehearsal: String::new(), change: self.changed(name, &sum) }
            }
        })
    }

    fn writes_order(&mut self, table: &Table) {
        match table.is_transient {
            true => self.uses.writes_transient_order = true,
            false => self.uses.writes_order = true,
        }
    }

    /// Changes all records of a range, which are read before any of them is changed.
    fn rows(&mut self, range: &RangeShape, is_fresh: bool, each: &str) -> Result<Block> {
        let table = range.table;
        let found = self.plain(range)?;
        let part = self.emitter.part(table);
        let rows = self.emitter.name("rows");
        let count = table.columns.len() - table.key;
        let parts = match table.parts.is_empty() {
            true => String::new(),
            false => {
                let stored = format!("get({part}, {} .. '\\254')", found.field("k"));
                format!("local stored = {stored}\nif byte(r) == 1 then parts_of(stored) end\n")
            }
        };
        let list = |check: &str| {
            let add = format!("{check}{rows}[#{rows} + 1], {rows}[#{rows} + 2] = k, r\n");
            format!("local {rows} = {{}}\n{}", found.each(&add, false))
        };
        let rehearsal = list(&format!("checked(r, {count})\n{parts}"));
        let again = if is_fresh { String::new() } else { list("") };
        let change = format!(
            "do\n{again}for place = 1, #{rows}, 2 do\nlocal k, r = {rows}[place], {rows}[place + 1]\n{each}end\nend\n"
        );
        Ok(Block { rehearsal, change })
    }

    /// Moves the entry of a record in an index.
    fn moved(&mut self, table: &Table, index: &Index, new: &str, before: &str) -> String {
        let part = self.emitter.part(table);
        let (add, remove) = match is_looked_up(index) {
            true => (format!("put({part}, new, k)"), format!("put({part}, before, false)")),
            false => {
                self.writes_order(table);
                self.uses.removes_order = true;
                let add = format!("call('ZADD', {part}.order, '0', new)");
                (add, format!("call('ZREM', {part}.order, before)"))
            }
        };
        format!(
            "do\nlocal new, before = {new}, {before}\nif new ~= before then\nif new then {add} end\nif before then {remove} end\nend\nend\n"
        )
    }

    fn written(&self, place: &Place) -> Bit {
        match self.is_null(place) {
            true => Bit::bytes([0]),
            false => Bit::of_commit(place),
        }
    }

    /// The entry of a new record in an index; false if it is not in it. Its key is in `k` unless it is known before.
    fn entry(&mut self, table: &'static Table, index: usize, columns: &[Place]) -> String {
        let Some(index) = table.indexes.get(index) else { return "false".to_owned() };
        let indexed: Vec<_> =
            index.columns.iter().filter_map(|column| columns.get(*column)).collect();
        if indexed.iter().any(|place| self.is_null(place)) {
            return "false".to_owned();
        }
        if is_looked_up(index) {
            let field =
                self.emitter.digest(index, indexed.into_iter().map(Bit::of_commit).collect());
            return self.emitter.concat(field);
        }
        let mut bits = vec![Bit::bytes(code(index.name))];
        bits.extend(indexed.into_iter().map(Bit::of_commit));
        let key = columns.get(..table.key).unwrap_or_default();
        if !ends_with_key(table, index) {
            bits.extend(key.iter().map(Bit::of_commit));
        }
        match length_of(key) {
            Some(length) => bits.push(Bit::Known(length)),
            // Its key is the last value.
            None if key.len() == 1 => {
                bits.pop();
                bits.push(Bit::Lua("ending".to_owned()));
            }
            None => bits.push(Bit::Lua("struct.pack('>I2', #k)".to_owned())),
        }
        self.emitter.concat(bits)
    }

    /// Declares the field and the key of a new record.
    fn field(&mut self, table: &'static Table, columns: &[Place], is_read: bool) -> String {
        let key: Vec<_> =
            columns.get(..table.key).unwrap_or_default().iter().map(Bit::of_commit).collect();
        if key.iter().all(|bit| bit.known().is_some()) {
            let field = match is_read {
                true => self.emitter.field(table, key),
                false => {
                    let code = [Bit::bytes(code(table.name))];
                    self.emitter.concat(code.into_iter().chain(key).collect())
                }
            };
            return format!("local field = {field}\nlocal k = sub(field, 3)\n");
        }
        let k = self.emitter.concat(key);
        let field = format!("local k = {k}\nlocal field = {} .. k\n", literal(&code(table.name)));
        let has_entries = table.indexes.iter().any(|index| !is_looked_up(index));
        match table.key == 1 && has_entries {
            true => field + "local ending = k .. struct.pack('>I2', #k)\n",
            false => field,
        }
    }

    /// Writes a new record: whether a part is stored elsewhere, the version and the columns besides the key, without the nulls at
    /// the end; and what is stored of its parts, in a field of its own, because most scripts do not need it.
    fn record(
        &mut self,
        table: &'static Table,
        columns: &[Place],
        version: Bit,
        first: usize,
    ) -> String {
        let all = columns;
        let columns = columns.get(table.key..).unwrap_or_default();
        let last = columns.iter().rposition(|place| !self.is_null(place));
        let columns = columns.get(..last.map_or(0, |last| last + 1)).unwrap_or_default();
        let kinds = self.kinds(table, first);
        let is_elsewhere = u8::from(kinds.iter().any(|kind| *kind != PartKind::Inside));
        let bits = columns.iter().map(|place| self.written(place));
        let bits = [Bit::bytes([is_elsewhere]), version].into_iter().chain(bits);
        let columns = self.emitter.concat(bits.collect());
        let part = self.emitter.part(table);
        let looked_up = table.indexes.iter().filter(|index| is_looked_up(index));
        let referred =
            looked_up.flat_map(|index| index.columns).filter_map(|column| match all.get(*column) {
                Some(Place::Bound(value)) => Some((*column, *value)),
                _ => None,
            });
        let referred = referred.collect();
        if table.parts.is_empty() {
            return format!("put({part}, field, {columns})\n");
        }
        let stored = self.emitter.argument(Argument::Parts(table, first, referred));
        format!("put({part}, field, {columns})\nput({part}, field .. '\\254', {stored})\n")
    }

    fn kinds(&self, table: &Table, first: usize) -> Vec<PartKind> {
        let kinds = self.commit.parts.iter().skip(first).take(table.parts.len());
        kinds.copied().collect()
    }

    /// Writes the parts that are in the hash of parts.
    fn beside(&mut self, table: &Table, first: usize) -> String {
        let part = self.emitter.part(table);
        let mut code = String::new();
        for (place, kind) in self.kinds(table, first).into_iter().enumerate() {
            if kind.is_beside() {
                self.uses.writes_parts = true;
                let text = self.emitter.argument(Argument::Text(first + place));
                code.push_str(&format!(
                    "call('HSET', {part}.parts, field .. '\\{place:03}', {text})\n"
                ));
            }
        }
        code
    }

    fn insert(&mut self, table: &'static Table, columns: &[Place], first: usize) -> Block {
        let part = self.emitter.part(table);
        let field = self.field(table, columns, false);
        let (mut ordered, mut looked_up) = (String::new(), String::new());
        if is_ordered(table) {
            ordered.push_str(", '0', field");
        }
        for (place, index) in table.indexes.iter().enumerate() {
            let entry = self.entry(table, place, columns);
            match is_looked_up(index) {
                _ if entry == "false" => {}
                true => looked_up.push_str(&format!("put({part}, {entry}, k)\n")),
                false => ordered.push_str(&format!(", '0', {entry}")),
            }
        }
        if !ordered.is_empty() {
            self.writes_order(table);
            ordered = format!("call('ZADD', {part}.order{ordered})\n");
        }
        let record = self.record(table, columns, Bit::bytes([25, 1]), first);
        let beside = self.beside(table, first);
        let change = format!("do\n{field}{ordered}{beside}{record}{looked_up}end\n");
        Block { rehearsal: String::new(), change }
    }

    fn put(&mut self, table: &'static Table, columns: &[Place], first: usize) -> Block {
        let part = self.emitter.part(table);
        let field = self.field(table, columns, true);
        let count = table.columns.len() - table.key;
        let parts = match table.parts.is_empty() {
            true => String::new(),
            false => {
                format!("if byte(old) == 1 then parts_of(get({part}, field .. '\\254')) end\n")
            }
        };
        let rehearsal = format!(
            "do\n{field}local old = get({part}, field)\nif old then\nchecked(old, {count})\n{parts}end\nend\n"
        );
        let mut change = format!("do\n{field}local old = get({part}, field)\n");
        if is_ordered(table) {
            self.writes_order(table);
            change
                .push_str(&format!("if not old then call('ZADD', {part}.order, '0', field) end\n"));
        }
        let mut looked_up = String::new();
        for (place, index) in table.indexes.iter().enumerate() {
            let new = self.entry(table, place, columns);
            let function = self.emitter.entry_function(table, index);
            let before = format!("old and {function}(k, old) or false");
            let moved = self.moved(table, index, &new, &before);
            match is_looked_up(index) {
                true => looked_up.push_str(&moved),
                false => change.push_str(&moved),
            }
        }
        change.push_str("local version = old and integer(number_at(old, 2) + 1) or '\\25\\1'\n");
        let record = self.record(table, columns, Bit::Lua("version".to_owned()), first);
        change.push_str(&self.beside(table, first));
        if !table.parts.is_empty() {
            self.uses.writes_parts = true;
            let kinds = self.kinds(table, first);
            let beside = kinds.iter().enumerate().filter(|(_, kind)| kind.is_beside());
            let beside: Vec<_> = beside.map(|(place, _)| format!("[{place}] = true")).collect();
            let names = match kinds.contains(&PartKind::Apart) {
                true => self.emitter.argument(Argument::Names(table, first)),
                false => "''".to_owned(),
            };
            change.push_str(&format!(
                "if old then remove_parts({part}, field, old, {{ {} }}, {names}) end\n",
                beside.join(", ")
            ));
        }
        change.push_str(&[record, looked_up].concat());
        change.push_str("end\n");
        Block { rehearsal, change }
    }
}

/// The changes of a transaction, and whether they are a list of any length.
struct Blocks {
    rehearsal: String,
    changes: String,
    is_list: bool,
}

/// The sequences that a transaction uses, each once.
fn sequence_names(shape: &TransactionShape) -> Vec<&'static str> {
    let mut names = shape.sequences.clone();
    names.extend(shape.checks.iter().filter_map(|check| match check {
        CheckShape::Sum(name, _) => Some(*name),
        _ => None,
    }));
    names.extend(shape.writes.iter().filter_map(|write| match write {
        WriteShape::Add(name, _) => Some(*name),
        _ => None,
    }));
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// The time of a commit as a value, which is made once; and the end of the log as it is stored: its number, its size, and the time
/// and the commit of its last entry.
const COMMITTING: &str = "\
local dated_at, date
local function value_at(at)
if at ~= dated_at then dated_at, date = at, integer(at) end
return date
end
local function head_text()
return log_at and struct.pack('>I8I8i8c16', log, size, log_at, last) or ''
end
";

/// After an error nothing of the transaction is written, and others of the call are not affected.
const CARRYING_OUT: &str = "\
local outcomes = {}
for place = 1, A[1] do
local is_done, outcome = pcall(transaction)
if not is_done then
local text = type(outcome) == 'table' and outcome.err or tostring(outcome)
if not string.find(text, 'CORRUPT ', 1, true) and not string.find(text, 'WRONGTYPE', 1, true) then
write()
error(text, 0)
end
outcome = { 'error', text }
end
outcomes[place] = outcome
";

/// Keeps the outcome of an attempt.
const KEEPING: &str = "\
if type(outcomes[1]) == 'string' then call('SET', attempt, outcomes[1], 'PX', 600000) end
";

/// The sequences, entries and topics that are loaded, each after their number, and the end of the log.
const LOADED: &str = "\
for _ = 1, A[b + 1] do
put(D, A[b + 2], A[b + 3])
b = b + 2
end
b = b + 1
for place = 1, A[b + 1] do pushed[place] = A[b + 1 + place] end
b = b + 1 + #pushed
for place = 1, A[b + 1] do call('ZADD', D.order, '0', A[b + 1 + place]) end
b = b + 1 + A[b + 1]
if A[b + 1] ~= '' then put(D, 'head', A[b + 1]) end
return 'made'
";

/// What is loaded expires. The time is the last argument.
const EXPIRING: &str = "\
for _, key in ipairs(KEYS) do
if call('PTTL', key) == -1 then call('PEXPIRE', key, A[#A]) end
end
";
