//! The schedule of sessions over several days, with a manual clock.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Actor, Attribution, Closes, Declaration, MemberState, Method, QuestionText, Schedule,
    ScheduleEntry, ScheduledRoster, Seq, Session, SessionDraft, SessionPatch, SessionState,
    Subject, TimeZone, Weekdays,
};
use swarm_core::rules::{StepAct, StepBy};
use swarm_core::service::{ConvenedWindows, LogQuery, Overview, ScheduleRound, ScheduleStep};
use swarm_core::store::backend::{Backend, Operation, Query, Reading};
use swarm_core::store::{Interceptor, Result, SessionQuery, async_trait};
use swarm_core::{Refusal, Resource, SessionId, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::{ManualClock, applicant, creation, day, id, moment, object, race, subject};

use ScheduleStep::{Aggregated, Brief, Convened, Published};

const FIVE_HOURS: Closes = Closes::After(5 * 60 * 60 * 1_000);

#[tokio::test]
async fn session_of_a_day() {
    let desk = Desk::at("2026-11-23T13:59:59.999Z").await;
    let schedule = schedule([automatic(&["lending"])]);
    let before = desk.follow(&schedule).await;
    assert_eq!((before.steps.len(), before.round.next_in.unwrap().as_millis()), (0, 1));
    desk.set("2026-11-23T14:00:00Z");
    assert_eq!(desk.steps(&schedule).await, [(1, Convened), (1, Brief)]);
    assert_eq!(desk.steps(&schedule).await, []);
    let [session] = desk.sessions().await.try_into().unwrap();
    assert_eq!((session.date, session.state), (day("2026-11-23"), SessionState::Collecting));
    assert_eq!(session.window_closes_at, Some(moment("2026-11-23T19:00:00Z")));
    assert_eq!(session.quorum, Some(2));

    desk.set("2026-11-23T19:00:00.001Z");
    assert_eq!(desk.steps(&schedule).await, [], "before the window is closed");
    assert_eq!(desk.tenant().close_due_sessions().await.unwrap().done, 1);
    assert_eq!(desk.steps(&schedule).await, [(1, Aggregated), (1, Published)]);
    let did = desk.follow(&schedule).await;
    assert_eq!((did.steps, did.round.next_in.unwrap().as_secs()), (vec![], 19 * 60 * 60 - 1));

    let entries = desk.tenant().log(&LogQuery::all(Seq(0), 100)).await.unwrap().entries;
    let texts: Vec<_> = entries.iter().map(swarm_core::json::write).collect();
    let of_session = texts.iter().filter(|text| text.contains(r#""kind":"session""#));
    assert!(of_session.clone().all(|text| text.contains(r#""by":"schedule""#)), "{texts:?}");
    assert_eq!(of_session.count(), 5);
}

/// It has the day and the subject of a window, but is not the session of the window.
#[tokio::test]
async fn session_that_an_operator_convenes_is_left_to_operators() {
    let desk = Desk::at("2026-11-23T13:00:00Z").await;
    let schedule = schedule([automatic(&["lending"])]);
    let (day, closes) = (day("2026-11-23"), Some(moment("2026-11-23T13:30:00Z")));
    let draft = SessionDraft::new(day, subject("lending"));
    let draft = SessionDraft { window_closes_at: closes, ..draft };
    let by = Attribution::from(Actor::OPERATOR);
    desk.tenant().convene(&draft, &by).await.unwrap();
    desk.set("2026-11-23T14:00:00Z");
    desk.tenant().close_due_sessions().await.unwrap();
    assert_eq!(desk.steps(&schedule).await, [(2, Convened), (2, Brief)]);

    let status = desk.tenant().desk_status(&schedule).await.unwrap();
    let found = status.sessions.iter().map(|it| (it.id.0, it.next.unwrap()));
    let found: Vec<_> = found.map(|(id, next)| (id, next.act, next.by)).collect();
    let expected =
        [(1, StepAct::Aggregate, StepBy::Operator), (2, StepAct::Close, StepBy::Schedule)];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn status_has_the_soonest_deadlines_of_too_many_sessions() {
    let desk = Desk::at("2026-11-23T13:00:00Z").await;
    let (tenant, by) = (desk.tenant(), Attribution::from(Actor::OPERATOR));
    let convene = async |closes: &str| {
        let draft = SessionDraft::new(day("2026-11-23"), subject("lending"));
        let draft = SessionDraft { window_closes_at: Some(moment(closes)), ..draft };
        tenant.convene(&draft, &by).await.unwrap().id
    };
    let closed = async |closes: &str| {
        let closed = convene(closes).await;
        tenant.advance(closed, SessionState::WindowClosed, &by).await.unwrap();
        closed
    };
    let open = convene("2026-11-23T15:00:00Z").await;
    let waiting = closed("2026-11-23T12:00:00Z").await;
    for _ in 0..301 {
        convene("2026-11-23T16:00:00Z").await;
        closed("2026-11-23T12:30:00Z").await;
    }
    // Neither those that are open nor those that wait for an act hide the others.
    let status = tenant.desk_status(&Schedule::default()).await.unwrap();
    let shown: Vec<_> = status.sessions.iter().map(|session| session.id).collect();
    assert_eq!((shown.len(), shown[0]), (300, waiting));
    assert!(shown.contains(&open), "{shown:?}");
}

#[tokio::test]
async fn sessions_that_accept_takes_are_found_behind_many_that_do_not() {
    let desk = Desk::at("2026-11-23T13:00:00Z").await;
    let (tenant, by) = (desk.tenant(), Attribution::from(Actor::OPERATOR));
    let convene = async |date: &str, closes: &str| {
        let draft = SessionDraft::new(day(date), subject("lending"));
        let draft = SessionDraft { window_closes_at: Some(moment(closes)), ..draft };
        tenant.convene(&draft, &by).await.unwrap().id
    };
    let later = convene("2026-11-21", "2026-11-23T16:00:00Z").await;
    let hidden = convene("2026-11-22", "2026-11-23T14:00:00Z").await;
    let sooner = convene("2026-11-22", "2026-11-23T15:00:00Z").await;
    for _ in 0..501 {
        convene("2026-11-23", "2026-11-23T12:00:00Z").await;
    }
    let accepting = tenant.accepting_sessions(10).await.unwrap();
    assert_eq!(accepting.iter().map(|it| it.id).collect::<Vec<_>>(), [sooner, later]);
    let mut overview = Overview::default();
    let soonest = overview.open_sessions(&tenant, |_| true, 10).await.unwrap();
    assert_eq!(soonest.iter().map(|it| it.id).collect::<Vec<_>>(), [sooner, later]);
    let one = overview.open_sessions(&tenant, |_| true, 1).await.unwrap();
    assert_eq!(one[0].id, sooner, "{hidden} is hidden");
    // It follows the log.
    tenant.withdraw_session(sooner, &by).await.unwrap();
    let soonest = overview.open_sessions(&tenant, |_| true, 10).await.unwrap();
    assert_eq!(soonest.iter().map(|it| it.id).collect::<Vec<_>>(), [hidden, later]);
    tenant.advance(later, SessionState::Aggregated, &by).await.unwrap();
    let soonest = overview.open_sessions(&tenant, |_| true, 10).await.unwrap();
    assert_eq!(soonest.iter().map(|it| it.id).collect::<Vec<_>>(), [hidden]);
}

#[tokio::test]
async fn missed_session_is_convened_while_its_window_is_open() {
    let schedule = schedule([automatic(&["lending"])]);
    let late = Desk::at("2026-11-23T18:59:59Z").await;
    assert_eq!(late.steps(&schedule).await, [(1, Convened), (1, Brief)]);
    let window = late.sessions().await[0].window_closes_at;
    assert_eq!(window, Some(moment("2026-11-23T19:00:00Z")), "it counts from the opening");
    let too_late = Desk::at("2026-11-23T19:00:00.001Z").await;
    assert_eq!(too_late.steps(&schedule).await, []);
}

#[tokio::test]
async fn window_of_the_day_before_is_still_open() {
    let schedule = schedule([ScheduleEntry {
        opens: time("22:00"),
        closes: Closes::At(time("02:00")),
        ..automatic(&["lending"])
    }]);
    let desk = Desk::at("2026-11-24T01:00:00Z").await;
    assert_eq!(desk.steps(&schedule).await, [(1, Convened), (1, Brief)]);
    let session = &desk.sessions().await[0];
    assert_eq!(session.date, day("2026-11-23"));
    assert_eq!(session.window_closes_at, Some(moment("2026-11-24T02:00:00Z")));
}

#[tokio::test]
async fn times_and_days_are_of_the_time_zone() {
    // Summer time begins on 8 March and ends on 1 November.
    for (now, opens, closes) in [
        ("2026-03-07T23:00:00Z", "2026-03-07T23:00:00Z", "2026-03-08T02:00:00Z"),
        ("2026-03-09T00:00:00Z", "2026-03-08T22:00:00Z", "2026-03-09T01:00:00Z"),
        ("2026-10-31T23:59:59Z", "2026-10-31T22:00:00Z", "2026-11-01T01:00:00Z"),
        ("2026-11-02T02:00:00Z", "2026-11-01T23:00:00Z", "2026-11-02T02:00:00Z"),
    ] {
        let desk = Desk::at(now).await;
        let evening = ScheduleEntry {
            timezone: zone("America/New_York"),
            opens: time("18:00"),
            closes: Closes::At(time("21:00")),
            ..automatic(&["lending"])
        };
        assert_eq!(desk.steps(&schedule([evening])).await, [(1, Convened), (1, Brief)]);
        let session = &desk.sessions().await[0];
        assert_eq!(session.date.to_string(), opens[..10], "{now}");
        assert_eq!(session.window_closes_at, Some(moment(closes)));
    }
    // In Tokyo, Tuesday begins on Monday.
    let tuesdays = ScheduleEntry {
        timezone: zone("Asia/Tokyo"),
        days: Weekdays::parse(["tue"]).unwrap(),
        opens: time("08:00"),
        ..automatic(&["lending"])
    };
    let desk = Desk::at("2026-11-22T23:00:00Z").await;
    let schedule = schedule([tuesdays]);
    assert_eq!(desk.steps(&schedule).await, []);
    desk.set("2026-11-23T23:00:00Z");
    assert_eq!(desk.steps(&schedule).await, [(1, Convened), (1, Brief)]);
    assert_eq!(desk.sessions().await[0].date, day("2026-11-24"));
}

#[tokio::test]
async fn changes_of_the_clock_convene_one_session_a_day() {
    let opens = |time_of_day: &str| ScheduleEntry {
        timezone: zone("America/New_York"),
        opens: time(time_of_day),
        closes: Closes::After(60 * 60 * 1_000),
        ..automatic(&["lending"])
    };
    // 02:30 is left out: the first time after it is 03:00, in summer time.
    let desk = Desk::at("2026-03-08T06:59:59.999Z").await;
    assert_eq!(desk.steps(&schedule([opens("02:30")])).await, []);
    desk.set("2026-03-08T07:00:00Z");
    assert_eq!(desk.steps(&schedule([opens("02:30")])).await.len(), 2);
    assert_eq!(desk.sessions().await[0].window_closes_at, Some(moment("2026-03-08T08:00:00Z")));
    // 01:30 comes twice: it is the first.
    let desk = Desk::at("2026-11-01T05:30:00Z").await;
    assert_eq!(desk.steps(&schedule([opens("01:30")])).await.len(), 2);
    desk.set("2026-11-01T06:30:00.001Z");
    assert_eq!(desk.steps(&schedule([opens("01:30")])).await, []);
    assert_eq!(desk.sessions().await.len(), 1);
}

#[tokio::test]
async fn skipped_days_have_no_session_and_change_no_turn() {
    let subjects = ["lending", "stables", "perps"];
    let days = |skip: &[&str]| {
        let skip = skip.iter().map(|it| day(it)).collect();
        let schedule = schedule([ScheduleEntry { skip, ..automatic(&subjects) }]);
        async move {
            let desk = Desk::at("2026-12-23T15:00:00Z").await;
            for day in 23..=28 {
                desk.set(&format!("2026-12-{day}T15:00:00Z"));
                let _ = desk.follow(&schedule).await;
            }
            let sessions = desk.sessions().await;
            let named = sessions.iter().map(|it| (it.date, it.subject_id.clone()));
            named.collect::<std::collections::BTreeMap<_, _>>()
        }
    };
    let mut all = days(&[]).await;
    assert_eq!(all.len(), 6);
    let skipped = days(&["2026-12-25", "2026-12-26"]).await;
    all.retain(|date, _| ![day("2026-12-25"), day("2026-12-26")].contains(date));
    assert_eq!(skipped, all);
}

#[tokio::test]
async fn status_shows_three_runs_in_both_times_and_what_is_skipped() {
    let desk = Desk::at("2026-10-30T14:30:00Z").await;
    let berlin = |subject| ScheduleEntry {
        timezone: zone("Europe/Berlin"),
        days: Weekdays::parse(["fri", "mon"]).unwrap(),
        skip: [day("2026-11-02")].into(),
        opens: time("15:00"),
        ..automatic(&[subject])
    };
    let schedule = schedule([berlin("lending"), berlin("unknown")]);
    let _ = desk.follow(&schedule).await;
    let shown = || async {
        let rows = desk.tenant().schedule_status(&schedule).await.unwrap();
        let shown = rows.into_iter().map(|row| {
            let skipped = row.skipped.unwrap_or_default();
            format!("{} {} {} {skipped}", row.subject_id, row.at, row.local)
        });
        shown.collect::<Vec<_>>()
    };
    let open = "unknown 2026-10-30T14:00:00.000Z 2026-10-30T15:00:00+01:00 no such subject";
    let next = ["2026-11-06", "2026-11-09", "2026-11-13"];
    let runs = |subject: &str, why: &str| {
        let run = |day| format!("{subject} {day}T14:00:00.000Z {day}T15:00:00+01:00 {why}");
        next.map(run)
    };
    let mut expected: Vec<_> = runs("lending", "").into();
    expected.push(open.to_owned());
    expected.extend(runs("unknown", "no such subject"));
    assert_eq!(shown().await, expected);
    // Nothing is skipped any more, and the open window has its session.
    desk.put_subject("unknown").await;
    assert_eq!(desk.steps(&schedule).await.len(), 2);
    assert_eq!(shown().await, [runs("lending", ""), runs("unknown", "")].concat());
}

#[tokio::test]
async fn subjects_take_turns_over_the_days() {
    let days = Weekdays::parse(["mon", "wed"]).unwrap();
    let schedule =
        schedule([ScheduleEntry { days, ..automatic(&["lending", "stables", "perps"]) }]);
    let desk = Desk::at("2026-11-22T15:00:00Z").await;
    for day in 22..=30 {
        desk.set(&format!("2026-11-{day}T15:00:00Z"));
        let _ = desk.follow(&schedule).await;
    }
    let mut convened = desk.sessions().await;
    convened.reverse();
    let dates: Vec<_> = convened.iter().map(|session| session.date).collect();
    assert_eq!(dates, ["2026-11-23", "2026-11-25", "2026-11-30"].map(day));
    let mut subjects: Vec<_> = convened.iter().map(|session| session.subject_id.as_str()).collect();
    let turns = ["lending", "stables", "perps"].repeat(2);
    assert!(turns.windows(3).any(|turns| turns == subjects), "{subjects:?}");
    subjects.sort_unstable();
    assert_eq!(subjects, ["lending", "perps", "stables"]);
}

#[tokio::test]
async fn unknown_subject_is_skipped_until_it_exists() {
    let schedule = schedule([automatic(&["unknown"]), automatic(&["lending"])]);
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let did = desk.follow(&schedule).await;
    let name = "2026-11-23T14:00:00.000Z unknown".to_owned();
    assert_eq!(did.skipped, [(name, Refusal::NotFound(Resource::Subject))]);
    assert_eq!(did.steps, [(SessionId(1), Convened), (SessionId(1), Brief)]);
    desk.put_subject("unknown").await;
    assert_eq!(desk.steps(&schedule).await, [(2, Convened), (2, Brief)]);
}

#[tokio::test]
async fn roster_is_of_active_members_or_of_those_named() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    for (name, state) in [
        ("ada", MemberState::Claimed),
        ("bob", MemberState::Approved),
        ("eve", MemberState::Applied),
        ("grace", MemberState::Inactive),
    ] {
        let record = swarm_core::Member { state, ..applicant(name) };
        let store = desk.store.opened_again().open(&tenant());
        let _ = store.save_member(&creation(&record)).await.unwrap();
    }
    let of = |roster, name: &str| ScheduleEntry { roster: Some(roster), ..automatic(&[name]) };
    let named = |ids: &[&str]| ScheduledRoster::Members(ids.iter().map(|name| id(name)).collect());
    let schedule = schedule([
        of(ScheduledRoster::Active, "lending"),
        of(named(&["grace", "ada"]), "stables"),
        of(named(&["eve"]), "perps"),
    ]);
    let did = desk.follow(&schedule).await;
    assert!(matches!(&did.skipped[..], [(_, Refusal::InvalidRequest(_))]), "{did:?}");
    let rosters = desk.sessions().await.into_iter().map(|session| {
        let roster = session.roster.clone().unwrap();
        roster.entries().iter().map(|entry| entry.member_id.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(rosters.collect::<Vec<_>>(), [["ada", "grace"], ["ada", "bob"]]);
}

#[tokio::test]
async fn only_keys_that_name_an_entry_convene_again() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let [lending, stables] = [automatic(&["lending"]), automatic(&["stables"])];
    assert_eq!(desk.steps(&schedule([lending.clone(), stables.clone()])).await.len(), 4);
    let edited =
        ScheduleEntry { quorum: None, closes: Closes::After(7_200_000), ..lending.clone() };
    assert_eq!(desk.steps(&schedule([stables, edited])).await, []);
    let later = ScheduleEntry { opens: time("14:30"), ..lending };
    assert_eq!(desk.steps(&schedule([later])).await, [(3, Convened), (3, Brief)]);
}

#[tokio::test]
async fn brief_that_is_switched_on_later_is_published_while_the_window_is_open() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let lending = automatic(&["lending"]);
    let without = ScheduleEntry { brief: false, ..lending.clone() };
    assert_eq!(desk.steps(&schedule([without])).await, [(1, Convened)]);
    assert_eq!(desk.steps(&schedule([lending])).await, [(1, Brief)]);
}

#[tokio::test]
async fn windows_that_are_done_are_not_read_again() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let schedule = schedule(["lending", "stables", "perps"].map(|subject| automatic(&[subject])));
    let reads = Arc::new(CountReads::default());
    let server = || {
        let counted = desk.store.opened_again().intercepted(Arc::clone(&reads));
        let swarm = Swarm::new(counted, SystemEntropy);
        (swarm.tenant(&tenant()), ConvenedWindows::default())
    };
    let (one, mut known) = server();
    assert_eq!(one.run_schedule(&schedule, &mut known).await.unwrap().steps.len(), 6);
    reads.0.store(0, Ordering::Relaxed);
    assert_eq!(one.run_schedule(&schedule, &mut known).await.unwrap().steps, []);
    assert_eq!(reads.0.load(Ordering::Relaxed), 0);
    // One that was just started reads all claims at once, and each brief.
    let (other, mut known) = server();
    assert_eq!(other.run_schedule(&schedule, &mut known).await.unwrap().steps, []);
    assert_eq!(reads.0.load(Ordering::Relaxed), 4);
}

/// Counts the reads of documents.
#[derive(Default)]
struct CountReads(AtomicU64);

#[async_trait]
impl Interceptor for CountReads {
    async fn read(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        queries: Vec<Query>,
    ) -> Result<Reading> {
        let is_counted = ["document", "document page"].contains(&op);
        self.0.fetch_add(u64::from(is_counted), Ordering::Relaxed);
        next.read(tenant, op, queries).await
    }
}

#[tokio::test]
async fn withdrawn_session_is_not_convened_again() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let schedule = schedule([automatic(&["lending"])]);
    assert_eq!(desk.steps(&schedule).await.len(), 2);
    let by = &Attribution::from(Actor::OPERATOR);
    desk.tenant().withdraw_session(SessionId(1), by).await.unwrap();
    assert_eq!(desk.steps(&schedule).await, []);
    desk.set("2026-11-24T14:00:00Z");
    assert_eq!(desk.steps(&schedule).await, [(2, Convened), (2, Brief)]);
}

#[tokio::test]
async fn questions_and_practice_are_as_for_sessions_convened_by_hand() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let asked = ScheduleEntry {
        question: Some(QuestionText::parse("More or less exposed?").unwrap()),
        resolves_after: Some(7 * 24 * 60 * 60 * 1_000),
        ..automatic(&["lending"])
    };
    let declaration =
        Declaration { method: Some(Method::WeightedMedian), ..Declaration::default() };
    let asked = ScheduleEntry { declaration: declaration.clone(), ..asked };
    let practice = ScheduleEntry { practice: true, quorum: None, ..automatic(&["stables"]) };
    let schedule = schedule([asked, practice]);
    assert_eq!(desk.steps(&schedule).await.len(), 4);
    let [second, first] = desk.sessions().await.try_into().unwrap();
    assert_eq!(first.question.text.as_ref().unwrap().as_str(), "More or less exposed?");
    assert_eq!((&first.declaration, second.declaration.is_empty()), (&declaration, true));
    // A week after the deadline.
    assert_eq!(first.question.resolves_at, Some(moment("2026-11-30T19:00:00Z")));
    assert!(second.practice && second.question.is_empty());
    // Takes for a session that counts are not diverted.
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let by = &Attribution::from(Actor::OPERATOR);
    let draft = swarm_core::domain::SessionDraft::new(day("2026-11-23"), subject("stables"));
    desk.tenant().convene(&draft, by).await.unwrap();
    let did = desk.follow(&schedule).await;
    assert!(
        matches!(&did.skipped[..], [(_, Refusal::InvalidRequest(why))] if why.field == "practice")
    );
}

/// Also one that an operator voided: it is not published.
#[tokio::test]
async fn sessions_that_the_server_finishes_need_no_schedule() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let by = &Attribution::from(Actor::OPERATOR);
    let draft = |subject: &str| swarm_core::domain::SessionDraft {
        finish: true,
        window_closes_at: Some(moment("2026-11-23T19:00:00Z")),
        ..swarm_testing::session_draft(subject)
    };
    for subject in ["lending", "stables"] {
        desk.tenant().convene(&draft(subject), by).await.unwrap();
    }
    // Aggregated by hand, ahead of the deadline, and voided.
    let early = SessionId(2);
    desk.tenant().advance(early, SessionState::Aggregated, by).await.unwrap();
    let noted = Attribution { note: Some("too early".parse().unwrap()), ..by.clone() };
    desk.tenant().void_session(early, &noted).await.unwrap();
    let none = schedule([]);
    assert_eq!(desk.steps(&none).await, []);
    desk.set("2026-11-23T19:00:00.001Z");
    desk.tenant().close_due_sessions().await.unwrap();
    assert_eq!(desk.steps(&none).await, [(1, Aggregated), (1, Published)]);
    assert_eq!(desk.steps(&none).await, []);
    assert_eq!(desk.tenant().session(early).await.unwrap().0.state, SessionState::Aggregated);
}

#[tokio::test]
async fn operators_sessions_are_left_alone() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let schedule = schedule([automatic(&["lending"])]);
    assert_eq!(desk.steps(&schedule).await.len(), 2);
    let draft = swarm_core::domain::SessionDraft {
        date: day("2026-11-23"),
        window_closes_at: Some(moment("2026-11-23T16:00:00Z")),
        ..swarm_testing::session_draft("lending")
    };
    let by = &Attribution::from(Actor::OPERATOR);
    let own = desk.tenant().convene(&draft, by).await.unwrap().id;
    desk.set("2026-11-23T20:00:00Z");
    assert_eq!(desk.tenant().close_due_sessions().await.unwrap().done, 2);
    assert_eq!(desk.steps(&schedule).await, [(1, Aggregated), (1, Published)]);
    let state = desk.tenant().session(own).await.unwrap().0.state;
    assert_eq!(state, SessionState::WindowClosed);
}

/// The session is aggregated when no more takes may come, and what is switched off is left to operators.
#[tokio::test]
async fn operators_move_deadlines_and_states() {
    let desk = Desk::at("2026-11-23T15:00:00Z").await;
    let by = &Attribution::from(Actor::OPERATOR);
    let plain = ScheduleEntry { publish: false, brief: false, ..automatic(&["lending"]) };
    let schedule = schedule([plain]);
    assert_eq!(desk.steps(&schedule).await, [(1, Convened)]);
    let first = SessionId(1);
    desk.tenant().advance(first, SessionState::WindowClosed, by).await.unwrap();
    let waiting = desk.follow(&schedule).await;
    assert_eq!((waiting.steps.len(), waiting.round.next_in.unwrap().as_millis()), (0, 14_400_001));
    let later = SessionPatch {
        window_closes_at: Some(Some(moment("2026-11-23T21:00:00Z"))),
        ..SessionPatch::default()
    };
    desk.tenant().amend_session(first, &later, by).await.unwrap();
    desk.set("2026-11-23T20:00:00Z");
    assert_eq!(desk.steps(&schedule).await, []);
    desk.set("2026-11-23T21:00:00.001Z");
    desk.tenant().close_due_sessions().await.unwrap();
    assert_eq!(desk.steps(&schedule).await, [(1, Aggregated)]);
    assert_eq!(desk.steps(&schedule).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_servers_do_each_step_once() {
    for round in 0..20 {
        let desk = Desk::at("2026-11-23T14:00:00Z").await;
        let schedule = Arc::new(schedule([automatic(&["lending"]), automatic(&["stables"])]));
        let run = |_| {
            let (tenant, schedule) = (desk.tenant(), Arc::clone(&schedule));
            async move {
                let steps =
                    tenant.run_schedule(&schedule, &mut Default::default()).await.unwrap().steps;
                tenant.close_due_sessions().await.unwrap();
                steps
            }
        };
        let mut steps: Vec<_> = race((0..8).map(run)).await.into_iter().flatten().collect();
        desk.set("2026-11-23T20:00:00Z");
        for _ in 0..2 {
            steps.extend(race((0..8).map(run)).await.into_iter().flatten());
        }
        for step in [Convened, Brief, Aggregated, Published] {
            let mut of_step = steps.iter().filter(|(_, it)| *it == step).map(|(id, _)| id.0);
            let mut ids = [of_step.next(), of_step.next()];
            ids.sort_unstable();
            assert_eq!(
                (ids, of_step.next()),
                ([Some(1), Some(2)], None),
                "{step:?}, round {round}"
            );
        }
    }
}

/// A tenant with three subjects, and its clock.
struct Desk {
    clock: ManualClock,
    store: MemoryStore,
    known: Mutex<ConvenedWindows>,
}

impl Desk {
    async fn at(now: &str) -> Self {
        let clock = ManualClock::at(moment(now));
        let shown = clock.clone();
        let store = MemoryStore::with_clock(move || shown.now());
        let desk = Self { clock, store, known: Mutex::default() };
        for subject in ["lending", "stables", "perps"] {
            desk.put_subject(subject).await;
        }
        desk
    }

    fn set(&self, now: &str) {
        self.clock.set(moment(now));
    }

    fn tenant(&self) -> Tenant {
        Swarm::new(self.store.opened_again(), SystemEntropy).tenant(&tenant())
    }

    async fn put_subject(&self, id: &str) {
        let text = format!(r#"{{"id":"{id}","name":"{id}"}}"#);
        let subject = Subject::read(&mut object(&text)).unwrap();
        self.tenant().put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    }

    async fn follow(&self, schedule: &Schedule) -> ScheduleRound {
        let mut known = self.known.lock().unwrap().clone();
        let did = self.tenant().run_schedule(schedule, &mut known).await.unwrap();
        *self.known.lock().unwrap() = known;
        did
    }

    async fn steps(&self, schedule: &Schedule) -> Vec<(u64, ScheduleStep)> {
        let did = self.follow(schedule).await;
        assert_eq!(did.skipped, []);
        did.steps.into_iter().map(|(id, step)| (id.0, step)).collect()
    }

    /// All sessions, the newest first.
    async fn sessions(&self) -> Vec<Arc<Session>> {
        let all = SessionQuery { limit: 100, ..SessionQuery::default() };
        self.store.open(&tenant()).sessions(&all).await.unwrap()
    }
}

/// An entry from 14:00 on for five hours, with every step.
fn automatic(subjects: &[&str]) -> ScheduleEntry {
    ScheduleEntry {
        subjects: subjects.iter().map(|id| subject(id)).collect(),
        days: Weekdays::ALL,
        timezone: TimeZone::UTC,
        skip: BTreeSet::new(),
        opens: time("14:00"),
        closes: FIVE_HOURS,
        roster: None,
        quorum: Some(2),
        buckets: None,
        brief: true,
        aggregate: true,
        publish: true,
        blind: false,
        practice: false,
        question: None,
        resolution: None,
        resolves_after: None,
        declaration: Declaration::default(),
    }
}

fn schedule(entries: impl Into<Vec<ScheduleEntry>>) -> Schedule {
    Schedule::new(entries.into()).unwrap()
}

fn time(text: &str) -> swarm_core::domain::TimeOfDay {
    swarm_core::domain::TimeOfDay::parse("time", text).unwrap()
}

fn zone(name: &str) -> TimeZone {
    TimeZone::parse("timezone", name).unwrap()
}

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}
