//! The cost to `redis-server` of a script that does nothing: a lower bound for committing a take.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use redis::Script;
use redis::aio::MultiplexedConnection;
use swarm_core::proof::canonical;
use swarm_core::{Submission, Timestamp};

/// As long as a stored take without its id and time.
pub(crate) fn record(take: &Submission) -> String {
    let [key, signature] = [32, 64].map(|bytes| STANDARD.encode(vec![1; bytes]));
    format!("100 1 {key} {signature} {}", canonical(take.draft()))
}

/// Runs the script with the same number of keys and arguments as the commit of a take, this record among them.
pub(crate) async fn call(mut connection: MultiplexedConnection, record: String) {
    let script = Script::new("return 1");
    let mut call = script.prepare_invoke();
    call.key("swarm:{64-0}:session:100:takes").key("swarm:{64-0}:log").key("swarm:{64-0}:takes");
    call.arg("3b241101-e2bb-4255-8caf-000000000001").arg(1).arg(100).arg(1);
    call.arg(Timestamp::EPOCH.millis()).arg("nonce-100").arg("0123456789abcdef0123456789abcdef");
    call.arg(0).arg(1).arg(record);
    call.arg("2:on10:2026-11-2111:subject-100").arg(1).arg(10_000).arg("t 10000 1795000000000");
    // As the store's commits do, so that the server reads as much at a time.
    tokio::task::yield_now().await;
    let _: u8 = call.invoke_async(&mut connection).await.expect("it answers");
}
