//! Documents: `id created length key`, and right after the key of so many bytes, the text.

use swarm_core::store::{Document, Put};

use super::{Corrupt, Decoded, Words};

pub(crate) fn decode_document(row: &str) -> Decoded<Document> {
    let mut words = Words(row);
    let (id, created_at) = (words.number()?, words.timestamp()?);
    let (key, json) = (words.text()?.to_owned(), words.rest().to_owned());
    Ok(Document { id, key, json, created_at })
}

/// What came of a write of `json`: `exists`, `stale`, or what was done, and `id created key`.
pub(crate) fn decode_put(outcome: &str, json: &str) -> Decoded<Put> {
    match outcome {
        "exists" => return Ok(Put::Exists),
        "full" => return Ok(Put::Full),
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
