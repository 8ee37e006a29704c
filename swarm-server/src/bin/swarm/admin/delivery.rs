//! `swarm admin mail` and `swarm admin webhook`: what is delivered to others.

use std::thread::sleep;
use std::time::Duration;

use swarm_client::path_segment;
use swarm_core::json::Json;

use super::operator::Operator;
use crate::command::{cell, note, text_of};
use crate::failure::CommandError;

const API: &str = "/api/swarm/admin";

/// How often it is asked what became of a test.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// How long the first attempt may take to begin.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// How long the first attempt may take: longer than a mail server or a receiver may.
const MAX_ATTEMPT: Duration = Duration::from_secs(40);

/// The deliveries that are listed.
const LISTED: usize = 100;

/// Lists the webhooks and the last deliveries.
pub(super) fn webhooks(operator: &Operator, state: Option<&str>) -> Result<(), CommandError> {
    let state = state.map_or_else(String::new, |state| format!("&state={}", path_segment(state)));
    let answer = operator.get(&format!("{API}/webhooks?limit={LISTED}{state}"))?;
    if !operator.output.json {
        operator.output.rows(&answer, "webhooks", &["url", "failing", "oldest"])?;
    }
    let columns = ["id", "type", "url", "state", "attempts", "queuedAt", "lastError"];
    operator.output.rows(&answer, "deliveries", &columns)
}

/// Waits for the first attempt at what an answer says was queued: a `message` or a `delivery`. A dry run queues nothing.
pub(super) fn await_attempt(
    operator: &Operator,
    answer: &Json,
    what: &str,
) -> Result<(), CommandError> {
    let id = cell(&answer.clone().into_object().take(what).unwrap_or(Json::Null), "id");
    if operator.dry_run || id.is_empty() {
        return Ok(());
    }
    if what == "message" && !operator.calls().status()?.mail_server {
        note(&format!("message {id} stays in the outbox: there is no mail server"));
        return Ok(());
    }
    attempted(what, &id, || match what {
        "message" => {
            let after = id.parse::<u64>().unwrap_or(0).saturating_sub(1);
            let found = operator.get(&format!("{API}/outbox?limit=1&after={after}"))?;
            Ok(row(found, "messages", &id))
        }
        _ => {
            let found = operator.get(&format!("{API}/webhooks?limit={LISTED}"))?;
            Ok(row(found, "deliveries", &id))
        }
    })
}

/// The item with this id in a list of an answer.
fn row(answer: Json, list: &str, id: &str) -> Json {
    let items = answer.into_object().items(list);
    items.into_iter().find(|item| cell(item, "id") == id).unwrap_or(Json::Null)
}

/// Waits for the first attempt, and says how it ended.
///
/// # Errors
/// [`CommandError::Refused`] if it failed.
fn attempted(
    what: &str,
    id: &str,
    read: impl Fn() -> Result<Json, CommandError>,
) -> Result<(), CommandError> {
    let mut waited = Duration::ZERO;
    loop {
        let item = read()?;
        let (state, error) = (cell(&item, "state"), text_of(&item, "lastError"));
        let is_tried = !matches!(&*cell(&item, "attempts"), "" | "0");
        if !error.is_empty() {
            return Err(CommandError::Refused(format!(
                "{what} {id}: {}",
                cell(&item, "lastError")
            )));
        }
        if state != "queued" {
            note(&format!("{what} {id} is {state}"));
            return Ok(());
        }
        if waited > if is_tried { MAX_ATTEMPT } else { MAX_WAIT } {
            note(&format!("{what} {id} is still queued"));
            return Ok(());
        }
        sleep(ASK_EVERY);
        waited += ASK_EVERY;
    }
}
