//! The confirmation page before a change that cannot be undone: it shows what would change, and asks for the token again.

use std::collections::HashSet;

use swarm_core::domain::Session;
use swarm_core::json::{Json, Object};

use super::acts::{Act, Confirmation};
use super::body::utc;
use super::context::ConsoleContext;
use super::form::{Field, FormData, FormView};
use super::layout::{Block, Page, quoted};
use super::page_id::PageId;
use crate::pages::Markup;
use crate::pages::lists;
use crate::pages::people::People;
use crate::response::{Answer, ApiError};

/// The page, from the answer of the dry run.
pub(super) async fn page(
    act: &'static Act,
    context: &ConsoleContext,
    sent: &FormData,
    session: Option<&Session>,
    dry_run: &Answer,
    fault: Option<String>,
) -> Result<Page, ApiError> {
    let mut page = Page::new(format!("{}?", act.button)).with_lead(
        "Nothing is changed yet. This cannot be undone: look at what will change, then give your token.",
    );
    let dry_run = Json::read(&dry_run.body).map(Json::into_object).unwrap_or_default();
    page.blocks.push(Block::Record(match act.confirmation {
        Confirmation::EarlyResult => result(context, session, dry_run).await?,
        Confirmation::EarlierDeadline => deadline(context, sent, session),
        Confirmation::Always | Confirmation::Never => plain(act, context, sent).await?,
    }));
    let parts: Vec<_> = context.request.path.iter().map(String::as_str).collect();
    let form = context.form(act, &parts, vec![Field::token()]);
    page.form(form.map(|form| FormView {
        hidden: form.hidden.into_iter().chain(act.fields_of(sent)).collect(),
        fault: fault.clone(),
        is_inline: false,
        ..form
    }));
    page.fault = fault;
    Ok(page)
}

type Record = Vec<(&'static str, Markup)>;

/// The figures that an aggregation would write.
async fn result(
    context: &ConsoleContext,
    session: Option<&Session>,
    mut dry_run: Object,
) -> Result<Record, ApiError> {
    let Some(session) = session else { return Ok(Vec::new()) };
    let tenant = context.request.tenant();
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
    let mut after = object(&mut dry_run, "session");
    let mut snapshot = object(&mut after, "snapshot");
    let mut participation = object(&mut snapshot, "participation");
    let mut consensus = object(&mut snapshot, "consensus");
    let mut quorum = object(&mut snapshot, "quorum");
    let closes = session.window_closes_at;
    let window = closes.map_or("no deadline: takes could still come".to_owned(), |closes| {
        let left = context.times.left(closes).unwrap_or_default();
        format!("open until {}, {left} left", context.times.time_text(closes))
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

fn deadline(context: &ConsoleContext, sent: &FormData, session: Option<&Session>) -> Record {
    let Some(session) = session else { return Vec::new() };
    let to = swarm_core::Timestamp::parse("windowClosesAt", &utc(sent.text("windowClosesAt")));
    let text = |at| context.times.time_text(at);
    let before = session.window_closes_at.map_or("none".to_owned(), text);
    let mut record = vec![
        ("Session", Markup::text(&session.id.to_string())),
        ("Deadline now", Markup::text(&before)),
    ];
    if let Ok(to) = to {
        let left = context
            .times
            .left(to)
            .map_or("the window closes at once".to_owned(), |left| format!("{left} are left then"));
        record.push(("New deadline", Markup::text(&format!("{}: {left}", text(to)))));
    }
    record
}

/// The record of a change of a member, a key or the store.
async fn plain(act: &Act, context: &ConsoleContext, sent: &FormData) -> Result<Record, ApiError> {
    let tenant = context.request.tenant();
    let mut record = Vec::new();
    if act.page_id == PageId::Member
        && let Ok(id) = swarm_core::MemberId::parse(context.part(0).to_owned())
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
    } else if !context.part(0).is_empty() {
        record.push(("Member", quoted(context.part(0))));
    } else {
        let size = tenant.log_size().await?;
        record.push(("Log", Markup::text(&format!("{} entries", size.0))));
        record.push(("Now", Markup::text(&context.times.time_text(context.times.now))));
    }
    record.push(("What happens", Markup::text(act.warning)));
    Ok(record)
}
