//! How far a session has come, in words: announced, open, closed, result, published. State and deadline are always
//! read together. Flags say what else is to be known: sealed, practice, no quorum, void.

use swarm_core::domain::{SessionState, SessionSummary};
use swarm_core::rules::{Stage, stage};

use super::markup::Markup;
use super::time_text::TimeFormatter;

/// The stage of a session now.
pub(super) fn stage_of(session: &SessionSummary, times: TimeFormatter) -> Stage {
    stage(session.state, session.window_closes_at, times.now)
}

/// The name of a state for people.
pub(super) fn state_word(state: SessionState) -> &'static str {
    Stage::of_state(state).word()
}

/// What is to be known about a session besides its stage.
pub(super) fn flags(session: &SessionSummary) -> Vec<&'static str> {
    let quorum = session.figures.as_ref().and_then(|figures| figures.quorum.as_ref());
    let flags = [
        (session.sealed, "sealed"),
        (session.practice, "practice"),
        (session.counts() && quorum.is_some_and(|quorum| !quorum.met), "no quorum"),
        (session.voided.is_some(), "void"),
    ];
    flags.into_iter().filter_map(|(holds, flag)| holds.then_some(flag)).collect()
}

/// The stage and the flags: `open, sealed`.
pub(super) fn flagged(session: &SessionSummary, times: TimeFormatter) -> String {
    let stage = stage_of(session, times).word();
    [stage].into_iter().chain(flags(session)).collect::<Vec<_>>().join(", ")
}

/// When the session closes or closed, and what that means at its stage.
pub(super) fn deadline(session: &SessionSummary, times: TimeFormatter) -> Markup {
    if let Some(voided) = &session.voided {
        return Markup(format!("void since {}: it counts for nothing", times.time(voided.at)));
    }
    let text = deadline_text(session, times);
    if session.practice { Markup(format!("for practice; {text}")) } else { text }
}

/// The deadline, of a session whose takes are sealed with that before it: for rows that have no stage.
pub(super) fn deadline_in_row(session: &SessionSummary, times: TimeFormatter) -> Markup {
    let text = deadline(session, times);
    if session.sealed { Markup(format!("sealed; {text}")) } else { text }
}

/// When the session closes or closed, without its flags: for pages that show those besides.
pub(super) fn deadline_text(session: &SessionSummary, times: TimeFormatter) -> Markup {
    let stage = stage_of(session, times);
    let closes = session.window_closes_at.map(|at| (times.time(at), times.left(at)));
    Markup(match (stage, closes) {
        (Stage::Scheduled, Some((time, Some(left)))) => {
            format!("closes {time}, in {left}; takes are accepted already")
        }
        (Stage::Scheduled, _) => "takes are accepted; no deadline yet".to_owned(),
        (Stage::Open, Some((time, Some(left)))) => format!("closes {time}, in {left}"),
        (Stage::Open, _) => "no deadline yet".to_owned(),
        (Stage::Closing, Some((time, _))) => {
            format!("collection ended; late takes are accepted until {time}")
        }
        (Stage::Closing, None) => "collection ended; late takes are still accepted".to_owned(),
        (Stage::AwaitingResult, Some((time, _))) => format!("closed {time}, no result yet"),
        (Stage::AwaitingResult, None) => "no result yet".to_owned(),
        (Stage::Aggregated | Stage::Published, closes) => result(session, closes, times),
    })
}

/// `closed …, published …`. A deadline that lies behind the snapshot says nothing about the result.
fn result(
    session: &SessionSummary,
    closes: Option<(Markup, Option<String>)>,
    times: TimeFormatter,
) -> String {
    let aggregated = session.figures.as_ref().map(|figures| figures.aggregated_at);
    let early = match (session.window_closes_at, aggregated) {
        (Some(deadline), Some(aggregated)) => deadline > aggregated,
        _ => false,
    };
    let begin = match (closes, aggregated) {
        (Some((time, _)), _) if !early => format!("closed {time}, "),
        (Some((deadline, left)), Some(aggregated)) => {
            let time = times.time(aggregated);
            let later = match left {
                Some(_) => format!("; takes filed until {deadline} do not count"),
                None => String::new(),
            };
            format!("result of {time}, before its deadline{later}, ")
        }
        _ => String::new(),
    };
    match session.published_at {
        Some(published) => format!("{begin}published {}", times.time(published)),
        None => format!("{begin}not published yet"),
    }
}

/// The stage and the flags, of a session that is open with the time left: `open, sealed, 3 h left`.
pub(super) fn brief(session: &SessionSummary, times: TimeFormatter) -> String {
    let text = flagged(session, times);
    let left = session.window_closes_at.and_then(|deadline| times.left(deadline));
    let is_open = stage_of(session, times) == Stage::Open && session.voided.is_none();
    match left.filter(|_| is_open) {
        Some(left) => format!("{text}, {left}\u{a0}left"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::{Note, SessionDraft, SessionState, Voided};
    use swarm_core::json::Json;
    use swarm_core::{SessionId, Timestamp};

    use super::*;

    fn session(state: SessionState, closes: Option<&str>) -> SessionSummary {
        let fields = br#"{"date":"2026-11-21","subjectId":"aurora"}"#;
        let mut fields = Json::read(fields).unwrap().into_object();
        let session = SessionDraft::read(&mut fields).unwrap();
        let session = session.convened(SessionId(1), Timestamp::EPOCH);
        let closes = closes.map(|time| Timestamp::parse("t", time).unwrap());
        SessionSummary { state, window_closes_at: closes, ..session.summary() }
    }

    #[test]
    fn texts_follow_from_state_and_deadline() {
        use SessionState::{Collecting, Published, Scheduled, WindowClosed};
        let times = TimeFormatter { now: Timestamp::parse("t", "2026-11-21T12:00:00Z").unwrap() };
        let (ahead, passed) = (Some("2026-11-21T15:00:00Z"), Some("2026-11-21T09:00:00Z"));
        for (state, closes, short, long) in [
            (Collecting, ahead, "open, 3\u{a0}h\u{a0}left", "closes"),
            (Collecting, passed, "closed", "no result yet"),
            (Collecting, None, "open", "no deadline yet"),
            (Scheduled, ahead, "announced", "takes are accepted already"),
            (WindowClosed, ahead, "closed", "late takes are accepted until"),
            (WindowClosed, passed, "closed", "closed"),
            (Published, None, "published", "not published yet"),
        ] {
            let session = session(state, closes);
            assert_eq!(brief(&session, times), short, "{state} {closes:?}");
            let Markup(text) = deadline(&session, times);
            assert!(text.contains(long), "{state} {closes:?}: {text}");
        }
        let practice = SessionSummary { practice: true, ..session(Collecting, ahead) };
        assert_eq!(brief(&practice, times), "open, practice, 3\u{a0}h\u{a0}left");
        assert!(deadline(&practice, times).0.starts_with("for practice; closes"));
        let voided = Voided { at: times.now, note: Note::parse("Wrong brief.").unwrap() };
        let void = SessionSummary { voided: Some(voided), ..session(Published, passed) };
        assert_eq!(brief(&void, times), "published, void");
        let sealed = SessionSummary { sealed: true, ..session(Collecting, ahead) };
        assert_eq!(brief(&sealed, times), "open, sealed, 3\u{a0}h\u{a0}left");
        assert!(deadline_in_row(&sealed, times).0.starts_with("sealed; closes"));
        assert!(!deadline_in_row(&session(Collecting, ahead), times).0.contains("sealed"));
        assert!(deadline(&void, times).0.contains("counts for nothing"));
        assert!(deadline_text(&void, times).0.starts_with("closed <time"));
    }
}
