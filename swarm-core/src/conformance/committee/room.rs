//! What the cases share: a committee of their own, members in it, and takes submitted by them.

use std::sync::Arc;
use std::time::Duration;

use super::records::{attempt, draft, posted};
use crate::conformance::fixture::{Counter, unique};
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeSettings,
    CommitteeTake, GenerationOrder,
};
use crate::domain::json::{self, Json, Object};
use crate::domain::{AttemptId, Day, SecretHash, Subject, TenantId, Timestamp};
use crate::proof::ApiKey;
use crate::rules::Versioned;
use crate::rules::committee::{CommitteeRefusal, judge};
use crate::service::{CommitteeError, CommitteeTenant, Committees, Receipt};
use crate::store::{
    Collection, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeStore, CommitteeTakesQuery,
    CommitteeTenants, DocumentDraft, Put, Saved,
};

/// One tenant's committee, which no other case and no other run has touched.
#[derive(Clone)]
pub(super) struct Room {
    tenants: Arc<dyn CommitteeTenants>,
    pub(super) id: TenantId,
    store: Arc<dyn CommitteeStore>,
}

impl Room {
    pub(super) async fn fresh(tenants: Arc<dyn CommitteeTenants>) -> Self {
        let lobby = TenantId::parse("conformance").unwrap();
        let now = tenants.open_committee(&lobby).now().await.unwrap().millis();
        let id = format!("conformance-c-{now}-{}-{}", std::process::id(), unique());
        Self::open(tenants, TenantId::parse(id).unwrap())
    }

    pub(super) fn open(tenants: Arc<dyn CommitteeTenants>, id: TenantId) -> Self {
        Self { store: tenants.open_committee(&id), tenants, id }
    }

    /// The same committee, under the rules.
    pub(super) fn desk(&self) -> CommitteeTenant {
        let committees = Committees::new(Arc::clone(&self.tenants), Counter);
        committees.tenant(&self.id, CommitteeSettings::default())
    }

    /// Waits until the store's clock is past `moment`.
    pub(super) async fn pass(&self, moment: Timestamp) {
        while self.now().await <= moment {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// The methods of the port, for a store that answers: where it cannot, the case ends.
macro_rules! answers {
    ($($method:ident as $call:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Room {$(
            pub(super) async fn $call(&self, $($name: $type),*) -> $answer {
                self.store.$method($($name),*).await.unwrap()
            }
        )*}
    };
}

answers! {
    now as now() -> Timestamp;
    committee_members as members() -> Vec<Versioned<CommitteeMember>>;
    save_committee_member as save_member(change: &CommitteeMemberChange) -> Saved;
    committee_day as day(date: Day) -> Option<Versioned<CommitteeDay>>;
    committee_sessions as sessions(query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>>;
    save_committee_day as save_day(change: &CommitteeDayChange) -> Saved;
    committee_briefs as briefs(date: Day, member: Option<&CommitteeMemberId>)
        -> Vec<Arc<CommitteeBrief>>;
    committee_basis as basis(key: &SecretHash) -> CommitteeBasis;
    file_committee as file(filing: &CommitteeFiling) -> CommitteeFiled;
    committee_takes as takes(query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>>;
}

impl Room {
    /// Creates a member; its key.
    pub(super) async fn seat(&self, name: &str) -> ApiKey {
        self.desk().create_member(&draft(name)).await.unwrap()
    }

    /// Writes a day that must be writable as it is.
    pub(super) async fn put_day(&self, change: &CommitteeDayChange) {
        assert_eq!(self.save_day(change).await, Saved::Saved);
    }

    /// Puts a subject on file.
    pub(super) async fn put_subject(&self, id: &str) {
        let fields: [(&str, Json); 2] = [("id", id.into()), ("name", "Aurora".into())];
        let subject = Subject::read(&mut object(fields.into())).unwrap();
        let draft = DocumentDraft {
            key: Some(id.to_owned()),
            group: String::new(),
            json: json::write(&subject),
            replace: false,
            guard: None,
        };
        let put = self.store.put_document(Collection::Subjects, &draft).await.unwrap();
        assert!(matches!(put, Put::Created(_)));
    }

    /// Generates the briefs of today with this deadline; the day.
    pub(super) async fn generated(&self, deadline: Timestamp) -> Day {
        let order = GenerationOrder { subject_id: None, deadline: Some(deadline) };
        self.desk().generate(&order).await.unwrap().date
    }

    /// Judges a submission about the day `date` by the facts of the moment, whichever day is the
    /// latest.
    pub(super) async fn judged(&self, key: &ApiKey, date: Day, mark: &str) -> CommitteeFiling {
        self.judged_as(key, date, mark, attempt()).await
    }

    pub(super) async fn judged_as(
        &self,
        key: &ApiKey,
        date: Day,
        mark: &str,
        attempt: AttemptId,
    ) -> CommitteeFiling {
        let facts = self.basis(&key.hash()).await;
        let facts = CommitteeBasis { session: self.day(date).await, ..facts };
        let settings = CommitteeSettings::default();
        judge(&facts, settings.key_prefix(), key, &posted(mark), attempt).unwrap()
    }

    /// Files a submission about the day `date`.
    pub(super) async fn filed(&self, key: &ApiKey, date: Day, mark: &str) -> Arc<CommitteeTake> {
        filed(self.file(&self.judged(key, date, mark).await).await)
    }

    /// All submissions of a day.
    pub(super) async fn takes_on(&self, date: Day) -> Vec<Arc<CommitteeTake>> {
        self.takes(&CommitteeTakesQuery::On(&[date])).await
    }
}

/// The record that was filed.
#[track_caller]
pub(super) fn filed(outcome: CommitteeFiled) -> Arc<CommitteeTake> {
    match outcome {
        CommitteeFiled::Filed(take) => take,
        other => panic!("not filed: {other:?}"),
    }
}

/// The receipt, or why there is none: a store that cannot answer ends the case.
#[track_caller]
pub(super) fn answered(
    outcome: Result<Receipt, CommitteeError>,
) -> Result<Receipt, CommitteeRefusal> {
    outcome.map_err(|error| match error {
        CommitteeError::Refused(refusal) => refusal,
        other => panic!("no answer: {other:?}"),
    })
}

fn object(json: Json) -> Object {
    json.into_object()
}
