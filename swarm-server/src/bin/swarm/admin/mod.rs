//! `swarm admin`: what operators do, over HTTP (API.md, 13.3). The service judges; these commands send and
//! show.

mod activity;
mod arguments;
mod committee;
mod context;
mod delivery;
mod operator;
mod sessions;
mod status;

use swarm_client::path_segment;
use swarm_core::json::{Json, Object};

use activity::Activity;
pub(crate) use arguments::AdminOptions;
use arguments::{
    Accepted, MailVerb, MemoVerb, OutboxVerb, SubjectVerb, TakeVerb, Verb, WebhookVerb,
};
use operator::{IRREVERSIBLE, Member, Operator, empty, read_json};

use crate::command::{Output, Progress, cell, note, shell_word, text_of};
use crate::failure::CommandError;

/// Runs one command of an operator.
///
/// # Errors
/// [`CommandError`], whose exit statuses API.md documents.
pub(crate) fn run(options: AdminOptions) -> Result<(), CommandError> {
    let output = Output { json: options.json };
    if let Verb::Context { verb } = options.verb {
        return context::run(&options.access, output, verb);
    }
    let (client, token) = context::resolve(&options.access)?;
    let (dry_run, yes, command) = (options.dry_run, options.yes, options.access.command());
    run_verb(&Operator { client, token, output, dry_run, yes, command }, options.verb)
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
        Verb::Activate { members, all } => {
            let members = if all { applied(operator)? } else { operator.members(&members)? };
            if members.is_empty() {
                note("no application waits");
            }
            review(operator, &members, "activate")
        }
        Verb::Reject { members } => review(operator, &operator.members(&members)?, "reject"),
        Verb::Update { member, name, contact, lens } => {
            let member = operator.member(&member)?;
            let done = format!("{member} is changed");
            let fields = [("name", name), ("contact", contact), ("lens", lens)];
            let fields =
                fields.into_iter().filter_map(|(field, text)| Some((field, Json::Text(text?))));
            let body = [("memberId", Json::Text(member.id))].into_iter().chain(fields).collect();
            operator.post(&format!("{API}/members/update"), &body, &done)
        }
        Verb::Deactivate { member } => review(operator, &[operator.member(&member)?], "deactivate"),
        Verb::ResetClaim { member } => {
            review(operator, &[operator.member(&member)?], "reset-claim")
        }
        Verb::Erase { member, texts } => {
            let member = operator.member(&member)?;
            let texts = texts.then_some(("texts", Json::Bool(true)));
            let id = [("memberId", Json::from(member.id.as_str()))];
            let (body, path) = (id.into_iter().chain(texts).collect(), format!("{API}/erase"));
            operator.heed(&member.to_string(), ("POST", &path), &body, IRREVERSIBLE)?;
            let answer = operator.change("POST", &path, &body)?;
            operator.done(&format!("{member} is erased"));
            operator.output.each(&[answer], &["memberId", "state"])
        }
        Verb::RotateKey { member, public_key } => {
            let member = operator.member(&member)?;
            let (target, path) = (member.to_string(), format!("{API}/rotate-key"));
            let key = public_key.map(|key| ("publicKey", Json::Text(key)));
            let body = [("memberId", Json::Text(member.id))].into_iter().chain(key).collect();
            operator.heed(&target, ("POST", &path), &body, IRREVERSIBLE)?;
            operator.post(&path, &body, &format!("{target}: the new token is shown this once"))
        }
        Verb::Subject { verb } => subjects(operator, verb),
        Verb::Session(options) => sessions::run(operator, options),
        Verb::Ranking { subject, since, min } => {
            let min = min.map(|min| min.to_string());
            let query = [("subject", subject), ("since", since), ("min", min)];
            ranking(operator, &query)
        }
        Verb::Regime { file } => {
            operator.post(&format!("{API}/regime"), &read_json(&file)?, "the regime row is stored")
        }
        Verb::Signal { file } => {
            operator.post(&format!("{API}/signals"), &read_json(&file)?, "the signal is stored")
        }
        Verb::Take { verb: TakeVerb::Withhold { id, note } } => {
            let body = Json::from([("note", Json::Text(note))]);
            let done = format!("the texts of take {id} are withheld");
            operator.post(&format!("{API}/takes/{id}/withhold"), &body, &done)
        }
        Verb::Take { verb: TakeVerb::Restore { id, note } } => {
            let body = note.map(|note| ("note", Json::Text(note))).into_iter().collect();
            let done = format!("the texts of take {id} are shown again");
            operator.post(&format!("{API}/takes/{id}/restore"), &body, &done)
        }
        Verb::Memo { verb: MemoVerb::Retract { id } } => {
            let done = format!("memo {id} is retracted");
            operator.post(&format!("{API}/memos/{id}/retract"), &empty(), &done)
        }
        Verb::Acts { by, since, before, limit } => {
            let filters = [("by", by), ("since", since), ("before", before)];
            let filters = filters
                .into_iter()
                .filter_map(|(name, value)| Some(format!("&{name}={}", path_segment(&value?))));
            let path = format!("{API}/acts?limit={limit}{}", filters.collect::<String>());
            let columns = ["at", "by", "act", "target", "note"];
            operator.output.rows(&operator.get(&path)?, "acts", &columns)
        }
        Verb::Outbox { verb: OutboxVerb::List } => {
            let messages = operator.pages(&format!("{API}/outbox"), "messages")?;
            let columns = ["id", "to", "subject", "state", "attempts", "lastError"];
            operator.output.rows(&messages, "messages", &columns)
        }
        Verb::Outbox { verb: OutboxVerb::Retry { id } } => {
            let done = format!("message {id} is queued again");
            operator.post(&format!("{API}/outbox/{id}/retry"), &empty(), &done)
        }
        Verb::Outbox { verb: OutboxVerb::Cancel { id } } => {
            let done = format!("message {id} is cancelled");
            operator.post(&format!("{API}/outbox/{id}/cancel"), &empty(), &done)
        }
        Verb::Mail { verb: MailVerb::Test { address } } => delivery::test_mail(operator, &address),
        Verb::Webhook { verb: WebhookVerb::List { state } } => {
            delivery::webhooks(operator, state.as_deref())
        }
        Verb::Webhook { verb: WebhookVerb::Test { webhook } } => {
            delivery::test_webhook(operator, &webhook)
        }
        Verb::Webhook { verb: WebhookVerb::Retry { id } } => {
            let done = format!("delivery {id} is queued again");
            operator.post(&format!("{API}/webhooks/{id}/retry"), &empty(), &done)
        }
        Verb::Accept { what, force } => accept(operator, what, force),
        Verb::Committee { verb } => committee::run(operator, verb),
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
        let rows = ["ranking", "unranked"].map(|list| match fields.take(list) {
            Some(Json::List(rows)) => rows,
            _ => Vec::new(),
        });
        let columns = ["place", "name", "scored", "loss", "skill", "low", "high", "memberId"];
        operator.output.rows(&Json::List(rows.concat()), "", &columns)?;
        let loss = |fields: &mut Object, of: &str| {
            cell(&fields.take(of).unwrap_or(Json::Null), "loss")
        };
        let (crowd, neutral) = (loss(&mut fields, "crowd"), loss(&mut fields, "neutral"));
        let (sessions, min) = (cell(answer, "sessions"), cell(answer, "min"));
        note(&format!(
            "{sessions} sessions; loss of the crowd {crowd}, of always neutral {neutral}; without a place: fewer than \
             {min} sessions, too few to say"
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

/// All applicants in state applied.
fn applied(operator: &Operator) -> Result<Vec<Member>, CommandError> {
    let path = format!("{API}/applications?state=applied");
    let mut answer = operator.pages(&path, "applications")?.into_object();
    let Some(Json::List(applications)) = answer.take("applications") else { return Ok(Vec::new()) };
    Ok(applications.iter().map(Member::of).collect())
}

/// Changes the state of members, one after another. If one of several is refused, the others are changed all the same.
fn review(operator: &Operator, members: &[Member], verb: &str) -> Result<(), CommandError> {
    let (mut answers, mut refused) = (Vec::new(), 0);
    let progress = Progress::new(Some(members.len() as u64), "{bar:30} {pos}/{len} {elapsed}");
    for member in members {
        let body = Json::from([("memberId", Json::from(member.id.as_str()))]);
        match operator.change("POST", &format!("{API}/{verb}"), &body) {
            Ok(answer) => {
                let state = cell(&answer, "state");
                progress.suspend(|| operator.done(&format!("{member} is {state}")));
                answers.push(answer);
            }
            Err(CommandError::Refused(why)) if members.len() > 1 => {
                progress.suspend(|| note(&format!("{member}: {why}")));
                refused += 1;
            }
            Err(error) => {
                // What was changed before stands.
                operator.output.each(&answers, &["memberId", "state"])?;
                return Err(error);
            }
        }
        progress.add(1);
    }
    drop(progress);
    operator.output.each(&answers, &["memberId", "state"])?;
    if refused > 0 {
        let text = format!("{refused} of {} were refused, the others are changed", members.len());
        return Err(CommandError::Refused(text));
    }
    // A member that was let in again may have its token.
    if !operator.dry_run && answers.iter().any(|answer| cell(answer, "state") == "approved") {
        note("next: the member runs swarm member claim");
    }
    Ok(())
}

fn subjects(operator: &Operator, verb: SubjectVerb) -> Result<(), CommandError> {
    match verb {
        SubjectVerb::Put { file } => {
            let subject = read_json(&file)?;
            let id = cell(&subject, "id");
            let done = format!("subject {id} is stored");
            operator.post(&format!("{API}/subjects"), &subject, &done)?;
            operator.next(&format!("session convene --subject {}", shell_word(&id)));
            Ok(())
        }
        SubjectVerb::Snapshot { id, file } => {
            let path = format!("{API}/subjects/{}/snapshots", path_segment(&id));
            operator.post(&path, &read_json(&file)?, "the snapshot is stored")
        }
        SubjectVerb::List => {
            let subjects = operator.pages("/api/swarm/subjects", "subjects")?;
            operator.output.rows(&subjects, "subjects", &["id", "status", "name"])
        }
        SubjectVerb::Show { id } => {
            let subject = operator.get(&format!("/api/swarm/subjects/{}", path_segment(&id)))?;
            operator.output.fields(&subject)
        }
    }
}

fn accept(operator: &Operator, what: Accepted, force: bool) -> Result<(), CommandError> {
    let what = match what {
        Accepted::Clock => "clock",
        Accepted::Store => "store",
        Accepted::Key => "key",
    };
    let mut body = Json::from([("what", Json::from(what))]).into_object();
    if force {
        body.set("force", Json::Bool(true));
    }
    let (body, path) = (Json::Object(body), format!("{API}/accept"));
    operator.heed(&format!("the {what}"), ("POST", &path), &body, IRREVERSIBLE)?;
    operator.post(&path, &body, &format!("the {what} is accepted"))
}
