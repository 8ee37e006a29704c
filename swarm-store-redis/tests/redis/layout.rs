//! Records of an older release are migrated to this release's layout; those of a newer one are refused.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;
use std::fmt::Debug;

use swarm_core::domain::Seq;
use swarm_core::store::Collection::{self, Subjects};
use swarm_core::store::{
    Basis, DocumentDraft, DocumentQuery, DocumentQuota, Filed, MemberTakeQuery, Put, Result,
    SessionList, Store, StoreErrorKind, SummaryQuery, TakeQuery,
};
use swarm_core::{Session, TakeId, Tenants};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, takes_of};

use crate::world::{ALL, draft, facts, joined, judged, open};

const MARK: &str = "swarm:{acme}:layout";
const NEWEST: &str = "swarm:layout";
const LOG: &str = "swarm:{acme}:log";
const TAKES: &str = "swarm:{acme}:takes";

#[tokio::test]
async fn tenant_is_marked_by_its_first_write() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), []);
    assert_eq!(server.cli(&["dbsize"]).trim(), "0");
    open(&store).convene(&draft("subject")).await.unwrap();
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "8\n8\n");
}

#[tokio::test]
async fn tenant_without_a_mark_is_migrated_by_its_first_call() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let session = open(&store).convene(&draft("subject")).await.unwrap();
    server.cli(&["del", MARK, NEWEST]);

    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    assert_eq!(store.sessions(&ALL).await.unwrap(), [session]);
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "8\n8\n");
}

/// Layout 2: the last row of the log contains its time.
#[tokio::test]
async fn migration_from_layout_1_adds_the_time_of_the_last_row() {
    let server = Server::start(&[]);
    let connect = async || RedisStore::connect(&server.url()).await.unwrap();
    let ada = joined(&*open(&connect().await), "ada").await;
    let session = open(&connect().await).convene(&draft("subject")).await.unwrap();
    let filing = judged(&*open(&connect().await), &ada, &session, "nonce").await;
    assert!(matches!(open(&connect().await).file(&filing).await.unwrap(), Filed::Filed(_)));
    let written = server.cli(&["lindex", LOG, "-1"]);
    server.cli(&["lset", LOG, "-1", "t 1"]);
    server.cli(&["mset", MARK, "1", NEWEST, "1"]);
    let rows = open(&connect().await).log(Seq(0), 9).await.unwrap();
    assert_eq!(server.cli(&["lindex", LOG, "-1"]), written);
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "8\n8\n");
    assert_eq!(rows.last().unwrap().at.millis().to_string(), written[4..].trim());
}

/// Layout 3: everything that a filing compares and writes is in the hash of the takes.
#[tokio::test]
async fn migration_from_any_layout_keeps_all_facts_of_takes() {
    for layout in ["0", "1", "2"] {
        let server = Server::start(&["--appendonly", "no"]);
        let connect = async || open(&RedisStore::connect(&server.url()).await.unwrap());
        let store = connect().await;
        let ada = joined(&*store, "ada").await;
        for number in 0..MANY {
            store.convene(&draft(&number.to_string())).await.unwrap();
        }
        store.convene(&draft("subject")).await.unwrap();
        let session = store.convene(&draft("subject")).await.unwrap();
        let file = async |store: &dyn Store, nonce| {
            let filing = judged(store, &ada, &session, nonce).await;
            let Filed::Filed(take) = store.file(&filing).await.unwrap() else { panic!("{nonce}") };
            (filing, take)
        };
        file(&*store, "first").await;
        let (filing, second) = file(&*store, "second").await;
        let written = everything(&*store, &ada, &session).await;
        let fields = number(&server.cli(&["hlen", TAKES]));
        server.cli(&["eval", OLDER, "0", layout, &MANY.to_string()]);
        assert_eq!(server.cli(&["hlen", TAKES]).trim(), "2");

        let (store, other) = (connect().await, connect().await);
        let (one, two) =
            tokio::join!(everything(&*store, &ada, &session), everything(&*other, &ada, &session));
        assert_eq!((one, two), (written.clone(), written), "layout {layout}");
        assert_eq!(server.cli(&["mget", MARK, NEWEST]), "8\n8\n");
        let left = ["nonces", "revisions", "superseded"].map(|key| format!("swarm:{{acme}}:{key}"));
        assert_eq!(server.cli(&["exists", &left[0], &left[1], &left[2]]).trim(), "0");
        assert_eq!(number(&server.cli(&["hlen", TAKES])), fields + MANY);

        assert_eq!(store.file(&filing).await.unwrap(), Filed::Filed(second));
        let spent = facts(&*store, &ada, &session, "first").await.unwrap().spent.unwrap();
        assert_eq!(spent.id, TakeId(1));
        let (_, third) = file(&*store, "third").await;
        assert_eq!((third.id, third.revision.get()), (TakeId(3), 3));
    }
}

fn number(text: &str) -> usize {
    text.trim().parse().unwrap()
}

/// More entries than one step of a migration moves.
const MANY: usize = 1_200;

/// Rewrites the records in an older layout, with `MANY` more nonces.
const OLDER: &str = include_str!("layout/older.lua");

/// All reads of takes: the basis of a new take, the takes of a session and of a member, and single takes. And the
/// sessions of a subject.
async fn everything(store: &dyn Store, ada: &Author, session: &Session) -> String {
    let Basis { now: _, member, session: newest, latest, spent } =
        facts(store, ada, session, "other").await.unwrap();
    let takes = takes_of(store, session.id).await.unwrap();
    let last = store.session_takes(&TakeQuery::latest(session.id)).await.unwrap();
    let (one, two) = tokio::join!(store.take(TakeId(1)), store.take(TakeId(2)));
    let by_ada = MemberTakeQuery { member: ada.id.clone(), before: None, limit: 9 };
    let by_ada = store.member_takes(&by_ada).await.unwrap();
    let list = SessionList::About(session.subject_id.clone());
    let about = SummaryQuery { list, limit: 9, ..SummaryQuery::default() };
    let about = store.session_summaries(&about).await.unwrap();
    assert_eq!((by_ada.len(), about.len()), (1, 2));
    format!(
        "{member:?} {newest:?} {latest:?} {spent:?} {takes:?} {last:?} {one:?} {two:?} {by_ada:?} {about:?}"
    )
}

/// Layout 5: documents are listed by key, and their size is counted.
#[tokio::test]
async fn migration_to_layout_5_lists_documents_by_key_and_counts_their_size() {
    let server = Server::start(&["--appendonly", "no"]);
    let connect = async || open(&RedisStore::connect(&server.url()).await.unwrap());
    let draft = |key: String, most| DocumentDraft {
        key: Some(key),
        group: "group".to_owned(),
        json: "\u{e9}".repeat(5),
        replace: false,
        guard: None,
        quota: Some(DocumentQuota::default().with_max_bytes(most)),
        act: None,
    };
    let store = connect().await;
    for number in 0..250 {
        let draft = draft(format!("{number:03}"), u64::MAX);
        assert!(matches!(store.put_document(Subjects, &draft).await.unwrap(), Put::Created(_)));
    }
    for collection in Collection::ALL {
        let draft = draft("key".to_owned(), u64::MAX);
        assert!(matches!(store.put_document(collection, &draft).await.unwrap(), Put::Created(_)));
    }
    let subjects = "swarm:{acme}:documents:subjects:index";
    assert_eq!(server.cli(&["zremrangebylex", subjects, "[3:key", "(3:l"]).trim(), "251");
    server.cli(&["hdel", "swarm:{acme}:counters", "document-bytes"]);
    server.cli(&["mset", MARK, "4", NEWEST, "4"]);

    let (store, other) = (connect().await, connect().await);
    let query = DocumentQuery {
        after: Some("099".to_owned()),
        limit: 500,
        bytes: usize::MAX,
        without_texts: true,
    };
    let (page, again) =
        tokio::join!(store.document_page(Subjects, &query), other.document_page(Subjects, &query));
    let page = page.unwrap();
    assert_eq!(page, again.unwrap());
    let keys: Vec<_> = page.documents.iter().map(|document| document.key.clone()).collect();
    let expected = (100..250).map(|number| format!("{number:03}")).chain(["key".to_owned()]);
    assert_eq!(keys, expected.collect::<Vec<_>>());
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "8\n8\n");
    let full = store.put_document(Subjects, &draft("new".to_owned(), 2_539)).await.unwrap();
    assert_eq!(full, Put::NoRoom);
    let full = store.put_document(Subjects, &draft("new".to_owned(), 2_540)).await.unwrap();
    assert!(matches!(full, Put::Created(_)), "{full:?}");
}

#[tokio::test]
async fn newer_layout_is_refused_by_connect_and_ready() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    store.ready().await.unwrap();
    server.cli(&["set", NEWEST, "9"]);
    is_newer(store.ready().await);
    is_newer(RedisStore::connect(&server.url()).await.map(|_| ()));
}

#[tokio::test]
async fn tenant_of_a_newer_layout_is_neither_read_nor_written() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    server.cli(&["set", MARK, "9"]);
    is_newer(store.sessions(&ALL).await);
    is_newer(store.convene(&draft("subject")).await);
    assert_eq!(server.cli(&["keys", "*"]).trim(), MARK);
    server.cli(&["set", MARK, "first"]);
    let error = store.now().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

fn is_newer<T: Debug>(outcome: Result<T>) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    let why = error.source().unwrap().to_string();
    assert!(why.contains("have layout 9") && why.contains("up to 8"), "{why}");
}
