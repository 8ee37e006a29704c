//! `swarm member`: what members do, from the key to the take (MANUAL.md, 13.3). The service judges; these
//! commands sign, send and show.

mod arguments;
mod check;
mod kept;
mod logs;
mod profile;
mod submit;

use std::path::Path;

use swarm_client::{Client, Error, path_segment};
use swarm_core::domain::SubjectId;
use swarm_core::json::Json;
use swarm_core::{MemberId, SessionId};

pub(crate) use arguments::MemberOptions;
use arguments::{KeyVerb, Verb};
use profile::Profile;

use crate::command::{Output, Progress, cell, note, print_json, read_input, text_of};
use crate::console;
use crate::failure::CommandError;

/// Runs one command of a member.
///
/// # Errors
/// [`CommandError`], whose exit statuses API.md documents.
pub(crate) fn run(options: MemberOptions) -> Result<(), CommandError> {
    let mut profile = Profile::open(&options.profile)?;
    let (output, command) = (Output { json: options.json }, options.command());
    if let Verb::Key { verb: KeyVerb::New } = options.verb {
        let key = profile.new_key()?.public_key().to_string();
        output.value("publicKey", Json::from(&*key), &key)?;
        note(&format!("next: {command} --url URL apply --name NAME --contact TEXT"));
        return Ok(());
    }
    let url = match &options.verb {
        Verb::Address { address } => Some(address),
        _ => options.url.as_ref(),
    };
    let client = profile.client(url.map(String::as_str), &options.trust)?;
    match options.verb {
        Verb::Key { .. } => replace_key(&profile, &client, output),
        Verb::Apply { name, contact, lens } => {
            let decides = match apply(&mut profile, &client, output, [&name, &contact, &lens])? {
                true => "an operator decides; ",
                false => "",
            };
            note(&format!("{decides}next: {command} status"));
            Ok(())
        }
        Verb::Status => status(&profile, &client, output, &command),
        Verb::Claim => claim(&profile, &client, &command),
        Verb::Address { .. } => move_to(&mut profile, &client, output, &command),
        Verb::Sessions { limit } => {
            let sessions = client.get(&format!("/api/swarm/sessions?limit={limit}"))?;
            output.sessions(&sessions, &SESSION_COLUMNS)
        }
        Verb::Brief { session } => brief(&client, session),
        Verb::Submit(submit) => submit::run(&profile, (&client, &options.trust), output, &submit),
        Verb::Check => check::run(&profile, &client, &options.trust, output),
        Verb::Takes { limit } => takes(&profile, &client, output, limit),
        Verb::Memo { title, subject, session, file } => {
            let about = (subject.map(SubjectId::parse).transpose()?, session.map(SessionId));
            memo(&profile, &client, output, &title, about, &file)
        }
    }
}

const SESSION_COLUMNS: [&str; 5] = ["id", "date", "subjectId", "state", "windowClosesAt"];

/// Applies. Returns whether the application is a new one.
fn apply(
    profile: &mut Profile,
    client: &Client,
    output: Output,
    [name, contact, lens]: [&str; 3],
) -> Result<bool, CommandError> {
    let key = profile.key()?;
    profile.check_application(client)?;
    let (member, is_new) = match client.apply(&key, name, contact, lens) {
        Ok(member) => (member, true),
        // The answer to an earlier application was lost, or an operator registered the key.
        Err(Error::Refused(refused)) if refused.body.has("memberId") => {
            note(&format!("this key has applied already: {refused}"));
            (MemberId::parse(refused.body.clone().text("memberId")?)?, false)
        }
        Err(error) => return Err(error.into()),
    };
    profile.remember(client.url(), &member)?;
    output.value("memberId", Json::from(member.as_str()), member.as_str())?;
    Ok(is_new)
}

/// Makes this service that of the profile, once it says that the member applied there. Until then it gets no credential.
fn move_to(
    profile: &mut Profile,
    client: &Client,
    output: Output,
    command: &str,
) -> Result<(), CommandError> {
    let (member, url) = (profile.member()?, client.url().to_owned());
    let answer = client.get(&format!("/api/swarm/apply/{member}"))?;
    profile.remember(&url, &member)?;
    output.value("url", Json::from(&*url), &url)?;
    if let Some((key, path)) = profile.other_log_key(client)? {
        note(&format!(
            "the log has another key there: {key}; compare it with what the operators announced, and add it to {} as the last line",
            path.display()
        ));
    }
    let next = if text_of(&answer, "state") == "approved" { "claim" } else { "status" };
    note(&format!("the profile keeps this address from now on; next: {command} {next}"));
    Ok(())
}

/// What a member with its token does.
const FILE: &str = "submit --stance STANCE --confidence N";

fn status(
    profile: &Profile,
    client: &Client,
    output: Output,
    command: &str,
) -> Result<(), CommandError> {
    let answer = client.get(&format!("/api/swarm/apply/{}", profile.member()?))?;
    output.answer(&answer, |answer| Ok(console::print(&cell(answer, "state"))?))?;
    match &*text_of(&answer, "state") {
        "applied" => note("an operator has not decided yet"),
        "approved" => note(&format!("next: {command} claim")),
        "claimed" if profile.has_token() => note(&format!("next: {command} {FILE}")),
        "claimed" => note(
            "the token was claimed, and this profile does not have it: an operator can reset the claim",
        ),
        "rejected" => note("an operator rejected the application"),
        _ => {}
    }
    Ok(())
}

/// Replaces the key. The new one is written before it is sent, and again sent after a failure.
fn replace_key(profile: &Profile, client: &Client, output: Output) -> Result<(), CommandError> {
    let (member, token, old) = (profile.member()?, profile.token(client)?, profile.key()?);
    let new = profile.next_key()?;
    let record = client.get(&format!("/api/swarm/members/{member}"))?;
    // The answer to an earlier replacement was lost.
    if text_of(&record, "publicKey") != new.public_key().to_string() {
        client.replace_key(&token, &member, [&old, &new])?;
    }
    profile.take_next_key()?;
    let key = new.public_key().to_string();
    output.value("publicKey", Json::from(&*key), &key)?;
    note("takes are signed with this key from now on; publish it where readers know the old one");
    Ok(())
}

fn claim(profile: &Profile, client: &Client, command: &str) -> Result<(), CommandError> {
    let (key, member) = (profile.key()?, profile.member()?);
    profile.check_address(client)?;
    // The refusal of a claim is not about a token.
    let refused = |error| match error {
        Error::Refused(refused) => {
            CommandError::Refused(format!("{refused}; see: {command} status"))
        }
        Error::OtherService { ref named, .. } if is_plain_address(named) => {
            CommandError::Refused(format!(
                "{error}; if the service is known as {named}, run: {command} address {named}, and claim again"
            ))
        }
        error => error.into(),
    };
    profile.claim(|| client.claim(&key, &member).map_err(refused))?;
    note(&format!("the token is claimed; next: {command} {FILE}"));
    Ok(())
}

/// Whether a service's name for itself is an address that can stand in a command without quotes.
fn is_plain_address(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-_~%[]".contains(&byte);
    text.starts_with("http") && text.bytes().all(is_plain)
}

/// A brief is a document for programs: it is always JSON.
fn brief(client: &Client, session: Option<u64>) -> Result<(), CommandError> {
    let session = submit::session(client, session)?.id;
    match client.get(&format!("/api/swarm/brief?session={session}"))? {
        Json::Null => Err(CommandError::Refused(format!("session {session} has no brief"))),
        brief => print_json(&brief),
    }
}

/// The most pages of takes that are looked through.
const MAX_PAGES: usize = 10_000;

/// The member's takes; those that are sealed are read with its token.
fn takes(
    profile: &Profile,
    client: &Client,
    output: Output,
    limit: u64,
) -> Result<(), CommandError> {
    let member = path_segment(profile.member()?.as_str());
    let progress = Progress::of_requests();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut own, mut more, mut next) = (Vec::new(), String::new(), String::from("0"));
    // A page looks through a part of all takes, and may have none of the member's.
    for _ in 0..MAX_PAGES {
        if own.len() >= limit || next.is_empty() {
            break;
        }
        let path = format!("/api/swarm/takes?member={member}&limit={}{more}", limit - own.len());
        let answer = client.get(&path)?;
        progress.add(1);
        let following = text_of(&answer, "nextBefore");
        if following == next {
            return Err(CommandError::Unreached("the pages of takes do not advance".to_owned()));
        }
        next = following;
        more = format!("&before={next}");
        let Some(Json::List(page)) = answer.into_object().take("takes") else {
            return Err(CommandError::Unreached("the answer has no takes".to_owned()));
        };
        own.extend(page);
    }
    let is_closed =
        |take: &Json| !text_of(take, "sealed").is_empty() && text_of(take, "signature").is_empty();
    for take in own.iter_mut().filter(|take| is_closed(take)) {
        progress.add(1);
        let path = format!("/api/swarm/takes/{}", text_of(take, "id"));
        *take = client.get_for(&profile.token(client)?, &path)?;
    }
    let closed = own.iter().filter(|take| is_closed(take)).count();
    // With a wrong token too, a take is answered as it is to everybody.
    let recognized = match closed {
        0 => Ok(()),
        _ => profile.token(client).and_then(|token| {
            client.get_for(&token, "/api/swarm/me").map(drop).map_err(CommandError::from)
        }),
    };
    drop(progress);
    let columns = [
        "id",
        "sessionId",
        "date",
        "subjectId",
        "revision",
        "stance",
        "confidence",
        "filedAt",
        "sealed",
    ];
    output.rows(&Json::from([("takes", Json::List(own))]), "takes", &columns)?;
    if !next.is_empty() {
        note(&format!("there may be older ones than these {limit}"));
    }
    recognized?;
    if closed > 0 {
        note(&format!(
            "sealed ones that are shown as to everybody: {closed}; the token is newer than they are"
        ));
    }
    Ok(())
}

fn memo(
    profile: &Profile,
    client: &Client,
    output: Output,
    title: &str,
    (subject, session): (Option<SubjectId>, Option<SessionId>),
    file: &Path,
) -> Result<(), CommandError> {
    let (token, body) = (profile.token(client)?, read_input(file)?);
    let id = client.publish_memo(&token, title, &body, subject.as_ref(), session)?;
    output.value("memoId", Json::from(id.0 as f64), &id.to_string())?;
    let address = format!("{}/swarm/memos/{}", client.service(), id.0);
    match client.get(&format!("/api/swarm/memos/{}", id.0)) {
        Err(Error::Refused(refused)) if refused.status == 404 => {
            note(&format!("kept until the session is opened, then at {address}"));
        }
        _ => note(&format!("published: {address}")),
    }
    Ok(())
}
