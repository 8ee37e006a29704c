//! The texts of log entries, compared with the recorded ones (`vectors/log`), and those on a session.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use serde_json::Value;
use swarm_core::domain::{LogLine, Seq, Timestamp};
use swarm_core::service::LogQuery;
use swarm_core::{SessionId, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::{log_scenario, session_draft};

const RECORDED: &str = include_str!("../../../vectors/log/entries.jsonl");

#[tokio::test]
async fn acts_on_a_session_are_its_entries_in_the_log() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    log_scenario(store.into(), || ()).await;
    let (one, other) = (tenant(&server).await, tenant(&server).await);
    let of_session = |text: &String| text.contains(r#""session":{"id":1,"#);
    let acts: Vec<_> = entries(&one).await.into_iter().filter(of_session).collect();
    assert!(!acts.is_empty());
    assert_eq!(texts(&one.acts_on(SessionId(1)).await.unwrap()), acts);
    let by = swarm_core::domain::Attribution::SCHEDULE;
    let session = other.convene(&session_draft("aurora"), &by).await.unwrap();
    let acts = other.acts_on(session.id).await.unwrap();
    assert_eq!((session.id.0, acts[0].seq.0, acts[0].at), (3, 39, session.convened_at));
}

#[tokio::test]
async fn log_entries_have_the_recorded_texts() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    log_scenario(store.into(), || ()).await;
    let entries = entries(&tenant(&server).await).await;
    for text in &entries {
        assert_eq!(LogLine::read(text).map(|line| line.text()), Ok(text.clone()));
    }
    let recorded: Vec<_> = RECORDED.lines().map(timeless).collect();
    assert_eq!(entries.iter().map(|text| timeless(text)).collect::<Vec<_>>(), recorded);
}

/// The entry without the values that differ per run: times, day, and digests over them.
fn timeless(text: &str) -> Value {
    let mut entry: Value = serde_json::from_str(text).unwrap();
    if entry["kind"].as_str().unwrap().starts_with("committee") && entry["date"] != "2030-01-01" {
        entry["date"] = Value::Null;
    }
    remove_times(&mut entry);
    entry
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(remove_times),
        Value::String(text) if text.starts_with("sha256:") => *value = Value::Null,
        Value::String(text) if Timestamp::parse("at", text).is_ok() => *value = Value::Null,
        _ => {}
    }
}

async fn tenant(server: &Server) -> Tenant {
    let store = RedisStore::connect(&server.url()).await.unwrap();
    Swarm::new(store, SystemEntropy).tenant(&TenantId::parse("acme").unwrap())
}

async fn entries(tenant: &Tenant) -> Vec<String> {
    let page = tenant.log(&LogQuery::all(Seq(0), 1_000)).await.unwrap();
    page.lines().map(LogLine::text).collect()
}

fn texts(lines: &[LogLine]) -> Vec<String> {
    lines.iter().map(LogLine::text).collect()
}
