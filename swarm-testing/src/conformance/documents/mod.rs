//! Documents, and pages of a collection.

mod quota;

use swarm_core::domain::{Logged, Session, SessionId, Timestamp, Version};
use swarm_core::store::Collection::{Briefs, Memos, Subjects};
use swarm_core::store::{
    Act, Collection, Document, DocumentDraft, DocumentGuard, DocumentPage, DocumentQuery, Held,
    MemberSaved, Put, Saved, Store, Versioned,
};

use crate::assertions::{ensure, expect_eq};
use crate::{FIRST, TestTenant, act, applicant, id, odd_texts, race, session_draft};

pub use quota::*;

pub async fn collections_are_initially_empty(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.documents(Subjects, None).await, []);
    expect_eq!(tenant.documents(Subjects, Some("")).await, []);
    expect_eq!(tenant.document(Subjects, "key").await, None);
}

pub async fn document_ids_count_from_one_per_collection(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for collection in Collection::ALL {
        expect_eq!(tenant.last_document(collection).await, 0);
        for (id, key) in (1..).zip(["b", "a", "c"]) {
            let before = tenant.now().await;
            let created = created(tenant.put_document(collection, &draft(key, "{}")).await);
            ensure!(
                (before..=tenant.now().await).contains(&created.created_at),
                "a time by the store\'s clock, during the call",
                created.created_at
            );
            expect_eq!(created, document(id, key, "{}", created.created_at));
            expect_eq!(tenant.document(collection, key).await, Some(created));
            expect_eq!(tenant.last_document(collection).await, id);
        }
        let listed = tenant.documents(collection, None).await;
        expect_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 2, 3]);
    }
}

pub async fn document_without_key_gets_its_id_as_key(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for id in 1..=11_u64 {
        let unnamed = DocumentDraft { key: None, replace: false, ..draft("", "{}") };
        let created = created(tenant.put_document(Subjects, &unnamed).await);
        expect_eq!((created.id, created.key.clone()), (id, id.to_string()));
        expect_eq!(tenant.document(Subjects, &id.to_string()).await, Some(created));
    }
    let keys = (0..=12).rev().map(|id: u64| id.to_string()).collect();
    let found = tenant.documents_by_key(Subjects, keys).await;
    let ids: Vec<_> = found.iter().map(|found| found.id).collect();
    expect_eq!(ids, (1..=11).rev().collect::<Vec<_>>());
}

/// The text is replaced; the id and the time stay.
pub async fn document_replaces_the_one_with_its_key(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let other = created(tenant.put_document(Subjects, &draft("other", "{}")).await);
    let first = created(tenant.put_document(Subjects, &draft("key", "{}")).await);
    tenant.pass(first.created_at).await;
    for json in [r#"{"long":"text"}"#, "{}", "{}"] {
        let now = Document { json: json.to_owned(), ..first.clone() };
        let outcome = tenant.put_document(Subjects, &draft("key", json)).await;
        expect_eq!(outcome, Put::Replaced(now.clone()));
        expect_eq!(tenant.document(Subjects, "key").await, Some(now.clone()));
        expect_eq!(tenant.documents(Subjects, None).await, [other.clone(), now]);
    }
}

/// Until its session is opened, or another document that is not held replaces it.
pub async fn held_document_is_read_without_its_text(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convene(&session_draft("subject")).await;
    let held = Held { until: session.id, group: "group".to_owned() };
    for key in ["first", "second"] {
        let draft = DocumentDraft {
            group: held.group.clone(),
            held_until: Some(held.until),
            ..draft(key, "{}")
        };
        let whole = created(tenant.put_document(Memos, &draft).await);
        expect_eq!(whole, document(whole.id, key, "{}", whole.created_at));
        let held = Some(held.clone());
        let shown = Document { json: String::new(), held, ..whole.clone() };
        expect_reads(&tenant, &whole, &shown).await;
    }
    let json = r#"{"is":"shown"}"#;
    let shown = DocumentDraft { group: held.group.clone(), ..draft("first", json) };
    let Put::Replaced(shown) = tenant.put_document(Memos, &shown).await else {
        panic!("it was not replaced")
    };
    expect_reads(&tenant, &shown, &shown).await;
    tenant.amend(session.id, |session| session.opened_at = Some(session.convened_at)).await;
    let whole = tenant.whole_document(Memos, "second").await.unwrap();
    expect_reads(&tenant, &whole, &whole).await;
}

/// Expects that each read of this document returns `shown`.
async fn expect_reads(tenant: &TestTenant, whole: &Document, shown: &Document) {
    let key = whole.key.as_str();
    expect_eq!(tenant.whole_document(Memos, key).await.as_ref(), Some(whole));
    expect_eq!(tenant.document(Memos, key).await.as_ref(), Some(shown));
    let found = tenant.documents_by_key(Memos, vec![key.to_owned()]).await;
    expect_eq!(found, std::slice::from_ref(shown));
    for group in [None, Some("group")] {
        let listed = tenant.documents(Memos, group).await;
        ensure!(listed.contains(shown), "it is listed", (shown, listed));
    }
    let page = tenant.document_page(Memos, &from(None, 9)).await.documents;
    ensure!(page.contains(shown), "it is on the page", (shown, page));
}

pub async fn document_without_replace_keeps_the_existing_one(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let once = |json| DocumentDraft { replace: false, ..draft("key", json) };
    let first = created(tenant.put_document(Subjects, &once("1")).await);
    expect_eq!(tenant.put_document(Subjects, &once("2")).await, Put::Exists);
    expect_eq!(tenant.documents(Subjects, None).await, [first]);
}

pub async fn document_guards_the_version_of_its_member(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let guard = |name: &str, version: Version| DocumentGuard::Member(id(name), version);
    created(tenant.put_document(Subjects, &guarded("key", guard("ada", FIRST))).await);
    tenant.edit(&id("ada"), |_| {}).await;
    for (key, name, version) in
        [("key", "ada", FIRST), ("new", "ada", FIRST.next().next()), ("new", "grace", FIRST)]
    {
        let outcome = tenant.put_document(Subjects, &guarded(key, guard(name, version))).await;
        expect_eq!(outcome, Put::Stale);
    }
    expect_eq!(tenant.documents(Subjects, None).await.len(), 1);
    created(tenant.put_document(Subjects, &guarded("new", guard("ada", FIRST.next()))).await);
}

/// A member whose id is the same text does not matter.
pub async fn document_guards_the_version_of_its_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await.id;
    tenant.create(&applicant(&session.to_string())).await;
    tenant.create(&applicant("2")).await;
    created(tenant.put_document(Briefs, &guarded("key", of_session(session, FIRST))).await);
    tenant.amend(session, |_| {}).await;
    for (key, session, version) in [
        ("key", session, FIRST),
        ("new", session, FIRST),
        ("new", session, FIRST.next().next()),
        ("new", SessionId(2), FIRST),
    ] {
        let draft = guarded(key, of_session(session, version));
        let outcome = tenant.put_document(Briefs, &draft).await;
        expect_eq!(outcome, Put::Stale);
    }
    expect_eq!(tenant.documents(Briefs, None).await.len(), 1);
    created(tenant.put_document(Briefs, &guarded("new", of_session(session, FIRST.next()))).await);
}

pub async fn document_is_written_with_its_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let id = tenant.convened("subject").await.id;
    let Versioned { version, record } = tenant.session(id).await.unwrap();
    let session = Session { quorum: Some(7), ..Session::clone(&record) };
    let guard = DocumentGuard::ReplacedSession(session.into(), version);
    created(tenant.put_document(Briefs, &guarded("key", guard.clone())).await);
    let on_file = tenant.session(id).await.unwrap();
    expect_eq!((on_file.version, on_file.record.quorum), (version.next(), Some(7)));
    expect_eq!(tenant.put_document(Briefs, &guarded("other", guard)).await, Put::Stale);
}

/// Not only until the document is judged. The log shows whether a change was before it.
pub async fn document_guards_hold_until_the_commit(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await.id;
    tenant.create(&applicant("ada")).await;
    for round in 0..16 {
        let mut member = tenant.edited(&id("ada"), |_| {}).await;
        member.act = Some(act("member"));
        let amended = tenant.amended(session, |_| {}).await;
        let guard = match round % 2 {
            0 => DocumentGuard::Member(id("ada"), member.expected.unwrap()),
            _ => of_session(session, amended.expected),
        };
        let key = format!("key-{round}");
        let draft = DocumentDraft { act: Some(act(&key)), ..guarded(&key, guard) };
        let before = tenant.log_size().await;
        let run = |racer: usize| {
            let (tenant, draft) = (tenant.clone(), draft.clone());
            let (member, amended) = (member.clone(), amended.clone());
            async move {
                match racer {
                    0 => {
                        expect_eq!(tenant.save_member(&member).await, MemberSaved::Saved);
                        expect_eq!(tenant.save_session(&amended).await, Saved::Saved);
                        true
                    }
                    _ => matches!(tenant.put_document(Briefs, &draft).await, Put::Created(_)),
                }
            }
        };
        let is_created = race((0..2).map(run)).await[1];
        let rows = tenant.log(before, 9).await;
        let place = |act: Act| {
            rows.iter().position(|row| row.logged == Logged::Entry(act.entry(0, row.at)))
        };
        let changed = if round % 2 == 0 { act("member") } else { amended.acts[0].clone() };
        let is_first = place(act(&key)) < place(changed);
        ensure!(!is_created || is_first, "written before what it guards was changed", rows);
    }
}

pub async fn documents_are_found_by_group(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut groups = odd_texts();
    groups.push(String::new());
    for round in 0..2 {
        for group in &groups {
            let draft =
                DocumentDraft { group: group.clone(), ..draft(&format!("{round}{group}"), "{}") };
            created(tenant.put_document(Subjects, &draft).await);
            let replaced = tenant.put_document(Subjects, &draft).await;
            ensure!(
                matches!(replaced, Put::Replaced(_)),
                "a document in the place of another",
                replaced
            );
        }
    }
    for group in &groups {
        let found = tenant.documents(Subjects, Some(group)).await;
        let keys: Vec<_> = found.into_iter().map(|document| document.key).collect();
        expect_eq!(keys, [format!("0{group}"), format!("1{group}")]);
        expect_eq!(tenant.documents(Briefs, Some(group)).await, []);
    }
    expect_eq!(tenant.documents(Subjects, None).await.len(), 2 * groups.len());
}

pub async fn document_text_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let megabyte = format!("\"{}\"", "\u{1f680}".repeat(250_000));
    let texts = [
        "{ \"b\" : 1.0 ,\r\n\t\"a\":[ ], \"a\":{} }\n",
        "[0.30000000000000004,5e-324,-0,1e400,123456789012345678901234567890]",
        "\"\\u0061\\/\u{2028}\u{7f}\u{feff}e\u{301}\u{ffff}\"",
        "null",
        &megabyte,
    ];
    for text in texts {
        let _ = tenant.put_document(Subjects, &draft("key", text)).await;
        let read = tenant.document(Subjects, "key").await.unwrap().json;
        ensure!(read == text, "the text that was written", read);
    }
}

pub async fn odd_document_keys_are_distinct(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut keys = odd_texts();
    keys.push(String::new());
    for key in &keys {
        expect_eq!(tenant.document(Subjects, key).await, None);
        created(tenant.put_document(Subjects, &draft(key, &format!("{key:?}"))).await);
    }
    for key in &keys {
        expect_eq!(tenant.document(Subjects, key).await.unwrap().json, format!("{key:?}"));
    }
}

pub async fn concurrent_writes_of_one_key_create_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for replace in [true, false] {
        let key = format!("key {replace}");
        let put = |racer: usize| {
            let draft = DocumentDraft { replace, ..draft(&key, &racer.to_string()) };
            let tenant = tenant.clone();
            async move { tenant.put_document(Subjects, &draft).await }
        };
        let outcomes = race((0..32).map(put)).await;
        let won = outcomes.iter().filter(|outcome| matches!(outcome, Put::Created(_))).count();
        let lost = outcomes.iter().filter(|outcome| match outcome {
            Put::Created(_) => false,
            Put::Replaced(_) => replace,
            Put::Exists => !replace,
            Put::Full | Put::NoRoom | Put::Stale => false,
        });
        expect_eq!((won, lost.count()), (1, 31));
    }
    expect_eq!(tenant.documents(Subjects, None).await.len(), 2);
}

pub async fn concurrent_documents_get_consecutive_ids(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let add = |racer: usize| {
        let unnamed = DocumentDraft { key: None, ..draft("", &racer.to_string()) };
        let tenant = tenant.clone();
        async move { created(tenant.put_document(Subjects, &unnamed).await).id }
    };
    let mut ids = race((0..32).map(add)).await;
    ids.sort_unstable();
    expect_eq!(ids, (1..=32).collect::<Vec<_>>());
}

/// A document that may replace another.
fn draft(key: &str, json: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: Some(key.to_owned()),
        group: String::new(),
        json: json.to_owned(),
        replace: true,
        guard: None,
        quota: None,
        act: None,
    }
}

/// A document with this guard.
fn guarded(key: &str, guard: DocumentGuard) -> DocumentDraft {
    DocumentDraft { guard: Some(guard), ..draft(key, "{}") }
}

fn of_session(id: SessionId, version: Version) -> DocumentGuard {
    DocumentGuard::Session(id, version)
}

fn document(id: u64, key: &str, json: &str, created_at: Timestamp) -> Document {
    Document { id, key: key.to_owned(), json: json.to_owned(), created_at, held: None }
}

fn created(outcome: Put) -> Document {
    match outcome {
        Put::Created(document) => document,
        other => panic!("expected: a new document; actual: {other:?}"),
    }
}

/// By the bytes of their keys, whatever their groups and their ids.
pub async fn document_pages_are_complete(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let empty = DocumentPage { documents: Vec::new(), more: false };
    expect_eq!(tenant.document_page(Subjects, &from(None, 3)).await, empty);
    let mut keys: Vec<String> = odd_texts();
    keys.sort_unstable();
    let mut written = Vec::new();
    for (number, key) in keys.iter().rev().enumerate() {
        let group = (number % 3).to_string();
        let draft = DocumentDraft { group, ..draft(key, "{}") };
        written.push(created(tenant.put_document(Subjects, &draft).await));
    }
    created(tenant.put_document(Briefs, &draft("other", "{}")).await);
    written.reverse();
    for limit in [1, 2, 3, keys.len() - 1, keys.len(), 500] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = tenant.document_page(Subjects, &from(after, limit)).await;
            let is_whole = page.documents.len() == limit || !page.more;
            expect_eq!(is_whole, true, "with a limit of {limit}");
            found.extend(page.documents);
            after = found.last().map(|last: &Document| last.key.clone());
            if !page.more {
                break;
            }
        }
        expect_eq!(found, written, "with a limit of {limit}");
    }
    expect_eq!(tenant.document_page(Subjects, &from(keys.last().cloned(), 1)).await, empty);
}

/// The document with which the texts would exceed the size belongs to the next page, unless it is alone.
pub async fn document_pages_are_limited_in_size(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for (key, length) in [("a", 10), ("b", 5), ("c", 5), ("d", 1), ("e", 30)] {
        created(tenant.put_document(Subjects, &draft(key, &"1".repeat(length))).await);
    }
    let pages = [("", "a"), ("a", "bc"), ("b", "cd"), ("d", "e")];
    for (after, keys) in pages {
        let after = Some(after.to_owned()).filter(|after| !after.is_empty());
        let query = DocumentQuery { bytes: 10, ..from(after, 9) };
        let page = tenant.document_page(Subjects, &query).await;
        let found: String = page.documents.iter().map(|it| it.key.as_str()).collect();
        expect_eq!((found.as_str(), page.more), (keys, keys != "e"));
    }
    let keys = DocumentQuery { bytes: 10, without_texts: true, ..from(None, 9) };
    let page = tenant.document_page(Subjects, &keys).await;
    expect_eq!(page.documents.iter().all(|it| it.json.is_empty()), true);
    expect_eq!((page.documents.len(), page.more), (5, false));
}

fn from(after: Option<String>, limit: usize) -> DocumentQuery {
    DocumentQuery { after, limit, bytes: usize::MAX, without_texts: false }
}
