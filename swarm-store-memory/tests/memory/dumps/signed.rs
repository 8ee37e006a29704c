//! Signed dumps: no value can be changed without the key, also where nothing else binds it.

use std::collections::BTreeSet;
use std::ops::Range;

use swarm_core::domain::Digest;
use swarm_core::proof::DumpKey;
use swarm_core::proof::log_key::ServerSecret;
use swarm_store_memory::MemoryStore;

use crate::dumps::desk::{Dump, desk, restored};

fn key(seed: u8) -> DumpKey {
    ServerSecret::new([seed; 32]).dump_key().unwrap()
}

#[tokio::test]
async fn signature_names_its_key() {
    let store = desk().await;
    let dump = Dump::signed(&store, Some(&key(7))).await;
    let totals = restored(&dump.text(), &MemoryStore::new()).await.unwrap();
    assert_eq!(Some(totals.signature.unwrap().key), key(7).public_key());
    assert_ne!(key(7).public_key(), key(8).public_key());
    assert_eq!(Dump::signed(&store, Some(&key(7))).await.text(), dump.text());
    let unsigned = restored(&Dump::of(&store).await.text(), &MemoryStore::new()).await.unwrap();
    assert_eq!(unsigned.signature, None);
}

#[tokio::test]
async fn every_changed_value_of_a_signed_dump_is_refused() {
    let store = desk().await;
    let [signed, unsigned] = [Dump::signed(&store, Some(&key(7))).await, Dump::of(&store).await];
    let (mut kinds, mut accepted) = (BTreeSet::new(), 0);
    for place in 0..unsigned.lines.len() - 1 {
        for value in values(&unsigned.lines[place]) {
            if !kinds.insert(value.kind.clone()) {
                continue;
            }
            let changed = |dump: &Dump| {
                let mut dump = dump.clone();
                let line = &mut dump.lines[place];
                line.replace_range(value.place.clone(), &value.changed);
                refit(&mut dump);
                dump.text()
            };
            let read = restored(&changed(&signed), &MemoryStore::new()).await;
            assert!(read.is_err(), "line {}: {value:?} is accepted", place + 1);
            accepted +=
                usize::from(restored(&changed(&unsigned), &MemoryStore::new()).await.is_ok());
        }
    }
    // Of what nothing but the signature binds.
    assert!(kinds.len() > 150 && accepted > 20, "{} kinds, {accepted} accepted", kinds.len());
}

#[tokio::test]
async fn changed_signature_is_refused() {
    let mut dump = Dump::signed(&desk().await, Some(&key(7))).await;
    let last = dump.lines.len() - 1;
    let other = key(8).public_key().unwrap().to_string();
    let claimed = dump.clone();
    dump.replace(last, &key(7).public_key().unwrap().to_string(), &other);
    let fault = restored(&dump.text(), &MemoryStore::new()).await.unwrap_err();
    assert!(fault.what.contains("the signature is not that of the lines before"), "{fault}");
    let mut dump = claimed;
    dump.replace(last, "\"lines\":", "\"lines\":1");
    restored(&dump.text(), &MemoryStore::new()).await.unwrap_err();
}

/// Nobody could serve what is in it.
#[tokio::test]
async fn document_that_cannot_be_read_is_refused() {
    let dump = Dump::of(&desk().await).await;
    let mut collections = BTreeSet::new();
    for place in 0..dump.lines.len() {
        let Some(rest) = dump.lines[place].strip_prefix("{\"document\":{\"collection\":\"") else {
            continue;
        };
        let collection = rest.split('"').next().unwrap().to_owned();
        let (before, text) = dump.lines[place].split_once("\"text\":\"").unwrap();
        assert!(text.ends_with("\"}}"));
        let mut dump = dump.clone();
        dump.lines[place] = format!("{before}\"text\":\"no document\"}}}}");
        dump.seal();
        let fault = restored(&dump.text(), &MemoryStore::new()).await.unwrap_err();
        assert!(fault.what.contains("cannot be read"), "{collection}: {fault}");
        assert_eq!(fault.line, place as u64 + 1, "{fault}");
        collections.insert(collection);
    }
    assert!(collections.len() >= 6, "{collections:?}");
}

/// Makes the SHA-256 in the last line that of the lines before, and changes nothing else there.
fn refit(dump: &mut Dump) {
    let last = dump.lines.pop().unwrap();
    let sha256 = Digest::of(dump.text().as_bytes()).to_string();
    let (before, after) = last.split_once("\"sha256\":\"").unwrap();
    let (_, after) = after.split_once('"').unwrap();
    dump.lines.push(format!("{before}\"sha256\":\"{sha256}\"{after}"));
}

/// A value in a line, and another value of the same form.
#[derive(Debug)]
struct Value {
    /// The kind of the line, and the keys above the value.
    kind: String,
    place: Range<usize>,
    changed: String,
}

/// The values of a line of JSON, but for objects and lists.
fn values(line: &str) -> Vec<Value> {
    let (mut found, mut keys, mut key) = (Vec::new(), Vec::new(), String::new());
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let end = at + length_of_token(&line[at..]);
        match first {
            '{' | '[' => keys.push(std::mem::take(&mut key)),
            '}' | ']' => key = keys.pop().unwrap(),
            ',' | ':' => {}
            '"' if line[end..].starts_with(':') => key = line[at + 1..end - 1].to_owned(),
            _ => {
                let collection = line.split("\"collection\":\"").nth(1);
                let collection = collection.and_then(|rest| rest.split('"').next());
                let act = line.split("\"act\":\"").nth(1).and_then(|rest| rest.split('"').next());
                let kind = format!("{} {key} {collection:?} {act:?}", keys.join("."));
                let changed = changed(&line[at..end]);
                found.extend(changed.map(|changed| Value { kind, place: at..end, changed }));
            }
        }
        at = end;
    }
    found
}

fn length_of_token(text: &str) -> usize {
    let mut letters = text.char_indices();
    let (_, first) = letters.next().unwrap();
    if first != '"' {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let length = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
        return length.max(1);
    }
    let mut is_escaped = false;
    let end = letters.find(|(_, letter)| {
        let is_end = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        is_end
    });
    end.unwrap().0 + 1
}

/// Another value of the same form: the last letter or digit is the next one. `None` if there is nothing to change.
fn changed(value: &str) -> Option<String> {
    match value {
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        "null" | "\"\"" => return None,
        _ => {}
    }
    let place = value.rfind(|letter: char| letter.is_ascii_alphanumeric() && letter != 'Z')?;
    let next = match value.as_bytes()[place] {
        b'9' => b'1',
        b'z' => b'a',
        b'Y' => b'A',
        other => other + 1,
    };
    let mut changed = value.to_owned();
    changed.replace_range(place..=place, &char::from(next).to_string());
    Some(changed)
}
