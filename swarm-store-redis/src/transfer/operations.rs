//! A batch of a restore, as the arguments of `restore.lua`.

use swarm_core::StoreError;
use swarm_core::store::Result;

use crate::keys::Keys;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::TenantStore;

/// The time until an uncommitted restore expires, in milliseconds: a day.
const TTL: u64 = 24 * 60 * 60 * 1_000;

/// The keys that are written, the marker first, and the operations.
pub(super) struct Operations {
    keys: Vec<String>,
    args: Vec<String>,
}

impl Operations {
    pub(super) fn new(staged: &Keys) -> Self {
        Self { keys: vec![staged.marker()], args: Vec::new() }
    }

    /// The keys that are written.
    pub(super) fn written(&self) -> &[String] {
        self.keys.get(1..).unwrap_or_default()
    }

    pub(super) fn set(&mut self, key: String, field: impl ToString, value: impl ToString) {
        self.add("set", key, [field.to_string(), value.to_string()]);
    }

    pub(super) fn push(&mut self, key: String, value: impl ToString) {
        self.add("push", key, [value.to_string()]);
    }

    pub(super) fn list(&mut self, key: String, entry: String) {
        self.add("list", key, [entry]);
    }

    pub(super) fn count(&mut self, key: String, field: impl ToString) {
        self.add("count", key, [field.to_string()]);
    }

    pub(super) fn line(&mut self, key: String, field: impl ToString, line: String) {
        self.add("line", key, [field.to_string(), line]);
    }

    pub(super) fn revision(&mut self, key: String, field: String, revision: u8, id: u64) {
        self.add("revision", key, [field, revision.to_string(), id.to_string()]);
    }

    pub(super) fn latest(
        &mut self,
        key: String,
        index: String,
        field: String,
        by: String,
        id: u64,
    ) {
        let index = self.place(index).to_string();
        self.add("latest", key, [index, field, by, id.to_string()]);
    }

    /// Writes the batch with this number.
    pub(super) async fn write(self, tenant: &TenantStore, number: u64) -> Result<()> {
        const OP: &str = "restore";
        let mut script = ScriptCall::with(&scripts::RESTORE, &self.keys, &[]);
        script.arg(number).arg(TTL);
        script.args(self.args.iter().map(String::as_str));
        let written: String = tenant.client.run(OP, &script).await?;
        if written == "written" { Ok(()) } else { Err(StoreError::corrupt(OP, "odd answer")) }
    }

    fn add<const N: usize>(&mut self, name: &str, key: String, args: [String; N]) {
        let place = self.place(key);
        self.args.extend([name.to_owned(), place.to_string()]);
        self.args.extend(args);
    }

    /// The place of a key, counted from 1.
    fn place(&mut self, key: String) -> usize {
        if let Some(place) = self.keys.iter().position(|known| *known == key) {
            return place + 1;
        }
        self.keys.push(key);
        self.keys.len()
    }
}
