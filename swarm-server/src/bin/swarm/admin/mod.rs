//! `swarm admin`: what operators do, over HTTP (MANUAL.md, 13.3). The service judges; these commands send and
//! show.

mod activity;
mod arguments;
mod context;
mod declared;
mod delivery;
mod operator;
mod status;

use swarm_client::path_segment;
use swarm_core::json::{Json, Object};

use activity::Activity;
pub(crate) use arguments::AdminOptions;
use arguments::{
    CommitteeMemberVerb, CommitteeVerb, OutboxVerb, SessionVerb, SubjectVerb, Verb, WebhookVerb,
};
use declared::AdminVerb;
use operator::Operator;

use crate::command::{Output, cell, note, now, parse_past_time, state_word, text_of};
use crate::failure::CommandError;

/// Runs one command of an operator.
///
/// # Errors
/// [`CommandError`], whose exit statuses API.md documents.
pub(crate) fn run(options: AdminOptions) -> Result<(), CommandError> {
    let output = Output { json: options.json };
    if let AdminVerb::Other(Verb::Context { verb }) = options.verb {
        return context::run(&options.access, output, options.dry_run, verb);
    }
    let (client, token) = context::resolve(&options.access)?;
    let (dry_run, yes, command) = (options.dry_run, options.yes, options.access.command());
    let operator = Operator { client, token, output, dry_run, yes, command };
    match options.verb {
        AdminVerb::Declared(declared) => declared.run(&operator),
        AdminVerb::Other(verb) => run_verb(&operator, verb),
    }
}

const API: &str = "/api/swarm/admin";

fn run_verb(operator: &Operator, verb: Verb) -> Result<(), CommandError> {
    match verb {
        Verb::Context { .. } => Ok(()),
        Verb::Status => status::run(operator),
        Verb::Applications { state } => applications(operator, state.as_deref()),
        Verb::Members => {
            let columns = ["id", "name", "status", "joinedAt", "lastTake", "takes30Days"];
            operator.output.rows(&members(operator)?, "members", &columns)
        }
        Verb::Subject { verb: SubjectVerb::List } => {
            let subjects = operator.pages("/api/swarm/subjects", "subjects")?;
            operator.output.rows(&subjects, "subjects", &["id", "status", "name"])
        }
        Verb::Subject { verb: SubjectVerb::Show { id } } => {
            let subject = operator.get(&format!("/api/swarm/subjects/{}", path_segment(&id)))?;
            operator.output.fields(&subject)
        }
        Verb::Session(options) => sessions(operator, options.verb),
        Verb::Ranking { subject, since, min } => {
            let min = min.map(|min| min.to_string());
            let query = [("subject", subject), ("since", since), ("min", min)];
            ranking(operator, &query)
        }
        Verb::Acts { by, since, before, limit } => {
            let time = |text: Option<String>| {
                let time = text.map(|text| parse_past_time(&text, now())).transpose();
                time.map(|time| time.map(|time| time.to_string()))
            };
            let filters = [("by", by), ("since", time(since)?), ("before", time(before)?)];
            let filters = filters
                .into_iter()
                .filter_map(|(name, value)| Some(format!("&{name}={}", path_segment(&value?))));
            let path = format!("{API}/acts?limit={limit}{}", filters.collect::<String>());
            let columns = ["at", "by", "act", "target", "note"];
            let answer = operator.get(&path)?;
            operator.output.rows(&answer, "acts", &columns)?;
            let next = cell(&answer, "nextBefore");
            if !next.is_empty() {
                note(&format!("there may be older ones: --before {next}"));
            }
            Ok(())
        }
        Verb::Outbox { verb: OutboxVerb::List } => {
            let messages = operator.pages(&format!("{API}/outbox"), "messages")?;
            let columns = ["id", "to", "subject", "state", "attempts", "lastError"];
            operator.output.rows(&messages, "messages", &columns)
        }
        Verb::Webhook { verb: WebhookVerb::List { state } } => {
            delivery::webhooks(operator, state.as_deref())
        }
        Verb::Committee { verb: CommitteeVerb::Filing { day } } => {
            let path = format!("/api/ic/admin/days/{}", path_segment(&day));
            operator.output.fields(&operator.get(&path)?)
        }
        Verb::Committee { verb: CommitteeVerb::Member { verb: CommitteeMemberVerb::List } } => {
            let members = operator.get("/api/ic/admin/members")?;
            operator.output.rows(&members, "members", &["id", "name", "status", "lens"])
        }
    }
}

/// The ranking: members with a place first, then those with too few scored sessions.
fn ranking(operator: &Operator, query: &[(&str, Option<String>)]) -> Result<(), CommandError> {
    let query = query
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", path_segment(value.as_deref()?))));
    let query = query.collect::<Vec<_>>().join("&");
    let answer = operator.get(&format!("/api/swarm/ranking?{query}"))?;
    operator.output.answer(&answer, |answer| {
        let mut fields = answer.clone().into_object();
        let rows = ["ranking", "unranked"].map(|list| fields.items(list));
        let columns = ["place", "name", "scored", "loss", "skill", "low", "high", "memberId"];
        operator.output.rows(&Json::List(rows.concat()), "", &columns)?;
        let loss = |fields: &mut Object, of: &str| {
            cell(&fields.take(of).unwrap_or(Json::Null), "loss")
        };
        let (crowd, neutral) = (loss(&mut fields, "crowd"), loss(&mut fields, "neutral"));
        let (sessions, min) = (cell(answer, "sessions"), cell(answer, "min"));
        // Without a scored session there is no loss.
        let losses = match crowd.is_empty() || neutral.is_empty() {
            true => String::new(),
            false => format!(" loss of the crowd {crowd}, of always neutral {neutral};"),
        };
        note(&format!(
            "{sessions} sessions;{losses} without a place: fewer than {min} sessions, too few to say"
        ));
        Ok(())
    })
}

/// The active members, each with its last take and how many it filed in 30 days.
fn members(operator: &Operator) -> Result<Json, CommandError> {
    let mut answer = operator.get("/api/swarm/members")?.into_object();
    let Some(Json::List(members)) = answer.take("members") else { return Ok(Json::Null) };
    let activity = Activity::read(operator)?;
    let with_takes = members.into_iter().map(|member| {
        let (last, takes) = activity.of(&text_of(&member, "id"));
        let mut member = member.into_object();
        member.set("lastTake", last.map_or(Json::Null, |last| Json::Text(last.to_string())));
        member.set("takes30Days", Json::from(takes as f64));
        Json::Object(member)
    });
    Ok(Json::from([("members", with_takes.collect::<Json>())]))
}

fn applications(operator: &Operator, state: Option<&str>) -> Result<(), CommandError> {
    let state = state.map_or_else(String::new, |state| format!("?state={}", path_segment(state)));
    let answer = operator.pages(&format!("{API}/applications{state}"), "applications")?;
    let columns = ["id", "state", "name", "contact", "appliedAt"];
    operator.output.rows(&answer, "applications", &columns)
}

/// Lists sessions, or shows one. A page of sessions is ordered by id, descending, and continued by `before`.
fn sessions(operator: &Operator, verb: SessionVerb) -> Result<(), CommandError> {
    match verb {
        SessionVerb::List { state } => {
            let is_in = |session: &Json| {
                let named = text_of(session, "state");
                state.as_ref().is_none_or(|state| *state == named || state == state_word(&named))
            };
            let answer = operator.pages_by("before", "/api/swarm/sessions", "sessions", is_in)?;
            let columns = ["id", "date", "subjectId", "state", "windowClosesAt"];
            operator.output.sessions(&answer, &columns)
        }
        SessionVerb::Show { id } => {
            let session = operator.get(&format!("/api/swarm/sessions/{id}"))?;
            operator.output.record(&session)
        }
    }
}
