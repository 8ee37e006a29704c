//! The page before what cannot be undone: what would change, and the token once more.

use std::collections::HashSet;

use swarm_core::domain::Session;
use swarm_core::json::{Json, Object};

use super::acts::{Act, Care};
use super::body::utc;
use super::form::{Field, FormView, Sent};
use super::layout::{Block, Page, quoted};
use super::places::Place;
use super::visit::Visit;
use crate::pages::Markup;
use crate::pages::lists;
use crate::pages::people::People;
use crate::response::{Answer, ApiError};

/// What `tried`, the answer of the dry run, would change.
pub(super) async fn page(
    act: &'static Act,
    visit: &Visit,
    sent: &Sent,
    session: Option<&Session>,
    tried: &Answer,
    fault: Option<String>,
) -> Result<Page, ApiError> {
    let mut page = Page::new(format!("{}?", act.button)).leading(
        "Nothing is changed yet. This cannot be undone: look at what will change, then give your token.",
    );
    let tried = Json::read(&tried.body).map(Json::into_object).unwrap_or_default();
    page.blocks.push(Block::Record(match act.care {
        Care::EarlyResult => result(visit, session, tried).await?,
        Care::EarlierDeadline => deadline(visit, sent, session),
        Care::Always | Care::Never => plain(act, visit, sent).await?,
    }));
    let parts: Vec<_> = visit.request.path.iter().map(String::as_str).collect();
    let form = visit.form(act, &parts, vec![Field::token()]);
    page.form(form.map(|form| FormView {
        hidden: form.hidden.into_iter().chain(sent.typed()).collect(),
        fault: fault.clone(),
        is_inline: false,
        ..form
    }));
    page.fault = fault;
    Ok(page)
}

type Record = Vec<(&'static str, Markup)>;

/// What an aggregation would write.
async fn result(
    visit: &Visit,
    session: Option<&Session>,
    mut tried: Object,
) -> Result<Record, ApiError> {
    let Some(session) = session else { return Ok(Vec::new()) };
    let tenant = visit.request.tenant();
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let (_, takes) = tenant.session(session.id).await?;
    let filed: HashSet<_> = takes.iter().map(|take| take.member_id()).collect();
    let roster = session.roster.iter().flat_map(|roster| roster.entries());
    let silent: Vec<_> = roster
        .filter(|entry| !entry.excused && !filed.contains(&entry.member_id))
        .map(|entry| &entry.member_id)
        .collect();
    let people = People::find(tenant, silent.iter().copied()).await?;
    let names: Vec<_> = silent.iter().map(|id| people.person(id).name).collect();
    let mut after = object(&mut tried, "session");
    let mut snapshot = object(&mut after, "snapshot");
    let mut participation = object(&mut snapshot, "participation");
    let mut consensus = object(&mut snapshot, "consensus");
    let mut quorum = object(&mut snapshot, "quorum");
    let closes = session.window_closes_at;
    let window = closes.map_or("no deadline: takes could still come".to_owned(), |closes| {
        let left = visit.reading.left(closes).unwrap_or_default();
        format!("open until {}, {left} left", visit.reading.time_text(closes))
    });
    let mut record = vec![
        ("Session", quoted(&format!("{}: {}, {}", session.id, subject.1, session.date))),
        (
            "State",
            Markup::text(&format!(
                "{} becomes aggregated",
                session.state.as_str().replace('_', " ")
            )),
        ),
        ("Window", Markup::text(&window)),
    ];
    let members = participation.number_if_any("members").ok().flatten();
    record.extend(members.map(|members| ("Takes that count", Markup::text(&members.to_string()))));
    if !names.is_empty() {
        record.push(("Not filed yet", quoted(&names.join(", "))));
    }
    if let (Ok(stance), Ok(score)) = (consensus.text("stance"), consensus.number("score")) {
        record.push(("Consensus", Markup::text(&format!("{score:.2}, {stance}"))));
    }
    if let Ok(Some(met)) = quorum.bool_if_any("met") {
        record.push(("Quorum", Markup::text(if met { "met" } else { "missed" })));
    }
    record.push(("Later takes", Markup::text("stay on record and do not count")));
    Ok(record)
}

fn object(of: &mut Object, name: &str) -> Object {
    of.take(name).map(Json::into_object).unwrap_or_default()
}

fn deadline(visit: &Visit, sent: &Sent, session: Option<&Session>) -> Record {
    let Some(session) = session else { return Vec::new() };
    let to = swarm_core::Timestamp::parse("windowClosesAt", &utc(sent.text("windowClosesAt")));
    let text = |at| visit.reading.time_text(at);
    let before = session.window_closes_at.map_or("none".to_owned(), text);
    let mut record = vec![
        ("Session", Markup::text(&session.id.to_string())),
        ("Deadline now", Markup::text(&before)),
    ];
    if let Ok(to) = to {
        let left = visit
            .reading
            .left(to)
            .map_or("the window closes at once".to_owned(), |left| format!("{left} are left then"));
        record.push(("New deadline", Markup::text(&format!("{}: {left}", text(to)))));
    }
    record
}

/// What happens to a member, a key or the store.
async fn plain(act: &Act, visit: &Visit, sent: &Sent) -> Result<Record, ApiError> {
    let tenant = visit.request.tenant();
    let mut record = Vec::new();
    if act.place == Place::Member
        && let Ok(id) = swarm_core::MemberId::parse(visit.part(0).to_owned())
    {
        let member = tenant.application(&id).await?;
        record.push(("Member", quoted(member.name.as_str())));
        record.push(("Contact", quoted(member.contact.as_str())));
        record.push(("State", Markup::text(member.state.as_str())));
        if sent.has("publicKey") {
            let key = sent.text("publicKey");
            let key = if key.is_empty() { "stays" } else { key };
            record.push(("Public key", quoted(key)));
        }
    } else if !visit.part(0).is_empty() {
        record.push(("Member", quoted(visit.part(0))));
    } else {
        let size = tenant.log_size().await?;
        record.push(("Log", Markup::text(&format!("{} entries", size.0))));
        record.push(("Now", Markup::text(&visit.reading.time_text(visit.reading.now))));
    }
    record.push(("What happens", Markup::text(act.warning)));
    Ok(record)
}
