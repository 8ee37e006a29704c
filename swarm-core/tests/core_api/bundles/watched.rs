//! Logs that are watched: honest ones, and those of an operator who has the signing key.
#![allow(clippy::panic, reason = "a test panics")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use swarm_core::audit::{KeySource, LogKey, Remark, Watch, WatchFault, WatchState, is_fork};
use swarm_core::domain::{
    KeyReplacement, LogEntry, MemberAct, MemberEntry, MemberStatus, Operation, SessionState,
    Timestamp,
};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{KeyKind, NoteSigner};
use swarm_core::proof::tree::{self, Node, TreeHash};
use swarm_testing::{id, key, moment};

use crate::bundles::desk::{Desk, MEMBERS, by};

/// A log: its exact entries, which need not be those of any server.
#[derive(Clone)]
struct Log {
    origin: String,
    texts: Vec<String>,
}

impl Log {
    fn of(desk: &Desk) -> Self {
        let texts = desk.lines.iter().map(|line| line.text()).collect();
        Self { origin: desk.origin.clone(), texts }
    }

    fn first(&self, size: usize) -> Self {
        Self { texts: self.texts[..size].to_vec(), ..self.clone() }
    }

    fn signer(&self) -> NoteSigner {
        NoteSigner::new(&self.origin, KeyKind::Ed25519, &[42; 32]).unwrap()
    }

    fn key(&self) -> LogKey {
        LogKey::parse(&self.signer().verifier().to_string(), KeySource::Given).unwrap()
    }

    fn hash(&self, Node { level, index }: Node) -> TreeHash {
        let (first, count) = ((index << level) as usize, 1 << level);
        let leaves = self.texts.iter().skip(first).take(count);
        let leaves = leaves.map(|text| TreeHash::leaf(text.as_bytes()));
        TreeHash::complete(&leaves.collect::<Vec<_>>())
    }

    fn note(&self) -> String {
        let size = self.texts.len() as u64;
        let root = tree::root(size, |node| Ok::<_, ()>(self.hash(node))).unwrap();
        Checkpoint { origin: self.origin.clone(), size, root }.sign(&self.signer()).to_string()
    }
}

/// A look at a log whose server serves these tiles and entries.
fn look_at(
    seen: &WatchState,
    log: &Log,
    served: &Log,
    now: &str,
) -> Result<(WatchState, Vec<Remark>), WatchFault> {
    let read = |node| Ok::<_, ()>(served.hash(node));
    let mut watch = Watch::begin(seen, &log.note(), &log.key(), moment(now), read).unwrap()?;
    while let Some(index) = watch.next() {
        watch.read(served.texts.get(index as usize).map_or("{}", |text| text));
    }
    let (state, remarks) = watch.end()?;
    // What is kept goes through its text.
    let state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    Ok((state, remarks))
}

/// A clock that is so far behind that no entry is dated before a look.
const BEHIND: &str = "2026-11-20T00:00:00Z";

/// A look at the time of the last entry.
fn look(seen: &WatchState, log: &Log) -> Result<(WatchState, Vec<Remark>), WatchFault> {
    let last: Option<Value> = log.texts.last().map(|text| serde_json::from_str(text).unwrap());
    let now = last.as_ref().and_then(|last| last["at"].as_str());
    look_at(seen, log, log, now.unwrap_or(BEHIND))
}

/// The faults of a log that is read from its beginning; none if it is in order.
fn faults(log: &Log) -> Vec<String> {
    match look(&WatchState::default(), log) {
        Ok(_) => Vec::new(),
        Err(WatchFault::Broken(faults)) => faults,
        Err(other) => vec![format!("{other:?}")],
    }
}

#[track_caller]
fn assert_fault(log: &Log, words: &str) {
    let faults = faults(log);
    assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:#?}");
}

fn notable(remarks: &[Remark]) -> Vec<&str> {
    remarks.iter().filter(|remark| remark.is_notable).map(|remark| &*remark.text).collect()
}

/// The entry of a member that claims its token.
fn register(desk: &mut Desk, name: &str) {
    let (after, key) = ((id(name), MemberStatus::Active), Some(key(name)));
    desk.append(LogEntry::Member(MemberEntry::new(MemberAct::Claimed, None, after, key)));
}

/// A desk whose members are registered, with a session that has a roster.
fn desk() -> Desk {
    let mut desk = Desk::with_roster();
    MEMBERS.iter().for_each(|name| register(&mut desk, name));
    desk
}

/// A session from beginning to end.
fn published() -> Desk {
    let mut desk = desk();
    desk.excuse("ada", true);
    desk.excuse("ada", false);
    desk.file("ada", "bullish", 0.7, &[]);
    desk.other("regime");
    desk.file("grace", "cautious", 0.25, &[]);
    desk.file("ada", "constructive", 0.8, &[]);
    desk.brief();
    desk.now = moment("2026-11-21T19:00:01Z");
    desk.state(SessionState::WindowClosed);
    desk.aggregate();
    desk.state(SessionState::Published);
    desk.other("signal");
    desk
}

fn blind() -> Desk {
    let mut desk = Desk::new(|draft| swarm_core::domain::SessionDraft { blind: true, ..draft });
    MEMBERS.iter().for_each(|name| register(&mut desk, name));
    desk.file("ada", "bullish", 0.7, &[]);
    desk.other("regime");
    desk.file("grace", "cautious", 0.25, &[]);
    desk.file("ada", "constructive", 0.8, &[]);
    desk.now = moment("2026-11-21T19:00:01Z");
    desk.state(SessionState::WindowClosed);
    desk.aggregate();
    desk.state(SessionState::Published);
    desk
}

#[test]
fn honest_logs_continue_and_nothing_is_notable() {
    for whole in [published(), blind()] {
        let whole = Log::of(&whole);
        let (mut seen, mut acts) = (WatchState::default(), Vec::new());
        for size in (0..=whole.texts.len()).chain([whole.texts.len()]) {
            let (next, remarks) = look(&seen, &whole.first(size)).unwrap();
            seen = next;
            acts.extend(remarks);
        }
        assert_eq!(notable(&acts), [""; 0]);
        let said = acts.iter().map(|act| &*act.text).collect::<Vec<_>>().join("\n");
        let convened = "session 7: convened, by \"ada\", note \"as every day\"";
        for act in [convened, "session 7: state published, by \"schedule\""] {
            assert!(said.contains(act), "{act} in {said}");
        }
        let (_, again) = look(&WatchState::default(), &whole).unwrap();
        assert_eq!(again, acts, "in one look");
        let (_, rewound) = look(&seen.rewound(), &whole).unwrap();
        assert_eq!(rewound, [], "read again, and shown before");
    }
}

#[test]
fn acts_that_change_what_counts_are_notable() {
    let mut desk = desk();
    desk.deadline(Some("2026-11-21T20:00:00Z"));
    desk.file("ada", "bullish", 0.7, &[]);
    desk.file("grace", "bearish", 0.3, &[]);
    desk.excuse("grace", true);
    for (act, member, status, holder) in [
        (MemberAct::Deactivated, "grace", MemberStatus::Inactive, "grace"),
        (MemberAct::KeyRotated, "ada", MemberStatus::Active, "eve"),
    ] {
        let (by, after) = (Some(by("eve", None).by), (id(member), status));
        desk.append(LogEntry::Member(MemberEntry::new(act, by, after, Some(key(holder)))));
    }
    desk.file_with("ada", "eve", "bearish");
    desk.aggregate();
    desk.void();
    desk.append(LogEntry::Operation(Operation::ClockAccepted { by: by("ada", None).by }));
    let mut log = Log::of(&desk);
    // Another session of the day.
    let (_, again) = log.texts[2].split_once(r#","kind""#).unwrap();
    let (again, at) = (again.replace(r#""id":7"#, r#""id":8"#), desk.now);
    let again = format!("{{\"at\":\"{at}\",\"kind\"{again}");
    let convened_at = desk.session.convened_at.to_string();
    let again = again.replace(&convened_at, &at.to_string());
    log.push(&again);
    let (_, remarks) = look(&WatchState::default(), &log).unwrap();
    let notable = notable(&remarks);
    let old = key("ada").to_string();
    let (old, new) = (old, key("eve").to_string());
    let replaced =
        format!("operator \"eve\" replaced the key of \"ada\" from \"{old}\" to \"{new}\"");
    for (line, text) in notable.iter().zip([
        "deadline moved from 2026-11-21T19:00:00.000Z to 2026-11-21T20:00:00.000Z, 0 takes on file, by \"grace\", note \"an hour\"",
        "\"grace\" excused, whose take counts no more, 2 takes on file, by \"ada\"",
        "while open: session 7, in which the member had filed 1",
        &replaced,
        "state aggregated, before its deadline 2026-11-21T20:00:00.000Z, 3 takes on file",
        "session 7: voided, 3 takes on file, by \"grace\", note \"the brief was of another day\"",
        "an operator accepted: {\"kind\":\"operation\",\"act\":\"clock-accepted\",\"by\":\"ada\"}",
        "session 8: convened, another session of its day and subject, after session 7, 3 takes on file",
    ]) {
        assert!(line.contains(text), "{line}: {text}");
    }
    assert_eq!(notable.len(), 8, "{notable:#?}");
}

impl Log {
    /// Appends an entry, which is given without its number.
    fn push(&mut self, entry: &str) {
        let seq = self.texts.len() + 1;
        self.texts.push(format!("{{\"seq\":{seq},{}", entry.strip_prefix('{').unwrap()));
    }

    /// Appends an entry, dated after those before it.
    fn forge(&mut self, entry: Value) -> &mut Self {
        let at = Timestamp::parse("at", "2026-11-21T14:30:00Z").unwrap();
        let at = at.plus_millis(self.texts.len() as i64 * 1_000).to_string();
        self.forge_at(&at, entry)
    }

    fn forge_at(&mut self, at: &str, mut entry: Value) -> &mut Self {
        if entry["act"] == "convened" {
            entry["session"]["convenedAt"] = at.into();
        }
        let entry = entry.to_string();
        self.push(&format!("{{\"at\":\"{at}\",{}", entry.strip_prefix('{').unwrap()));
        self
    }
}

/// An operator's act on session 1.
fn act(version: u64, act: &str, change: &Value) -> Value {
    let mut session = json!({
        "id": 1, "date": "2026-11-21", "subjectId": "aurora", "state": "collecting",
        "windowClosesAt": "2026-11-21T15:00:00.000Z", "convenedAt": "2026-11-21T14:30:01.000Z",
        "quorum": null, "bucketsDigest": null, "rosterDigest": null, "snapshotDigest": null,
    });
    for (name, value) in change.as_object().unwrap() {
        session[name] = value.clone();
    }
    json!({ "kind": "session", "version": version, "act": act, "by": "eve", "note": null, "session": session })
}

fn with(mut entry: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

fn member(act: &str, key: &str) -> Value {
    json!({ "kind": "member", "act": act, "by": null, "id": "ada", "status": "active", "publicKey": key })
}

fn take(id: u64, version: u64) -> Value {
    json!({
        "kind": "take", "id": id, "sessionId": 1, "sessionVersion": version, "memberId": "ada", "revision": id,
        "digest": "sha256:00", "signature": "c2ln", "publicKey": "the key",
    })
}

/// A log with a member, a session that closes at 15:00, and a take.
fn begun() -> Log {
    let mut log = Log { origin: "desk.example/swarm/log/acme".to_owned(), texts: Vec::new() };
    log.forge(member("claimed", "the key")).forge(act(1, "convened", &json!({})));
    log.forge(take(1, 1));
    assert_eq!(faults(&log), [""; 0]);
    log
}

fn aggregated(version: u64, takes: u64, digest: &str) -> Value {
    let change = json!({ "state": "aggregated", "snapshotDigest": digest });
    with(act(version, "state", &change), &json!({ "takes": takes }))
}

#[test]
fn key_that_a_member_replaces_must_be_endorsed_by_the_one_before() {
    let (old, new) = (swarm_testing::keys("ada"), swarm_testing::keys("new"));
    let replacement = KeyReplacement {
        member_id: id("ada"),
        public_key: new.public_key().to_string(),
        replaces: old.public_key().to_string(),
    };
    let replaced = |endorsement: &str, replaces: &str| {
        let mut log = Log { texts: Vec::new(), ..begun() };
        log.forge(member("claimed", &old.public_key().to_string()));
        let fields = json!({ "by": "member", "replaces": replaces, "endorsement": endorsement });
        log.forge(with(member("key-rotated", &new.public_key().to_string()), &fields));
        log
    };
    let endorsement = old.sign(replacement.clone()).signature;
    let honest = replaced(endorsement.as_str(), &old.public_key().to_string());
    let (_, remarks) = look(&WatchState::default(), &honest).unwrap();
    let said = "the member replaced the key of \"ada\"";
    let remark = remarks.iter().find(|remark| remark.text.contains(said)).unwrap();
    assert!(!remark.is_notable, "{remark:?}");
    let by_new = new.sign(replacement.clone()).signature;
    assert_fault(
        &replaced(by_new.as_str(), &old.public_key().to_string()),
        "did not endorse the key of \"ada\"",
    );
    assert_fault(
        &replaced(endorsement.as_str(), &new.public_key().to_string()),
        "replaces another key",
    );
}

#[test]
fn session_that_is_aggregated_twice_is_a_fault() {
    let mut log = begun();
    log.forge(aggregated(2, 1, "sha256:01"));
    assert_eq!(faults(&log), [""; 0]);
    log.forge(aggregated(3, 1, "sha256:02"));
    assert_fault(&log, "session 1: aggregated a second time, by \"eve\"");
    let mut log = begun();
    log.forge(aggregated(2, 2, "sha256:01"));
    assert_fault(&log, "aggregated over 2 takes, 1 are on file");
    // The snapshot is exchanged by an act that has nothing to do with it.
    let mut log = begun();
    log.forge(aggregated(2, 1, "sha256:01"));
    log.forge(act(3, "brief", &json!({ "state": "aggregated", "snapshotDigest": "sha256:02" })));
    assert_fault(&log, "\"brief\" also changes \"snapshotDigest\"");
}

#[test]
fn act_or_take_after_the_withdrawal_is_a_fault() {
    let mut log = begun();
    log.forge(act(2, "withdrawn", &json!({})));
    assert_fault(&log, "withdrawn with 1 take on file");
    let mut log = begun().first(2);
    log.forge(act(2, "withdrawn", &json!({})));
    assert_eq!(faults(&log), [""; 0]);
    let mut later = log.clone();
    later.forge(act(3, "deadline", &json!({ "windowClosesAt": "2026-11-21T16:00:00.000Z" })));
    assert_fault(&later, "\"deadline\" after it was withdrawn");
    let mut later = log.clone();
    later.forge(take(1, 2));
    assert_fault(
        &later,
        "take 1 of session 1 by \"ada\" was filed after the session was withdrawn",
    );
    log.forge(act(1, "convened", &json!({})));
    assert_fault(&log, "convened again");
}

#[test]
fn take_against_the_rules_is_a_fault() {
    let forged = |fields: &Value, words: &str| {
        let mut log = begun();
        log.forge(with(take(2, 1), fields));
        assert_fault(&log, words);
    };
    assert_eq!(faults(begun().forge(take(2, 1))), [""; 0]);
    forged(
        &json!({ "sessionVersion": 2 }),
        "was judged under version 2 of the session; in force was version 1",
    );
    forged(&json!({ "sessionVersion": null }), "was judged under version none");
    forged(
        &json!({ "publicKey": "another" }),
        "its key \"another\" is not the one that the log registered, \"the key\"",
    );
    forged(&json!({ "memberId": "eve" }), "no entry registered the member");
    forged(&json!({ "revision": 3 }), "is revision 3, the one before was 1");
    forged(&json!({ "id": 1 }), "has an id that is not the next one");
    forged(&json!({ "sessionId": 2 }), "no entry convened the session");
    forged(&json!({ "sealed": "sha256:00" }), "is sealed, against the session");
    let mut log = begun();
    log.forge_at("2026-11-21T15:00:00.001Z", take(2, 1));
    assert_fault(&log, "was filed after the deadline in force, 2026-11-21T15:00:00.000Z");
    let mut log = begun();
    log.forge(with(
        member("deactivated", "the key"),
        &json!({ "status": "inactive", "by": "eve" }),
    ));
    log.forge(take(2, 1));
    assert_fault(&log, "the member was not active");
    let mut log = begun();
    let excuse = json!({ "memberId": "ada", "excused": true });
    log.forge(with(act(2, "excuse", &json!({ "rosterDigest": "sha256:01" })), &excuse));
    log.forge(take(2, 2));
    assert_fault(&log, "who was excused");
    let mut log = begun();
    log.forge(aggregated(2, 1, "sha256:01")).forge(take(2, 2));
    assert_fault(&log, "amends after the session was aggregated");
}

#[test]
fn act_against_the_rules_is_a_fault() {
    let forged = |version: u64, name: &str, change: Value, words: &str| {
        let mut log = begun();
        log.forge(act(version, name, &change));
        assert_fault(&log, words);
    };
    let moved = json!({ "windowClosesAt": "2026-11-21T16:00:00.000Z" });
    assert_eq!(faults(begun().forge(act(2, "deadline", &moved))), [""; 0]);
    forged(3, "deadline", moved.clone(), "version 3 after version 1");
    forged(1, "deadline", moved.clone(), "version 1 after version 1");
    forged(2, "roster", moved.clone(), "\"roster\" also changes \"windowClosesAt\"");
    forged(2, "state", json!({ "state": "published" }), "moved from collecting to published");
    forged(2, "state", json!({ "state": "scheduled" }), "moved from collecting to scheduled");
    forged(
        2,
        "opened",
        json!({ "openedAt": "2026-11-21T14:40:00.000Z" }),
        "opened, though it was not sealed",
    );
    let question = json!({ "question": "Higher?" });
    forged(2, "question", question.clone(), "question changed with 1 take on file");
    forged(2, "quorum", question, "\"quorum\" also changes \"question\"");
    let outcome = json!({ "outcome": { "value": 1, "source": null, "recordedAt": "2026-11-21T14:40:00.000Z" } });
    forged(2, "outcome", outcome.clone(), "outcome recorded before its window was over");
    let mut log = begun();
    log.forge_at("2026-11-21T15:00:00.001Z", act(2, "outcome", &outcome));
    assert_fault(&log, "outcome recorded though it is collecting");
    let before = json!({ "windowClosesAt": "2026-11-21T14:30:01.000Z" });
    forged(2, "deadline", before, "before a take of 2026-11-21T14:30:02.000Z");
    let mut log = begun();
    log.forge(with(
        act(1, "brief", &json!({})),
        &json!({ "session": { "id": 2, "state": "collecting" } }),
    ));
    assert_fault(&log, "an act on a session that no entry convened");
    let mut log = begun();
    log.forge(member("activated", "another"));
    assert_fault(&log, "\"activated\" changes the key of \"ada\" from \"the key\" to \"another\"");
    let mut log = begun();
    log.forge(with(act(2, "deadline", &moved), &json!({ "takes": 1 })));
    assert_fault(&log, "\"deadline\" has a number of takes");
    let mut log = begun();
    log.forge(json!({ "kind": "take" }));
    assert_fault(&log, "is not an entry of the kind \"take\": \"id is missing\"");
}

#[test]
fn sealed_take_that_is_not_opened_is_a_fault() {
    let whole = blind();
    let openings = |log: &Log| {
        let is_opening = |text: &String| text.contains(r#""kind":"opening""#);
        (0..log.texts.len()).filter(|place| is_opening(&log.texts[*place])).collect::<Vec<_>>()
    };
    let log = Log::of(&whole);
    let places = openings(&log);
    assert_eq!(places.len(), 3);
    let renumbered = |texts: &[String]| {
        let mut log = Log { texts: Vec::new(), ..log.clone() };
        for text in texts {
            log.push(&format!("{{{}", text.split_once(',').unwrap().1));
        }
        log
    };
    let mut texts = log.texts.clone();
    texts.remove(places[2]);
    assert_fault(&renumbered(&texts), "session 7 was opened, and 1 of its takes were not");
    let mut texts = log.texts.clone();
    texts.swap(places[0], places[1]);
    assert_fault(&renumbered(&texts), "the next one to open is");
}

#[test]
fn change_that_sealed_takes_forbid_is_a_fault() {
    let sealed = json!({ "blind": true });
    let begun = || {
        let mut log = begun().first(1);
        log.forge(act(1, "convened", &sealed));
        let mut take = with(take(1, 1), &json!({ "sealed": "sha256:00" }));
        take.as_object_mut().unwrap().retain(|name, _| name != "digest" && name != "signature");
        log.forge(take);
        log
    };
    let changed = |name: &str, change: Value| {
        let mut log = begun();
        log.forge(act(2, name, &with(change, &sealed)));
        faults(&log)
    };
    let later = json!({ "windowClosesAt": "2026-11-21T16:00:00.000Z" });
    assert_eq!(changed("deadline", later), [""; 0]);
    for (name, change, words) in [
        ("deadline", json!({ "windowClosesAt": "2026-11-21T14:45:00.000Z" }), "moved earlier"),
        ("deadline", json!({ "windowClosesAt": null }), "cleared"),
        ("quorum", json!({ "quorum": 2 }), "\"quorum\" changed"),
        ("roster", json!({ "rosterDigest": "sha256:01" }), "\"rosterDigest\" changed"),
        ("excuse", json!({ "rosterDigest": "sha256:01" }), "\"rosterDigest\" changed"),
        ("state", json!({ "state": "aggregated" }), "aggregated before its deadline"),
    ] {
        let faults = changed(name, change);
        let is_named = |fault: &String| fault.contains(words) && fault.contains("takes are sealed");
        assert!(faults.iter().any(is_named), "{words}: {faults:?}");
    }
}

#[test]
fn entry_dated_before_a_look_that_did_not_have_it_is_a_fault() {
    let (whole, seen) = (begun(), WatchState::default());
    let (seen, _) = look_at(&seen, &whole, &whole, "2026-11-21T14:40:00Z").unwrap();
    for (at, is_fault) in [("2026-11-21T14:39:54.999Z", true), ("2026-11-21T14:39:55.000Z", false)]
    {
        let mut next = whole.clone();
        next.forge_at(at, take(2, 1));
        let found = look_at(&seen, &next, &next, "2026-11-21T14:50:00Z");
        match found {
            Err(WatchFault::Broken(faults)) => {
                assert!(is_fault && faults[0].contains("did not have it"), "{at}: {faults:?}");
            }
            found => assert!(!is_fault && found.is_ok(), "{at}: {found:?}"),
        }
        // All looks count, also those that found nothing new.
        let again = look_at(&seen, &whole, &whole, "2026-11-21T14:40:01Z").unwrap().0;
        assert!(look_at(&again, &next, &next, "2026-11-21T14:50:00Z").is_err());
        // To someone who did not look, the time is the server's word.
        assert_eq!(faults(&next), [""; 0]);
    }
}

#[test]
fn log_that_does_not_continue_is_a_fault() {
    let mut next = published();
    let log = Log::of(&next);
    let (seen, _) = look(&WatchState::default(), &log).unwrap();
    let fault = |log: &Log| look(&seen, log).unwrap_err();
    let broken = |log: &Log, words: &str| match fault(log) {
        WatchFault::Broken(faults) => assert!(faults[0].contains(words), "{words}: {faults:?}"),
        other => panic!("{words}: {other:?}"),
    };
    let backup = log.first(log.texts.len() - 2);
    broken(
        &backup,
        &format!("went back: it had {}, then", log.texts.len()).replace(", then", " entries, then"),
    );
    next.other("regime");
    let mut gap = next.clone();
    gap.lines.last_mut().unwrap().seq.0 += 1;
    broken(&Log::of(&gap), "a gap: entry");
    let mut back = next.clone();
    back.lines.last_mut().unwrap().at = moment("2026-11-20T14:00:00Z");
    broken(&Log::of(&back), "time ran back");
    let mut renamed = Log::of(&next);
    renamed.origin.push_str("/2");
    broken(&renamed, "another log");
    let bytes = STANDARD.encode(log.signer().verifier().public_key().as_bytes());
    let nameless = LogKey::parse(&bytes, KeySource::Given).unwrap();
    let read = |node| Ok::<_, ()>(log.hash(node));
    let begun = Watch::begin(&seen, &renamed.note(), &nameless, moment(BEHIND), read).unwrap();
    let WatchFault::Broken(faults) = begun.unwrap_err() else { panic!("not broken") };
    assert!(faults[0].contains("another log"), "by a key without a name");
    assert!(look(&seen, &Log::of(&next)).is_ok());
}

#[test]
fn fork_is_proven_by_its_two_checkpoints_and_tiles() {
    let log = Log::of(&published());
    for forked in 1..=log.texts.len() {
        let old = log.first(forked);
        let (seen, _) = look(&WatchState::default(), &old).unwrap();
        for size in [forked, forked + 1, 2 * forked + 3] {
            let mut fork = old.first(forked - 1);
            while fork.texts.len() < size {
                fork.forge(json!({ "kind": "other" }));
            }
            let WatchFault::Fork { earlier, later, text } = look(&seen, &fork).unwrap_err() else {
                panic!("no fork at {forked} of {size}");
            };
            assert!(text.contains("a fork"), "{text}");
            let read = |of: &Log| {
                is_fork([&earlier, &later], &log.key(), |node| Ok::<_, ()>(of.hash(node)))
            };
            assert_eq!(read(&fork), Ok(true), "{forked} of {size}");
            // Tiles of another tree prove nothing, unless both trees have the same size.
            assert_eq!(read(&old), Ok(size == forked), "{forked} of {size}");
        }
    }
    // An honest log is none.
    let (earlier, later) = (log.first(5).note(), log.note());
    let read = |node| Ok::<_, ()>(log.hash(node));
    assert_eq!(is_fork([&earlier, &later], &log.key(), read), Ok(false));
    let stranger = NoteSigner::new(&log.origin, KeyKind::Ed25519, &[7; 32]).unwrap();
    let stranger = LogKey::parse(&stranger.verifier().to_string(), KeySource::Given).unwrap();
    assert_eq!(is_fork([&later, &later], &stranger, read), Ok(false));
}

#[test]
fn garbled_tiles_and_entries_show_nothing() {
    let log = Log::of(&published());
    let (seen, _) = look(&WatchState::default(), &log.first(6)).unwrap();
    for place in 0..log.texts.len() {
        let mut garbled = log.clone();
        garbled.texts[place] = begun().texts[2].clone();
        let found = look_at(&seen, &log, &garbled, BEHIND);
        assert!(matches!(found, Err(WatchFault::OtherTiles(_))), "{place}: {found:?}");
    }
    assert!(look(&seen, &log).is_ok());
}

/// A log with a session whose takes are sealed until 15:00, and one such take.
fn sealed() -> Log {
    let mut log = begun().first(1);
    log.forge(act(1, "convened", &json!({ "blind": true })));
    let mut take = with(take(1, 1), &json!({ "sealed": "sha256:00" }));
    take.as_object_mut().unwrap().retain(|name, _| name != "digest" && name != "signature");
    log.forge(take);
    log
}

/// What is notable, but for the forms of these entries, which lack fields.
fn noticed(remarks: &[Remark]) -> Vec<&str> {
    let form = "is not written as this version writes it";
    notable(remarks).into_iter().filter(|text| !text.contains(form)).collect()
}

fn said(log: &Log) -> Vec<String> {
    let (_, remarks) = look(&WatchState::default(), log).unwrap();
    noticed(&remarks).into_iter().map(str::to_owned).collect()
}

#[test]
fn session_that_is_left_sealed_is_noticed() {
    let over = json!({ "blind": true, "state": "aggregated", "snapshotDigest": "sha256:01" });
    let mut log = sealed();
    let aggregated = with(act(2, "state", &over), &json!({ "takes": 1 }));
    log.forge_at("2026-11-21T15:00:01.000Z", aggregated);
    assert_eq!(faults(&log), [""; 0], "the next entry opens it");
    log.forge_at("2026-11-21T15:00:01.000Z", json!({ "kind": "regime" }));
    assert_fault(&log, "session 1 was aggregated, and is not opened");

    let look_at_noon = |now: &str| {
        let log = sealed();
        let (_, remarks) = look_at(&WatchState::default(), &log, &log, now).unwrap();
        noticed(&remarks).join("")
    };
    assert_eq!(look_at_noon("2026-11-21T15:01:00Z"), "");
    let text =
        "session 1 is sealed, though its deadline was 2026-11-21T15:00:00.000Z, 1 take on file";
    assert_eq!(look_at_noon("2026-11-21T15:01:01Z"), text);
}

#[test]
fn session_that_is_convened_as_no_server_does_is_a_fault() {
    for (change, words) in [
        (json!({ "state": "window_closed" }), "convened as window_closed"),
        (json!({ "date": "2026-02-30" }), "convened on \"2026-02-30\", which is no day"),
        (json!({ "snapshotDigest": "sha256:01" }), "convened with \"snapshotDigest\""),
        (json!({ "openedAt": "2026-11-21T14:30:00.000Z" }), "convened with \"openedAt\""),
        (
            json!({ "outcome": { "value": 1, "source": null, "recordedAt": "2026-11-21T14:30:00.000Z" } }),
            "convened with \"outcome\"",
        ),
    ] {
        let mut log = begun().first(1);
        log.forge(act(1, "convened", &change));
        assert_fault(&log, words);
    }
}

#[test]
fn act_that_hides_what_it_changes_is_noticed() {
    // The quorum, by an act that has another name.
    let mut log = begun();
    log.forge(act(2, "question", &json!({ "quorum": 1 })));
    let text = "session 1: question, and quorum from none to 1, by \"eve\"";
    assert!(said(&log)[0].contains(text), "{:?}", said(&log));
    // An act of a later version changes nothing that this version knows.
    let mut log = begun();
    log.forge(act(2, "blessed", &json!({ "blessing": "all" })));
    assert!(said(&log)[0].contains("act \"blessed\", which this version does not know"));
    let moved = json!({ "windowClosesAt": "2026-11-21T16:00:00.000Z" });
    let mut log = begun();
    log.forge(act(2, "blessed", &moved));
    assert_fault(&log, "\"blessed\" also changes \"windowClosesAt\"");
    let mut log = begun();
    log.forge(act(2, "outcome", &json!({})));
    assert_fault(&log, "\"outcome\" does not set \"outcome\"");
    // An act, and an aggregation, without their numbers.
    let without = |mut entry: Value, field: &str| {
        entry.as_object_mut().unwrap().remove(field);
        entry
    };
    let mut log = begun();
    log.forge(without(act(2, "deadline", &moved), "version"));
    assert_fault(&log, "version is missing");
    let mut log = begun();
    log.forge(without(aggregated(2, 1, "sha256:01"), "takes"));
    assert_fault(&log, "aggregated over none takes, 1 are on file");
}

#[test]
fn member_that_is_removed_is_noticed_whatever_the_act_is_called() {
    let removed = |name: &str| {
        let mut log = begun();
        log.forge(with(member(name, "the key"), &json!({ "status": "inactive", "by": "eve" })));
        log
    };
    for act in ["deactivated", "erased"] {
        let said = said(&removed(act));
        assert!(
            said[0].contains("while open: session 1, in which the member had filed 1"),
            "{said:?}"
        );
    }
    assert_fault(&removed("updated"), "\"updated\" changes the status of \"ada\"");
    // A key that the member did not replace, in its name.
    let mut log = begun();
    log.forge(with(member("key-rotated", "another"), &json!({ "by": "member" })));
    assert_fault(&log, "the key before did not endorse the key of \"ada\"");
}

#[test]
fn act_with_another_time_than_its_entry_is_a_fault() {
    let mut log = begun().first(1);
    let convened = act(1, "convened", &json!({})).to_string();
    log.push(&format!("{{\"at\":\"2026-11-21T14:30:50.000Z\",{}", &convened[1..]));
    assert_fault(&log, "convenedAt is 2026-11-21T14:30:01.000Z");
    let mut log = begun();
    log.forge(aggregated(2, 1, "sha256:01"));
    let published = |at: &str| {
        let change =
            json!({ "state": "published", "snapshotDigest": "sha256:01", "publishedAt": at });
        with(act(3, "state", &change), &json!({}))
    };
    let mut later = log.clone();
    later.forge(published("2026-11-22T14:30:00.000Z"));
    assert_fault(&later, "publishedAt is 2026-11-22T14:30:00.000Z");
    assert_eq!(faults(log.forge(published("2026-11-21T14:30:00.000Z"))), [""; 0]);
}

#[test]
fn mark_that_changes_nothing_is_a_fault() {
    let marked = |acts: &[&str], id: u64| {
        let mut log = begun();
        for act in acts {
            log.forge(
                json!({ "kind": "take-mark", "act": act, "by": "eve", "note": "why", "id": id }),
            );
        }
        log
    };
    assert_eq!(faults(&marked(&["withheld", "restored", "withheld"], 1)), [""; 0]);
    assert_fault(&marked(&["restored"], 1), "restores the texts of take 1 again");
    assert_fault(&marked(&["withheld", "withheld"], 1), "withholds the texts of take 1 again");
    assert_fault(&marked(&["withheld"], 2), "a mark of take 2, which no entry filed");
}

/// An entry accepts a clock only in the exact form in which the service writes it.
#[test]
fn clock_that_no_service_would_accept_so_runs_back() {
    let at = "2026-11-21T13:00:00.000Z";
    let accepted = |by: Value| {
        let mut log = begun();
        log.push(&format!(
            "{{\"at\":\"{at}\",\"kind\":\"operation\",\"act\":\"clock-accepted\",\"by\":{by}}}"
        ));
        log
    };
    assert_eq!(faults(&accepted("eve".into())), [""; 0]);
    for by in [Value::Null, "".into(), "e".repeat(101).into()] {
        assert_fault(&accepted(by), "time ran back");
    }
}

/// An operator convenes the day again, and files there what the members signed for the first session.
#[test]
fn take_that_is_filed_again_in_another_session_is_a_fault() {
    let digest = json!({ "digest": format!("sha256:{}", "1".repeat(64)) });
    let again = |mut log: Log, filed: Value| {
        let session = json!({ "id": 2 });
        log.forge(act(1, "convened", &session));
        log.forge(with(filed, &json!({ "id": 2, "sessionId": 2, "revision": 1 })));
        log
    };
    let mut log = begun().first(2);
    log.forge(with(take(1, 1), &digest));
    let words = "take 2 of session 2 by \"ada\" was filed before, in session 1";
    assert_fault(&again(log.clone(), with(take(2, 1), &digest)), words);
    let mut amended = log.clone();
    amended.forge(with(take(2, 1), &digest));
    assert_fault(&amended, "take 2 of session 1 by \"ada\" was filed before, in this session");
    // A draft whose digest begins as that of the first one does not accuse the operator.
    for other in ["2".repeat(64), format!("{}2", "1".repeat(63))] {
        let other = json!({ "digest": format!("sha256:{other}") });
        assert_eq!(faults(&again(log.clone(), with(take(2, 1), &other))), [""; 0]);
    }
    // In the first session, after the second one has it.
    let mut log = again(begun().first(2), with(take(2, 1), &digest));
    log.forge(with(take(3, 1), &with(digest.clone(), &json!({ "revision": 1 }))));
    assert_fault(&log, "take 3 of session 1 by \"ada\" was filed before, in session 2");
    // A sealed take, which is opened.
    let mut log = sealed();
    let opened = json!({ "blind": true, "state": "aggregated", "snapshotDigest": "sha256:01" });
    let close = |log: &mut Log, version: u64, name: &str, change: &Value| {
        let mut entry = act(version, name, &with(opened.clone(), change));
        if name == "state" {
            entry["takes"] = json!(1);
        }
        log.forge_at("2026-11-21T15:00:01.000Z", entry);
    };
    close(&mut log, 2, "state", &json!({}));
    close(&mut log, 3, "opened", &json!({ "openedAt": "2026-11-21T15:00:01.000Z" }));
    let opening = json!({ "kind": "opening", "id": 1, "salt": "c2FsdA==", "signature": "c2ln" });
    log.forge_at("2026-11-21T15:00:01.000Z", with(opening, &digest));
    let session = act(1, "convened", &json!({ "id": 2, "windowClosesAt": null }));
    log.forge_at("2026-11-21T15:00:02.000Z", session);
    let filed = with(take(2, 1), &with(digest, &json!({ "sessionId": 2, "revision": 1 })));
    log.forge_at("2026-11-21T15:00:02.000Z", filed);
    assert_fault(&log, words);
}

#[test]
fn entry_dated_after_the_look_is_notable() {
    let log = begun();
    for (now, is_notable) in
        [("2026-11-21T14:29:57.000Z", false), ("2026-11-21T14:29:56.999Z", true)]
    {
        let (seen, remarks) = look_at(&WatchState::default(), &log, &log, now).unwrap();
        let text = format!(
            "entry 3 is dated 2026-11-21T14:30:02.000Z, after this look at {now}, by this watcher's clock"
        );
        let expected: &[String] = if is_notable { &[text] } else { &[] };
        assert_eq!(noticed(&remarks), expected, "{now}");
        assert_eq!(look_at(&seen, &log, &log, now).unwrap().1, [], "it was said");
    }
}

/// What an earlier version kept has no state of the rules: all entries are read again.
#[test]
fn state_of_an_earlier_version_is_taken_over() {
    let log = Log::of(&published());
    let before = json!({
        "checkpoint": log.first(6).note(), "parts": [], "lastAt": "2026-11-21T14:30:00.000Z",
        "deadlines": {}, "aggregated": [],
    });
    let seen: WatchState = serde_json::from_value(before).unwrap();
    assert!(look(&seen, &log).is_ok());
    let mut fork = log.first(5);
    fork.forge(json!({ "kind": "other" })).forge(json!({ "kind": "other" }));
    assert!(matches!(look(&seen, &fork), Err(WatchFault::Fork { .. })));
}
