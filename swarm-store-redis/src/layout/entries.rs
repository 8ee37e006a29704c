//! The migration to layout 4: log entries contain the id and time that their commits assigned.

use swarm_core::store::records::OldEntry;
use swarm_core::store::{Document, Result};

use crate::codec::{self, Context, OldAct};
use crate::connection::client::Client;
use crate::keys::{Keys, collection_name};
use crate::script_call::ScriptCall;
use crate::scripts;

/// The number of log rows, or of sessions, read per call.
const PAGE: usize = 500;

/// Completes the rows of layout 3, then marks the tenant. Several processes may run it at the same time: a row
/// is replaced only if it is unchanged.
pub(super) async fn complete(
    op: &'static str,
    client: &Client,
    keys: &Keys,
    from: usize,
) -> Result<()> {
    let migration = Migration { op, client, keys, from };
    migration.complete_rows().await?;
    migration.complete_acts_of_sessions().await?;
    let mut mark = ScriptCall::of(&scripts::LAYOUT_4, [keys.layout()]);
    mark.arg(from);
    client.run(op, &mark).await
}

struct Migration<'a> {
    op: &'static str,
    client: &'a Client,
    keys: &'a Keys,
    from: usize,
}

impl Migration<'_> {
    async fn complete_rows(&self) -> Result<()> {
        for start in (0..).step_by(PAGE) {
            let page = redis::cmd("LRANGE")
                .arg(self.keys.log())
                .arg(start)
                .arg(start + PAGE - 1)
                .to_owned();
            let rows: Vec<String> = self.client.query(self.op, &page).await?;
            let mut replace =
                ScriptCall::of(&scripts::REPLACE_ROWS, [self.keys.layout(), self.keys.log()]);
            replace.arg(self.from);
            for (index, row) in (start..).zip(&rows) {
                if let Some(completed) = self.completed(row).await? {
                    replace.arg(index).arg(row).arg(completed);
                }
            }
            self.client.run::<()>(self.op, &replace).await?;
            if rows.len() < PAGE {
                break;
            }
        }
        Ok(())
    }

    async fn complete_acts_of_sessions(&self) -> Result<()> {
        let mut cursor = "0".to_owned();
        loop {
            let acts = self.keys.acts();
            let page =
                redis::cmd("HSCAN").arg(&acts).arg(&cursor).arg("COUNT").arg(PAGE).to_owned();
            let (next, found): (String, Vec<(String, String)>) =
                self.client.query(self.op, &page).await?;
            let mut replace = ScriptCall::of(&scripts::REPLACE_FIELDS, [self.keys.layout(), acts]);
            replace.arg(self.from);
            for (session, lines) in &found {
                replace.arg(session).arg(lines).arg(self.completed_lines(lines).await?);
            }
            self.client.run::<()>(self.op, &replace).await?;
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// The completed rows of a session, the number of each first.
    async fn completed_lines(&self, lines: &str) -> Result<String> {
        let mut completed = Vec::new();
        for line in lines.lines() {
            let (seq, row) = line.split_once(' ').unwrap_or((line, ""));
            let row = self.completed(row).await?.unwrap_or_else(|| row.to_owned());
            completed.push(format!("{seq} {row}"));
        }
        Ok(completed.join("\n"))
    }

    /// The row in layout 4; `None` if it is already in that layout, or refers to a take.
    async fn completed(&self, row: &str) -> Result<Option<String>> {
        let Some(OldAct { at, minted, text }) = codec::decode_old_act(row).context(self.op)? else {
            return Ok(None);
        };
        let old = OldEntry { text, minted, at };
        let document = self.document(&old).await?;
        let entry = old.complete(document.as_ref()).map_err(codec::Corrupt::from);
        Ok(Some(format!("a {} {}", at.millis(), entry.context(self.op)?.to_text())))
    }

    async fn document(&self, old: &OldEntry<'_>) -> Result<Option<Document>> {
        let Some((collection, key)) = old.document() else { return Ok(None) };
        let [rows, keys, _] = self.keys.collection(collection_name(collection)?);
        let mut script = ScriptCall::of(&scripts::THROUGH, [keys, rows]);
        script.arg(key);
        let row: Option<String> = self.client.run(self.op, &script).await?;
        codec::decode_optional(row.as_ref(), codec::decode_document).context(self.op)
    }
}
