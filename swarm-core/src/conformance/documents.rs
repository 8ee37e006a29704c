//! Documents.

use std::sync::Arc;

use super::fixture::{World, count, race};
use super::records::odd_texts;
use crate::store::{Collection::Subjects, Document, Put, Tenants};

pub async fn collections_are_empty_at_first(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    assert_eq!(world.documents(Subjects).await, []);
    assert_eq!(world.document(Subjects, "key").await, None);
}

pub async fn a_document_replaces_the_one_with_its_key(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let other = document("other", "{}");
    assert_eq!(world.put_document(Subjects, &other).await, Put::Created);
    let mut outcome = Put::Created;
    for json in [r#"{"long":"text"}"#, "{}", "{}"] {
        let document = document("key", json);
        assert_eq!(world.put_document(Subjects, &document).await, outcome);
        assert_eq!(world.document(Subjects, "key").await, Some(document.clone()));
        assert_eq!(world.documents(Subjects).await, [document, other.clone()]);
        outcome = Put::Replaced;
    }
}

pub async fn the_text_of_a_document_survives_byte_for_byte(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let megabyte = format!("\"{}\"", "\u{1f680}".repeat(250_000));
    let texts = [
        "{ \"b\" : 1.0 ,\r\n\t\"a\":[ ], \"a\":{} }\n",
        "[0.30000000000000004,5e-324,-0,1e400,123456789012345678901234567890]",
        "\"\\u0061\\/\u{2028}\u{7f}\u{feff}e\u{301}\u{ffff}\"",
        "null",
        &megabyte,
    ];
    for text in texts {
        let written = document("key", text);
        let _ = world.put_document(Subjects, &written).await;
        assert!(world.document(Subjects, "key").await == Some(written));
    }
}

pub async fn documents_come_in_the_byte_order_of_their_keys(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let mut keys = odd_texts();
    keys.push(String::new());
    for key in &keys {
        let _ = world.put_document(Subjects, &document(key, "{}")).await;
    }
    keys.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    let listed = world.documents(Subjects).await.into_iter().map(|document| document.key);
    assert_eq!(listed.collect::<Vec<_>>(), keys);
}

pub async fn documents_with_odd_keys_are_not_confused(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let written: Vec<Document> =
        odd_texts().iter().map(|key| document(key, &format!("{key:?}"))).collect();
    for document in &written {
        assert_eq!(world.document(Subjects, &document.key).await, None);
        assert_eq!(world.put_document(Subjects, document).await, Put::Created);
    }
    for document in written {
        assert_eq!(world.document(Subjects, &document.key).await, Some(document));
    }
}

pub async fn of_racing_writes_of_one_key_one_creates(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let put = |racer: usize| {
        let (world, document) = (world.clone(), document("key", &racer.to_string()));
        async move { world.put_document(Subjects, &document).await }
    };
    let outcomes = race((0..32).map(put)).await;
    assert_eq!((count(&outcomes, &Put::Created), count(&outcomes, &Put::Replaced)), (1, 31));
    assert_eq!(world.documents(Subjects).await.len(), 1);
}

fn document(key: &str, json: &str) -> Document {
    Document { key: key.to_owned(), json: json.to_owned() }
}
