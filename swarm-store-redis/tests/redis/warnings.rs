//! `connect` logs a warning about settings that may lose acknowledged records.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

#[tokio::test]
async fn connect_logs_unsafe_settings() {
    assert_eq!(logged(&[]).await, "");
    let slow = logged(&["--appendfsync", "everysec"]).await;
    assert!(slow.contains("WARN") && slow.contains("appendfsync is everysec"), "{slow}");
    let none = logged(&["--appendonly", "no"]).await;
    assert!(none.contains("WARN") && none.contains("appendonly is no"), "{none}");
}

/// What is logged when a store connects to a server with these options.
async fn logged(options: &[&str]) -> String {
    let server = Server::start(options);
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // Set for this thread only; the test's runtime has no other.
    let _here = tracing_subscriber::util::SubscriberInitExt::set_default(subscriber);
    RedisStore::connect(&server.url()).await.unwrap();
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
