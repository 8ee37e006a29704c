//! A committee, and submissions to it.

use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeSettings,
    CommitteeStatus, Generation, Voice,
};
use swarm_core::domain::{Actor, AttemptId, Day, Lens, Name, SubjectId, Timestamp, TokenHash};
use swarm_core::json::{self, Json};
use swarm_core::proof::ApiKey;
use swarm_core::rules::committee::{KnownDay, judge, set_subject};
use swarm_core::store::{
    CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange, CommitteeStore,
    CommitteeTakesQuery, CommitteeTenants as _, Result, Saved,
};
use swarm_store_redis::RedisStore;

/// The same tenant's committee, through any store of the same server.
pub(crate) fn open(store: &RedisStore) -> Arc<dyn CommitteeStore> {
    store.open_committee(&TenantId::parse("acme").unwrap())
}

pub(crate) fn today() -> Day {
    Day::parse("2026-11-21").unwrap()
}

/// The write of a new member.
pub(crate) fn seat(name: &str) -> CommitteeMemberChange {
    let member = CommitteeMember {
        id: id(name),
        name: Name::parse("Ada").unwrap(),
        lens: Lens::parse("").unwrap(),
        voice: Voice::parse("").unwrap(),
        status: CommitteeStatus::Active,
        created_at: Timestamp::EPOCH,
        key: key(name).hash(),
    };
    CommitteeMemberChange { member, expected: None }
}

/// The first write of the day, with a brief for a member; open for good.
pub(crate) fn opening(name: &str) -> CommitteeDayChange {
    let generation = Generation {
        subject_id: SubjectId::parse("aurora").unwrap(),
        deadline: Timestamp::parse("deadline", "2999-12-31T00:00:00Z").unwrap(),
        generated_at: Timestamp::EPOCH,
        briefs: 1,
    };
    let blank = KnownDay::new(today(), None);
    let opened = set_subject(&blank, &generation.subject_id, &Actor::SCHEDULE);
    CommitteeDayChange {
        day: CommitteeDay { generation: Some(generation), ..CommitteeDay::blank(today()) },
        expected: None,
        briefs: Some(vec![brief(name)]),
        act: opened.act,
    }
}

pub(crate) fn brief(name: &str) -> CommitteeBrief {
    let (head, tail) = ("{\"submit_to\":".to_owned(), "}".to_owned());
    CommitteeBrief { member_id: id(name), generated_at: Timestamp::EPOCH, head, tail }
}

/// A committee that is in session, with these members.
pub(crate) async fn convened(store: &dyn CommitteeStore, names: &[impl AsRef<str>]) {
    for name in names {
        let seat = seat(name.as_ref());
        assert_eq!(store.save_committee_member(&seat).await.unwrap(), Saved::Saved);
    }
    assert_eq!(store.save_committee_day(&opening("ada")).await.unwrap(), Saved::Saved);
}

/// A submission with this mark, judged by the facts of the moment.
pub(crate) async fn judged(store: &dyn CommitteeStore, name: &str, mark: &str) -> CommitteeFiling {
    try_judge(store, name, mark).await.unwrap()
}

/// The same, if the store answers.
pub(crate) async fn try_judge(
    store: &dyn CommitteeStore,
    name: &str,
    mark: &str,
) -> Result<CommitteeFiling> {
    let facts = store.committee_basis(&key(name).hash()).await?;
    let body = format!(
        "REGIME {mark}\nALLOCATION {}\nSUBJECT\nSTANCE: neutral | CONFIDENCE: 0.5",
        "x".repeat(80)
    );
    let fields: [(&str, Json); 3] =
        [("stance", "neutral".into()), ("confidence", 0.5.into()), ("body", Json::Text(body))];
    let posted = json::write(&Json::from(fields));
    let attempt = TokenHash::of(mark.as_bytes()).as_bytes()[..16].try_into().unwrap();
    let settings = CommitteeSettings::default();
    let (prefix, attempt) = (settings.key_prefix(), AttemptId(attempt));
    Ok(judge(&facts, prefix, &key(name), posted.as_bytes(), attempt).unwrap())
}

/// The marks of the submissions that are on file, in the order of their commits.
pub(crate) async fn marks(store: &dyn CommitteeStore) -> Vec<String> {
    let takes = store.committee_takes(&CommitteeTakesQuery::On(&[today()])).await.unwrap();
    let mark = |body: &str| body.lines().next().unwrap().trim_start_matches("REGIME ").to_owned();
    takes.iter().map(|take| mark(take.body.as_str())).collect()
}

/// Calls each method of the committee that runs a script; before each, `forget` is called.
pub(crate) async fn walk(store: &dyn CommitteeStore, forget: impl Fn()) {
    forget();
    assert_eq!(store.save_committee_member(&seat("ada")).await.unwrap(), Saved::Saved);
    forget();
    assert_eq!(store.save_committee_day(&opening("ada")).await.unwrap(), Saved::Saved);
    forget();
    assert_eq!(store.committee_briefs(today(), None).await.unwrap(), [Arc::new(brief("ada"))]);
    forget();
    let filing = judged(store, "ada", "mark").await;
    forget();
    assert!(matches!(store.file_committee(&filing).await.unwrap(), CommitteeFiled::Filed(_)));
    forget();
    assert_eq!(marks(store).await, ["mark"]);
}

pub(crate) fn id(name: &str) -> CommitteeMemberId {
    CommitteeMemberId::parse(name).unwrap()
}

fn key(name: &str) -> ApiKey {
    ApiKey::parse(&format!("ic_{name}_{}", "0".repeat(32))).unwrap()
}
