//! Replays the log: it alone must show that each take was filed by the rules.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use swarm_core::domain::{LogLine, Nonce, Seq, Session, Take, TakeId, Timestamp};
use swarm_core::rules::aggregate;
use swarm_core::service::LogQuery;
use swarm_core::{MemberId, Tenant};

/// Replays the log against the sessions and all takes on file.
pub(super) async fn replay(
    tenant: &Tenant,
    sessions: &[Arc<Session>],
    on_file: HashMap<TakeId, Arc<Take>>,
) -> Result<(), String> {
    let page =
        tenant.log(&LogQuery::all(Seq(0), 100_000)).await.map_err(|error| error.to_string())?;
    let sealed = sessions.iter().map(|session| (session.id.0, Arc::clone(session))).collect();
    let mut past = Past { on_file, sealed, ..Past::default() };
    for text in page.lines().map(LogLine::text) {
        let entry = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        past.goes_on(&entry).map_err(|broken| format!("{broken}: {text}"))?;
    }
    match past.on_file.keys().next() {
        None => Ok(()),
        Some(take) => Err(format!("take {take} is not in the log")),
    }
}

/// The state after the entries so far.
#[derive(Default)]
struct Past {
    seq: u64,
    at: Option<Timestamp>,
    /// Takes that no entry has named yet.
    on_file: HashMap<TakeId, Arc<Take>>,
    /// All sessions as they are at the end.
    sealed: HashMap<u64, Arc<Session>>,
    sessions: HashMap<u64, Known>,
    suspended: HashSet<String>,
    nonces: HashSet<(MemberId, Nonce)>,
}

/// A session after the entries so far.
#[derive(Default)]
struct Known {
    record: Value,
    takes: Vec<Arc<Take>>,
}

impl Past {
    fn goes_on(&mut self, entry: &Value) -> Result<(), String> {
        let at = time(&entry["at"]).ok_or("no time")?;
        holds(entry["seq"].as_u64() == Some(self.seq + 1), "there is a gap")?;
        holds(self.at.is_none_or(|before| before <= at), "time ran back")?;
        (self.seq, self.at) = (self.seq + 1, Some(at));
        match entry["kind"].as_str() {
            Some("take") => self.take(entry, at),
            Some("session") => self.session(entry),
            Some("member") => self.member(entry),
            _ => Ok(()),
        }
    }

    fn take(&mut self, entry: &Value, at: Timestamp) -> Result<(), String> {
        let id = entry["id"].as_u64().ok_or("no id")?;
        let take = self.on_file.remove(&TakeId(id)).ok_or("not on file, or twice in the log")?;
        let draft = take.draft();
        let nonce = (draft.member_id.clone(), draft.nonce.clone());
        holds(take.filed_at == at, "it was filed at another time")?;
        holds(self.nonces.insert(nonce), "its nonce was spent")?;
        holds(!self.suspended.contains(draft.member_id.as_str()), "its member was inactive")?;
        let newest = self.sessions.keys().max() == Some(&take.session_id.0);
        holds(newest, "there was a newer session of its day")?;
        let session = self.sessions.get_mut(&take.session_id.0).ok_or("no session")?;
        let deadline = time(&session.record["windowClosesAt"]);
        holds(deadline.is_none_or(|deadline| at <= deadline), "it was late")?;
        let earlier =
            session.takes.iter().filter(|other| other.draft().member_id == draft.member_id);
        let turn = earlier.count() + 1;
        holds(usize::from(take.revision.get()) == turn, "it was not its revision's turn")?;
        holds(turn <= 5, "there were five revisions")?;
        holds(turn == 1 || !is_sealed(&session.record), "it amends an aggregated session")?;
        session.takes.push(take);
        Ok(())
    }

    fn session(&mut self, entry: &Value) -> Result<(), String> {
        let record = entry["session"].clone();
        let id = record["id"].as_u64().ok_or("no id")?;
        if entry["act"] == "convened" {
            self.sessions.insert(id, Known { record, ..Known::default() });
            return Ok(());
        }
        let session = self.sessions.get_mut(&id).ok_or("nobody convened it")?;
        let before = std::mem::replace(&mut session.record, record);
        if is_sealed(&before) {
            let kept = |field: &str| before[field] == session.record[field];
            let frozen = ["snapshotDigest", "rosterDigest", "quorum"].into_iter().all(kept);
            holds(frozen, "it changed after it was aggregated")?;
        } else if is_sealed(&session.record) {
            let record = self.sealed.get(&id).ok_or("not on file")?;
            let snapshot = record.snapshot.as_ref().ok_or("no snapshot is on file")?;
            let computed = aggregate(record, &session.takes, snapshot.figures.aggregated_at);
            holds(**snapshot == computed, "its snapshot is not that of its takes")?;
        }
        holds(
            may_follow(before["state"].as_str(), session.state()),
            "its state cannot follow the one before",
        )?;
        let deadline = time(&session.record["windowClosesAt"]);
        let moved = before["windowClosesAt"] != session.record["windowClosesAt"];
        let last_filed = session.takes.last().map(|take| take.filed_at);
        let cut_off = deadline.zip(last_filed).is_some_and(|(ends, filed)| ends < filed);
        holds(!(moved && cut_off), "its deadline moved before a take on file")
    }

    fn member(&mut self, entry: &Value) -> Result<(), String> {
        let id = entry["id"].as_str().ok_or("no id")?.to_owned();
        let inactive = self.suspended.contains(&id);
        holds(!(inactive && entry["act"] == "key-rotated"), "the key of an inactive member")?;
        match entry["status"].as_str() {
            Some("inactive") => self.suspended.insert(id),
            _ => self.suspended.remove(&id),
        };
        Ok(())
    }
}

impl Known {
    fn state(&self) -> &str {
        self.record["state"].as_str().unwrap_or_default()
    }
}

fn is_sealed(record: &Value) -> bool {
    !record["snapshotDigest"].is_null()
}

/// Whether a session may change from one state to the other, or stay.
fn may_follow(before: Option<&str>, after: &str) -> bool {
    const WAY: [&str; 4] = ["collecting", "window_closed", "aggregated", "published"];
    let place = |state: &str| WAY.iter().position(|one| *one == state);
    let reopened = before == Some("window_closed") && after == "collecting";
    reopened || before.and_then(place) <= place(after)
}

fn time(text: &Value) -> Option<Timestamp> {
    Timestamp::parse("time", text.as_str()?).ok()
}

fn holds(what: bool, broken: &str) -> Result<(), String> {
    if what { Ok(()) } else { Err(broken.to_owned()) }
}
