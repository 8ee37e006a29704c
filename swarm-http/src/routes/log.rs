//! Routes of the log.

use std::sync::Arc;
use std::time::Duration;

use swarm_core::domain::{Acceptance, Accepted, Actor, LogEntry, Seq, SubjectId};
use swarm_core::rules::{self, Refusal};
use swarm_core::service::{LogFilter, LogQuery};
use swarm_core::wire::Problem::{self, InvalidRequest, NothingToAccept};
use swarm_core::wire::RequestError;
use swarm_core::{Invalid, MemberId, SessionId, wire};

use crate::following::EventStream;
use crate::request::RequestContext;
use crate::request::command::Command;
use crate::request::context::invalid_query;
use crate::request::credential::Access::Operator;
use crate::request::extract::Order;
use crate::request::parameters::{DEFAULT_PAGE, Page, number};
use crate::request::route::{Parameter, Route, Section, cached, post, read};
use crate::response::{Answer, ApiError, Reply};
use crate::schema::{HasSchema as _, SchemaRef, schema};
use crate::tenants::Role;

/// The longest time that a request waits for an entry, in seconds.
const MAX_WAIT: u64 = 60;

/// The most entries of an answer.
const MAX_ENTRIES: usize = 1_000;

/// Of the number of an entry.
pub(super) const SEQ: SchemaRef = schema!("server", "Seq", {
    "type": "integer", "minimum": 0, "default": 0, "description": "The number of an entry in the log."
});

/// Of the kinds of entries to select.
pub(super) const ENTRY_KINDS: SchemaRef = schema!("server", "EntryKinds", {
    "type": "string",
    "examples": ["take,session"],
    "description": kinds_of_entries()
});

fn kinds_of_entries() -> String {
    let [kinds @ .., last] = LogEntry::KINDS;
    format!("Kinds of entries, with commas between them: {} or {last}.", kinds.join(", "))
}

const LOG_LIMIT: SchemaRef = schema!("server", "LogLimit", {
    "type": "integer", "minimum": 1, "maximum": MAX_ENTRIES, "default": DEFAULT_PAGE
});

const WAIT: SchemaRef = schema!("server", "Wait", {
    "type": "integer", "minimum": 0, "maximum": MAX_WAIT, "default": 0,
    "description": "The seconds to wait for an entry, if there is none yet."
});

/// It has no default, which would override `after`.
const LAST_EVENT_ID: SchemaRef = schema!("server", "LastEventId", {
    "type": "integer", "minimum": 0,
    "description": "The last event that arrived, from a client that cannot send the header Last-Event-ID."
});

/// The parameters of [`EVENTS`] alone, of both, and of [`LOG_QUERY`] alone.
const PARAMETERS: &[Parameter] = &[
    ("lastEventId", LAST_EVENT_ID),
    ("after", SEQ),
    ("kind", ENTRY_KINDS),
    ("session", SessionId::SCHEMA),
    ("member", MemberId::SCHEMA),
    ("subject", SubjectId::SCHEMA),
    ("limit", LOG_LIMIT),
    ("wait", WAIT),
];

/// What the log is asked for: where it begins, which entries, how many, and whether the request waits for one.
pub(super) const LOG_QUERY: &[Parameter] = PARAMETERS.split_at(1).1;

/// As [`LOG_QUERY`], for events, which come one after the other.
const EVENTS: &[Parameter] = PARAMETERS.split_at(6).0;

/// The log, and accepting a store that went back.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Log.rows(vec![
            cached("/api/swarm/log", entries)
                .about(
                    "What was done, the oldest first. With wait, the answer comes as soon as there \
                     is an entry",
                )
                .query(LOG_QUERY)
                .waiting()
                .answers(200, &["Log"]),
            read("/api/swarm/events", events)
                .about("The entries of the log as they are appended, as server-sent events")
                .query(EVENTS)
                .answers(200, &["text/event-stream"])
                .refuses(&[Problem::Busy]),
        ]),
        Section::Operating.rows(vec![
            post(Operator(Role::Admin), "/api/swarm/admin/accept", accept)
                .about(
                    "Accept what the server refuses to go on with: a clock that is behind the log, \
                     a store that went back, or this server's key where another signed the log",
                )
                .answers(200, &["Written"])
                .refuses(&[InvalidRequest, NothingToAccept])
                .command(
                    Command::new("accept", "clock --yes", "the {what} is accepted")
                        .about("the {what}")
                        .form("Accept", "Accepted")
                        .irreversible(),
                ),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Accepts the store's clock, the store, or this server's key (API.md, 7.6). Commits that were refused because
/// the clock is behind the log, or because the log went back, are then accepted; or the key signs the log.
pub(crate) async fn accept(
    request: RequestContext,
    Order(Acceptance { what, force: is_forced }): Order<Acceptance>,
    by: Actor,
) -> Reply {
    let (tenant, by) = (request.tenant(), &by);
    let is_wrong = match (&what, request.signed_log()) {
        _ if is_forced => true,
        (Accepted::Store, Some(log)) if log.damage().is_some() || !log.disputes().is_empty() => {
            true
        }
        (Accepted::Store, _) => !tenant.continues_log().await?,
        (Accepted::Key, Some(log)) => log.is_foreign(),
        (Accepted::Clock, _) | (Accepted::Key, None) => true,
    };
    if !is_wrong {
        return Err(Refusal::NothingToAccept.into());
    }
    match (what, request.signed_log()) {
        (Accepted::Clock, _) => tenant.accept_clock(by).await?,
        (Accepted::Store, Some(log)) => log.accept_store(by).await?,
        (Accepted::Store, None) => tenant.accept_store(by).await?,
        (Accepted::Key, Some(log)) => log.accept_key(by).await?,
        (Accepted::Key, None) => {
            let error = Invalid::new("what", "no key: this server signs no log");
            return Err(Refusal::InvalidRequest(error).into());
        }
    }
    Ok(Answer::from(wire::log::accepted()).with_cautions(vec![rules::acceptance()]))
}

/// The entries after `after`, 0 unless given, that the filters select; at most `limit`, 1 to 1,000, 100 unless given.
pub(crate) async fn entries(request: RequestContext) -> Reply {
    let page = request.tenant().log(&request.log_query()?).await?;
    let next = page.more.then_some(page.next);
    Ok(request.linked(wire::log::page(&page), "after", next))
}

/// A stream of the entries after `Last-Event-ID`, which some clients send as `lastEventId`, or `after`, that the filters select.
pub(crate) async fn events(request: RequestContext) -> Reply {
    let LogQuery { after, filter, .. } = request.log_query()?;
    let header = request.headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let sent = request.query().remove("lastEventId").filter(|id| !id.is_empty());
    let sent = sent.map(|id| {
        number(&id).ok_or_else(|| invalid_query("lastEventId", "must be the id of an event"))
    });
    let after = header.and_then(number).or(sent.transpose()?).map_or(after, Seq);
    let position = request.tenant().log_position().await?;
    let followers = &request.site.followers;
    let place = followers.place().ok_or(RequestError::Busy)?;
    let (place, stopping) = (Arc::new(place), followers.stopping());
    let (served, workers) = (Arc::clone(&request.served), Arc::clone(&request.site.workers));
    Ok(Answer::of_events(EventStream {
        served,
        workers,
        position,
        after,
        filter,
        _place: place,
        stopping,
    }))
}

impl RequestContext {
    /// Reads the page and the filters of the log.
    fn log_query(&self) -> Result<LogQuery, ApiError> {
        let Page { limit, position } =
            self.page(MAX_ENTRIES, "after", |seq| number(seq).map(Seq))?;
        let id = |text: &str| number(text).ok_or_else(|| "must be the id of a session".to_owned());
        let filter = LogFilter {
            kinds: self.filter("kind", LogFilter::kinds)?.unwrap_or_default(),
            session: self.filter("session", id)?.map(SessionId),
            member: self.filter_of("member", MemberId::parse)?,
            subject: self.filter_of("subject", SubjectId::parse)?,
        };
        Ok(LogQuery { after: position.unwrap_or_default(), limit, filter })
    }

    /// Waits for an entry, if the query has `wait`: 0 to 60 seconds.
    pub(crate) async fn wait_for_entry(&self) -> Result<(), ApiError> {
        let Some(wait) = self.query().remove("wait") else { return Ok(()) };
        let seconds = number(&wait).filter(|seconds| *seconds <= MAX_WAIT).ok_or_else(|| {
            invalid_query("wait", format!("must be a whole number from 0 to {MAX_WAIT}"))
        })?;
        if seconds == 0 {
            return Ok(());
        }
        let query = self.log_query()?;
        let time = Duration::from_secs(seconds);
        let (followers, workers) = (&self.site.followers, &self.site.workers);
        Ok(followers.wait(&self.served, workers, &query, time).await?)
    }
}
