//! The lines of a verification, as `swarm verify` prints them.

use super::finding::{Check, Finding, Verdict};

/// One line of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The result of a check; `None` for a statement, such as what was signed.
    pub verdict: Option<Verdict>,
    /// The whole line. Text of others is quoted, and safe to print on a terminal.
    pub text: String,
}

/// All lines of a verification, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    all: Vec<Line>,
    /// Whether the last line says that nothing was verified.
    is_void: bool,
}

impl Lines {
    /// The findings on a bundle, and a conclusion.
    pub fn of_bundle(findings: Vec<Finding>) -> Self {
        let mut lines = Self::from(findings);
        let conclusion = match (lines.holds(), lines.notable()) {
            (false, _) => "the bundle fails".to_owned(),
            (true, 0) => "the bundle holds".to_owned(),
            (true, 1) => "the bundle holds; 1 finding is notable".to_owned(),
            (true, notable) => format!("the bundle holds; {notable} findings are notable"),
        };
        lines.push(None, conclusion);
        lines
    }

    /// The findings on a take with its proof. Where its signature could not be checked, anybody can have made up what it says, and
    /// the last line says so.
    pub(super) fn of_take(findings: Vec<Finding>) -> Self {
        let holds = |check: Check| {
            findings.iter().any(|it| it.verdict == Verdict::Holds && it.check == check)
        };
        let (is_signed, is_included) = (holds(Check::Signature), holds(Check::Inclusion));
        let mut lines = Self::from(findings);
        if lines.holds() && !is_signed {
            match is_included {
                true => lines
                    .push(None, "only its place in the log was verified, not what this take says"),
                false => lines.push_unverified(),
            }
        }
        lines
    }

    /// Returns an iterator over the lines.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.all.iter()
    }

    /// Returns whether something was verified and nothing fails. Of a take whose texts are withheld perhaps nothing can be.
    pub fn is_verified(&self) -> bool {
        self.holds() && self.number(Verdict::Holds) > 0 && !self.is_void
    }

    /// Returns whether nothing fails.
    pub fn holds(&self) -> bool {
        self.number(Verdict::Fails) == 0
    }

    /// Returns the number of notable lines.
    pub fn notable(&self) -> usize {
        self.number(Verdict::Notable)
    }

    /// Returns the exit status of `swarm verify`: 0 if nothing fails, 1 if something does, and 3 if `is_strict` and
    /// something is notable.
    pub fn status(&self, is_strict: bool) -> u8 {
        match (self.holds(), self.notable()) {
            (false, _) => 1,
            (true, 1..) if is_strict => 3,
            (true, _) => 0,
        }
    }

    fn number(&self, verdict: Verdict) -> usize {
        self.all.iter().filter(|line| line.verdict == Some(verdict)).count()
    }

    /// Says that neither the signature nor the place in the log could be checked.
    pub(super) fn push_unverified(&mut self) {
        self.is_void = true;
        self.push(
            None,
            "nothing was verified of this take: neither its signature nor its place in the log",
        );
    }

    pub(super) fn push(&mut self, verdict: impl Into<Option<Verdict>>, text: impl Into<String>) {
        self.all.push(Line { verdict: verdict.into(), text: text.into() });
    }
}

impl From<Vec<Finding>> for Lines {
    fn from(findings: Vec<Finding>) -> Self {
        let line =
            |finding: &Finding| Line { verdict: Some(finding.verdict), text: finding.to_string() };
        Self { all: findings.iter().map(line).collect(), is_void: false }
    }
}
