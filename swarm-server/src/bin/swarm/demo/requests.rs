//! The requests of the demonstration's operator: subjects, sessions and their states.

use swarm_core::domain::{
    BriefOrder, Bucket, Day, Position, Question, QuestionText, Resolution, Roster, RosterEntry,
    SessionDraft, SessionState, StateChange, Subject, SubjectId, SubjectSnapshotDraft,
};
use swarm_core::json::Json;
use swarm_core::{MemberId, SessionId, Timestamp};

use super::author::Author;
use super::desk::Desk;
use super::words::{BUCKETS, DAYS, Theme, pseudo_random};
use crate::Failure;

pub(super) fn subject(
    desk: &Desk,
    theme: &'static Theme,
    linked_member_id: Option<MemberId>,
) -> Result<(), Failure> {
    let wallet = |chain: &str| {
        Json::from([("chain", chain.into()), ("address", theme.wallet.into())]).into_object()
    };
    let subject = Subject {
        operator: Some(theme.operator.to_owned()),
        thesis_blurb: Some(theme.thesis.to_owned()),
        homepage: Some(format!("https://{}.example/", theme.id)),
        structural_notes: vec!["Figures are taken from the chain at midnight, UTC.".to_owned()],
        wallets: vec![wallet("ethereum"), wallet("base")],
        nft_contracts: vec![wallet("ethereum")],
        linked_member_id: linked_member_id.map(|id| id.to_string()),
        ..Subject::new(SubjectId::parse(theme.id)?, theme.name)
    };
    desk.operator().save_subject(&subject)?;
    Ok(())
}

/// Convenes a session, and publishes its brief.
pub(super) fn convene(desk: &Desk, session: SessionDraft) -> Result<SessionId, Failure> {
    let id = desk.operator().convene(session)?.id;
    desk.operator().publish_brief(id, BriefOrder::default())?;
    Ok(id)
}

/// Convenes a session for practice, on a subject of its own.
pub(super) fn convene_practice(
    desk: &Desk,
    date: Day,
    deadline: Timestamp,
) -> Result<SessionId, Failure> {
    let subject = SubjectId::parse("practice")?;
    desk.operator().save_subject(&Subject::new(subject.clone(), "Practice"))?;
    let session = SessionDraft {
        window_closes_at: Some(deadline),
        practice: true,
        ..SessionDraft::new(date, subject)
    };
    Ok(desk.operator().convene(session)?.id)
}

/// A session that expects all members but one.
pub(super) fn session(
    desk: &Desk,
    theme: &Theme,
    date: Day,
    deadline: Timestamp,
    days_ago: i64,
) -> Result<SessionDraft, Failure> {
    let expected = |(nth, author): (i64, &Author)| RosterEntry {
        member_id: author.id.clone(),
        excused: nth == excused(days_ago),
    };
    let buckets = || BUCKETS.into_iter().map(Bucket::parse).collect::<Result<_, _>>();
    Ok(SessionDraft {
        window_closes_at: Some(deadline),
        // One session misses its quorum: one of its twelve members is excused.
        quorum: Some(if days_ago == 6 { 12 } else { 7 }),
        buckets: has_buckets(theme).then(buckets).transpose()?,
        roster: Some(Roster::parse((0..).zip(&desk.members).map(expected).collect())?),
        question: question(theme, "a day from now", deadline.plus_millis(24 * 60 * 60_000))?,
        ..SessionDraft::new(date, SubjectId::parse(theme.id)?)
    })
}

/// Whether a subject is worth more at a moment, which `when` names.
pub(super) fn question(
    theme: &Theme,
    when: &str,
    resolves_at: Timestamp,
) -> Result<Question, Failure> {
    const RESOLUTION: &str =
        "By the closing price: 2 is a rise of a tenth or more, −2 a fall of a tenth or more.";
    Ok(Question {
        text: Some(QuestionText::parse(format!("Is {} worth more {when}?", theme.name))?),
        resolution: Some(Resolution::parse(RESOLUTION)?),
        resolves_at: Some(resolves_at),
    })
}

/// Whether sessions on this subject have buckets.
pub(super) fn has_buckets(theme: &Theme) -> bool {
    theme.id == "cygnus"
}

/// The member that is excused that day.
pub(super) fn excused(days_ago: i64) -> i64 {
    (days_ago * 5 + 11) % 12
}

pub(super) fn finish(
    desk: &Desk,
    session: SessionId,
    states: &[SessionState],
) -> Result<(), Failure> {
    for state in states {
        desk.operator().advance(session, StateChange { state: *state, end_window: false })?;
    }
    Ok(())
}

/// Adds a snapshot of the subject for that day.
pub(super) fn snapshot(
    desk: &Desk,
    theme: &Theme,
    days_ago: i64,
    date: Day,
) -> Result<(), Failure> {
    let turn =
        f64::from(i32::try_from(pseudo_random(days_ago, theme.drift)).unwrap_or_default()) / 100.0;
    let passed = f64::from(i32::try_from(DAYS - days_ago).unwrap_or_default());
    let trend = f64::from(i32::try_from(theme.drift).unwrap_or_default()) * 0.012 * passed;
    let total = (theme.value * (1.0 + trend + (turn - 0.5) * 0.09)).round();
    let position = |token: &str, chain: &str, pct: f64| Position {
        token: token.to_owned(),
        chain: Some(chain.to_owned()),
        value_usd: Some((total * pct / 100.0).round()),
        pct: Some(pct),
    };
    let snapshot = SubjectSnapshotDraft {
        date,
        total_value_usd: Some(total),
        positions: vec![
            position("stETH", "ethereum", 46.0),
            position("USDC", "ethereum", 31.5),
            position("GOV", "base", 22.5),
        ],
        notable: vec!["No position moved by more than a tenth.".to_owned()],
    };
    desk.operator().add_snapshot(&SubjectId::parse(theme.id)?, &snapshot)?;
    Ok(())
}
