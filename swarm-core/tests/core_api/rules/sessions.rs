//! Changes of sessions (API.md, 7.3).

use std::collections::HashSet;
use std::sync::Arc;

use swarm_core::domain::{
    Attribution, LogEntry, Note, OutcomeDraft, OutcomeValue, Revision, Roster, RosterEntry,
    SessionDraft, SessionPatch, SessionState, Voided,
};
use swarm_core::rules::{
    Act, Aggregation, CautionCode, ChangedSession, Resource, SessionChange, SessionStep,
    SteppedSession, Steps, Versioned, advance, aggregate, amend, check_roster, close_if_due,
    convene, end_window, excuse, freeze_roster, is_due, record_outcome, void, withdraw,
};
use swarm_core::{Refusal, Session, SessionId, Take, TakeId, Timestamp};
use swarm_testing::{Author, claimed, id, moment, session_draft};

use super::{JUDGED, entry_text, now, operator, versioned};

use SessionState::{Aggregated, Collecting, Published, Scheduled, WindowClosed};

const STATES: [SessionState; 5] = [Scheduled, Collecting, WindowClosed, Aggregated, Published];

const BEFORE_AGGREGATION: [SessionState; 3] = [Scheduled, Collecting, WindowClosed];

/// A session with a deadline at noon.
fn in_state(state: SessionState) -> Session {
    let draft = SessionDraft { window_closes_at: Some(now()), ..session_draft("aurora") };
    Session { state, ..draft.convened(SessionId(7), Timestamp::EPOCH) }
}

fn listing(entries: &[(&str, bool)]) -> Roster {
    let entry =
        |(name, excused): &(&str, bool)| RosterEntry { member_id: id(name), excused: *excused };
    Roster::parse(entries.iter().map(entry).collect()).unwrap()
}

fn takes(session: &Session) -> Vec<Arc<Take>> {
    let take = |(number, name): (u64, &str)| {
        let author = Author::named(name);
        Arc::new(Take {
            salt: None,
            withheld: None,
            id: TakeId(number),
            session_id: session.id,
            session_version: 1,
            revision: Revision::FIRST,
            filed_at: now(),
            signed: Arc::new(author.keys.sign(author.draft(session, "nonce"))),
            public_key: author.key(),
        })
    };
    [(1, "ada"), (2, "grace")].into_iter().map(take).collect()
}

/// Asserts that the change writes this record at the judged version, as the second act on the session, with this act
/// and actor in the log.
fn is_change(change: &SessionChange, session: &Session, act: &str, by: &str) {
    let session = &Session { version: 2, ..session.clone() };
    assert_eq!((&change.session, change.expected), (session, JUDGED));
    let entry = entry_text(&change.acts[0]);
    let begins =
        format!(r#"{{"kind":"session","version":2,"act":"{act}","by":{by},"session":{{"id":7,"#);
    assert!(entry.starts_with(&begins), "{entry}");
    assert_eq!(change.acts[0].session(), Some(SessionId(7)));
}

const BY_OPERATOR: &str = r#""operator","note":"why""#;

const BY_SCHEDULE: &str = r#""schedule","note":null"#;

#[test]
fn session_is_convened_as_drafted() {
    let draft = session_draft("aurora");
    let convocation = convene(&draft, &operator());
    assert_eq!(convocation.draft, draft);
    let act = convocation.act.entry(7, now()).to_text();
    assert!(act.starts_with(
        r#"{"kind":"session","version":1,"act":"convened","by":"operator","note":"why""#
    ));
    assert_eq!(convocation.act.session(), None, "it has no id yet");
}

#[test]
fn session_moves_forward_and_may_reopen_its_window() {
    for from in STATES {
        for to in STATES {
            let allowed = match from {
                Scheduled => matches!(to, Collecting | WindowClosed | Aggregated),
                Collecting => matches!(to, WindowClosed | Aggregated),
                WindowClosed => matches!(to, Collecting | Aggregated),
                Aggregated => to == Published,
                Published => false,
            };
            let before = versioned(in_state(from));
            match moved(&before, to) {
                Ok(change) => {
                    assert!(allowed, "{from} to {to}");
                    assert_eq!(change.session.state, to);
                }
                Err(refusal) => {
                    assert!(!allowed, "{from} to {to}");
                    assert_eq!(refusal, Refusal::SessionIs(from));
                }
            }
        }
    }
}

fn moved(before: &Versioned<Session>, to: SessionState) -> Result<SessionChange, Refusal> {
    match to {
        Aggregated => aggregation().judge(Some(before), &[], now()),
        _ => advance(before, to, now(), &operator()),
    }
}

fn aggregation() -> Aggregation {
    Aggregation { session: in_state(Collecting).id, by: operator() }
}

#[test]
fn advance_changes_only_the_state() {
    for (from, to) in
        [(Scheduled, Collecting), (Collecting, WindowClosed), (WindowClosed, Collecting)]
    {
        let before = in_state(from);
        let change = advance(&versioned(before), to, now(), &operator()).unwrap();
        is_change(&change, &in_state(to), "state", BY_OPERATOR);
        assert_eq!((change.takes, change.none_filed_after), (None, None));
    }
}

#[test]
fn aggregation_writes_the_snapshot_of_all_takes() {
    let before = in_state(WindowClosed);
    let takes = takes(&before);
    let later = now().plus_millis(1);
    let change = aggregation().judge(Some(&versioned(before.clone())), &takes, later).unwrap();
    let snapshot = Some(Arc::new(aggregate(&before, &takes, later)));
    assert_eq!(snapshot.as_ref().unwrap().figures.participation.members, 2);
    is_change(&change, &Session { snapshot, ..in_state(Aggregated) }, "state", BY_OPERATOR);
    assert_eq!((change.takes, change.none_filed_after), (Some(2), None));
    assert!(entry_text(&change.acts[0]).ends_with(r#"},"takes":2}"#), "{:?}", change.acts);
}

/// Two acts in one commit are two versions, and an act is one however it is caused.
#[test]
fn acts_on_a_session_are_counted() {
    let blind = |state| Session { blind: true, ..in_state(state) };
    let versions = |change: &SessionChange| -> Vec<u64> {
        let version = |act: &Act| match &**act.known().unwrap() {
            LogEntry::Session(entry) => entry.version,
            _ => 0,
        };
        change.acts.iter().map(version).chain([change.session.version]).collect()
    };
    let opened = aggregation().judge(Some(&versioned(blind(Collecting))), &[], now()).unwrap();
    assert_eq!(versions(&opened), [2, 3, 3]);
    let after = now().plus_millis(1);
    assert_eq!(versions(&close_if_due(&versioned(blind(Collecting)), after).unwrap()), [2, 3, 3]);
    assert_eq!(versions(&close_if_due(&versioned(blind(WindowClosed)), after).unwrap()), [2, 2]);
    let withdrawn = withdraw(&versioned(in_state(Collecting)), &operator()).unwrap();
    assert_eq!(versions(&withdrawn), [2, 1], "the record is the last one");
}

#[test]
fn publication_sets_published_at() {
    let change = advance(&versioned(in_state(Aggregated)), Published, now(), &operator()).unwrap();
    let after = Session { published_at: Some(now()), ..in_state(Published) };
    is_change(&change, &after, "state", BY_OPERATOR);
    assert_eq!(change.takes, None);
}

#[test]
fn window_closes_after_the_deadline() {
    for state in STATES {
        for (moment, passed) in
            [(now().plus_millis(-1), false), (now(), false), (now().plus_millis(1), true)]
        {
            let session = in_state(state);
            let due = passed && state == Collecting;
            assert_eq!(is_due(&session, moment), due, "{state} {moment}");
            let change = close_if_due(&versioned(session), moment);
            assert_eq!(change.is_some(), due, "{state} {moment}");
            if let Some(change) = change {
                is_change(&change, &in_state(WindowClosed), "state", BY_SCHEDULE);
            }
        }
    }
    let endless = Session { window_closes_at: None, ..in_state(Collecting) };
    assert!(!is_due(&endless, now()));
}

fn amended(session: Session, patch: SessionPatch) -> Result<SessionChange, Refusal> {
    amend(&versioned(session), &patch, now(), &operator()).map(Option::unwrap)
}

#[test]
fn deadline_moves_in_every_state_but_not_before_a_take() {
    for state in STATES {
        let later = moment("2026-11-21T13:00:00Z");
        for (deadline, act) in
            [(Some(later), "deadline"), (None, "deadline"), (Some(now()), "quorum")]
        {
            let patch = SessionPatch {
                window_closes_at: Some(deadline),
                quorum: None,
                ..SessionPatch::default()
            };
            let change = amended(in_state(state), patch).unwrap();
            let opens = state == WindowClosed && act == "deadline";
            let state = if opens { Collecting } else { state };
            let after = Session { window_closes_at: deadline, ..in_state(state) };
            is_change(&change, &after, act, BY_OPERATOR);
            assert_eq!((change.none_filed_after, change.takes), (deadline, None));
        }
    }
}

#[test]
fn closed_window_stays_closed_where_its_deadline_does_not_move_ahead() {
    let earlier = now().plus_millis(-1);
    let past = SessionPatch {
        window_closes_at: Some(Some(earlier)),
        quorum: None,
        ..SessionPatch::default()
    };
    assert_eq!(amended(in_state(WindowClosed), past).unwrap().session.state, WindowClosed);
    let quorum =
        SessionPatch { window_closes_at: None, quorum: Some(Some(2)), ..SessionPatch::default() };
    let ahead = Some(now().plus_millis(1));
    let closed = Session { window_closes_at: ahead, ..in_state(WindowClosed) };
    assert_eq!(amended(closed, quorum).unwrap().session.state, WindowClosed);
}

#[test]
fn roster_lists_members_only() {
    let roster = |ids: &[&str]| {
        let entry = |id: &&str| RosterEntry { member_id: id.parse().unwrap(), excused: false };
        Roster::parse(ids.iter().map(entry).collect()).unwrap()
    };
    let members = [Arc::new(claimed("ada"))];
    assert_eq!(check_roster(&roster(&["ada"]), &members, "roster"), Ok(()));
    let refused = check_roster(&roster(&["ada", "eve"]), &members, "roster").unwrap_err();
    let Refusal::InvalidRequest(invalid) = refused else { panic!("{refused}") };
    assert_eq!(invalid.to_string(), "roster lists \"eve\", who is no member");
}

#[test]
fn quorum_changes_only_before_aggregation() {
    for state in STATES {
        for quorum in [Some(3), None] {
            let before = Session { quorum: Some(2), ..in_state(state) };
            let patch = SessionPatch {
                window_closes_at: None,
                quorum: Some(quorum),
                ..SessionPatch::default()
            };
            let change = amended(before.clone(), patch);
            if BEFORE_AGGREGATION.contains(&state) {
                let change = change.unwrap();
                is_change(&change, &Session { quorum, ..before }, "quorum", BY_OPERATOR);
                assert_eq!(change.none_filed_after, None);
            } else {
                assert_eq!(change.unwrap_err(), Refusal::AlreadyAggregated);
            }
        }
    }
}

#[test]
fn unchanged_session_is_saved_only_with_a_note() {
    let silent = Attribution { note: None, ..operator() };
    for state in STATES {
        let before = Session { quorum: Some(2), ..in_state(state) };
        let mut same = vec![
            SessionPatch::default(),
            SessionPatch {
                window_closes_at: Some(Some(now())),
                quorum: None,
                ..SessionPatch::default()
            },
        ];
        if BEFORE_AGGREGATION.contains(&state) {
            same.push(SessionPatch {
                window_closes_at: None,
                quorum: Some(Some(2)),
                ..SessionPatch::default()
            });
        }
        for patch in same {
            let session = versioned(before.clone());
            assert!(
                amend(&session, &patch, now(), &silent).unwrap().is_none(),
                "{state} {patch:?}"
            );
            is_change(&amended(before.clone(), patch).unwrap(), &before, "quorum", BY_OPERATOR);
        }
        let patch =
            SessionPatch { window_closes_at: Some(None), quorum: None, ..SessionPatch::default() };
        assert!(amend(&versioned(before), &patch, now(), &silent).unwrap().is_some());
    }
}

#[test]
fn moved_deadline_is_logged_as_deadline() {
    let patch = SessionPatch {
        window_closes_at: Some(None),
        quorum: Some(Some(1)),
        ..SessionPatch::default()
    };
    let change = amended(in_state(Collecting), patch).unwrap();
    let after = Session { window_closes_at: None, quorum: Some(1), ..in_state(Collecting) };
    is_change(&change, &after, "deadline", BY_OPERATOR);
}

#[test]
fn roster_is_frozen_once_and_before_aggregation() {
    let roster = listing(&[("ada", false), ("grace", true)]);
    let freeze = |session: &Versioned<Session>| freeze_roster(session, &roster, &operator());
    for state in STATES {
        let frozen = freeze(&versioned(in_state(state)));
        let listed = Session { roster: Some(roster.clone()), ..in_state(state) };
        let again = freeze(&versioned(listed.clone()));
        if BEFORE_AGGREGATION.contains(&state) {
            is_change(&frozen.unwrap(), &listed, "roster", BY_OPERATOR);
            assert_eq!(again.unwrap_err(), Refusal::RosterFrozen);
        } else {
            assert_eq!(frozen.unwrap_err(), Refusal::AlreadyAggregated);
            assert_eq!(again.unwrap_err(), Refusal::AlreadyAggregated);
        }
    }
}

#[test]
fn excuse_is_reversible_before_aggregation() {
    let with = |state, ada| Session {
        roster: Some(listing(&[("ada", ada), ("grace", true)])),
        ..in_state(state)
    };
    for state in STATES {
        for (before, after) in [(false, true), (true, false), (true, true)] {
            let change = excuse(&versioned(with(state, before)), &id("ada"), after, &operator());
            if !BEFORE_AGGREGATION.contains(&state) {
                assert_eq!(change.unwrap_err(), Refusal::AlreadyAggregated);
                continue;
            }
            let change = change.unwrap().unwrap();
            is_change(&change, &with(state, after), "excuse", BY_OPERATOR);
            let ends = format!(r#"}},"memberId":"ada","excused":{after}}}"#);
            assert!(entry_text(&change.acts[0]).ends_with(&ends), "{:?}", change.acts);
        }
    }
    let again =
        excuse(&versioned(with(Collecting, true)), &id("ada"), true, &Attribution::SCHEDULE);
    assert_eq!(again.map(|change| change.is_some()), Ok(false), "nothing changes, nobody says why");
    let excused = |session: Session| {
        excuse(&versioned(session), &id("linus"), true, &Attribution::SCHEDULE).unwrap_err()
    };
    assert_eq!(excused(in_state(Collecting)), Refusal::NoRoster);
    let not_listed = Refusal::NotFound(Resource::RosterMember);
    assert_eq!(excused(with(Collecting, false)), not_listed);
}

/// Every session that the console may show: in each state, with and without the marks that change what is admitted.
fn any_session() -> impl Iterator<Item = Session> {
    let flags = [false, true];
    STATES.into_iter().flat_map(move |state| {
        flags.into_iter().flat_map(move |practice| {
            flags.into_iter().flat_map(move |is_void| {
                [None, Some(-1), Some(1)].into_iter().map(move |closes| {
                    let note = Note::parse("Other prices.").unwrap();
                    let is_void = is_void && state >= Aggregated && !practice;
                    Session {
                        practice,
                        window_closes_at: closes.map(|closes| now().plus_millis(closes)),
                        voided: is_void.then(|| Voided { at: now(), note }),
                        ..in_state(state)
                    }
                })
            })
        })
    })
}

fn stepped(session: &Session, has_brief: bool, has_takes: bool) -> SteppedSession<'_> {
    SteppedSession { session, has_brief, has_takes, steps: Steps::default(), now: now() }
}

#[test]
fn admitted_steps_are_not_refused_and_others_are() {
    use SessionStep as Step;
    let by = operator();
    for session in any_session() {
        let facts = stepped(&session, false, false);
        let judged = versioned(session.clone());
        let patch = |change: fn(&mut SessionPatch)| {
            let mut patch = SessionPatch::default();
            change(&mut patch);
            amend(&judged, &patch, now(), &by).map(drop)
        };
        let outcome = OutcomeDraft { value: Some(OutcomeValue::parse(1.0).unwrap()), source: None };
        let aggregation = Aggregation { session: session.id, by: by.clone() };
        let steps = [
            (Step::Open, advance(&judged, Collecting, now(), &by).map(drop)),
            (Step::Close, end_window(&judged, None, now(), &by).map(drop)),
            (Step::Aggregate, aggregation.check(Some(&judged), false, now()).map(drop)),
            (Step::Publish, advance(&judged, Published, now(), &by).map(drop)),
            (Step::Outcome, record_outcome(&judged, &outcome, now(), &by).map(drop)),
            (Step::Deadline, patch(|patch| patch.window_closes_at = Some(None))),
            (Step::Quorum, patch(|patch| patch.quorum = Some(Some(1)))),
            (Step::Withdraw, withdraw(&judged, &by).map(drop)),
            (Step::Void, void(&judged, now(), &by).map(drop)),
            (Step::Roster, freeze_roster(&judged, &listing(&[("ada", false)]), &by).map(drop)),
        ];
        let admitted = facts.admitted();
        for (step, judged) in steps {
            let is_admitted = admitted.contains(&step)
                || step == Step::Open && admitted.contains(&Step::OpenAgain);
            assert_eq!(is_admitted, judged.is_ok(), "{step:?} of {session:?}: {judged:?}");
        }
        assert!(facts.due().is_none_or(|due| admitted.contains(&due)));
    }
}

#[test]
fn session_with_takes_keeps_its_brief_and_question() {
    let session = in_state(Collecting);
    let with = |has_takes| stepped(&session, true, has_takes);
    for step in [SessionStep::ReplaceBrief, SessionStep::Question, SessionStep::Withdraw] {
        assert!(with(false).admitted().contains(&step), "{step:?}");
        assert!(!with(true).admitted().contains(&step), "{step:?}");
    }
}

#[test]
fn opening_of_sealed_takes_is_cautioned_of() {
    let before = Session { blind: true, ..in_state(Collecting) };
    let closed = Session { state: WindowClosed, ..before.clone() };
    let opened = Session { opened_at: Some(now()), ..closed.clone() };
    let cautions = |after: &Session, authors: &[&str]| {
        let authors: HashSet<_> = authors.iter().copied().map(id).collect();
        let changed =
            ChangedSession { before: Some(&before), after, authors: &authors, now: now() };
        changed.cautions(ToString::to_string)
    };
    let found = cautions(&opened, &["ada", "bob"]);
    assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [CautionCode::OpensSealed]);
    assert_eq!(found[0].message, "the takes of 2 members are opened");
    assert_eq!(cautions(&opened, &[]), [], "nobody filed");
    assert_eq!(cautions(&closed, &["ada"]), [], "closed before its deadline");
    let ended = Session { window_closes_at: Some(now().plus_millis(-1)), ..closed };
    let found = cautions(&ended, &["ada"]);
    assert_eq!(found.last().map(|it| it.code), Some(CautionCode::OpensSealed), "ended");
    // The server closes it next.
    let past = Session { window_closes_at: Some(now().plus_millis(-1)), ..before.clone() };
    let found = cautions(&past, &["ada"]);
    assert_eq!(found.last().map(|it| it.code), Some(CautionCode::OpensSealed), "a past deadline");
}
