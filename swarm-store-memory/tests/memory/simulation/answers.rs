//! The answers that clients got, compared with the records at the end.

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swarm_core::domain::{MemberId, Session, SessionId, Snapshot, Take, TakeId, TokenHash};
use swarm_core::proof::canonical;
use swarm_core::store::SessionQuery;
use swarm_core::{Error, Submission, SubmitError, Tenant};
use swarm_testing::TestTenant;

use super::replay::replay;

/// Counts of events over schedules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    accepted: usize,
    refused: usize,
    unanswered: usize,
    aggregated: usize,
    claimed: usize,
}

impl Tally {
    /// Whether each event occurred.
    pub(super) fn is_eventful(&self) -> bool {
        let Self { accepted, refused, unanswered, aggregated, claimed } = *self;
        [accepted, refused, unanswered, aggregated, claimed].into_iter().all(|count| count > 0)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
        self.aggregated += other.aggregated;
        self.claimed += other.claimed;
    }
}

/// All answers, with their steps.
#[derive(Default)]
pub(super) struct Answers(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    /// The number of answers so far.
    step: usize,
    tally: Tally,
    sessions: Vec<Arc<Session>>,
    tokens: HashMap<MemberId, Vec<Token>>,
    accepted: Vec<Arc<Take>>,
    /// The canonical texts of takes with an unknown outcome.
    unanswered: HashSet<String>,
    snapshots: HashMap<SessionId, Arc<Snapshot>>,
    seen: HashMap<TakeId, Arc<Take>>,
    newcomer: Option<MemberId>,
    is_activated: bool,
    claimed: Vec<TokenHash>,
    /// Violations found while running.
    broken: Option<String>,
}

/// A token, and the step from which on it is revoked.
struct Token {
    hash: TokenHash,
    known_at: usize,
    dead_at: Option<usize>,
}

impl Notes {
    fn is_taken(&mut self, member: &MemberId, token: &TokenHash, began: usize) {
        let mut tokens = self.tokens.get(member).into_iter().flatten();
        let used = tokens.find(|known| known.hash == *token);
        if used.and_then(|token| token.dead_at).is_some_and(|dead| dead < began) {
            self.broken = Some(format!("a token of {member} that was replaced was taken"));
        }
    }
}

impl Answers {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.step += 1;
        notes
    }

    /// The current step.
    pub(super) fn step(&self) -> usize {
        self.notes().step
    }

    /// Notes a new token; those that existed when it was requested are revoked.
    pub(super) fn has_token(&self, member: &MemberId, hash: TokenHash, began: usize) {
        let mut notes = self.notes();
        let now = notes.step;
        let tokens = notes.tokens.entry(member.clone()).or_default();
        for old in tokens.iter_mut().filter(|old| old.known_at < began) {
            old.dead_at.get_or_insert(now);
        }
        tokens.push(Token { hash, known_at: now, dead_at: None });
    }

    /// The newest token, most of the time.
    pub(super) fn some_token(&self, id: &MemberId, roll: impl Fn(usize) -> usize) -> TokenHash {
        let notes = self.notes();
        let tokens = &notes.tokens[id];
        let back = if roll(4) == 0 { roll(tokens.len()) } else { 0 };
        tokens[tokens.len() - 1 - back].hash
    }

    pub(super) fn heard_of_session(&self, session: Arc<Session>) {
        self.notes().sessions.push(session);
    }

    /// The newest session, most of the time.
    pub(super) fn some_session(&self, roll: impl Fn(usize) -> usize) -> Arc<Session> {
        let notes = self.notes();
        let back = if roll(4) == 0 { roll(notes.sessions.len()) } else { 0 };
        Arc::clone(&notes.sessions[notes.sessions.len() - 1 - back])
    }

    pub(super) fn heard_of_take(
        &self,
        sent: &Submission,
        token: &TokenHash,
        began: usize,
        answer: Result<&Arc<Take>, &SubmitError>,
    ) {
        let mut notes = self.notes();
        match answer {
            Ok(take) => {
                let tokens = notes.tokens.get(&sent.draft().member_id);
                let used = tokens.into_iter().flatten().find(|known| known.hash == *token);
                if used.and_then(|token| token.dead_at).is_some_and(|dead| dead < began) {
                    notes.broken =
                        Some(format!("a token that was replaced filed take {}", take.id));
                }
                notes.tally.accepted += 1;
                notes.accepted.push(Arc::clone(take));
            }
            Err(Error::Refused(_)) => notes.tally.refused += 1,
            Err(_) => {
                notes.tally.unanswered += 1;
                notes.unanswered.insert(canonical(sent.draft()));
            }
        }
    }

    /// Notes that a token was accepted, by a call that began at this step.
    pub(super) fn heard_of_bearer(&self, member: &MemberId, token: &TokenHash, began: usize) {
        self.notes().is_taken(member, token, began);
    }

    pub(super) fn heard_of_application(&self, id: &MemberId) {
        self.notes().newcomer = Some(id.clone());
    }

    pub(super) fn heard_of_activation(&self) {
        self.notes().is_activated = true;
    }

    pub(super) fn heard_of_claim(&self, token: TokenHash) {
        let mut notes = self.notes();
        notes.tally.claimed += 1;
        notes.claimed.push(token);
    }

    /// Keeps snapshots and takes as they were first read; later reads must be the same.
    pub(super) fn saw(&self, session: &Session, takes: &[Arc<Take>]) {
        let mut notes = self.notes();
        if let Some(snapshot) = &session.snapshot {
            notes.snapshots.entry(session.id).or_insert_with(|| Arc::clone(snapshot));
        }
        for take in takes {
            notes.seen.entry(take.id).or_insert_with(|| Arc::clone(take));
        }
    }
}

/// Checks at the end, without chaos.
impl Answers {
    pub(super) async fn look_back(
        &self,
        fixture: &TestTenant,
        tenant: &Tenant,
    ) -> Result<Tally, String> {
        let sessions =
            fixture.sessions(&SessionQuery { limit: 1_000, ..SessionQuery::default() }).await;
        let mut on_file = HashMap::new();
        for session in &sessions {
            let takes = fixture.takes(session.id).await;
            self.compare_snapshot(session)?;
            on_file.extend(takes.into_iter().map(|take| (take.id, take)));
        }
        self.compare_takes(&on_file)?;
        replay(tenant, &sessions, on_file).await?;
        self.compare_newcomer(fixture).await?;
        let mut tally = self.notes().tally;
        tally.aggregated = sessions.iter().filter(|session| session.snapshot.is_some()).count();
        self.notes().broken.clone().map_or(Ok(tally), Err)
    }

    fn compare_snapshot(&self, session: &Session) -> Result<(), String> {
        match self.notes().snapshots.get(&session.id) {
            Some(seen) if session.snapshot.as_ref() != Some(seen) => {
                Err(format!("the snapshot of session {} changed", session.id))
            }
            _ => Ok(()),
        }
    }

    fn compare_takes(&self, on_file: &HashMap<TakeId, Arc<Take>>) -> Result<(), String> {
        let notes = self.notes();
        let mut accepted = HashSet::new();
        for take in &notes.accepted {
            if on_file.get(&take.id) != Some(take) {
                return Err(format!("take {} was accepted and is not on file as it was", take.id));
            }
            if !accepted.insert(canonical(take.draft())) {
                return Err(format!("take {} was accepted twice", take.id));
            }
        }
        for take in notes.seen.values() {
            if on_file.get(&take.id) != Some(take) {
                return Err(format!("take {} was shown and is not on file as it was", take.id));
            }
        }
        for take in on_file.values() {
            let text = canonical(take.draft());
            if !accepted.contains(&text) && !notes.unanswered.contains(&text) {
                return Err(format!("take {} was refused and is on file", take.id));
            }
        }
        Ok(())
    }

    async fn compare_newcomer(&self, fixture: &TestTenant) -> Result<(), String> {
        let mail = fixture.messages(None, None).await.len();
        let bearers = self.notes().claimed.clone();
        let Some(id) = self.notes().newcomer.clone() else { return Ok(()) };
        let Some(member) = fixture.member(&id).await.member else {
            return Err(format!("the application of {id} was accepted and is not on file"));
        };
        if self.notes().is_activated && mail != 1 {
            return Err(format!("{mail} messages say that {id} was approved"));
        }
        match &bearers[..] {
            [] => Ok(()),
            [token] if member.record.token == Some(*token) => Ok(()),
            others => Err(format!("{} tokens were given to {id}, or a dead one", others.len())),
        }
    }
}
