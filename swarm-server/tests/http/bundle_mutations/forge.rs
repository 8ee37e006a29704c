//! What an operator with all keys can do: sign takes, rewrite entries, and sign the log again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize as _;
use swarm_core::Session;
use swarm_core::domain::{Digest, LogEntry, LogLine, Signed, Take, TakeDraft, TokenHash};
use swarm_core::json::{Json, Object, write};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{KeyKind, NoteSigner};
use swarm_core::proof::tree::{self, Node, TreeHash};
use swarm_core::proof::{KeyPair, take_entry};

const ORIGIN: &str = "desk.example/swarm/log/acme";

pub(super) struct Forger {
    signer: NoteSigner,
    key: String,
}

impl Forger {
    pub(super) fn new() -> Self {
        let signer = NoteSigner::new(ORIGIN, KeyKind::Ed25519, &[42; 32]).unwrap();
        let key = signer.verifier().to_string();
        Self { signer, key }
    }

    /// The key of the log.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Signs each take that can be read by the key of its author, and writes its entry again.
    pub(super) fn sign_takes(bundle: &mut Object) {
        let mut entries = BTreeMap::new();
        for take in items(bundle, "takes") {
            let Json::Object(fields) = take else { continue };
            let Ok(draft) = TakeDraft::read(&mut fields.clone()) else { continue };
            let author = draft.member_id.as_str().to_owned();
            let keys = KeyPair::from_seed(TokenHash::of(author.as_bytes()).as_bytes());
            let Signed { signature, .. } = keys.sign(draft);
            fields.set("signature", signature.as_str().into());
            fields.set("publicKey", keys.public_key().to_string().as_str().into());
            if let Ok(read) = Take::deserialize(Json::Object(fields.clone())) {
                if let Some(seal) = read.seal() {
                    fields.set("sealed", seal.to_string().as_str().into());
                }
                entries.insert(read.id, Arc::new(read));
            }
        }
        each_entry(bundle, |line| {
            if let LogEntry::Take(entry) = &mut line.entry
                && let Some(take) = entries.get(&entry.id)
            {
                let session_version = entry.session_version;
                *entry = take_entry(take);
                entry.session_version = session_version;
                line.at = take.filed_at;
            }
        });
    }

    /// Writes the digests of the session into all acts on it, and its head into the last one.
    pub(super) fn log_session(bundle: &mut Object) {
        let Some(Json::Object(session)) = bundle.get_mut("session") else { return };
        let Ok(session) = Session::deserialize(Json::Object(session.clone())) else { return };
        let logged = swarm_core::rules::logged(&session);
        let mut last = None;
        each_entry(bundle, |line| {
            if matches!(line.entry, LogEntry::Session(_)) {
                last = last.max(Some(line.seq));
            }
        });
        each_entry(bundle, |line| {
            let (seq, LogEntry::Session(act)) = (line.seq, &mut line.entry) else { return };
            let snapshot = session.snapshot.as_ref().map(|it| Digest::of_json(&**it));
            act.session.buckets_digest = logged.buckets_digest;
            act.session.snapshot_digest = act.session.snapshot_digest.and(snapshot);
            if Some(seq) == last {
                act.session = logged.clone();
            }
        });
    }

    /// Gives each entry the place that its text says, and signs a tree with these entries.
    pub(super) fn sign_log(&self, bundle: &mut Object) {
        let mut leaves: BTreeMap<u64, TreeHash> = BTreeMap::new();
        for row in items(bundle, "entries") {
            let Json::Object(fields) = row else { continue };
            let Ok(text) = fields.clone().text("entry") else { continue };
            let Some(seq) = seq_of(&text).filter(|seq| (1..=200).contains(seq)) else { continue };
            fields.set("index", number(seq - 1));
            leaves.insert(seq - 1, TreeHash::leaf(text.as_bytes()));
        }
        let size = leaves.keys().next_back().map_or(1, |last| last + 3);
        let leaf = |index: u64| leaves.get(&index).copied().unwrap_or_else(TreeHash::empty);
        let read = |Node { level, index }| {
            let first = index << level;
            let leaves: Vec<_> = (first..first + (1 << level)).map(leaf).collect();
            Ok::<_, ()>(TreeHash::complete(&leaves))
        };
        for row in items(bundle, "entries") {
            let Json::Object(fields) = row else { continue };
            let Ok(Some(index)) = fields.clone().whole_if_any("index") else { continue };
            if index < size {
                let proof = tree::inclusion(index, size, read).unwrap();
                let proof = proof.iter().map(|hash| Json::from(&*hash.to_string()));
                fields.set("proof", proof.collect());
            }
        }
        let root = tree::root(size, read).unwrap();
        let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size, root }.sign(&self.signer);
        bundle.set("checkpoint", checkpoint.to_string().as_str().into());
    }
}

/// The items of a list of the bundle.
pub(super) fn items<'a>(bundle: &'a mut Object, name: &str) -> &'a mut [Json] {
    match bundle.get_mut(name) {
        Some(Json::List(items)) => items,
        _ => &mut [],
    }
}

/// Changes each entry that can be read.
fn each_entry(bundle: &mut Object, mut change: impl FnMut(&mut LogLine)) {
    for row in items(bundle, "entries") {
        let Json::Object(fields) = row else { continue };
        let Ok(text) = fields.clone().text("entry") else { continue };
        if let Ok(mut line) = LogLine::read(&text) {
            change(&mut line);
            fields.set("entry", line.text().as_str().into());
        }
    }
}

fn seq_of(text: &str) -> Option<u64> {
    Json::read(text.as_bytes()).ok()?.into_object().whole_if_any("seq").ok()?
}

fn number(number: u64) -> Json {
    Json::read(write(&number).as_bytes()).unwrap()
}
