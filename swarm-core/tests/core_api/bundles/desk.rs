//! A desk that convenes sessions and files takes by the rules, on a clock of its own, and its log.

use std::collections::BTreeSet;
use std::sync::Arc;

use swarm_core::audit::{BundledTimestamp, ProvenEntry, SessionBundle};
use swarm_core::domain::{
    Actor, Attribution, Body, Bucket, Confidence, Declaration, LogEntry, LogLine, MemberAct,
    MemberEntry, MemberId, MemberStatus, MemoUrl, Method, Nonce, OutcomeDraft, OutcomeSource,
    OutcomeValue, QuestionPatch, QuestionText, RankedStance, Revision, Roster, RosterEntry, Salt,
    Seq, Session, SessionDraft, SessionId, SessionPatch, SessionState, Stance, StanceScale, Take,
    TakeDraft, TakeId, TakeOnFile, Timestamp, Version, Weight, Weights,
};
use swarm_core::json::write;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{KeyKind, NoteSigner, SignedNote};
use swarm_core::proof::tree::{self, Node, TreeHash};
use swarm_core::proof::{KeyPair, opening_entry, take_entry};
use swarm_core::rules::{self, SessionChange, TakeMarks};
use swarm_core::store::{Act, Aggregation, Versioned};
use swarm_testing::{act, id, keys, moment, session_draft};

/// A desk with one session. All fields are public, so that tests can tamper with them.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) origin: String,
    pub(crate) now: Timestamp,
    pub(crate) session: Session,
    pub(crate) takes: Vec<Arc<Take>>,
    pub(crate) lines: Vec<LogLine>,
    /// The entries that the bundle leaves out.
    pub(crate) hidden: BTreeSet<u64>,
    pub(crate) timestamp: Option<BundledTimestamp>,
}

/// The members that every session expects.
pub(crate) const MEMBERS: [&str; 3] = ["ada", "grace", "lin \"λ\" \u{202e}"];

impl Desk {
    /// A desk whose session closes at 19:00.
    pub(crate) fn new(draft: impl FnOnce(SessionDraft) -> SessionDraft) -> Self {
        let draft = draft(SessionDraft {
            window_closes_at: Some(moment("2026-11-21T19:00:00Z")),
            ..session_draft("aurora")
        });
        let now = moment("2026-11-21T14:00:00Z");
        let mut desk = Self {
            origin: "desk.example/swarm/log/acme".to_owned(),
            now,
            session: draft.convened(SessionId(7), now),
            takes: Vec::new(),
            lines: Vec::new(),
            hidden: BTreeSet::new(),
            timestamp: None,
        };
        desk.other("subjects");
        desk.other("members");
        desk.session = draft.convened(SessionId(7), desk.now);
        let convened = rules::convene(&draft, &by("ada", Some("as every day")));
        desk.log(&convened.act);
        desk
    }

    /// One with a roster and buckets, and a quorum of two.
    pub(crate) fn with_roster() -> Self {
        let entry = |name: &&str| RosterEntry { member_id: id(name), excused: false };
        let roster = Roster::parse(MEMBERS.iter().map(entry).collect()).unwrap();
        let buckets = ["cash", "add"].map(|name| Bucket::parse(name).unwrap()).to_vec();
        Self::new(|draft| SessionDraft {
            roster: Some(roster),
            buckets: Some(buckets),
            quorum: Some(2),
            ..draft
        })
    }

    /// A session from beginning to end: an excuse, a deadline moved, amendments, aggregated and published.
    pub(crate) fn published() -> Self {
        let mut desk = Self::with_roster();
        desk.excuse("ada", true);
        desk.excuse("ada", false);
        desk.file("ada", "bullish", 0.7, &[("cash", 1.0), ("add", 2.0)]);
        desk.other("regime");
        desk.file("grace", "cautious", 0.25, &[("add", 1e-7)]);
        desk.file("ada", "constructive", 0.8, &[("cash", 0.1), ("add", 0.2)]);
        desk.deadline(Some("2026-11-21T20:00:00Z"));
        desk.brief();
        desk.now = moment("2026-11-21T19:30:00Z");
        desk.file(MEMBERS[2], "moonward \u{1}\"\u{2028}", 1.0, &[]);
        desk.now = moment("2026-11-21T20:00:01Z");
        desk.state(SessionState::WindowClosed);
        desk.aggregate();
        desk.state(SessionState::Published);
        desk.other("signal");
        desk
    }

    /// A blind session from beginning to end, with a take after it was opened.
    pub(crate) fn blind() -> Self {
        let mut desk =
            Self::new(|draft| SessionDraft { blind: true, window_closes_at: None, ..draft });
        desk.file("ada", "bullish", 0.7, &[]);
        desk.other("regime");
        desk.file("grace", "cautious", 0.25, &[("add", 1e-7)]);
        desk.file("ada", "constructive", 0.8, &[("cash", 0.1)]);
        desk.aggregate();
        desk.file(MEMBERS[2], "neutral", 1.0, &[]);
        desk.state(SessionState::Published);
        desk
    }

    /// A session with a question, in which all have filed, published. Its outcome is not recorded.
    pub(crate) fn decided() -> Self {
        let mut desk = Self::new(|draft| draft);
        desk.question("Higher in a week?");
        desk.file("ada", "bullish", 0.6, &[]);
        desk.file("grace", "cautious", 0.4, &[]);
        desk.file(MEMBERS[2], "moonward", 1.0, &[]);
        desk.now = moment("2026-11-21T19:00:01Z");
        desk.state(SessionState::WindowClosed);
        desk.aggregate();
        desk.state(SessionState::Published);
        desk
    }

    /// A session with stances, a number of revisions and a method of its own, aggregated.
    pub(crate) fn declared() -> Self {
        let ranked =
            |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
        let stances = [("no", 0.0), ("perhaps \"λ\"", 62.5), ("yes", 100.0), ("other", 12.000_001)];
        let declaration = Declaration {
            stances: Some(StanceScale::parse(stances.map(ranked).into()).unwrap()),
            max_revisions: Revision::new(2),
            method: Some(Method::WeightedMedian),
        };
        let mut desk = Self::new(|draft| SessionDraft { declaration, ..draft });
        desk.file("ada", "yes", 0.7, &[]);
        desk.file("grace", "no", 0.1, &[]);
        desk.file("ada", "perhaps \"λ\"", 0.3, &[]);
        desk.file(MEMBERS[2], "other", 0.2, &[]);
        desk
    }

    /// Ends the window, aggregates the session and publishes it.
    pub(crate) fn finish(&mut self) {
        self.now = self.now.max(moment("2026-11-21T19:00:01Z"));
        self.state(SessionState::WindowClosed);
        self.aggregate();
        self.state(SessionState::Published);
    }

    fn tick(&mut self) {
        self.now = self.now.plus_millis(61_234);
    }

    /// Appends an entry at this moment, and lets a minute pass.
    pub(crate) fn append(&mut self, entry: LogEntry) {
        let seq = Seq(self.lines.len() as u64 + 1);
        self.lines.push(LogLine { seq, at: self.now, entry });
        self.tick();
    }

    fn log(&mut self, act: &Act) {
        self.append(LogEntry::clone(&act.entry(7, self.now)));
    }

    /// An entry that is not of the session.
    pub(crate) fn other(&mut self, what: &str) {
        self.log(&act(what));
    }

    /// Changes the session by the rules.
    pub(crate) fn change(&mut self, change: &SessionChange) {
        self.session = change.session.clone();
        for act in &change.acts {
            self.log(act);
        }
        if change.opens {
            for opening in self.takes.clone().iter().filter_map(|take| opening_entry(take)) {
                self.append(LogEntry::Opening(opening));
            }
        }
    }

    pub(crate) fn versioned(&self) -> Versioned<Session> {
        Versioned { record: Arc::new(self.session.clone()), version: Version(1) }
    }

    pub(crate) fn state(&mut self, to: SessionState) {
        let change = rules::advance(&self.versioned(), to, self.now, &by("schedule", None));
        self.change(&change.unwrap());
    }

    pub(crate) fn deadline(&mut self, to: Option<&str>) {
        let patch = SessionPatch {
            window_closes_at: Some(to.map(moment)),
            quorum: None,
            ..SessionPatch::default()
        };
        let amended =
            rules::amend(&self.versioned(), &patch, self.now, &by("grace", Some("an hour")));
        self.change(&amended.unwrap().unwrap());
    }

    pub(crate) fn quorum(&mut self, to: Option<u32>) {
        let patch =
            SessionPatch { window_closes_at: None, quorum: Some(to), ..SessionPatch::default() };
        let amended = rules::amend(&self.versioned(), &patch, self.now, &by("lin", None));
        self.change(&amended.unwrap().unwrap());
    }

    /// Changes the question, whether or not takes are on file.
    pub(crate) fn question(&mut self, text: &str) {
        let text = Some(Some(QuestionText::parse(text).unwrap()));
        let question = QuestionPatch { text, ..QuestionPatch::default() };
        let patch = SessionPatch { question, ..SessionPatch::default() };
        let amended = rules::amend(&self.versioned(), &patch, self.now, &by("ada", None));
        self.change(&amended.unwrap().unwrap());
    }

    /// Records the outcome at a moment, in an entry of now.
    pub(crate) fn outcome_at(&mut self, value: Option<f64>, at: Timestamp) {
        let value = value.map(|value| OutcomeValue::parse(value).unwrap());
        let source = Some(OutcomeSource::parse("prices.example").unwrap());
        let outcome = OutcomeDraft { value, source };
        let change = rules::record_outcome(&self.versioned(), &outcome, at, &by("grace", None));
        self.change(&change.unwrap());
    }

    pub(crate) fn outcome(&mut self, value: Option<f64>) {
        self.outcome_at(value, self.now);
    }

    /// Sets the roster.
    pub(crate) fn roster(&mut self, members: &[&str]) {
        let entry = |name: &&str| RosterEntry { member_id: id(name), excused: false };
        let roster = Roster::parse(members.iter().map(entry).collect()).unwrap();
        let change = rules::freeze_roster(&self.versioned(), &roster, &by("ada", None));
        self.change(&change.unwrap());
    }

    pub(crate) fn excuse(&mut self, member: &str, excused: bool) {
        let by = by("ada", None);
        let change = rules::excuse(&self.versioned(), &id(member), excused, &by);
        self.change(&change.unwrap().unwrap());
    }

    /// Erases a member. Its takes stay.
    pub(crate) fn erase(&mut self, member: &str) {
        let (by, key) = (Some(by("ada", None).by), Some(swarm_testing::key(member)));
        let after = (id(member), MemberStatus::Inactive);
        self.append(LogEntry::Member(MemberEntry::new(MemberAct::Erased, by, after, key)));
    }

    /// Withholds the texts of the take in this place.
    pub(crate) fn withhold(&mut self, place: usize, note: &str) {
        let (note, by) = (note.parse().unwrap(), by("grace", None));
        let take = Arc::clone(&self.takes[place]);
        self.mark(&rules::withhold(&self.versioned(), &take, note, &by).unwrap(), place);
    }

    /// Restores the texts of the take in this place.
    pub(crate) fn restore(&mut self, place: usize) {
        let take = Arc::clone(&self.takes[place]);
        self.mark(&rules::restore(&self.versioned(), &take, &by("lin", None)).unwrap(), place);
    }

    fn mark(&mut self, marks: &TakeMarks, place: usize) {
        self.takes[place] = Arc::new(marks.marked(self.now).next().unwrap());
        self.session = marks.session.clone();
        for act in &marks.acts {
            self.log(act);
        }
    }

    pub(crate) fn brief(&mut self) {
        self.session = rules::after_act(self.session.clone());
        let act = rules::brief_published(&self.session, &by("ada", None));
        self.log(&act);
    }

    /// Voids the session.
    pub(crate) fn void(&mut self) {
        let by = by("grace", Some("the brief was of another day"));
        let change = rules::void(&self.versioned(), self.now, &by);
        self.change(&change.unwrap());
    }

    /// Ends the window now.
    pub(crate) fn close(&mut self) {
        let last = self.takes.iter().map(|take| take.filed_at).max();
        let change = rules::end_window(&self.versioned(), last, self.now, &by("grace", None));
        self.change(&change.unwrap());
    }

    pub(crate) fn aggregate(&mut self) {
        let aggregation = Aggregation { session: self.session.id, by: by("ada", None) };
        let judged = aggregation.judge(Some(&self.versioned()), &self.takes, self.now);
        self.change(&judged.unwrap());
    }

    /// A take that is signed by the key of this name, of the next revision.
    pub(crate) fn take(&self, member: &str, key: &KeyPair, stance: &str, confidence: f64) -> Take {
        let filed = self.takes.iter().filter(|take| take.draft().member_id == id(member));
        let nonce = format!("nonce {}", self.takes.len());
        let draft = TakeDraft {
            member_id: id(member),
            date: self.session.date,
            subject_id: self.session.subject_id.clone(),
            nonce: Nonce::parse(nonce).unwrap(),
            stance: Stance::parse(stance).unwrap(),
            confidence: Confidence::parse(confidence).unwrap(),
            body: Body::parse("Utilisation is \"high\",\nfor <now>.").unwrap(),
            memo_url: MemoUrl::parse("").unwrap(),
            weights: None,
        };
        Take {
            salt: self.session.is_sealed().then(|| Salt([self.takes.len() as u8 + 1; 32])),
            withheld: None,
            id: TakeId(self.takes.len() as u64 + 11),
            session_id: self.session.id,
            session_version: self.session.version,
            revision: Revision::new(u8::try_from(filed.count()).unwrap() + 1).unwrap(),
            filed_at: self.now,
            signed: Arc::new(key.sign(draft)),
            public_key: key.public_key(),
        }
    }

    /// Files a take without judging it.
    pub(crate) fn put(&mut self, take: Take) {
        self.append(LogEntry::Take(take_entry(&take)));
        self.takes.push(Arc::new(take));
    }

    pub(crate) fn file(
        &mut self,
        member: &str,
        stance: &str,
        confidence: f64,
        weights: &[(&str, f64)],
    ) {
        let take = self.take(member, &keys(member), stance, confidence);
        let weight = |(bucket, weight): &(&str, f64)| Weight {
            bucket: Bucket::parse(*bucket).unwrap(),
            weight: *weight,
        };
        let weights = weights.iter().map(weight).collect::<Vec<_>>();
        let weights = (!weights.is_empty()).then(|| Weights::parse(weights).unwrap());
        let draft = TakeDraft { weights, ..take.draft().clone() };
        self.put(Take { signed: Arc::new(keys(member).sign(draft)), ..take });
    }

    /// Files as this member with another key.
    pub(crate) fn file_with(&mut self, member: &str, key: &str, stance: &str) {
        let take = self.take(member, &keys(key), stance, 0.5);
        self.put(take);
    }

    /// The key of the log.
    pub(crate) fn signer(&self) -> NoteSigner {
        NoteSigner::new(&self.origin, KeyKind::Ed25519, &[42; 32]).unwrap()
    }

    /// The hash of a subtree of the log.
    pub(crate) fn hash(&self, Node { level, index }: Node) -> TreeHash {
        let (first, count) = ((index << level) as usize, 1 << level);
        let leaf = |line: &LogLine| TreeHash::leaf(line.text().as_bytes());
        TreeHash::complete(&self.lines.iter().skip(first).take(count).map(leaf).collect::<Vec<_>>())
    }

    fn read(&self) -> impl FnMut(Node) -> Result<TreeHash, ()> + Copy {
        |node| Ok(self.hash(node))
    }

    /// The signed checkpoint of the whole log.
    pub(crate) fn checkpoint(&self) -> SignedNote {
        let (origin, size) = (self.origin.clone(), self.lines.len() as u64);
        let root = tree::root(size, self.read()).unwrap();
        Checkpoint { origin, size, root }.sign(&self.signer())
    }

    /// Gives the bundle a timestamp of the log as it is now, for the checkpoint that will have `later` more entries.
    pub(crate) fn stamp(&mut self, token: &[u8], later: u64) {
        let (checkpoint, size) = (self.checkpoint(), self.lines.len() as u64);
        let mut all = self.clone();
        (0..later).for_each(|_| all.other("subjects"));
        let proof = tree::consistency(size, size + later, all.read()).unwrap();
        self.timestamp = Some(BundledTimestamp { checkpoint, token: token.to_vec(), proof });
        self.lines = all.lines;
    }

    /// The proof of an entry.
    pub(crate) fn proof(&self, index: u64) -> Vec<TreeHash> {
        tree::inclusion(index, self.lines.len() as u64, self.read()).unwrap()
    }

    /// The bundle of the session at the size of the whole log.
    pub(crate) fn bundle(&self) -> String {
        self.bundle_under(self.checkpoint())
    }

    /// The bundle of the session, under this checkpoint.
    pub(crate) fn bundle_under(&self, checkpoint: SignedNote) -> String {
        let entries = self.lines.iter().filter(|line| self.concerns(line)).map(|line| {
            let index = line.seq.0 - 1;
            ProvenEntry { entry: line.text(), index, proof: self.proof(index) }
        });
        let bundle = SessionBundle {
            session: Arc::new(self.session.clone()),
            takes: self.takes.iter().map(|take| self.on_file(take)).collect(),
            entries: entries.collect(),
            checkpoint,
            timestamp: self.timestamp.clone(),
        };
        let text = write(&bundle);
        // A program that serves a bundle by its own serializer serves the same bytes.
        assert_eq!(serde_json::to_string(&bundle).unwrap(), text);
        text
    }

    fn concerns(&self, line: &LogLine) -> bool {
        if self.hidden.contains(&line.seq.0) {
            return false;
        }
        match &line.entry {
            LogEntry::Take(take) => take.session_id == self.session.id,
            LogEntry::Session(act) => act.session.id == self.session.id,
            LogEntry::Operation(_) | LogEntry::Opening(_) | LogEntry::TakeMark(_) => true,
            LogEntry::Member(member) => member.act == MemberAct::Erased,
            _ => false,
        }
    }

    fn on_file(&self, take: &Arc<Take>) -> TakeOnFile {
        let of_member = |other: &&Arc<Take>| {
            other.draft().member_id == take.draft().member_id && other.id > take.id
        };
        let next = self.takes.iter().find(of_member);
        TakeOnFile { take: take.shown(), superseded_by: next.map(|next| next.id) }
    }
}

/// An operator of this name, or the schedule.
pub(crate) fn by(name: &str, note: Option<&str>) -> Attribution {
    let note = note.map(|note| note.parse().unwrap());
    Attribution { by: name.parse::<Actor>().unwrap(), note }
}

/// The id of a member.
pub(crate) fn member(name: &str) -> MemberId {
    id(name)
}
