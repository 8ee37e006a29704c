//! Requests of one operator's command.

use std::path::Path;

use swarm_client::{Client, path_segment};
use swarm_core::json::{self, Json};

use crate::command::{CommandError, Output, confirm, note, read_input, text_of};

/// The longest page of a list.
const PAGE_LIMIT: usize = 500;

/// Who sends the requests of a command, and how.
pub(super) struct Operator {
    pub(super) client: Client,
    pub(super) token: String,
    pub(super) output: Output,
    pub(super) dry_run: bool,
    pub(super) yes: bool,
}

impl Operator {
    pub(super) fn get(&self, path: &str) -> Result<Json, CommandError> {
        Ok(self.client.operator_get(&self.token, path)?)
    }

    /// All pages of a list, as one answer.
    pub(super) fn pages(&self, path: &str, list: &str) -> Result<Json, CommandError> {
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let mark = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{mark}limit={PAGE_LIMIT}{after}"))?;
            let next = text_of(&page, "nextAfter");
            if let Some(Json::List(page)) = page.into_object().take(list) {
                items.extend(page);
            }
            if next.is_empty() {
                return Ok(Json::from([(list, Json::List(items))]));
            }
            after = format!("&after={}", path_segment(&next));
        }
    }

    /// Sends a change; with `--dry-run` it is judged and not committed.
    pub(super) fn change(
        &self,
        method: &str,
        path: &str,
        body: &Json,
    ) -> Result<Json, CommandError> {
        if !self.dry_run {
            return Ok(Json::Object(self.client.operate(&self.token, method, path, body)?));
        }
        // A server that does not know the query would commit the change.
        if !json::write(&self.client.get("/openapi.json")?).contains("\"dry_run\"") {
            let text = "this server knows no dry run: nothing was sent";
            return Err(CommandError::Refused(text.to_owned()));
        }
        let path = format!("{path}?dry_run=true");
        Ok(Json::Object(self.client.operate(&self.token, method, &path, body)?))
    }

    /// Sends a change, shows the answer, and says what was done.
    pub(super) fn post(&self, path: &str, body: &Json, done: &str) -> Result<(), CommandError> {
        let answer = self.change("POST", path, body)?;
        self.output.record(&answer)?;
        self.done(done);
        Ok(())
    }

    /// Says what was done.
    pub(super) fn done(&self, text: &str) {
        if self.dry_run {
            note(&format!("dry run, nothing was changed; it would be: {text}"));
        } else {
            note(text);
        }
    }

    /// Says which command comes next.
    pub(super) fn next(&self, command: &str) {
        if !self.dry_run {
            note(&format!("next: {command}"));
        }
    }

    /// Asks before what cannot be undone; a dry run needs no answer.
    pub(super) fn confirm(&self, what: &str) -> Result<(), CommandError> {
        confirm(what, self.yes || self.dry_run)
    }

    /// The ids of members by id or unambiguous name.
    pub(super) fn member_ids(&self, members: &[String]) -> Result<Vec<String>, CommandError> {
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = self.pages("/api/swarm/admin/applications", "applications")?.into_object();
        let Some(Json::List(known)) = known.take("applications") else { return Ok(Vec::new()) };
        members.iter().map(|member| member_id(&known, member)).collect()
    }

    pub(super) fn member_id(&self, member: &str) -> Result<String, CommandError> {
        let ids = self.member_ids(&[member.to_owned()])?;
        ids.into_iter().next().ok_or_else(|| no_member(member))
    }
}

fn member_id(known: &[Json], member: &str) -> Result<String, CommandError> {
    if known.iter().any(|row| text_of(row, "id") == member) {
        return Ok(member.to_owned());
    }
    let lower = member.to_lowercase();
    let named = known.iter().filter(|row| text_of(row, "name").to_lowercase() == lower);
    let ids: Vec<_> = named.map(|row| text_of(row, "id")).collect();
    match &*ids {
        [] => Err(no_member(member)),
        [id] => Ok(id.clone()),
        several => {
            let text = format!("{member:?} is the name of several: {}", several.join(", "));
            Err(CommandError::Usage(text))
        }
    }
}

fn no_member(member: &str) -> CommandError {
    CommandError::Refused(format!("no member has the id or the name {member:?}"))
}

/// The JSON in a file; `-` is standard input.
pub(super) fn read_json(path: &Path) -> Result<Json, CommandError> {
    let text = read_input(path)?;
    let wrong = |error| CommandError::Usage(format!("{}: {error}", path.display()));
    Json::read(text.as_bytes()).map_err(wrong)
}
