//! The scores, records and rankings of `vectors/scores`, which a Python program computed.

use std::collections::BTreeMap;

use serde::Deserialize;
use swarm_core::domain::{Day, StanceScale, SubjectId};
use swarm_core::json::{Json, Object, write};
use swarm_core::rules::{Ranking, ScoreBook, ScoreFilter, scores};
use swarm_core::{Session, SessionId};
use swarm_testing::id;

use super::{quote, session};
use crate::vectors::files::{canonical_value, own};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionRow {
    id: u64,
    date: String,
    subject_id: String,
    value: f64,
    quotes: Vec<QuoteRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuoteRow {
    take_id: u64,
    member_id: String,
    stance: String,
    confidence: f64,
}

impl SessionRow {
    fn session(&self) -> Session {
        let quotes = self.quotes.iter();
        let quotes = quotes.map(|it| quote(it.take_id, &it.member_id, &it.stance, it.confidence));
        session(self.id, &self.date, &self.subject_id, quotes.collect())
    }
}

/// The sessions of the vectors, and the file itself.
fn desk() -> (Vec<SessionRow>, Object) {
    let text = own("scores/scores.json");
    let mut file = Json::read(text.as_bytes()).unwrap().into_object();
    let sessions = serde_json::from_str(&write(&file.take("sessions").unwrap())).unwrap();
    (sessions, file)
}

fn rows(file: &mut Object, name: &'static str) -> Vec<Object> {
    let Some(Json::List(rows)) = file.take(name) else { panic!("no {name}") };
    assert!(!rows.is_empty());
    rows.into_iter().map(Json::into_object).collect()
}

/// Compares the text that is written with a value of the file, whose numbers are written otherwise.
fn assert_written(written: &str, expected: &Json) {
    let written = canonical_value(&Json::read(written.as_bytes()).unwrap());
    assert_eq!(write(&written), write(&canonical_value(expected)));
}

fn book(sessions: &[SessionRow]) -> ScoreBook {
    let mut book = ScoreBook::default();
    // In an order that is not that of the sessions.
    for row in sessions.iter().rev() {
        book.put(&row.session(), Some(row.value));
    }
    book
}

fn filter(row: &mut Object) -> ScoreFilter {
    let subject = row.text_if_any("subject").unwrap();
    let since = row.has("since").then(|| row.text_if_any("since").unwrap()).flatten();
    ScoreFilter {
        subject: subject.map(|subject| SubjectId::parse(subject).unwrap()),
        since: since.map(|since| Day::parse(&since).unwrap()),
    }
}

#[test]
fn scores_of_sessions_equal_the_oracle() {
    let (sessions, mut file) = desk();
    for (row, expected) in sessions.iter().zip(rows(&mut file, "scores")) {
        let session = row.session();
        let scores = scores(
            session.id,
            StanceScale::of_service(),
            row.value,
            &session.snapshot.unwrap().quotes,
        );
        assert_written(&write(&scores), &Json::Object(expected));
    }
}

#[test]
fn records_of_members_equal_the_oracle() {
    let (sessions, mut file) = desk();
    let book = book(&sessions);
    for mut row in rows(&mut file, "records") {
        let filter = filter(&mut row);
        let mut expected = row.take("answer").unwrap().into_object();
        let member = expected.text("memberId").unwrap();
        assert_written(&write(&book.record(&id(&member), &filter)), &Json::Object(expected));
    }
}

#[test]
fn rankings_equal_the_oracle() {
    let (sessions, mut file) = desk();
    let book = book(&sessions);
    for mut row in rows(&mut file, "rankings") {
        let min = usize::try_from(row.whole_if_any("min").unwrap().unwrap()).unwrap();
        let ranking = book.ranking(&filter(&mut row), min);
        assert_written(&shown(&ranking), &row.take("answer").unwrap());
    }
}

/// The ranking as JSON, without the names of members.
fn shown(ranking: &Ranking) -> String {
    let member = |member: &swarm_core::rules::RankedMember| {
        let figures = serde_json::to_value(member.figures).unwrap();
        let mut row: BTreeMap<_, _> = figures.as_object().unwrap().clone().into_iter().collect();
        row.insert("memberId".to_owned(), member.member_id.as_str().into());
        row.extend(member.place.map(|place| ("place".to_owned(), place.into())));
        row
    };
    serde_json::json!({
        "min": ranking.min,
        "sessions": ranking.sessions(),
        "crowd": { "loss": ranking.crowd.loss },
        "neutral": { "loss": ranking.neutral.loss },
        "ranking": ranking.ranked.iter().map(member).collect::<Vec<_>>(),
        "unranked": ranking.unranked.iter().map(member).collect::<Vec<_>>(),
    })
    .to_string()
}

/// An outcome can be replaced, and a session left out again.
#[test]
fn replaced_outcome_counts_alone() {
    let (sessions, _) = desk();
    let all = book(&sessions);
    let mut changed = ScoreBook::default();
    for row in &sessions {
        changed.put(&row.session(), (row.id % 3 != 0).then_some(-row.value));
    }
    for row in &sessions {
        changed.put(&row.session(), Some(row.value));
    }
    let everything = ScoreFilter::default();
    assert_eq!(changed.ranking(&everything, 20), all.ranking(&everything, 20));
    for row in &sessions {
        changed.put(&row.session(), None);
    }
    let nothing = changed.ranking(&everything, 2);
    assert_eq!((nothing.sessions(), nothing.crowd.loss), (0, None));
    assert_eq!((nothing.ranked.len(), nothing.unranked.len()), (0, 0));
    assert_eq!(scores(SessionId(1), StanceScale::of_service(), 2.0, &[]).crowd, None);
}
