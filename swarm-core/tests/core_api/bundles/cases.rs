//! The cases: valid bundles, and bundles, logs and stores that were tampered with.

use swarm_core::domain::{LogEntry, Operation, SessionDraft, SessionState};
use swarm_core::proof::note::{KeyKind, NoteSigner};

use crate::bundles::desk::{Desk, by};
use crate::bundles::{declared, edits, rewrites, withheld};

/// A bundle, and what an audit finds.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What was done.
    pub(crate) about: &'static str,
    pub(crate) bundle: String,
    /// The verifier key of the log.
    pub(crate) key: String,
    /// The checks that fail, and what their findings name. Empty if the bundle is valid.
    pub(crate) finds: Vec<(&'static str, &'static str)>,
    /// The checks that find something notable, and what their findings name.
    pub(crate) notable: Vec<(&'static str, &'static str)>,
}

impl Case {
    /// A case made of a desk, whose current log is signed.
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        desk: &Desk,
        finds: &[(&'static str, &'static str)],
    ) -> Self {
        let key = desk.signer().verifier().to_string();
        Self { name, about, bundle: desk.bundle(), key, finds: finds.to_vec(), notable: Vec::new() }
    }

    pub(crate) fn file(&self) -> String {
        format!("{}.json", self.name)
    }
}

pub(crate) fn all() -> Vec<Case> {
    let tampered = edits::cases().into_iter().chain(rewrites::cases()).chain(declared::cases());
    let withheld = withheld::cases();
    let timestamped = timestamped();
    valid()
        .into_iter()
        .chain(notable())
        .chain(tampered)
        .chain(withheld)
        .chain(timestamped)
        .collect()
}

/// Bundles with a timestamp, of which the token is not looked at.
fn timestamped() -> Vec<Case> {
    let mut desk = Desk::published();
    desk.stamp(b"a token", 3);
    let case = |name, about, from: &str, to: &str, finds: &[_]| {
        let mut case = Case::new(name, about, &desk, finds);
        assert!(case.bundle.contains(from), "{name}");
        case.bundle = case.bundle.replacen(from, to, 1);
        case
    };
    let size = desk.lines.len() - 3;
    let token = "\"token\":\"YSB0b2tlbg==\"";
    let (checkpoint, proof) = ("\"timestamp\":{\"checkpoint\":\"desk", "\"proof\":[\"");
    let last = desk.bundle().rfind(proof).unwrap();
    let proof = desk.bundle()[last..].to_owned();
    vec![
        case("valid-timestamped", "an earlier checkpoint was timestamped", "", "", &[]),
        case(
            "timestamp-no-token",
            "the token is no base64",
            token,
            "\"token\":\"YSB0b2tlbg\"",
            &[("timestamp", "token must be base64 of a token")],
        ),
        case(
            "timestamp-other-origin",
            "the checkpoint that was timestamped is of another log",
            checkpoint,
            "\"timestamp\":{\"checkpoint\":\"another",
            &[("timestamp", "is not of the log of the bundle")],
        ),
        case(
            "timestamp-other-size",
            "the checkpoint that was timestamped has another size",
            &format!("/acme\\n{size}\\n"),
            &format!("/acme\\n{}\\n", size + 1),
            &[("timestamp", "is not of the log of the bundle")],
        ),
        case(
            "timestamp-without-proof",
            "the proof that the log continued is left out",
            &proof,
            "\"proof\":[]}}",
            &[("timestamp", "is not of the log of the bundle")],
        ),
    ]
}

/// Histories that the rules allow, in which the operator changed the terms of takes, or who counts.
fn notable() -> Vec<Case> {
    let case = |name, about, change: &dyn Fn(&mut Desk), notable: &[_]| {
        let mut desk = Desk::new(|draft| SessionDraft { quorum: Some(3), ..draft });
        desk.file("ada", "bullish", 0.7, &[]);
        desk.file("grace", "bearish", 0.9, &[]);
        change(&mut desk);
        Case { notable: notable.to_vec(), ..Case::new(name, about, &desk, &[]) }
    };
    let late = |desk: &mut Desk| {
        desk.now = swarm_testing::moment("2026-11-21T19:30:00Z");
        desk.file("lin", "bullish", 0.4, &[]);
        desk.now = swarm_testing::moment("2026-11-21T20:00:01Z");
        desk.aggregate();
    };
    vec![
        case(
            "notable-deadline-moved",
            "a deadline was moved for a member that was late",
            &|desk| {
                desk.deadline(Some("2026-11-21T20:00:00Z"));
                late(desk);
            },
            &[(
                "deadline",
                "by \"grace\", note \"an hour\": deadline 2026-11-21T19:00:00.000Z → 2026-11-21T20:00:00.000Z; \
                 1 take was filed after the one before, of which 1 counts",
            )],
        ),
        case(
            "notable-deadline-cleared",
            "a deadline was cleared",
            &|desk| desk.deadline(None),
            &[("deadline", "deadline 2026-11-21T19:00:00.000Z → none; 0 takes were filed after")],
        ),
        case(
            "notable-aggregated-early",
            "aggregated before the deadline, a take came after it",
            &|desk| {
                desk.aggregate();
                desk.file("lin", "bullish", 0.4, &[]);
            },
            &[(
                "deadline",
                "aggregated before the deadline 2026-11-21T19:00:00.000Z; 1 take was filed after",
            )],
        ),
        case(
            "notable-voided",
            "a published session was voided",
            &|desk| {
                desk.now = swarm_testing::moment("2026-11-21T19:00:01Z");
                desk.aggregate();
                desk.state(SessionState::Published);
                desk.void();
            },
            &[(
                "history",
                "by \"grace\", note \"the brief was of another day\": voided: its result counts for nothing",
            )],
        ),
        case(
            "notable-window-ended",
            "a window was ended before its deadline",
            &|desk| {
                desk.close();
                desk.now = swarm_testing::moment("2026-11-21T19:00:01Z");
                desk.aggregate();
            },
            &[("deadline", "by \"grace\": deadline 2026-11-21T19:00:00.000Z → 2026-11-21T1")],
        ),
        case(
            "notable-quorum-lowered",
            "a quorum was lowered once it was known who had filed",
            &|desk| desk.quorum(Some(2)),
            &[("quorum", "by \"lin\": quorum 3 → 2, when 2 members had filed")],
        ),
        case(
            "notable-roster-late",
            "a roster was set after takes, and leaves out an author",
            &|desk| {
                desk.roster(&["ada", "lin"]);
                desk.file("lin", "bullish", 0.4, &[]);
            },
            &[(
                "roster",
                "roster none → 2 members, when 2 takes were on file; takes of \"grace\" do not count",
            )],
        ),
        case(
            "notable-excused-after-filing",
            "a member was excused after its take, and another was expected again",
            &|desk| {
                *desk = Desk::with_roster();
                desk.file("ada", "bullish", 0.7, &[]);
                desk.file("grace", "bearish", 0.9, &[]);
                desk.excuse("grace", true);
                desk.excuse("ada", true);
                desk.excuse("ada", false);
                desk.now = swarm_testing::moment("2026-11-21T19:00:01Z");
                desk.aggregate();
            },
            &[
                (
                    "roster",
                    "\"grace\" expected → excused, when 2 takes were on file; its 1 take there would not count",
                ),
                (
                    "roster",
                    "\"ada\" excused → expected, when 2 takes were on file; its 1 take there would count",
                ),
            ],
        ),
        case(
            "notable-outcome-replaced",
            "an outcome was annulled, and recorded again",
            &|desk| {
                *desk = Desk::decided();
                desk.outcome(Some(1.0));
                desk.outcome(None);
                desk.outcome(Some(-0.5));
            },
            &[
                ("outcome", "by \"grace\": the outcome 1 → annulled"),
                ("outcome", "by \"grace\": the outcome annulled → -0.5"),
            ],
        ),
        case(
            "notable-two-keys",
            "a member filed with two keys",
            &|desk| desk.file_with("ada", "ada's next key", "bearish"),
            &[("keys", "\"ada\" filed take 11 with the key")],
        ),
    ]
}

fn valid() -> Vec<Case> {
    let holds = |name, about, desk: &Desk| Case::new(name, about, desk, &[]);
    let mut open = Desk::new(|draft| draft);
    open.file("ada", "neutral", 0.0, &[]);
    let mut quiet = Desk::with_roster();
    quiet.brief();
    quiet.file("ada", "bullish", 0.7, &[]);
    quiet.file("grace", "bearish", 0.9, &[]);
    quiet.now = swarm_testing::moment("2026-11-21T19:00:01Z");
    quiet.state(SessionState::WindowClosed);
    quiet.aggregate();
    quiet.state(SessionState::Published);
    let mut empty = Desk::with_roster();
    empty.deadline(None);
    let mut localhost = open.clone();
    localhost.origin = "localhost/swarm/log/default/2".to_owned();
    let mut rotated = open.clone();
    rotated.file_with("ada", "ada's next key", "bearish");
    let mut late = Desk::published();
    late.file("newcomer", "bearish", 1.0, &[]);
    late.session.roster = None;
    let mut after = Desk::new(|draft| draft);
    after.file("ada", "bullish", 0.9, &[]);
    after.aggregate();
    after.file("grace", "bearish", 0.9, &[]);
    let mut clock = Desk::new(|draft| draft);
    clock.file("ada", "bullish", 0.9, &[]);
    clock.now = clock.session.convened_at.plus_millis(-7_200_000);
    clock.append(LogEntry::Operation(Operation::ClockAccepted { by: by("ada", None).by }));
    clock.file("grace", "bearish", 0.3, &[]);
    let mut reopened = Desk::new(|draft| draft);
    reopened.now = swarm_testing::moment("2026-11-21T19:00:01Z");
    reopened.state(SessionState::WindowClosed);
    reopened.deadline(Some("2026-11-21T22:00:00Z"));
    reopened.file("ada", "bullish", 0.5, &[]);
    let mut closed = Desk::new(|draft| SessionDraft { blind: true, ..draft });
    closed.file("ada", "bullish", 0.5, &[]);
    closed.now = swarm_testing::moment("2026-11-21T19:00:01Z");
    closed.state(SessionState::WindowClosed);
    let mut erased = Desk::new(|draft| draft);
    erased.file("grace", "bearish", 0.4, &[]);
    erased.erase("grace");
    erased.aggregate();
    let mut decided = Desk::decided();
    decided.outcome(Some(1.0));
    let witness = NoteSigner::new("witness.example/w1", KeyKind::Cosigner, &[43; 32]).unwrap();
    let mut note = open.checkpoint();
    note.push(witness.sign(note.text(), 1_795_269_600));
    let mut cosigned = holds("valid-cosigned", "a witness has cosigned the checkpoint", &open);
    cosigned.bundle = open.bundle_under(note);
    let mut accepted =
        holds("valid-clock-accepted", "an operator accepted a clock that ran back", &clock);
    accepted.notable = vec![(
        "time",
        "entry 5 by \"ada\": the clock 2026-11-21T14:03:03.702Z → 2026-11-21T12:02:02.468Z; 1 take was filed after it",
    )];
    let mut key_alone = holds("valid-key-alone", "the key is named by its 32 bytes", &open);
    let mut unknown =
        holds("valid-unknown-fields", "records have fields that are not theirs", &open);
    let record = |id: &str| format!("{{\"id\":{id},");
    unknown.bundle = unknown
        .bundle
        .replacen(&record("7"), &(record("7") + "\"version\":\"nine\","), 1)
        .replacen(&record("11"), &(record("11") + "\"sessionVersion\":9,"), 1);
    key_alone.key = open.signer().verifier().public_key().to_string();
    vec![
        holds("valid-published", "a session from beginning to end", &Desk::published()),
        holds("valid-outcome", "a question, an outcome, and what each lost by it", &decided),
        holds("valid-open", "one take, no roster", &open),
        holds("valid-quiet", "a session of which nothing is notable", &quiet),
        holds("valid-empty", "no take, the deadline cleared", &empty),
        holds("valid-localhost", "a log without a public name, begun anew", &localhost),
        holds("valid-rotated-key", "a member filed with two keys", &rotated),
        holds("valid-take-after-aggregation", "on file, and not counted", &after),
        accepted,
        holds("valid-blind", "a blind session that was opened by its aggregation", &Desk::blind()),
        holds("valid-blind-closed", "a blind session that was opened after its deadline", &closed),
        holds("valid-reopened", "the deadline was moved after the window had closed", &reopened),
        holds("valid-erased-member", "a member was erased, its take stays", &erased),
        cosigned,
        unknown,
        key_alone,
    ]
}
