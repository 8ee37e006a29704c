//! Writes the lines of a dump.

use std::collections::BTreeMap;

use super::line::Line;
use super::line::Totals;
use crate::domain::{RunningDigest, TenantId};
use crate::proof::DumpKey;
use crate::store::Stored;

/// Writes a dump, line by line, each with its line feed.
#[derive(Debug)]
pub struct DumpWriter {
    lines: u64,
    counts: BTreeMap<String, u64>,
    digest: RunningDigest,
}

impl DumpWriter {
    /// Begins a dump by this program, such as `swarm 0.3.0`. Returns it with the first line.
    pub fn new(program: &str) -> (Self, String) {
        let mut writer =
            Self { lines: 0, counts: BTreeMap::new(), digest: RunningDigest::default() };
        let first = writer.add(&Line::Format(program.to_owned()));
        (writer, first)
    }

    /// Returns the line of a record of this tenant.
    pub fn record(&mut self, tenant: &TenantId, record: Stored) -> String {
        self.add(&Line::of(tenant, record))
    }

    /// Returns the last line, signed with this key, if there is one, and what the dump consists of.
    pub fn end(self, key: Option<&DumpKey>) -> (String, Totals) {
        let Self { lines, counts, digest } = self;
        let mut totals = Totals { lines, counts, sha256: digest.digest(), signature: None };
        totals.signature = key.and_then(|key| key.sign(&totals.signed_text()));
        (Line::End(totals.clone()).text() + "\n", totals)
    }

    fn add(&mut self, line: &Line) -> String {
        let text = line.text() + "\n";
        self.lines = self.lines.saturating_add(1);
        self.digest.update(text.as_bytes());
        for kind in line.kinds() {
            let count = self.counts.entry((*kind).to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        text
    }
}
