//! Reads the lines of a dump, and checks them.

use std::collections::BTreeMap;

use super::index::{DumpIndex, Facts};
use super::line::Line;
use super::line::Totals;
use super::tenant::TenantChecks;
use super::{Checked, Fault, check};
use crate::domain::{RunningDigest, TenantId};
use crate::store::Stored;

/// Reads a dump, line by line, and stops at the first fault. What grows with the dump is in its [`DumpIndex`].
#[derive(Debug)]
pub struct DumpReader {
    lines: u64,
    counts: BTreeMap<String, u64>,
    digest: RunningDigest,
    is_begun: bool,
    /// The last tenant that was complete.
    before: Option<TenantId>,
    current: Option<(TenantId, TenantChecks)>,
    totals: Option<Totals>,
    facts: Facts,
}

/// A record to restore, and its tenant.
pub type Restorable = (TenantId, Stored);

impl DumpReader {
    /// A reader before the first line, which keeps all it has to know in memory.
    pub fn new() -> Self {
        Self::with_index(BTreeMap::new())
    }

    /// A reader before the first line, with an empty index.
    pub fn with_index(index: impl DumpIndex + 'static) -> Self {
        Self {
            lines: 0,
            counts: BTreeMap::new(),
            digest: RunningDigest::default(),
            is_begun: false,
            before: None,
            current: None,
            totals: None,
            facts: Facts::new(index),
        }
    }

    /// Reads the next line, with or without its line feed. Returns the record in it, if the line has one.
    ///
    /// # Errors
    /// The first [`Fault`]. The dump is invalid then, whatever follows.
    pub fn line(&mut self, text: &[u8]) -> Result<Option<Restorable>, Fault> {
        let number = self.lines.saturating_add(1);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let read = self.read(text, number).map_err(|fault| match fault {
            Problem::Here(what) => Fault { line: number, what },
            Problem::At(fault) => fault,
        });
        self.lines = number;
        read
    }

    /// Checks that the dump is complete, and returns what it consists of. A signature is that of the key that it names;
    /// whether to trust that key is for the caller to decide.
    ///
    /// # Errors
    /// [`Fault`] when its last line is missing.
    pub fn finish(self) -> Result<Totals, Fault> {
        let what = "the dump ends here, before its last line: it is not complete".to_owned();
        self.totals.ok_or(Fault { line: self.lines, what })
    }

    fn read(&mut self, text: &[u8], number: u64) -> Result<Option<Restorable>, Problem> {
        check(self.totals.is_none(), || "the dump goes on after its last line".to_owned())?;
        let line = Line::read(text)?;
        check(self.is_begun || matches!(line, Line::Format(_)), || {
            "the first line must say the format of the dump".to_owned()
        })?;
        if let Line::End(totals) = line {
            self.end_tenant()?;
            self.end(&totals)?;
            self.totals = Some(totals);
            return Ok(None);
        }
        self.digest.update(text);
        self.digest.update(b"\n");
        for kind in line.kinds() {
            let count = self.counts.entry((*kind).to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        match line {
            Line::Format(_) => {
                check(!self.is_begun, || "a dump begins within another".to_owned())?;
                self.is_begun = true;
                Ok(None)
            }
            Line::Tenant(id, head) => {
                self.end_tenant()?;
                check(self.before.as_ref() != Some(&id), || format!("tenant {id} stands twice"))?;
                check(self.before.as_ref() < Some(&id), || {
                    format!(
                        "tenant {id} is not in its place: tenants are in the order of their ids"
                    )
                })?;
                self.facts.clear()?;
                self.current = Some((id.clone(), TenantChecks::new(head.clone(), number)));
                Ok(Some((id, Stored::Head(head))))
            }
            Line::Record(record, log) => {
                let (id, checks) =
                    self.current.as_mut().ok_or("a record before the line of its tenant")?;
                checks.record(&record, log.as_ref(), number, &mut self.facts)?;
                Ok(Some((id.clone(), record)))
            }
            Line::End(_) => Ok(None),
        }
    }

    fn end_tenant(&mut self) -> Result<(), Problem> {
        let Some((id, checks)) = self.current.take() else { return Ok(()) };
        self.before = Some(id);
        checks.finish(&mut self.facts)?.map_or(Ok(()), |fault| Err(Problem::At(fault)))
    }

    fn end(&self, totals: &Totals) -> Checked<()> {
        check(totals.lines == self.lines, || {
            format!("there are {} lines before this one, not {}", self.lines, totals.lines)
        })?;
        check(totals.counts == self.counts, || {
            format!("the counts are {:?}, not {:?}", self.counts, totals.counts)
        })?;
        let found = self.digest.digest();
        check(totals.sha256 == found, || {
            format!("the SHA-256 of the lines before is {found}, not {}", totals.sha256)
        })?;
        let text = totals.signed_text();
        check(totals.signature.as_ref().is_none_or(|signature| signature.verify(&text)), || {
            "the signature is not that of the lines before".to_owned()
        })
    }
}

impl Default for DumpReader {
    fn default() -> Self {
        Self::new()
    }
}

/// A fault of this line, or of an earlier one.
enum Problem {
    Here(String),
    At(Fault),
}

impl From<String> for Problem {
    fn from(what: String) -> Self {
        Self::Here(what)
    }
}

impl From<&str> for Problem {
    fn from(what: &str) -> Self {
        Self::Here(what.to_owned())
    }
}
