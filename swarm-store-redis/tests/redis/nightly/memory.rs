//! Memory use of takes and submissions: the numbers in `README.md`.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::TakeDraft;
use swarm_core::domain::{Body, Day};
use swarm_core::store::{CommitteeFiled, Filed, Saved};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::judged;

use crate::world::{committee, draft, joined, open};

/// With ids and nonces as long as UUIDs, and a body of 48 characters.
#[tokio::test(flavor = "multi_thread")]
async fn take_uses_less_than_a_kibibyte_besides_its_body() {
    const MEMBERS: usize = 200;
    const SESSIONS: usize = 50;
    let server = Server::start(&["--appendonly", "no"]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    let mut authors = Vec::new();
    for number in 0..MEMBERS {
        authors.push(joined(&store, &format!("{number:036}")).await);
    }
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        sessions.push(store.convene(&draft(&format!("subject {number}"))).await.unwrap());
    }
    let body = Body::parse("Words that a member might write about a subject.").unwrap();
    let before = used(&server);
    for (index, session) in sessions.iter().enumerate() {
        for author in &authors {
            let draft =
                TakeDraft { body: body.clone(), ..author.draft(session, &format!("{index:036}")) };
            let submission = author.sign(draft);
            let filing = judged(&author.basis(&store, &submission).await.unwrap(), &submission);
            assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
        }
    }
    let each = (used(&server) - before) / (MEMBERS * SESSIONS);
    println!("{each} bytes for each of {} takes", MEMBERS * SESSIONS);
    print_usage(&server);
    assert!((500..1_024).contains(&each), "{each}");
}

/// One by each member on each day, with ids as long as UUIDs, and a body of 1,000 characters.
#[tokio::test(flavor = "multi_thread")]
async fn submission_uses_about_a_kibibyte_besides_its_body() {
    const MEMBERS: usize = 200;
    const DAYS: usize = 50;
    const BODY: usize = 1_000;
    let server = Server::start(&["--appendonly", "no"]);
    let store = committee::open(&RedisStore::connect(&server.url()).await.unwrap());
    let names: Vec<String> = (0..MEMBERS).map(|number| format!("{number:036}")).collect();
    committee::convened(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let before = used(&server);
    for day in 0..DAYS {
        let mut opening = committee::opening(&names[0]);
        let date = format!("2027-{:02}-{:02}", 1 + day / 25, 1 + day % 25);
        opening.day.date = Day::parse(&date).unwrap();
        assert_eq!(store.save_committee_day(&opening).await.unwrap(), Saved::Saved);
        for name in &names {
            let filing = committee::judged(&store, name, &format!("{day:0859}")).await;
            let filed = store.file_committee(&filing).await.unwrap();
            let CommitteeFiled::Filed(take) = filed else { panic!("{filed:?}") };
            assert_eq!(take.body.as_str().len(), BODY);
        }
    }
    let each = (used(&server) - before) / (MEMBERS * DAYS) - BODY;
    println!("{each} bytes beside the body for each of {} submissions", MEMBERS * DAYS);
    print_usage(&server);
    assert!((768..1_280).contains(&each), "{each}");
}

fn print_usage(server: &Server) {
    for key in ["records", "order", "log"] {
        let key = format!("swarm:{{acme}}:{key}");
        println!("{key}: {}", server.cli(&["memory", "usage", &key, "samples", "0"]).trim());
    }
}

fn used(server: &Server) -> usize {
    let info = server.cli(&["info", "memory"]);
    let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    line.trim().parse().unwrap()
}
