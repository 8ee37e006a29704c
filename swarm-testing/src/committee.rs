//! Fixtures for the committee (interface B): a committee of its own for each test, and minimal records.

use std::sync::Arc;
use std::time::Duration;

use swarm_core::answers::CommitteeReceipt;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberDraft, CommitteeMemberId,
    CommitteeSettings, CommitteeStatus, CommitteeTake, Generation, GenerationOrder, Voice,
};
use swarm_core::domain::json::{self, Json, Object};
use swarm_core::domain::{
    Actor, ApiKeyHash, AttemptId, Day, Lens, LogRow, Name, Seq, Subject, TenantId, Timestamp,
};
use swarm_core::proof::ApiKey;
use swarm_core::rules::committee::{CommitteeRefusal, judge};
use swarm_core::service::{CommitteeError, CommitteeTenant, Committees};
use swarm_core::store::{
    Collection, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, DocumentDraft, LogPosition,
    Put, Records, Saved, Store, Versioned,
};

use crate::assertions::{ensure, expect_eq, fail};
use crate::{Counter, act, day, moment, subject, unique};

/// A test committee, the counterpart of [`TestTenant`](crate::TestTenant).
#[derive(Clone)]
pub struct TestCommittee {
    tenants: Store,
    /// The tenant.
    pub id: TenantId,
    store: Records,
}

impl TestCommittee {
    /// The committee of a new tenant. Its name is unique even if earlier runs used the same store.
    pub async fn fresh(tenants: impl Into<Store>) -> Self {
        let tenants = tenants.into();
        let lobby = TenantId::parse("conformance").unwrap();
        let now = tenants.open(&lobby).now().await.unwrap().millis();
        let id = format!("conformance-c-{now}-{}-{}", std::process::id(), unique());
        Self::open(tenants, TenantId::parse(id).unwrap())
    }

    /// Opens the committee of this tenant.
    pub fn open(tenants: impl Into<Store>, id: TenantId) -> Self {
        let tenants = tenants.into();
        Self { store: tenants.open(&id), tenants, id }
    }

    /// The store, for calls that may fail.
    pub fn store(&self) -> &Records {
        &self.store
    }

    /// The service for this committee.
    pub fn service(&self) -> CommitteeTenant {
        let committees = Committees::new(self.tenants.clone(), Counter);
        committees.tenant(&self.id, CommitteeSettings::default())
    }

    /// The number of the last row of the log.
    pub async fn log_size(&self) -> Seq {
        self.log_position().await.size
    }

    /// Waits until the store's clock is past `moment`.
    pub async fn pass(&self, moment: Timestamp) {
        while self.now().await <= moment {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl std::fmt::Debug for TestCommittee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestCommittee({:?})", self.id)
    }
}

macro_rules! answers {
    ($($method:ident as $call:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// The methods of [`Records`]. They panic when the store returns an error.
        impl TestCommittee {$(
            #[doc = concat!("`", stringify!($method), "` of its records.")]
            pub async fn $call(&self, $($name: $type),*) -> $answer {
                self.store.$method($($name),*).await.unwrap()
            }
        )*}
    };
}

answers! {
    now as now() -> Timestamp;
    committee_members as members() -> Vec<Versioned<CommitteeMember>>;
    committee_member as member(id: &CommitteeMemberId) -> Option<Versioned<CommitteeMember>>;
    save_committee_member as save_member(change: &CommitteeMemberChange) -> Saved;
    committee_day as day(date: Day) -> Option<Versioned<CommitteeDay>>;
    committee_sessions as sessions(query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>>;
    save_committee_day as save_day(change: &CommitteeDayChange) -> Saved;
    committee_briefs as briefs(date: Day, member: Option<&CommitteeMemberId>)
        -> Vec<Arc<CommitteeBrief>>;
    committee_basis as basis(key: &ApiKeyHash) -> CommitteeBasis;
    file_committee as file(filing: &CommitteeFiling) -> CommitteeFiled;
    committee_takes as takes(query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>>;
    log as log(after: Seq, limit: usize) -> Vec<LogRow>;
    log_position as log_position() -> LogPosition;
}

/// Common steps of tests.
impl TestCommittee {
    /// Creates a member and returns its key.
    pub async fn seat(&self, name: &str) -> ApiKey {
        self.service().create_member(&draft(name), &Actor::OPERATOR).await.unwrap()
    }

    /// Writes a day; panics if it is stale.
    pub async fn put_day(&self, change: &CommitteeDayChange) {
        expect_eq!(self.save_day(change).await, Saved::Saved);
    }

    /// Stores a subject.
    pub async fn put_subject(&self, id: &str) {
        let fields: [(&str, Json); 2] = [("id", id.into()), ("name", "Aurora".into())];
        let subject = Subject::read(&mut object(fields.into())).unwrap();
        let draft = DocumentDraft {
            key: Some(id.to_owned()),

            json: json::write(&subject),
            ..DocumentDraft::default()
        };
        let put = self.store.put_document(Collection::Subjects, &draft).await.unwrap();
        ensure!(matches!(put, Put::Created(_)), "a new document", put);
    }

    /// Generates the briefs of today with this deadline, and returns the day.
    pub async fn generated(&self, deadline: Timestamp) -> Day {
        let order = GenerationOrder { subject_id: None, deadline: Some(deadline) };
        self.service().generate(&order, &Actor::SCHEDULE).await.unwrap().date
    }

    /// Judges a submission for the day `date` on the current facts, even if that is not the latest
    /// day.
    pub async fn judged(&self, key: &ApiKey, date: Day, mark: &str) -> CommitteeFiling {
        self.judged_as(key, date, mark, attempt()).await
    }

    /// As [`judged`](Self::judged), with this attempt id.
    pub async fn judged_as(
        &self,
        key: &ApiKey,
        date: Day,
        mark: &str,
        attempt: AttemptId,
    ) -> CommitteeFiling {
        let facts = self.basis(&key.hash()).await;
        let facts = CommitteeBasis { session: self.day(date).await, ..facts };
        let settings = CommitteeSettings::default();
        let judged = judge(&facts, settings.key_prefix(), key, &posted(mark), attempt);
        judged.unwrap_or_else(|refusal| {
            let expected = "facts on which the rules accept it";
            fail("a submission", &expected, &(refusal, facts), format_args!(""))
        })
    }

    /// Files a submission for the day `date`.
    pub async fn filed(&self, key: &ApiKey, date: Day, mark: &str) -> Arc<CommitteeTake> {
        filed(self.file(&self.judged(key, date, mark).await).await)
    }

    /// All submissions of a day.
    pub async fn takes_on(&self, date: Day) -> Vec<Arc<CommitteeTake>> {
        self.takes(&CommitteeTakesQuery::On(&[date])).await
    }
}

/// The filed record; panics for any other outcome.
#[track_caller]
pub fn filed(outcome: CommitteeFiled) -> Arc<CommitteeTake> {
    match outcome {
        CommitteeFiled::Filed(take) => take,
        other => fail("a filing", &"Filed", &other, format_args!("")),
    }
}

/// The receipt or the refusal; panics when the store returns an error.
#[track_caller]
pub fn answered(
    outcome: Result<CommitteeReceipt, CommitteeError>,
) -> Result<CommitteeReceipt, CommitteeRefusal> {
    outcome.map_err(|error| match error {
        CommitteeError::Refused(refusal) => refusal,
        other => panic!("no answer: {other:?}"),
    })
}

fn object(json: Json) -> Object {
    json.into_object()
}

/// Parses a member id.
pub fn id(text: &str) -> CommitteeMemberId {
    CommitteeMemberId::parse(text).unwrap()
}

/// A time in the far future.
pub fn far() -> Timestamp {
    moment("2999-12-31T23:59:59.999Z")
}

/// A member to create.
pub fn draft(name: &str) -> CommitteeMemberDraft {
    CommitteeMemberDraft {
        id: id(name),
        name: Name::parse("Ada").unwrap(),
        lens: Lens::parse("").unwrap(),
        voice: Voice::parse("").unwrap(),
    }
}

/// An active member.
pub fn member(name: &str) -> CommitteeMember {
    let CommitteeMemberDraft { id, name: called, lens, voice } = draft(name);
    CommitteeMember {
        id,
        name: called,
        lens,
        voice,
        status: CommitteeStatus::Active,
        created_at: Timestamp::EPOCH,
        key: key(name).hash(),
    }
}

/// The key of the member with this name; derived from the name.
pub fn key(text: &str) -> ApiKey {
    ApiKey::parse(&format!("ic_{text}_{}", "0".repeat(32))).unwrap()
}

/// The change that creates a member.
pub fn creation(member: &CommitteeMember) -> CommitteeMemberChange {
    CommitteeMemberChange { member: member.clone(), expected: None, operator_act: None }
}

/// A day with generated briefs and a deadline in the far future.
pub fn open_day(date: &str, about: &str) -> CommitteeDay {
    let generation = Generation {
        withdrawn: 0,
        subject_id: subject(about),
        deadline: far(),
        generated_at: Timestamp::EPOCH,
        briefs: 0,
    };
    CommitteeDay { generation: Some(generation), ..CommitteeDay::blank(day(date)) }
}

/// The change that creates a day, without briefs.
pub fn first_save(day: &CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day: day.clone(), expected: None, briefs: None, act: act("first") }
}

/// The change that replaces a stored day.
pub fn next_save(judged: &Versioned<CommitteeDay>, day: CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day, expected: Some(judged.version), briefs: None, act: act("next") }
}

/// A brief with `mark` in its text.
pub fn brief(member: &str, mark: &str) -> CommitteeBrief {
    CommitteeBrief {
        member_id: id(member),
        generated_at: Timestamp::EPOCH,
        head: format!("{mark}{{"),
        tail: format!("}}{mark}"),
    }
}

/// The body of a submission with `mark` in its text.
pub fn posted(mark: &str) -> Vec<u8> {
    let body = format!(
        "REGIME {mark}\nALLOCATION {pad}\nSUBJECT\nSTANCE: neutral | CONFIDENCE: 0.5",
        pad = "x".repeat(80)
    );
    let fields: [(&str, Json); 3] =
        [("stance", "neutral".into()), ("confidence", 0.5.into()), ("body", Json::Text(body))];
    json::write(&Json::from(fields)).into_bytes()
}

/// A new attempt id.
pub fn attempt() -> AttemptId {
    AttemptId(u128::from(unique()).to_le_bytes())
}
