//! The last line of a dump: how much there is, and its digest.

use std::collections::BTreeMap;

use crate::domain::json::{Json, Object};
use crate::domain::{Digest, Invalid};

/// What a dump consists of, without its last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The number of lines.
    pub lines: u64,
    /// The number of records of each kind that there is.
    pub counts: BTreeMap<String, u64>,
    /// The SHA-256 of all bytes.
    pub sha256: Digest,
}

impl Totals {
    /// The number of records of this kind.
    pub fn count(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    pub(super) fn json(&self) -> Json {
        let counts = self.counts.iter().map(|(kind, count)| (kind.as_str(), number(*count)));
        Json::from([
            ("lines", number(self.lines)),
            ("counts", counts.collect()),
            ("sha256", Json::Text(self.sha256.to_string())),
        ])
    }

    pub(super) fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let counts = fields.take("counts").ok_or_else(|| Invalid::missing("counts"))?;
        let counts = counts.into_object();
        let count = |(kind, count): (&str, &Json)| Ok((kind.to_owned(), read_number(count)?));
        Ok(Self {
            lines: whole(fields, "lines")?,
            counts: counts.members().map(count).collect::<Result<_, _>>()?,
            sha256: Digest::parse(fields.text("sha256")?)?,
        })
    }
}

/// A number as JSON.
pub(super) fn number(number: u64) -> Json {
    #[expect(clippy::cast_precision_loss, reason = "counters do not get that far")]
    Json::from(number as f64)
}

/// Reads what [`number`] made.
pub(super) fn read_number(json: &Json) -> Result<u64, Invalid> {
    let mut fields = Object::default();
    fields.set("number", json.clone());
    whole(&mut fields, "number")
}

/// A required integer.
pub(super) fn whole(fields: &mut Object, field: &'static str) -> Result<u64, Invalid> {
    fields.whole_if_any(field)?.ok_or_else(|| Invalid::missing(field))
}
