//! Calls while servers, connections and memory fail. A call takes effect once or not at all; when the
//! outcome is unknown, it returns an error of kind `Unavailable`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::domain::{MailState, MemberState, Message};
use swarm_core::rules::{Filing, Refusal};
use swarm_core::store::{
    Collection, Filed, MemberQuery, MemberSaved, MessageChange, MessageQuery, Put, Records, Saved,
    SessionChange, Versioned,
};
use swarm_core::{Session, SessionId, TakeId};
use swarm_redis_testing::{Proxy, Server, free_port};
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, takes_of};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::world::{
    ALL, BOUND, creation_with_mail, draft, joined, judged, nonces, open, put, recovered, walk,
};

/// A call may be retried after its connection was lost and reopened.
#[tokio::test]
async fn attempt_outcomes_expire_after_ten_minutes() {
    let (server, store) = serve(&[]).await;
    store.convene(&draft("subject")).await.unwrap();
    let attempt = server.cli(&["keys", "*attempt:*"]);
    let kept: u32 = server.cli(&["pttl", attempt.trim()]).trim().parse().unwrap();
    assert!((9 * 60_000..=10 * 60_000).contains(&kept), "{kept} ms");
}

#[tokio::test]
async fn text_of_a_script_is_sent_once() {
    let (server, store) = serve(&[]).await;
    let other = open(&RedisStore::connect(&server.url()).await.unwrap());
    for store in [&store, &other, &store] {
        store.now().await.unwrap();
        assert_eq!(server.calls("eval"), 1);
    }
}

#[tokio::test]
async fn scripts_are_sent_again_after_a_flush() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    walk(&store, || drop(server.cli(&["script", "flush"]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_succeed_after_the_server_restarts() {
    let (mut server, store) = serve(&[]).await;
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    for round in 0..2 {
        let acknowledged = judged(&store, &author, &session, &format!("{round} up")).await;
        assert!(matches!(store.file(&acknowledged).await.unwrap(), Filed::Filed(..)));
        let filing = judged(&store, &author, &session, &format!("{round} down")).await;
        server.stop();
        for _ in 0..3 {
            assert!(timeout(BOUND, store.now()).await.unwrap().is_err());
            assert!(timeout(BOUND, store.file(&filing)).await.unwrap().is_err());
        }
        server.resume();
        recovered(&store).await;
        assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    }
    let filed = nonces(&store, &session).await;
    assert_eq!(filed, ["0 up", "0 down", "1 up", "1 down"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_to_a_stalled_server_time_out() {
    let (server, store) = serve(&[]).await;
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let filing = judged(&store, &author, &session, "nonce").await;
    server.signal("STOP");
    assert!(timeout(BOUND, store.file(&filing)).await.unwrap().is_err());
    server.signal("CONT");
    recovered(&store).await;
    assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    assert_eq!(nonces(&store, &session).await, ["nonce"]);
}

/// For example when a host is gone, or a firewall has dropped the connection.
#[tokio::test(flavor = "multi_thread")]
async fn silent_connection_is_replaced() {
    let (server, direct) = serve(&[]).await;
    let proxy = Proxy::in_front_of(server.port).await;
    let store = open(&RedisStore::connect(&proxy.url("redis")).await.unwrap());
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let filing = judged(&store, &author, &session, "nonce").await;
    proxy.mute();
    assert!(timeout(BOUND, store.file(&filing)).await.unwrap().is_err());
    assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    assert_eq!(nonces(&direct, &session).await, ["nonce"]);
}

/// For example when another server has taken over behind the same name.
#[tokio::test(flavor = "multi_thread")]
async fn connection_to_a_demoted_primary_is_replaced() {
    for options in ["", "?wait=1"] {
        let (old, new) = (Server::start(&[]), Server::start(&[]));
        new.replicate_from(old.port);
        let proxy = Proxy::in_front_of(old.port).await;
        let url = proxy.url("redis") + options;
        let store = open(&RedisStore::connect(&url).await.unwrap());
        let session = store.convene(&draft("subject")).await.unwrap();
        let mut filings = Vec::new();
        for number in 0..40 {
            let author = joined(&store, &format!("member {number}")).await;
            filings.push(judged(&store, &author, &session, &format!("nonce {number}")).await);
        }

        // After this write the replica has all earlier writes.
        let waiting = RedisStore::connect(&format!("{}?wait=1", old.url())).await.unwrap();
        assert!(matches!(put(&open(&waiting), None).await.unwrap(), Put::Created(_)));
        new.cli(&["replicaof", "no", "one"]);
        old.replicate_from(new.port);
        proxy.forward_to(new.port);
        for filing in &filings {
            assert!(matches!(store.file(filing).await.unwrap(), Filed::Filed(..)));
        }
        let direct = open(&RedisStore::connect(&new.url()).await.unwrap());
        assert_eq!(nonces(&direct, &session).await.len(), filings.len());
    }
}

/// With calls and answers lost in transit, up to twice.
#[tokio::test(flavor = "multi_thread")]
async fn filing_takes_effect_at_most_once() {
    const FILINGS: usize = 50;
    let (server, direct) = serve(&[]).await;
    let proxy = Proxy::in_front_of(server.port).await;
    let lossy = open(&RedisStore::connect(&proxy.url("redis")).await.unwrap());
    let session = direct.convene(&draft("subject")).await.unwrap();
    let warm = joined(&direct, "warm").await;
    let warm = judged(&direct, &warm, &session, "warm").await;
    assert!(matches!(lossy.file(&warm).await.unwrap(), Filed::Filed(..)));

    for number in 0..FILINGS {
        let nonce = format!("nonce {number}");
        let author = joined(&direct, &format!("member {number}")).await;
        let filing = judged(&direct, &author, &session, &nonce).await;
        // The store retries once: only two losses make the call fail.
        let (calls, answers) = [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (1, 1)][number % 6];
        proxy.drop_next(calls, answers);
        let outcome = timeout(BOUND, lossy.file(&filing)).await.unwrap();
        let filed = nonces(&direct, &session).await.iter().filter(|it| **it == nonce).count();
        match outcome {
            Ok(Filed::Filed(..)) => assert_eq!((filed, calls + answers < 2), (1, true)),
            Err(_) => assert_eq!((filed, calls + answers), (usize::from(answers > 0), 2)),
            Ok(other) => panic!("{other:?} after losing {calls} calls and {answers} answers"),
        }
        // After an error the same filing may be sent again.
        recovered(&lossy).await;
        assert!(matches!(lossy.file(&filing).await.unwrap(), Filed::Filed(..)));
    }
    assert_eq!(nonces(&direct, &session).await.len(), 1 + FILINGS);
}

/// Other commits, too, take effect once and return the right outcome when the first answer is lost.
#[tokio::test(flavor = "multi_thread")]
async fn commits_take_effect_once_when_their_answer_is_lost() {
    let (server, direct) = serve(&[]).await;
    let proxy = Proxy::in_front_of(server.port).await;
    let lossy = open(&RedisStore::connect(&proxy.url("redis")).await.unwrap());
    walk(&RedisStore::connect(&proxy.url("redis")).await.unwrap(), || ()).await;

    proxy.drop_next(0, 1);
    let change = creation_with_mail(&Author::named("grace"));
    assert_eq!(lossy.save_member(&change).await.unwrap(), MemberSaved::Saved);
    let messages = direct.messages(&MessageQuery::ALL).await.unwrap();
    assert_eq!(messages.len(), 1);

    let Versioned { version, record } = messages[0].clone();
    let message = Message { state: MailState::Sent, ..Message::clone(&record) };
    proxy.drop_next(0, 1);
    let saved = lossy.save_message(&MessageChange::new(message, version)).await;
    assert_eq!(saved.unwrap(), Saved::Saved);

    proxy.drop_next(0, 1);
    let session = lossy.convene(&draft("other")).await.unwrap();
    assert_eq!(session.id, SessionId(2));
    assert_eq!(direct.sessions(&ALL).await.unwrap().len(), 2);

    let Versioned { version, record } = direct.session(session.id).await.unwrap().unwrap();
    let session = Session { quorum: Some(3), ..Session::clone(&record) };
    let act = draft("subject").act;
    let change = SessionChange {
        session: session.clone(),
        expected: version,
        takes: Some(0),
        takes_refusal: Refusal::TakesSealed,
        none_filed_after: None,
        withdrawn: false,
        acts: vec![act],
        opens: false,
    };
    proxy.drop_next(0, 1);
    assert_eq!(lossy.save_session(&change).await.unwrap(), Saved::Saved);
    let on_file = direct.session(session.id).await.unwrap().unwrap();
    assert_eq!((on_file.version, &*on_file.record), (version.next(), &session));

    for key in [None, Some("key")] {
        proxy.drop_next(0, 1);
        let outcome = put(&lossy, key).await.unwrap();
        let Put::Created(document) = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            direct.documents(Collection::Memos, None).await.unwrap().last(),
            Some(&document)
        );
    }
    assert_eq!(direct.documents(Collection::Memos, None).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_write_nothing_when_the_server_is_out_of_memory() {
    let (server, store) = serve(&[]).await;
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let filing = judged(&store, &author, &session, "nonce").await;
    let held = server.cli(&["dbsize"]);

    server.cli(&["config", "set", "maxmemory", "1"]);
    assert!(store.file(&filing).await.is_err());
    assert!(store.convene(&draft("other")).await.is_err());
    assert!(store.save_member(&creation_with_mail(&Author::named("grace"))).await.is_err());
    assert!(put(&store, None).await.is_err());
    let mut change = creation_with_mail(&author);
    change.expected = Some(swarm_core::domain::Version(1));
    assert!(store.save_member(&change).await.is_err());
    assert_eq!(takes_of(&store, session.id).await.unwrap(), []);
    assert_eq!(server.cli(&["dbsize"]), held);

    server.cli(&["config", "set", "maxmemory", "0"]);
    assert_eq!(store.sessions(&ALL).await.unwrap(), [Arc::clone(&session)]);
    assert_eq!(store.members(&MemberQuery::in_states(&MemberState::ALL)).await.unwrap().len(), 1);
    assert_eq!(store.messages(&MessageQuery::ALL).await.unwrap(), []);
    assert_eq!(store.documents(Collection::Memos, None).await.unwrap(), []);
    let Filed::Filed(take, _) = store.file(&filing).await.unwrap() else { panic!("not filed") };
    assert_eq!(take.id, TakeId(1));
    assert_eq!(store.convene(&draft("other")).await.unwrap().id, SessionId(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_racing_filings_through_two_stores_wins() {
    let (_server, one, other) = two_stores().await;
    let author = joined(&one, "ada").await;
    let session = one.convene(&draft("subject")).await.unwrap();
    let mut filings = Vec::new();
    for racer in 0..64 {
        filings.push(judged(&other, &author, &session, &racer.to_string()).await);
    }
    let outcomes = race([one.clone(), other], filings).await;
    let won = outcomes.iter().filter(|outcome| matches!(outcome, Filed::Filed(..))).count();
    let lost = outcomes.iter().filter(|outcome| **outcome == Filed::RevisionTaken).count();
    assert_eq!((won, lost), (1, 63));
    assert_eq!(takes_of(&one, session.id).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn filings_of_many_members_through_two_stores_all_succeed() {
    let (_server, one, other) = two_stores().await;
    let session = one.convene(&draft("subject")).await.unwrap();
    let mut filings = Vec::new();
    for racer in 0..64 {
        let author = joined(&one, &format!("member {racer}")).await;
        filings.push(judged(&other, &author, &session, "nonce").await);
    }
    let outcomes = race([one.clone(), other], filings).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Filed::Filed(..))));
    let ids: Vec<u64> =
        takes_of(&one, session.id).await.unwrap().iter().map(|take| take.id.0).collect();
    assert_eq!(ids, (1..=64).collect::<Vec<_>>());
}

/// For example when a server restarts without users that were not saved, until an operator creates them.
#[tokio::test]
async fn calls_succeed_after_a_deleted_user_is_created_again() {
    let server = Server::start(&[]);
    let user = || server.cli(&["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "+@all"]);
    user();
    let url = server.url().replace("://", "://swarm:secret@");
    let store = open(&RedisStore::connect(&url).await.unwrap());
    server.cli(&["acl", "deluser", "swarm"]);
    for _ in 0..3 {
        assert!(store.now().await.is_err());
    }
    user();
    store.now().await.unwrap();
}

#[tokio::test]
async fn connect_to_an_unreachable_address_is_an_error() {
    let port = free_port();
    for url in [
        format!("redis://127.0.0.1:{port}"),
        format!("redis-cluster://127.0.0.1:{port}"),
        "redis-cluster://".to_owned(),
        "http://127.0.0.1".to_owned(),
        "no address".to_owned(),
    ] {
        let connected = timeout(BOUND, RedisStore::connect(&url)).await.unwrap();
        assert!(connected.is_err(), "{url}");
    }
}

async fn serve(options: &[&str]) -> (Server, Records) {
    let server = Server::start(options);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    (server, store)
}

async fn two_stores() -> (Server, Records, Records) {
    let (server, one) = serve(&[]).await;
    let other = open(&RedisStore::connect(&server.url()).await.unwrap());
    (server, one, other)
}

/// Files all of them concurrently, alternating between the stores.
async fn race(stores: [Records; 2], filings: Vec<Filing>) -> Vec<Filed> {
    let mut racing = JoinSet::new();
    for (filing, store) in filings.into_iter().zip(stores.into_iter().cycle()) {
        racing.spawn(async move { store.file(&filing).await.unwrap() });
    }
    racing.join_all().await
}
