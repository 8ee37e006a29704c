//! The confirmation page before a change that cannot be undone: it shows what would change, and asks for the token again, or
//! for the name of what will change.

use swarm_core::Timestamp;
use swarm_core::domain::{Session, SessionState};
use swarm_core::json::{Json, Object};
use swarm_core::rules::Caution;

use super::acts::Act;
use super::context::ConsoleContext;
use super::form::{Field, FormData, FormView};
use super::layout::{Block, Page, quoted};
use super::page_id::PageId;
use crate::pages::Markup;
use crate::pages::lists;
use crate::pages::markup::named;
use crate::pages::stage_text;
use crate::response::{Answer, ApiError};

/// What an operator gives to confirm a change.
pub(super) enum Proof {
    /// The token that the operator signed in with.
    Token,
    /// This text, typed. An operator whom the program around has authenticated has no token.
    Typed(String),
}

impl Proof {
    /// The proof that this operator gives for an act: to type the session, the member's name, or else the label of the act.
    pub(super) async fn of(
        act: &Act,
        context: &ConsoleContext,
        session: Option<&Session>,
    ) -> Result<Self, ApiError> {
        if !context.is_signed_on() {
            return Ok(Self::Token);
        }
        let id = context.part(0);
        let member = match (act.page_id, swarm_core::MemberId::parse(id.to_owned())) {
            (PageId::Member, Ok(id)) => Some(context.request.tenant().application(&id).await?),
            _ => None,
        };
        Ok(Self::Typed(match (session, member) {
            (Some(session), _) => format!("session {}", session.id),
            (None, Some(member)) => named(member.name.as_str(), id),
            (None, None) if !id.is_empty() => id.to_owned(),
            (None, None) => act.button.to_owned(),
        }))
    }

    /// The name of its field.
    pub(super) fn field(&self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Typed(_) => "confirm",
        }
    }

    fn form_field(&self) -> Field {
        match self {
            Self::Token => Field::token(),
            Self::Typed(text) => {
                Field::text(self.field(), &format!("Type “{text}” to confirm")).required()
            }
        }
    }
}

/// The page, from the answer of the dry run.
pub(super) async fn page(
    act: &'static Act,
    context: &ConsoleContext,
    sent: &FormData,
    (session, proof): (Option<&Session>, &Proof),
    dry_run: &Answer,
    fault: Option<String>,
) -> Result<Page, ApiError> {
    let then = match proof {
        Proof::Token => "give your token",
        Proof::Typed(_) => "confirm it",
    };
    let mut page = Page::new(format!("{}?", act.button)).with_lead(format!(
        "Nothing is changed yet. This cannot be undone: look at what will change, then {then}."
    ));
    let body = Json::read(&dry_run.body).map(Json::into_object).unwrap_or_default();
    let mut record = match act.page_id {
        PageId::Session => of_session(context, session, body).await?,
        _ => plain(act, context, sent).await?,
    };
    let what_happens = |caution: &Caution| ("What happens", quoted(&caution.message));
    record.extend(dry_run.cautions.iter().map(what_happens));
    page.blocks.push(Block::Record(record));
    let parts: Vec<_> = context.request.path.iter().map(String::as_str).collect();
    let form = context.form(act, &parts, vec![proof.form_field()]);
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

/// A session, with the figures that an aggregation would write.
async fn of_session(
    context: &ConsoleContext,
    session: Option<&Session>,
    mut dry_run: Object,
) -> Result<Record, ApiError> {
    let Some(session) = session else { return Ok(Vec::new()) };
    let subject = lists::subject(context.request.tenant(), &session.subject_id).await?;
    let mut after = object(&mut dry_run, "session");
    let mut record =
        vec![("Session", quoted(&format!("{}: {}, {}", session.id, subject.1, session.date)))];
    let state = after.text("state").ok().and_then(|text| SessionState::parse(&text));
    if let Some(state) = state.filter(|state| *state != session.state) {
        let [before, state] = [session.state, state].map(stage_text::state_word);
        record.push(("State", Markup::text(&format!("{before} becomes {state}"))));
    }
    let mut snapshot = object(&mut after, "snapshot");
    let mut participation = object(&mut snapshot, "participation");
    let mut consensus = object(&mut snapshot, "consensus");
    let members = participation.number_if_any("members").ok().flatten();
    record.extend(members.map(|members| ("Takes that count", Markup::text(&members.to_string()))));
    if let (Ok(stance), Ok(score)) = (consensus.text("stance"), consensus.number("score")) {
        record.push(("Consensus", Markup::text(&format!("{score:.2}, {stance}"))));
    }
    let closes =
        |at: Option<Timestamp>| at.map_or("none".to_owned(), |at| context.times.time_text(at));
    let to = after.text_if_any("windowClosesAt").ok().flatten();
    let to = to.and_then(|to| Timestamp::parse("windowClosesAt", &to).ok());
    record.push(("Deadline", Markup::text(&closes(session.window_closes_at))));
    if to != session.window_closes_at {
        let left = to.and_then(|to| context.times.left(to));
        let left = left
            .map_or("the window closes at once".to_owned(), |left| format!("{left} are left then"));
        record.push(("New deadline", Markup::text(&format!("{}: {left}", closes(to)))));
    }
    Ok(record)
}

fn object(of: &mut Object, name: &str) -> Object {
    of.take(name).map(Json::into_object).unwrap_or_default()
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
    Ok(record)
}
