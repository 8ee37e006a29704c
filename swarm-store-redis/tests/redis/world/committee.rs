//! Helpers for tests of a committee through stores that may fail.

use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::domain::Day;
use swarm_core::domain::committee::{CommitteeBrief, CommitteeSettings};
use swarm_core::rules::committee::judge;
use swarm_core::store::{
    CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange,
    CommitteeTakesQuery, Records, Result, Saved,
};
use swarm_store_redis::RedisStore;
use swarm_testing::committee::{attempt, creation, first_save, key, member, open_day, posted};
use swarm_testing::day;

/// The same tenant's committee, through any store of the same server.
pub(crate) fn open(store: &RedisStore) -> Records {
    store.open(&TenantId::parse("acme").unwrap())
}

pub(crate) fn today() -> Day {
    day("2026-11-21")
}

/// The write of a new member.
pub(crate) fn seat(name: &str) -> CommitteeMemberChange {
    creation(&member(name))
}

/// The first write of the day, with a brief for a member, and no deadline in practice.
pub(crate) fn opening(name: &str) -> CommitteeDayChange {
    let opened = first_save(&open_day("2026-11-21", "aurora"));
    CommitteeDayChange { briefs: Some(vec![brief(name)]), ..opened }
}

pub(crate) fn brief(name: &str) -> CommitteeBrief {
    swarm_testing::committee::brief(name, "")
}

/// Saves these members and a generated day.
pub(crate) async fn convened(store: &Records, names: &[impl AsRef<str>]) {
    for name in names {
        let seat = seat(name.as_ref());
        assert_eq!(store.save_committee_member(&seat).await.unwrap(), Saved::Saved);
    }
    assert_eq!(store.save_committee_day(&opening("ada")).await.unwrap(), Saved::Saved);
}

/// A submission with this mark, judged by the current facts. Panics if the store fails.
pub(crate) async fn judged(store: &Records, name: &str, mark: &str) -> CommitteeFiling {
    try_judge(store, name, mark).await.unwrap()
}

/// A submission with this mark, judged by the current facts; an error if the store fails.
pub(crate) async fn try_judge(store: &Records, name: &str, mark: &str) -> Result<CommitteeFiling> {
    let key = key(name);
    let facts = store.committee_basis(&key.hash()).await?;
    let settings = CommitteeSettings::default();
    Ok(judge(&facts, settings.key_prefix(), &key, &posted(mark), attempt()).unwrap())
}

/// The marks of the stored submissions, in the order of their commits.
pub(crate) async fn marks(store: &Records) -> Vec<String> {
    let takes = store.committee_takes(&CommitteeTakesQuery::On(&[today()])).await.unwrap();
    let mark = |body: &str| body.lines().next().unwrap().trim_start_matches("REGIME ").to_owned();
    takes.iter().map(|take| mark(take.body.as_str())).collect()
}

/// Calls each method of the committee that runs a script, with a call of `forget` before each.
pub(crate) async fn walk(store: &Records, forget: impl Fn()) {
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
