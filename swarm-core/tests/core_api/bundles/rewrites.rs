//! Logs that an operator rewrote, with a new tree and a new signature. Their entries contradict each other.

use std::sync::Arc;

use swarm_core::domain::{
    Bucket, Digest, LogEntry, LogLine, Method, OutcomeDraft, SessionAct, SessionEntry,
    SessionState, Snapshot, Take, TakeDraft,
};
use swarm_core::proof::take_entry;
use swarm_core::rules;
use swarm_testing::keys;
use swarm_testing::moment;

use crate::bundles::cases::Case;
use crate::bundles::desk::{Desk, by, member};
use crate::bundles::seals;

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, about, change: &dyn Fn(&mut Desk), finds: &[_]| {
        let mut desk = Desk::published();
        change(&mut desk);
        Case::new(name, about, &desk, finds)
    };
    let open = |name, about, change: &dyn Fn(&mut Desk), finds: &[_]| {
        let mut desk = Desk::with_roster();
        desk.file("ada", "bullish", 0.7, &[]);
        change(&mut desk);
        Case::new(name, about, &desk, finds)
    };
    let back = moment("2026-11-21T19:15:00Z");
    vec![
        open(
            "log-published-void",
            "a session is published after it was voided",
            &|desk| {
                desk.now = moment("2026-11-21T19:00:01Z");
                desk.aggregate();
                desk.void();
                desk.session.voided = None;
                desk.state(SessionState::Published);
            },
            &[("history", "\"state\" after it was voided")],
        ),
        open(
            "log-voided-early",
            "a session is voided before it is aggregated",
            &|desk| {
                desk.session.state = SessionState::Aggregated;
                desk.void();
                desk.session.state = SessionState::Collecting;
                acts(desk).last().unwrap().session.state = SessionState::Collecting;
            },
            &[("history", "voided, though it is collecting")],
        ),
        case(
            "log-deadline-earlier",
            "the deadline is moved back in each entry and in the record",
            &|desk| {
                desk.session.window_closes_at = Some(back);
                for act in acts(desk).filter(|act| act.act != SessionAct::Convened) {
                    let later = Some(moment("2026-11-21T20:00:00Z"));
                    if act.session.window_closes_at == later {
                        act.session.window_closes_at = Some(back);
                    }
                }
            },
            &[("deadline", "take 14 was filed")],
        ),
        case(
            "log-deadline-hidden",
            "a deadline is moved by an act that says nothing of it",
            &|desk| acts(desk).filter(|act| act.act == SessionAct::Deadline).for_each(hide),
            &[("history", "also changes \"windowClosesAt\"")],
        ),
        open(
            "log-deadline-before-take",
            "a deadline is moved before a take that is on file",
            &|desk| {
                let mut moved = desk.clone();
                moved.deadline(Some("2026-11-21T14:01:00Z"));
                *desk = moved;
            },
            &[("deadline", "moves the deadline to 2026-11-21T14:01:00.000Z, before take 11")],
        ),
        open(
            "log-question-late",
            "the question is changed once a take is on file",
            &|desk| desk.question("Lower?"),
            &[("history", "entry 5 changes the question, when 1 take was on file")],
        ),
        open(
            "log-outcome-early",
            "an outcome is recorded before the window is over, with the time when it is",
            &|desk| {
                desk.aggregate();
                desk.outcome_at(Some(1.0), moment("2026-11-21T19:00:01Z"));
            },
            &[
                ("outcome", "entry 6 records the outcome before its window was over"),
                ("outcome", "entry 6 records the outcome with a later time than its own"),
            ],
        ),
        case(
            "log-outcome-hidden",
            "the record has another outcome than the log",
            &|desk| {
                *desk = Desk::decided();
                desk.outcome(Some(1.0));
                let shown = desk.session.clone();
                desk.outcome(Some(-2.0));
                desk.session = shown;
            },
            &[("history", "the record differs from the last act, entry 12: outcome")],
        ),
        open(
            "log-late-take",
            "a take that was filed after the deadline",
            &|desk| {
                desk.now = moment("2026-11-21T19:00:00.001Z");
                desk.file("grace", "bearish", 1.0, &[]);
            },
            &[("deadline", "take 12 was filed 2026-11-21T19:00:00.001Z, after the deadline")],
        ),
        open(
            "log-back-dated-take",
            "a late take with an earlier time",
            &|desk| {
                desk.now = moment("2026-11-21T19:30:00Z");
                desk.brief();
                desk.now = moment("2026-11-21T18:59:00Z");
                desk.file("grace", "bearish", 1.0, &[]);
            },
            &[("time", "entry 6 is of 2026-11-21T18:59:00.000Z, before entry 5")],
        ),
        case(
            "log-late-amendment",
            "an amendment after aggregation",
            &|desk| {
                desk.now = moment("2026-11-21T19:59:00Z").max(desk.now);
                desk.file("ada", "bearish", 1.0, &[]);
            },
            &[("revision", "take 15 amends after entry 15")],
        ),
        open(
            "log-stranger",
            "a take of nobody on the roster",
            &|desk| desk.file("mallory", "bearish", 1.0, &[]),
            &[("roster", "take 12: \"mallory\" is not on the roster")],
        ),
        open(
            "log-excused-member",
            "a take of a member that was excused then",
            &|desk| {
                desk.excuse("grace", true);
                desk.file("grace", "bearish", 1.0, &[]);
                desk.excuse("grace", false);
            },
            &[("roster", "take 12: \"grace\" was excused by the roster of entry 5")],
        ),
        open(
            "log-excuse-of-another",
            "an excuse that names another member than the roster",
            &|desk| {
                desk.excuse("grace", true);
                for act in acts(desk) {
                    if let Some(excuse) = &mut act.excuse {
                        excuse.member_id = member("ada");
                    }
                }
            },
            &[("roster", "entry 5 excuses otherwise than the roster")],
        ),
        case(
            "log-take-left-out",
            "a take and its entry are left out of the bundle, of an author that did not amend",
            &|desk| leave_out(desk, 12),
            &[("takes", "3 takes precede entry 14 in the bundle, which aggregated the session with 4")],
        ),
        case(
            "log-snapshot-of-fewer",
            "a take is left out, and the snapshot is one of the others",
            &|desk| {
                leave_out(desk, 12);
                let (session, at) = (desk.session.clone(), snapshot(desk).figures.aggregated_at);
                seal(desk, rules::aggregate(&session, &desk.takes.clone(), at));
            },
            &[("takes", "3 takes precede entry 14")],
        ),
        open(
            "log-acts-left-out",
            "a deadline that was moved and moved back, and a quorum that was lowered and restored, by acts that are left out",
            &|desk| {
                let before = desk.lines.len();
                desk.deadline(Some("2026-11-21T22:00:00Z"));
                step(desk, SessionAct::Quorum, |desk| desk.session.quorum = Some(1));
                step(desk, SessionAct::Quorum, |desk| desk.session.quorum = Some(2));
                desk.deadline(Some("2026-11-21T19:00:00Z"));
                desk.lines.drain(before..).for_each(drop);
                desk.brief();
            },
            &[("version", "entry 5 is version 6, expected 2")],
        ),
        open(
            "log-last-act-left-out",
            "the last act is left out, and the record says that it was there",
            &|desk| {
                desk.quorum(Some(1));
                drop(desk.lines.pop());
            },
            &[("history", "the record differs from the last act, entry 3: quorum")],
        ),
        open(
            "log-judged-otherwise",
            "a take that was judged under a version that was not in force",
            &|desk| {
                desk.brief();
                let take = desk.take("grace", &keys("grace"), "bearish", 1.0);
                desk.put(Take { session_version: 1, ..take });
            },
            &[("version", "take 12 was judged under version 1, and 2 was in force")],
        ),
        case(
            "log-aggregated-twice",
            "a session that is aggregated again, with another result",
            &|desk| {
                step(desk, SessionAct::State, |desk| desk.session.state = SessionState::Aggregated);
            },
            &[("history", "moved from published to aggregated"), ("takes", "entry 17 does not say")],
        ),
        open(
            "log-nonce-twice",
            "two takes of a member with one nonce",
            &|desk| {
                let take = desk.take("ada", &keys("ada"), "bearish", 0.5);
                let nonce = desk.takes[0].draft().nonce.clone();
                let draft = TakeDraft { nonce, ..take.draft().clone() };
                desk.put(Take { signed: Arc::new(keys("ada").sign(draft)), ..take });
            },
            &[("nonce", "take 12: \"ada\" used the nonce \"nonce 0\"")],
        ),
        open(
            "log-revision-gap",
            "a revision is missing",
            &|desk| {
                desk.file("ada", "bearish", 0.5, &[]);
                desk.file("ada", "neutral", 0.5, &[]);
                drop(desk.takes.remove(1));
                drop(desk.lines.remove(4));
                renumber(desk);
            },
            &[("revision", "is revision 3, expected 2")],
        ),
        open(
            "log-forged-take",
            "a take that the server signed itself",
            &|desk| {
                let forged = desk.take("grace", &keys("operator"), "bearish", 1.0);
                desk.put(Take { public_key: swarm_testing::key("grace"), ..forged });
            },
            &[("signature", "take 12")],
        ),
        open(
            "log-other-subject",
            "a take that was signed for another subject",
            &|desk| {
                let take = desk.take("grace", &keys("grace"), "bearish", 1.0);
                let draft = TakeDraft {
                    subject_id: swarm_testing::subject("gold"),
                    ..take.draft().clone()
                };
                desk.put(Take { signed: Arc::new(keys("grace").sign(draft)), ..take });
            },
            &[("record", "take 12: is of another day or subject")],
        ),
        open(
            "log-take-hidden",
            "a take of which the store has no record any more",
            &|desk| {
                desk.file("grace", "bearish", 1.0, &[]);
                drop(desk.takes.remove(0));
            },
            &[("entry", "entry 4 records take 11, which is missing")],
        ),
        open(
            "log-take-unlogged",
            "a take that was put into the store past the log",
            &|desk| {
                desk.file("grace", "bearish", 1.0, &[]);
                drop(desk.lines.remove(4));
                renumber(desk);
            },
            &[("entry", "take 12 has no entry")],
        ),
        open(
            "log-take-replaced",
            "a take in the store that is not the one in the log",
            &|desk| {
                let other = desk.take("ada", &keys("ada"), "bearish", 0.1);
                let (first, filed) = (&desk.takes[0], desk.takes[0].filed_at);
                let other =
                    Take { id: first.id, revision: first.revision, filed_at: filed, ..other };
                desk.takes[0] = Arc::new(other);
            },
            &[("entry", "entry 4 has another digest than take 11")],
        ),
        open(
            "log-two-entries",
            "two entries for one take",
            &|desk| {
                let entry = LogEntry::Take(take_entry(&desk.takes[0]));
                desk.append(entry);
            },
            &[("entry", "entries 4 and 5 both record take 11")],
        ),
        case(
            "log-snapshot-without-a-take",
            "a snapshot that leaves out a take",
            &|desk| {
                let counted = desk.takes[..3].to_vec();
                let at = snapshot(desk).figures.aggregated_at;
                let session = desk.session.clone();
                seal(desk, rules::aggregate(&session, &counted, at));
            },
            &[("snapshot", "participation.members is 3")],
        ),
        case(
            "log-snapshot-rounded",
            "a snapshot whose last digit was changed",
            &|desk| {
                let mut other = snapshot(desk);
                let consensus = other.figures.consensus.as_mut().unwrap();
                consensus.score = consensus.score.next_up();
                seal(desk, other);
            },
            &[("snapshot", "consensus.score")],
        ),
        case(
            "log-snapshot-method",
            "a snapshot names a method that the session does not declare",
            &|desk| {
                let mut other = snapshot(desk);
                let consensus = other.figures.consensus.as_mut().unwrap();
                consensus.method = Some(Method::WeightedMedian);
                seal(desk, other);
            },
            &[("snapshot", "consensus.\"method\" is not there")],
        ),
        open(
            "log-buckets-twice",
            "a session is convened with a bucket twice",
            &|desk| {
                let buckets = vec![Bucket::parse("cash").unwrap(); 2];
                let digest = Some(Digest::of_json(&buckets));
                desk.session.buckets = Some(buckets);
                acts(desk).for_each(|act| act.session.buckets_digest = digest);
            },
            &[("buckets", "no list of different names")],
        ),
        case(
            "log-snapshot-missing",
            "an aggregation without a snapshot",
            &|desk| {
                desk.session.snapshot = None;
                acts(desk).for_each(|act| act.session.snapshot_digest = None);
            },
            &[
                ("history", "\"state\" does not set \"snapshotDigest\""),
                ("snapshot", "missing, though entry 14 aggregated it"),
            ],
        ),
        open(
            "log-snapshot-early",
            "a snapshot without an aggregation",
            &|desk| {
                let (session, now) = (desk.session.clone(), desk.now);
                seal(desk, rules::aggregate(&session, &desk.takes, now));
            },
            &[("snapshot", "the log has no aggregation")],
        ),
        open(
            "log-published-early",
            "published without a result",
            &|desk| {
                step(desk, SessionAct::State, |desk| desk.session.state = SessionState::Published)
            },
            &[("history", "moved from collecting to published")],
        ),
        case(
            "log-taken-back",
            "a published session that collects again",
            &|desk| {
                step(desk, SessionAct::State, |desk| desk.session.state = SessionState::Collecting)
            },
            &[("history", "moved from published to collecting")],
        ),
        case(
            "log-quorum-after-aggregation",
            "a quorum that was lowered once the result was known",
            &|desk| step(desk, SessionAct::Quorum, |desk| desk.session.quorum = Some(1)),
            &[("history", "also changes \"quorum\""), ("snapshot", "quorum.required")],
        ),
        open(
            "log-roster-twice",
            "a roster that was frozen again",
            &|desk| step(desk, SessionAct::Roster, |desk| desk.session.roster = None),
            &[("history", "also changes \"rosterDigest\"")],
        ),
        open(
            "log-convened-with-outcome",
            "a session that had an outcome before it began",
            &|desk| {
                let outcome = OutcomeDraft { value: None, source: None }.recorded(desk.now);
                desk.session.outcome = Some(outcome.clone());
                acts(desk).for_each(|act| act.session.outcome = Some(outcome.clone()));
            },
            &[("history", "entry 3: convened with \"outcome\"")],
        ),
        open(
            "log-convened-closed",
            "a session whose window was over when it was convened",
            &|desk| {
                desk.session.state = SessionState::WindowClosed;
                acts(desk).for_each(|act| act.session.state = SessionState::WindowClosed);
            },
            &[("history", "entry 3: convened as window_closed")],
        ),
        open(
            "log-convened-twice",
            "a session that was convened again",
            &|desk| step(desk, SessionAct::Convened, |_| {}),
            &[("history", "convened again")],
        ),
        case(
            "log-reordered",
            "two takes in another order in the log than by their ids",
            &|desk| {
                let (one, other) = (place(desk, 11), place(desk, 12));
                let (first, second) =
                    (desk.lines[one].entry.clone(), desk.lines[other].entry.clone());
                (desk.lines[one].entry, desk.lines[other].entry) = (second, first);
            },
            &[("entry", "another order in the log")],
        ),
        open(
            "log-time-zone",
            "a log whose clock ran back a day",
            &|desk| {
                desk.now = moment("2026-11-20T14:00:00Z");
                desk.brief();
            },
            &[("time", "entry 5 is of 2026-11-20")],
        ),
        restored(),
    ]
    .into_iter()
    .chain(seals::cases())
    .chain([withdrawn()])
    .collect()
}

/// A session that was withdrawn is not served.
fn withdrawn() -> Case {
    let mut desk = Desk::with_roster();
    step(&mut desk, SessionAct::Withdrawn, |_| {});
    let about = "a session that was withdrawn, and is served nevertheless";
    Case::new("log-withdrawn", about, &desk, &[("history", "withdrawn")])
}

/// A store that was restored from a backup goes on, and gives an id again: the bundle that was kept from before
/// does not fit the new checkpoint.
fn restored() -> Case {
    let mut before = Desk::with_roster();
    before.file("ada", "bullish", 0.7, &[]);
    let mut after = before.clone();
    before.file("grace", "bearish", 0.9, &[]);
    after.file("grace", "bullish", 0.9, &[]);
    after.brief();
    let checkpoint = |bundle: &str| bundle.rsplit_once("\"checkpoint\":").unwrap().1.to_owned();
    let (old, new) = (before.bundle(), after.bundle());
    let bundle = old.replace(&checkpoint(&old), &checkpoint(&new));
    let about = "a bundle of a store before a backup was restored, under the checkpoint after it";
    let finds = [("inclusion", "entry 5 is not in the tree")];
    Case { bundle, ..Case::new("log-restored", about, &after, &finds) }
}

pub(crate) fn acts(desk: &mut Desk) -> impl Iterator<Item = &mut SessionEntry> {
    desk.lines.iter_mut().filter_map(|line| match &mut line.entry {
        LogEntry::Session(act) => Some(&mut **act),
        _ => None,
    })
}

/// Leaves out a take and its entry. All other entries keep their places.
fn leave_out(desk: &mut Desk, take: u64) {
    let at = place(desk, take);
    desk.hidden.insert(desk.lines[at].seq.0);
    desk.takes.retain(|it| it.id.0 != take);
}

fn hide(act: &mut SessionEntry) {
    act.act = SessionAct::Brief;
}

/// Changes the session past the rules, and logs that as this act.
pub(crate) fn step(desk: &mut Desk, act: SessionAct, change: impl FnOnce(&mut Desk)) {
    change(desk);
    desk.session.version += 1;
    let (session, by) = (rules::logged(&desk.session), by("ada", None));
    let entry = SessionEntry::new(desk.session.version, act, &by, session);
    desk.append(LogEntry::Session(Box::new(entry)));
}

pub(crate) fn snapshot(desk: &Desk) -> Snapshot {
    Snapshot::clone(desk.session.snapshot.as_ref().unwrap())
}

/// Replaces the snapshot, and its digest in the log.
pub(crate) fn seal(desk: &mut Desk, snapshot: Snapshot) {
    let digest = Digest::of_json(&snapshot);
    for act in acts(desk).filter(|act| act.session.state >= SessionState::Aggregated) {
        act.session.snapshot_digest = Some(digest);
    }
    desk.session.snapshot = Some(Arc::new(snapshot));
}

pub(crate) fn renumber(desk: &mut Desk) {
    for (seq, line) in (1..).zip(&mut desk.lines) {
        let LogLine { at, entry, .. } = line.clone();
        *line = LogLine { seq: swarm_core::domain::Seq(seq), at, entry };
    }
}

fn place(desk: &Desk, take: u64) -> usize {
    let of = |line: &LogLine| matches!(&line.entry, LogEntry::Take(entry) if entry.id.0 == take);
    desk.lines.iter().position(of).unwrap()
}
