//! Documents: `id created length key`, and directly after the key of `length` bytes, the text.

use swarm_core::store::{Document, DocumentPage, Put};

use super::{Corrupt, Decoded, Words};

pub(crate) fn encode_document(document: &Document) -> String {
    let Document { id, key, json, created_at } = document;
    format!("{id} {} {} {key}{json}", created_at.millis(), key.len())
}

pub(crate) fn decode_document(row: &str) -> Decoded<Document> {
    let mut words = Words(row);
    let (id, created_at) = (words.number()?, words.timestamp()?);
    let (key, json) = (words.text()?.to_owned(), words.rest().to_owned());
    Ok(Document { id, key, json, created_at })
}

/// Decodes the rows of a page; the last one is empty if there are more.
pub(crate) fn decode_page(rows: &[String]) -> Decoded<DocumentPage> {
    let (rows, more) = match rows.split_last() {
        Some((last, rows)) if last.is_empty() => (rows, true),
        _ => (rows, false),
    };
    let documents = rows.iter().map(|row| decode_document(row)).collect::<Decoded<_>>()?;
    Ok(DocumentPage { documents, more })
}

/// Decodes the outcome of a write of `json`: `exists`, `full`, `no room`, `stale`, or `created` or `replaced`
/// followed by `id created key`.
pub(crate) fn decode_put(outcome: &str, json: &str) -> Decoded<Put> {
    match outcome {
        "exists" => return Ok(Put::Exists),
        "full" => return Ok(Put::Full),
        "no room" => return Ok(Put::NoRoom),
        "stale" => return Ok(Put::Stale),
        _ => {}
    }
    let mut words = Words(outcome);
    let done = words.next()?;
    let (id, created_at) = (words.number()?, words.timestamp()?);
    let (key, json) = (words.rest().to_owned(), json.to_owned());
    let document = Document { id, key, json, created_at };
    match done {
        "created" => Ok(Put::Created(document)),
        "replaced" => Ok(Put::Replaced(document)),
        _ => Err(Corrupt::new(outcome)),
    }
}
