//! The findings of an audit: what holds, what fails, what is notable, and what is unproven.

/// One finding of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The result of the check.
    pub verdict: Verdict,
    /// What was checked.
    pub check: Check,
    /// One line for people: what holds, what fails and where, what is notable, or what is unproven and why. Text of
    /// others is quoted, and safe to print on a terminal.
    pub text: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.verdict.as_str(), self.check.code(), self.text)
    }
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim was recomputed, and holds.
    Holds,
    /// The claim was recomputed, and is false.
    Fails,
    /// The rules allow what was done, but it changed the terms of takes, or who counts. A reader should ask why.
    Notable,
    /// The claim cannot be recomputed from the input, so it is taken on trust.
    Unproven,
}

impl Verdict {
    /// Returns the word that a line begins with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Notable => "notable",
            Self::Unproven => "unproven",
        }
    }
}

macro_rules! checks {
    ($($name:ident = $code:literal, $about:literal;)*) => {
        /// What an audit checks (API.md, 11.9). Codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Check {
            $(#[doc = $about] $name,)*
        }

        impl Check {
            /// All of them, in the order of their findings.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the code: a lower-case word.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

checks! {
    Record = "record", "Session and takes are records as the service writes them, and belong together.";
    Signature = "signature", "Each take is signed by the key in it.";
    Members = "members", "The rows of `members` are the keys in the takes.";
    Revision = "revision", "The takes of each member are revisions 1 to n, and none amends after aggregation, or is one more than the session allows.";
    Stance = "stance", "Each take has one of the stances that the session declares.";
    Nonce = "nonce", "No member used a nonce twice.";
    Entry = "entry", "Each entry is an exact text in its place, and entries and takes agree.";
    Seal = "seal", "Each take of a blind session is what its seal was made of, and was opened with the session.";
    History = "history", "The acts of the operator lead from convening to the record, step by step.";
    Version = "version", "The acts are numbered without a gap, and each take was judged under the one in force.";
    Time = "time", "Times agree with those of the log, which never run back.";
    Deadline = "deadline", "Each take was filed within the deadline in force.";
    Roster = "roster", "The roster has its digest, and each author was expected when the take was filed.";
    Quorum = "quorum", "The quorum was not changed once takes were on file.";
    Buckets = "buckets", "The buckets have their digest.";
    Takes = "takes", "As many takes precede the aggregation as its entry says.";
    Snapshot = "snapshot", "The snapshot has its digest, and is what the rules compute.";
    Outcome = "outcome", "An outcome was recorded once the session was over, and what each member lost by it.";
    Withheld = "withheld", "Texts are withheld as the log says.";
    Inclusion = "inclusion", "Each entry is in the tree of the checkpoint.";
    Checkpoint = "checkpoint", "The checkpoint is signed by the log's key.";
    Consistency = "consistency", "The later checkpoint continues the earlier one.";
    Receipt = "receipt", "An answer is signed by the log's key.";
    Content = "content", "The bodies are those that were signed.";
    Origin = "origin", "The name of the log.";
    Witness = "witness", "Others have seen the same log.";
    Timestamp = "timestamp", "A time-stamping authority has seen a checkpoint of the log.";
    Completeness = "completeness", "No take was left out.";
    Keys = "keys", "Each member filed with the key that the log, or the reader, has of it.";
    Sessions = "sessions", "The day and subject have no other session.";
    Identity = "identity", "Whose keys they are.";
    Clock = "clock", "The time of the server's clock.";
    Unknown = "unknown", "Parts that this version does not know.";
}

/// The findings so far.
#[derive(Default)]
pub(super) struct Report(Vec<Finding>);

/// Maximum number of faults of one check, or of notable facts, that are named.
const MAX_NAMED: usize = 10;

/// The faults of one check: their number, and the texts of those that are named. So many faults take no more memory than few.
#[derive(Debug, Default)]
pub(super) struct Faults {
    named: Vec<String>,
    number: usize,
}

impl Faults {
    pub(super) fn push(&mut self, fault: String) {
        self.push_with(|| fault);
    }

    /// Adds a fault whose text is made only if it is named, because that reads all takes.
    pub(super) fn push_with(&mut self, fault: impl FnOnce() -> String) {
        self.number += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(fault());
        }
    }
}

impl FromIterator<String> for Faults {
    fn from_iter<I: IntoIterator<Item = String>>(texts: I) -> Self {
        let mut faults = Self::default();
        faults.extend(texts);
        faults
    }
}

impl Extend<String> for Faults {
    fn extend<I: IntoIterator<Item = String>>(&mut self, faults: I) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }
}

impl From<Vec<String>> for Faults {
    fn from(mut named: Vec<String>) -> Self {
        let number = named.len();
        named.truncate(MAX_NAMED);
        Self { named, number }
    }
}

impl Report {
    /// Adds the faults of a check, or, without any, what holds: `None` if nothing was looked at.
    pub(super) fn conclude(
        &mut self,
        check: Check,
        faults: impl Into<Faults>,
        holds: impl Into<Option<String>>,
    ) {
        let faults = faults.into();
        match holds.into() {
            Some(holds) if faults.number == 0 => self.add(Verdict::Holds, check, holds),
            _ => self.faults(check, faults),
        }
    }

    /// Adds the faults of a check, if there are any.
    pub(super) fn faults(&mut self, check: Check, faults: impl Into<Faults>) {
        self.add_some(Verdict::Fails, check, faults.into());
    }

    /// Adds what is notable, if anything is.
    pub(super) fn notable(&mut self, check: Check, texts: impl Into<Faults>) {
        self.add_some(Verdict::Notable, check, texts.into());
    }

    fn add_some(&mut self, verdict: Verdict, check: Check, texts: Faults) {
        let unnamed = texts.number.saturating_sub(texts.named.len());
        for text in texts.named {
            self.add(verdict, check, text);
        }
        if unnamed > 0 {
            self.add(verdict, check, format!("and {unnamed} more of the kind"));
        }
    }

    /// Adds what has to be taken on trust.
    pub(super) fn unproven(&mut self, check: Check, text: impl Into<String>) {
        self.add(Verdict::Unproven, check, text.into());
    }

    fn add(&mut self, verdict: Verdict, check: Check, text: String) {
        self.0.push(Finding { verdict, check, text });
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.0
    }
}

/// A count with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
