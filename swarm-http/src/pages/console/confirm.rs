//! The page before a change that is public or cannot be undone: it shows what would change, as a dry run judges it, and
//! asks for the token again, or for the name of what will change, if the change cannot be undone.

use swarm_core::Timestamp;
use swarm_core::domain::{
    Bucket, Consensus, Declaration, Figures, MemoId, Outcome, OutcomeSource, Question,
    QuestionText, Resolution, Roster, Session,
};
use swarm_core::json::{Json, Object};
use swarm_core::rules::{Caution, CautionCode};
use swarm_core::wire::RequestError;

use super::acts::{Act, CONVENE, RETRACT_MEMO, WITHDRAW};
use super::context::ConsoleContext;
use super::form::{Button, Field, FormData, FormView};
use super::layout::{Block, Page, count, quoted};
use super::page_id::PageId;
use super::pages::outcome_text;
use crate::pages::declaration;
use crate::pages::lists;
use crate::pages::markup::named;
use crate::pages::result::ResultView;
use crate::pages::stage_text;
use crate::pages::{Markup, charts};
use crate::request::command::FormTexts;
use crate::request::parameters::number;
use crate::response::{Answer, ApiError};

/// The field of a form that was sent from this page.
pub(super) const CONFIRMED: &str = "confirmed";

/// What the page asks for.
pub(super) struct Asked<'a> {
    pub(super) proof: Option<&'a Proof>,
    /// Why the proof was refused.
    pub(super) fault: Option<String>,
}

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
            (None, None) => act.texts(context.routes).button.to_owned(),
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
    session: Option<&Session>,
    dry_run: &Answer,
    asked: Asked<'_>,
) -> Result<Page, ApiError> {
    let FormTexts { button, is_destructive, .. } = act.texts(context.routes);
    let mut page = Page::new(format!("{button}?")).with_lead(match asked.proof {
        Some(proof) => {
            let then = match proof {
                Proof::Token => "give your token",
                Proof::Typed(_) => "confirm it",
            };
            format!(
                "Nothing is changed yet. This cannot be undone: look at what will change, then {then}."
            )
        }
        None => {
            "Nothing is changed yet. Look at what will change, then confirm it.".to_owned()
        }
    });
    let body = Json::read(&dry_run.body).map(Json::into_object).unwrap_or_default();
    let Changes { mut record, rows } = match (act.page_id, session) {
        (PageId::Session, Some(session)) => of_session(act, context, session, body).await?,
        (PageId::Convene, _) => of_convening(context, sent, body).await?,
        _ => plain(act, context, sent).await?,
    };
    let times = context.times;
    let caution = |it: &Caution| {
        let (label, text) = labelled(it);
        (label, quoted(&times.written_out(text)))
    };
    record.extend(dry_run.cautions.iter().map(caution));
    page.blocks.push(Block::Record(record));
    if !rows.is_empty() {
        let row = |(name, now, then): (&str, String, String)| {
            vec![
                Markup::text(name),
                quoted(&now),
                Markup(format!("<strong>{}</strong>", quoted(&then))),
            ]
        };
        let rows = rows.into_iter().map(row);
        page.table("What will change", ["What", "Now", "Then"], rows, "");
    }
    let parts: Vec<_> = context.request.path.iter().map(String::as_str).collect();
    let field = asked.proof.map(|proof| Field { fault: asked.fault, ..proof.form_field() });
    let confirmed = asked.proof.is_none().then(|| (CONFIRMED.to_owned(), "yes".to_owned()));
    let button = Button::new(button);
    let button = if is_destructive { button } else { button.primary() };
    let form = context.form(act, &parts, field.into_iter().collect());
    page.form(form.map(|form| {
        FormView {
            hidden: form
                .hidden
                .into_iter()
                .chain(act.fields_of(context.routes, sent))
                .chain(confirmed)
                .collect(),
            buttons: vec![button, Button::cancel()],
            is_inline: false,
            ..form
        }
    }));
    Ok(page)
}

/// A caution, and what it is about.
fn labelled(caution: &Caution) -> (&'static str, &str) {
    let message = caution.message.as_str();
    match caution.code {
        CautionCode::DeadlinePast | CautionCode::DeadlineEarlier => ("New deadline", message),
        CautionCode::WindowOpen => ("Window", message),
        CautionCode::QuorumUnreachable | CautionCode::QuorumMissed => ("Quorum", message),
        CautionCode::NotFiled => {
            ("Not filed yet", message.strip_prefix("not filed yet: ").unwrap_or(message))
        }
        CautionCode::OpensSealed => ("Sealed takes", message),
        _ => ("What happens", message),
    }
}

/// What an act would change.
struct Changes {
    /// The record that the act would change.
    record: Vec<(&'static str, Markup)>,
    /// The fields that differ: the name, the value now, and the value after the act.
    rows: Vec<(&'static str, String, String)>,
}

impl Changes {
    fn add(&mut self, name: &'static str, now: String, then: String) {
        if now != then {
            self.rows.push((name, now, then));
        }
    }
}

/// A session, with the figures that an aggregation would write.
async fn of_session(
    act: &Act,
    context: &ConsoleContext,
    session: &Session,
    mut dry_run: Object,
) -> Result<Changes, ApiError> {
    let subject = lists::subject(context.request.tenant(), &session.subject_id).await?;
    let day = context.times.day(session.date);
    let name = format!("{}: {}, {day}", session.id, quoted(&subject.1));
    let record = vec![("Session", Markup(name))];
    let mut changes = Changes { record, rows: Vec::new() };
    if let Some(snapshot) = &session.snapshot {
        changes.record.push(("Result", quoted(&ResultView::summary(&snapshot.figures))));
    }
    let state = stage_text::state_word(session.state).to_owned();
    if act.path == WITHDRAW.path {
        changes.add("State", state, "as if it had never been convened".to_owned());
        return Ok(changes);
    }
    let after: Session = dry_run.take_as("session").map_err(|_| RequestError::Internal)?;
    changes.add("State", state, stage_text::state_word(after.state).to_owned());
    let to = after.window_closes_at;
    let closes =
        |at: Option<Timestamp>| at.map_or("none".to_owned(), |at| context.times.time_text(at));
    if to != session.window_closes_at {
        let left = to.and_then(|to| context.times.left(to));
        let left = match (to, left) {
            (None, _) => "the window stays open".to_owned(),
            (Some(_), Some(left)) => format!("{left} from now"),
            (Some(_), None) => "the window closes at once".to_owned(),
        };
        changes.add(
            "Deadline",
            closes(session.window_closes_at),
            format!("{}: {left}", closes(to)),
        );
    } else if act.may_ask(context.routes) {
        changes.record.push(("Deadline", Markup::text(&closes(session.window_closes_at))));
    }
    let quorum_text = |quorum: Option<u32>| quorum.map_or("none".to_owned(), |it| it.to_string());
    changes.add("Quorum", quorum_text(session.quorum), quorum_text(after.quorum));
    let asked = question_rows(&session.question, context).into_iter();
    for ((name, now), (_, then)) in asked.zip(question_rows(&after.question, context)) {
        changes.add(name, now, then);
    }
    changes.add("Roster", roster_text(session.roster.as_ref()), roster_text(after.roster.as_ref()));
    figures(session, &after, &mut changes);
    let (now, then) = (session.outcome.as_ref(), after.outcome.as_ref());
    changes.add("Outcome", outcome_text(now), outcome_text(then));
    changes.add("Source", source_text(now), source_text(then));
    if after.voided.is_some() && session.voided.is_none() {
        changes.add("Its result", "counts".to_owned(), "counts for nothing".to_owned());
    }
    Ok(changes)
}

/// The figures of the snapshot, where there is none yet.
fn figures(session: &Session, after: &Session, changes: &mut Changes) {
    let (None, Some(snapshot)) = (&session.snapshot, &after.snapshot) else { return };
    let Figures { participation, consensus, .. } = &snapshot.figures;
    changes.add("Takes that count", "none".to_owned(), participation.members.to_string());
    if let Some(Consensus { stance, score, .. }) = consensus {
        let result = format!("{}, {}", charts::signed(*score), stance.as_str());
        changes.add("Result", "none".to_owned(), result);
    }
}

fn source_text(outcome: Option<&Outcome>) -> String {
    let source = outcome.and_then(|outcome| outcome.source.as_ref());
    or_none(source.map(OutcomeSource::as_str))
}

fn or_none(text: Option<&str>) -> String {
    text.unwrap_or("none").to_owned()
}

/// The fields of a question.
fn question_rows(question: &Question, context: &ConsoleContext) -> [(&'static str, String); 3] {
    let known = question.resolves_at.map(|at| context.times.time_text(at));
    [
        ("Question", or_none(question.text.as_ref().map(QuestionText::as_str))),
        ("Resolution", or_none(question.resolution.as_ref().map(Resolution::as_str))),
        ("Outcome known", or_none(known.as_deref())),
    ]
}

/// The terms of a session that is convened. Most of them never change.
async fn of_convening(
    context: &ConsoleContext,
    sent: &FormData,
    mut dry_run: Object,
) -> Result<Changes, ApiError> {
    let session: Session = dry_run.take_as("session").map_err(|_| RequestError::Internal)?;
    let (_, subject) = lists::subject(context.request.tenant(), &session.subject_id).await?;
    let closes = session.window_closes_at.map(|at| context.times.time_text(at));
    let quorum = session.quorum.map(|quorum| quorum.to_string());
    let buckets = session
        .buckets
        .map(|buckets| buckets.iter().map(Bucket::as_str).collect::<Vec<_>>().join(", "));
    let either = |is_so: bool, so: &str, not: &str| if is_so { so } else { not }.to_owned();
    let brief = !sent.text("publishBrief").is_empty();
    let mut rows = vec![
        ("Day", context.times.day_text(session.date)),
        ("State", stage_text::state_word(session.state).to_owned()),
        ("Deadline", or_none(closes.as_deref())),
        ("Roster", roster_text(session.roster.as_ref())),
        ("Quorum", or_none(quorum.as_deref())),
        ("Takes", either(session.blind, "sealed until it is opened", "shown as they are filed")),
        ("It counts", either(session.practice, "no: for practice", "yes")),
        (
            "Result",
            either(session.finish, "by the server, once the window has closed", "by operators"),
        ),
        ("Brief", either(brief, "published at once", "later")),
    ];
    rows.extend(question_rows(&session.question, context));
    rows.push(("Buckets", or_none(buckets.as_deref())));
    // Also what it does not declare.
    if session.declaration.stances.is_none() {
        rows.push(("Stances", "any; bearish to bullish have a rank".to_owned()));
    }
    let declaration = Declaration {
        stances: session.declaration.stances.clone(),
        max_revisions: Some(session.declaration.cap()),
        method: Some(session.declaration.method()),
    };
    rows.extend(declaration::facts(&declaration));
    let row = |(name, then)| (name, "no session".to_owned(), then);
    let fixed = "the day, the subject, whether takes are sealed, whether it counts, who computes the result, and \
                 buckets, stances, takes of a member and score";
    Ok(Changes {
        record: vec![("Subject", quoted(&subject)), ("Never changed", Markup::text(fixed))],
        rows: rows.into_iter().map(row).collect(),
    })
}

fn roster_text(roster: Option<&Roster>) -> String {
    match roster {
        Some(roster) => count(roster.entries().len(), "member", "members"),
        None => "none: every member may file".to_owned(),
    }
}

/// A change of a member, a key, the store, a memo or the committee.
async fn plain(act: &Act, context: &ConsoleContext, sent: &FormData) -> Result<Changes, ApiError> {
    let tenant = context.request.tenant();
    let mut changes = Changes { record: Vec::new(), rows: Vec::new() };
    let record = &mut changes.record;
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
    } else if act.path == RETRACT_MEMO.path {
        let id = number(sent.text("memo")).map(MemoId);
        if let Some(memo) = match id {
            Some(id) => tenant.find_memo(id).await?,
            None => None,
        } {
            record.push(("Memo", quoted(&lists::memo_title(&memo))));
        }
        changes.add("Its page", "shows it".to_owned(), "reads 404".to_owned());
    } else if let Some((label, field)) = act.changed {
        record.push((label, quoted(&context.times.written_out(sent.text(field)))));
    } else if !context.part(0).is_empty() {
        record.push(("Member", quoted(context.part(0))));
    } else if act.page_id != CONVENE.page_id {
        let size = tenant.log_size().await?;
        record.push(("Log", Markup::text(&format!("{} entries", size.0))));
        record.push(("Now", Markup::text(&context.times.time_text(context.times.now))));
    }
    Ok(changes)
}
