//! Requests of one operator's command.

use std::path::Path;

use swarm_client::answers::MissingMember;
use swarm_client::{Client, OperatorClient, path_segment};
use swarm_core::json::{self, Json};
use swarm_core::rules::{CautionCode, read_the_same};

use crate::command::{
    Output, Progress, cell, confirm, note, printable_line, read_input, shown, text_of,
};
use crate::failure::CommandError;

/// The longest page of a list.
const PAGE_LIMIT: usize = 500;

/// The longest list that is kept in memory, as JSON text: some 100,000 members or sessions. Its values take several times
/// as much.
const MAX_LIST_BYTES: usize = 64 << 20;

/// The answers of a service cannot be the pages of a list.
fn endless(path: &str, why: &str) -> CommandError {
    let path = path.split('?').next().unwrap_or_default();
    CommandError::Refused(format!("the list at {path} cannot be read: {why}"))
}

/// The client of a command: its service, its token and its options.
pub(super) struct Operator {
    pub(super) client: Client,
    pub(super) token: String,
    pub(super) output: Output,
    pub(super) dry_run: bool,
    pub(super) yes: bool,
    /// The beginning of a command for the same service, as it was typed.
    pub(super) command: String,
}

impl Operator {
    /// The calls of this operator.
    pub(super) fn calls(&self) -> OperatorClient<'_> {
        self.client.operator(&self.token)
    }

    pub(super) fn get(&self, path: &str) -> Result<Json, CommandError> {
        Ok(self.calls().get(path)?)
    }

    /// All pages of a list that is continued by `after`, as one answer.
    pub(super) fn pages(&self, path: &str, list: &str) -> Result<Json, CommandError> {
        self.pages_by("after", path, list, |_| true)
    }

    /// All pages of a list, as one answer with the items that are kept. `cursor` is the parameter that continues it: a page
    /// names its next value, `nextAfter` or `nextBefore`.
    ///
    /// # Errors
    /// Also when the pages cannot be those of a list: one is empty, or continued from where it began; or
    /// they are more than [`MAX_LIST_BYTES`].
    pub(super) fn pages_by(
        &self,
        cursor: &str,
        path: &str,
        list: &str,
        is_kept: impl Fn(&Json) -> bool,
    ) -> Result<Json, CommandError> {
        let field = match cursor {
            "before" => "nextBefore",
            _ => "nextAfter",
        };
        let (mut items, mut last, mut bytes) = (Vec::new(), String::new(), 0);
        let progress = Progress::of_requests();
        loop {
            progress.add(1);
            let mark = if path.contains('?') { '&' } else { '?' };
            let from = match last.is_empty() {
                true => String::new(),
                false => format!("&{cursor}={}", path_segment(&last)),
            };
            let page = self.get(&format!("{path}{mark}limit={PAGE_LIMIT}{from}"))?;
            let next = text_of(&page, field);
            let Some(Json::List(page)) = page.into_object().take(list) else {
                return Err(endless(path, "a page has no list"));
            };
            if !next.is_empty() && (page.is_empty() || next == last) {
                return Err(endless(path, "its pages do not advance"));
            }
            bytes += page.iter().map(|item| json::write(item).len()).sum::<usize>();
            items.extend(page.into_iter().filter(&is_kept));
            if bytes > MAX_LIST_BYTES {
                return Err(endless(path, "it is longer than 64 MiB"));
            }
            if next.is_empty() {
                return Ok(Json::from([(list, Json::List(items))]));
            }
            last = next;
        }
    }

    /// Sends a change; with `--dry-run` it is judged and not committed.
    pub(super) fn change(
        &self,
        method: &str,
        path: &str,
        body: &Json,
    ) -> Result<Json, CommandError> {
        match self.dry_run {
            true => self.judge(method, path, body),
            false => Ok(Json::Object(self.calls().send(method, path, body)?)),
        }
    }

    /// Has a change judged, which is not committed.
    fn judge(&self, method: &str, path: &str, body: &Json) -> Result<Json, CommandError> {
        // A server that does not know the query would commit the change.
        if !json::write(&self.client.get("/openapi.json")?).contains("\"dry_run\"") {
            let text = "this server knows no dry run: nothing was sent";
            return Err(CommandError::Refused(text.to_owned()));
        }
        let path = format!("{path}?dry_run=true");
        Ok(Json::Object(self.calls().send(method, &path, body)?))
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
            note(&format!("next: {} {command}", self.command));
        }
    }

    /// Says what should be heard before a change of `target`, and asks if a caution has one of the codes in `asked`. A dry run
    /// needs no answer.
    pub(super) fn heed(
        &self,
        target: &str,
        (method, path): (&str, &str),
        body: &Json,
        asked: &[CautionCode],
    ) -> Result<(), CommandError> {
        let mut judged = self.judge(method, path, body)?.into_object();
        let cautions = judged.items("cautions");
        let is_asked = |caution: &&Json| {
            let code = text_of(caution, "code");
            asked.iter().any(|asked| asked.as_str() == code)
        };
        let (asking, other): (Vec<_>, Vec<_>) = cautions.iter().partition(is_asked);
        let said = |cautions: &[&Json]| {
            let messages: Vec<_> = cautions.iter().map(|it| cell(it, "message")).collect();
            format!("{target}: {}", messages.join("; "))
        };
        if !other.is_empty() {
            note(&said(&other));
        }
        match asking.is_empty() {
            true => Ok(()),
            false => confirm(&said(&asking), self.yes || self.dry_run),
        }
    }

    /// Members by id or unambiguous name.
    pub(super) fn members(&self, members: &[String]) -> Result<Vec<Member>, CommandError> {
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = self.pages("/api/swarm/admin/applications", "applications")?.into_object();
        let Some(Json::List(known)) = known.take("applications") else { return Ok(Vec::new()) };
        members.iter().map(|member| find(&known, member)).collect()
    }

    pub(super) fn member(&self, member: &str) -> Result<Member, CommandError> {
        let found = self.members(&[member.to_owned()])?;
        found.into_iter().next().ok_or_else(|| no_member(member))
    }
}

/// A member, with the name that people know it by.
pub(super) struct Member {
    pub(super) id: String,
    name: String,
}

impl Member {
    /// The member of a row of `/applications` or `/members`.
    pub(super) fn of(row: &Json) -> Self {
        Self { id: text_of(row, "id"), name: cell(row, "name") }
    }

    /// A member that has not filed, as `/status` names it.
    pub(super) fn missing(member: &MissingMember) -> Self {
        Self { id: member.member_id.to_string(), name: printable_line(&member.name) }
    }
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, printable_line(&self.id))
    }
}

fn find(known: &[Json], member: &str) -> Result<Member, CommandError> {
    if let Some(row) = known.iter().find(|row| text_of(row, "id") == member) {
        return Ok(Member::of(row));
    }
    let named = known.iter().filter(|row| read_the_same(&text_of(row, "name"), member));
    // A rejected application does not stand in the way of another one of that name.
    let (rejected, named): (Vec<_>, Vec<_>) =
        named.partition(|row| text_of(row, "state") == "rejected");
    match &*(if named.is_empty() { rejected } else { named }) {
        [] => Err(no_member(member)),
        [found] => Ok(Member::of(found)),
        several => {
            let state = |row: &&Json| {
                format!("{} ({})", printable_line(&text_of(row, "id")), cell(row, "state"))
            };
            let ids: Vec<_> = several.iter().map(state).collect();
            let text = format!("{member:?} is the name of several: {}", ids.join(", "));
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
    Json::read(text.as_bytes()).map_err(|error| {
        CommandError::Usage(format!("{}: not JSON: {}", shown(path), error.position))
    })
}
