//! A minimal store in memory: members, sessions and takes. It supplies the facts for the rules, and
//! has no rules itself.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use swarm_core::domain::{
    AttemptId, Contact, Day, Lens, MemberState, Name, PublicKey, Salt, SessionDraft, SubjectId,
    TokenHash, Version,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::rules::judge;
use swarm_core::store::{Basis, Versioned};
use swarm_core::wire::Problem;
use swarm_core::{
    Member, MemberId, Refusal, Session, SessionId, Submission, Take, TakeDraft, TakeId, Timestamp,
};

use crate::vectors::files::{array, hex, own, unhex};

/// A member of the vectors, with its secrets.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Holder {
    pub(crate) member_id: String,
    seed: String,
    pub(crate) public_key: String,
    pub(crate) token: String,
    pub(crate) token_sha256: String,
}

impl Holder {
    pub(crate) fn keys(&self) -> KeyPair {
        KeyPair::from_seed(unhex(&self.seed)[..].try_into().unwrap())
    }
}

/// All members of the vectors.
pub(crate) fn holders() -> Vec<Holder> {
    array(&own("interop/members.json"))
}

/// The response to a refused request.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) error: String,
    pub(crate) original: Option<TakeId>,
}

impl Answer {
    pub(crate) fn new(status: u16, error: impl ToString) -> Self {
        Self { status, error: error.to_string(), original: None }
    }
}

/// Members by id, sessions, and takes in the order of filing.
pub(crate) struct Ledger {
    members: HashMap<String, Versioned<Member>>,
    sessions: Vec<Versioned<Session>>,
    takes: Vec<Arc<Take>>,
}

impl Ledger {
    /// A store with the members and sessions of the vectors, and without takes.
    pub(crate) fn seeded() -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Seat {
            date: String,
            subject_id: String,
        }
        let seats: Vec<Seat> = array(&own("interop/sessions.json"));
        let sessions = (1..).zip(seats).map(|(id, seat)| {
            let date = Day::parse(&seat.date).unwrap();
            let draft = SessionDraft::new(date, SubjectId::parse(seat.subject_id).unwrap());
            versioned(draft.convened(SessionId(id), Timestamp::EPOCH))
        });
        let mut ledger =
            Self { members: HashMap::new(), sessions: sessions.collect(), takes: vec![] };
        for holder in holders() {
            ledger.enlist(&holder);
        }
        ledger
    }

    fn enlist(&mut self, holder: &Holder) {
        let member = Member {
            id: MemberId::parse(&*holder.member_id).unwrap(),
            name: Name::parse("member").unwrap(),
            contact: Contact::parse("member@vectors.example").unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: Some(PublicKey::parse(&holder.public_key).unwrap()),
            state: MemberState::Claimed,
            applied_at: Timestamp::EPOCH,
            reviewed_at: Some(Timestamp::EPOCH),
            joined_at: Some(Timestamp::EPOCH),
            claimed_at: Some(Timestamp::EPOCH),
            token: Some(TokenHash::of(holder.token.as_bytes())),
            token_claimed_at: Some(Timestamp::EPOCH),
            used_claim: None,
        };
        self.members.insert(holder.member_id.clone(), versioned(member));
    }

    pub(crate) fn takes(&self) -> &[Arc<Take>] {
        &self.takes
    }

    /// Parses, judges and files a request with the token of `bearer`.
    pub(crate) fn submit(&mut self, bearer: &str, request: &[u8]) -> Result<Arc<Take>, Answer> {
        let body = Json::read(request).map_err(|error| Answer::new(400, error))?;
        let submission = Submission::read(&mut body.into_object())
            .map_err(Refusal::InvalidSubmission)
            .map_err(|refusal| Answer::new(Problem::from(&refusal).status(), refusal))?;
        self.file(bearer, &submission)
    }

    /// Judges and files a submission with the token of `bearer`.
    pub(crate) fn file(
        &mut self,
        bearer: &str,
        submission: &Submission,
    ) -> Result<Arc<Take>, Answer> {
        let basis = self.basis(bearer, submission.draft());
        let filing =
            judge(&basis, submission, AttemptId([0; 16]), Salt([0; 32])).map_err(|refused| {
                Answer {
                    original: refused.original,
                    ..Answer::new(Problem::from(&refused).status(), refused)
                }
            })?;
        let id = TakeId(self.takes.len() as u64 + 1);
        let take = Arc::new(filing.take(id, basis.now));
        self.takes.push(Arc::clone(&take));
        Ok(take)
    }

    fn basis(&self, bearer: &str, draft: &TakeDraft) -> Basis {
        let session = self.sessions.iter().find(|session| {
            session.record.date == draft.date && session.record.subject_id == draft.subject_id
        });
        let theirs = || self.takes.iter().filter(|take| take.draft().member_id.as_str() == bearer);
        let here = |take: &&Arc<Take>| session.is_some_and(|at| at.record.id == take.session_id);
        Basis {
            now: Timestamp::EPOCH,
            member: self.members.get(bearer).cloned(),
            session: session.map(|session| session.map(Session::terms)),
            latest: theirs().filter(here).map(|take| take.revision).max(),
            spent: theirs()
                .find(|take| take.draft().nonce == draft.nonce)
                .map(|take| Arc::clone(take).into()),
        }
    }
}

fn versioned<T>(record: T) -> Versioned<T> {
    Versioned { version: Version(1), record: Arc::new(record) }
}

/// The keys follow from the seeds, and the hashes from the tokens.
#[test]
fn keys_and_token_hashes_match_the_vectors() {
    for holder in holders() {
        assert_eq!(
            holder.keys().public_key().to_string(),
            holder.public_key,
            "{}",
            holder.member_id
        );
        let hash = TokenHash::of(holder.token.as_bytes());
        assert_eq!(hex(hash.as_bytes()), holder.token_sha256, "{}", holder.member_id);
        let configured = TokenHash::parse(&format!("sha256:{}", holder.token_sha256));
        assert_eq!(configured, Some(hash), "{}", holder.member_id);
    }
}
