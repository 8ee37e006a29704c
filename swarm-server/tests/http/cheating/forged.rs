//! A bundle and a log that the operator rewrites and signs again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use swarm_core::Session;
use swarm_core::audit::{BundledTimestamp, ProvenEntry, SessionBundle};
use swarm_core::domain::{LogEntry, LogLine, Seq, SessionEntry, Take, TakeOnFile};
use swarm_core::json::{Json, write};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{NoteSigner, SignedNote};
use swarm_core::proof::tile::{TilePath, entries_tile, hashes_tile};
use swarm_core::proof::tree::{self, Node, TreeHash};
use tempfile::TempDir;

use super::desk::{Desk, ORIGIN};
use crate::clients::python;
use crate::program::swarm;

pub(super) struct Forged {
    pub(super) session: Session,
    pub(super) takes: Vec<Take>,
    /// All entries of the log.
    pub(super) entries: Vec<LogLine>,
    /// The numbers of those that the bundle has.
    pub(super) bundled: Vec<u64>,
    /// The texts of the entries that the log serves, where they are not those that it signed.
    pub(super) served: Vec<String>,
    /// The timestamp that the bundle has.
    pub(super) timestamp: Option<BundledTimestamp>,
    signer: NoteSigner,
}

impl Forged {
    pub(super) fn read(bundle: &str, texts: Vec<String>, signer: NoteSigner) -> Self {
        let mut fields = Json::read(bundle.as_bytes()).unwrap().into_object();
        let bundled = match fields.take("entries") {
            Some(Json::List(items)) => items.into_iter().map(Json::into_object).collect(),
            _ => Vec::new(),
        };
        let index = |mut row: swarm_core::json::Object| row.whole_if_any("index").unwrap().unwrap();
        Self {
            session: fields.take_as("session").unwrap(),
            takes: fields.take_as("takes").unwrap(),
            entries: texts.iter().map(|text| LogLine::read(text).unwrap()).collect(),
            bundled: bundled.into_iter().map(|row| index(row) + 1).collect(),
            served: texts,
            timestamp: None,
            signer,
        }
    }

    /// The number of the entry that fits.
    pub(super) fn seq_of(&self, fits: impl Fn(&LogEntry) -> bool) -> u64 {
        self.seqs_of(fits)[0]
    }

    pub(super) fn seqs_of(&self, fits: impl Fn(&LogEntry) -> bool) -> Vec<u64> {
        self.entries.iter().filter(|line| fits(&line.entry)).map(|line| line.seq.0).collect()
    }

    /// Appends an entry to the log, and perhaps to the bundle.
    pub(super) fn append(&mut self, entry: LogEntry, to_bundle: bool) {
        let last = self.entries.last().unwrap();
        let (seq, at) = (Seq(last.seq.0 + 1), last.at);
        self.entries.push(LogLine { seq, at, entry });
        if to_bundle {
            self.bundled.push(seq.0);
        }
        self.serve();
    }

    /// Removes the entries with these numbers from the log, which is numbered again.
    pub(super) fn remove(&mut self, seqs: &[u64]) {
        self.entries.retain(|line| !seqs.contains(&line.seq.0));
        for (seq, line) in (1..).zip(&mut self.entries) {
            let before = std::mem::replace(&mut line.seq, Seq(seq)).0;
            let bundled = self.bundled.iter_mut().find(|bundled| **bundled == before);
            if let Some(bundled) = bundled {
                *bundled = seq;
            }
        }
        self.serve();
    }

    pub(super) fn each_act(&mut self, change: impl Fn(&mut SessionEntry)) {
        for line in &mut self.entries {
            if let LogEntry::Session(act) = &mut line.entry {
                change(act);
            }
        }
        self.serve();
    }

    pub(super) fn serve(&mut self) {
        self.served = self.entries.iter().map(LogLine::text).collect();
    }

    fn hash(&self, Node { level, index }: Node) -> TreeHash {
        let (first, count) = ((index << level) as usize, 1 << level);
        let leaf = |line: &LogLine| TreeHash::leaf(line.text().as_bytes());
        let leaves = self.entries.iter().skip(first).take(count).map(leaf);
        TreeHash::complete(&leaves.collect::<Vec<_>>())
    }

    /// Gives the bundle a timestamp of the log as it is now, of which no authority has made the token.
    pub(super) fn stamp(&mut self) {
        let (checkpoint, token) = (self.checkpoint(self.size()), b"token".to_vec());
        self.timestamp = Some(BundledTimestamp { checkpoint, token, proof: Vec::new() });
    }

    /// The signed checkpoint of the first entries.
    pub(super) fn checkpoint(&self, size: u64) -> SignedNote {
        let root = tree::root(size, |node| Ok::<_, ()>(self.hash(node))).unwrap();
        Checkpoint { origin: ORIGIN.to_owned(), size, root }.sign(&self.signer)
    }

    pub(super) fn key(&self) -> String {
        self.signer.verifier().to_string()
    }

    pub(super) fn size(&self) -> u64 {
        self.entries.len() as u64
    }

    fn bundle(&self, checkpoint: SignedNote) -> String {
        let read = |node| Ok::<_, ()>(self.hash(node));
        let entries = self.bundled.iter().map(|seq| ProvenEntry {
            entry: self.entries[*seq as usize - 1].text(),
            index: seq - 1,
            proof: tree::inclusion(seq - 1, self.size(), read).unwrap(),
        });
        let takes = self.takes.iter().map(|take| TakeOnFile {
            take: Arc::new(take.clone()),
            superseded_by: self.next(take),
        });
        write(&SessionBundle {
            session: Arc::new(self.session.clone()),
            takes: takes.collect(),
            entries: entries.collect(),
            checkpoint,
            timestamp: self.timestamp.clone(),
        })
    }

    fn next(&self, take: &Take) -> Option<swarm_core::TakeId> {
        let own = |other: &&Take| other.draft().member_id == take.draft().member_id;
        self.takes.iter().filter(own).map(|other| other.id).find(|id| *id > take.id)
    }

    /// Asks both verifiers, which must end with this status; returns what `swarm verify` said.
    #[track_caller]
    pub(super) fn verified(&self, arguments: &[&str], status: i32) -> String {
        self.verified_under(self.checkpoint(self.size()), arguments, status)
    }

    #[track_caller]
    pub(super) fn verified_under(
        &self,
        note: SignedNote,
        arguments: &[&str],
        status: i32,
    ) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.json");
        fs::write(&file, self.bundle(note)).unwrap();
        let key = self.key();
        let arguments = [&[file.to_str().unwrap(), "--key", &key], arguments].concat();
        let output = swarm(&[&["verify"], &arguments[..]].concat(), &[]).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        let program = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = program.join("../examples/python/verify_bundle.py");
        let output =
            Command::new(python()).arg("-B").arg(program).args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        said
    }

    /// Also with all entries of the log, in a folder.
    #[track_caller]
    pub(super) fn verified_with_log(&self, arguments: &[&str], status: i32) -> String {
        self.verified_with_log_of(self, arguments, status)
    }

    /// Also with all entries of the log as it is there.
    #[track_caller]
    pub(super) fn verified_with_log_of(
        &self,
        log: &Self,
        arguments: &[&str],
        status: i32,
    ) -> String {
        let folder = log.files(&log.checkpoint(log.size()));
        let log = folder.path().to_str().unwrap();
        self.verified(&[arguments, &["--log", log]].concat(), status)
    }

    /// The files of the log under this checkpoint.
    fn files(&self, note: &SignedNote) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let width = u16::try_from(self.size()).unwrap();
        let hashes: Vec<_> =
            self.served.iter().map(|text| TreeHash::leaf(text.as_bytes())).collect();
        for (level, bytes) in [(None, entries_tile(&self.served)), (Some(0), hashes_tile(&hashes))]
        {
            let tile = TilePath { level, index: 0, width };
            let file = folder.path().join("tile").join(tile.to_string());
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        fs::write(folder.path().join("checkpoint"), note.to_string()).unwrap();
        folder
    }

    /// Has a watcher look at the log, which must end with this status; returns what it said.
    #[track_caller]
    pub(super) fn watched(&self, status: i32) -> String {
        self.watched_under(&self.checkpoint(self.size()), &[], status)
    }

    /// Also with these arguments, of the log under this checkpoint.
    #[track_caller]
    pub(super) fn watched_under(
        &self,
        note: &SignedNote,
        arguments: &[&str],
        status: i32,
    ) -> String {
        let folder = self.files(note);
        let (log, state) = (folder.path().to_str().unwrap(), folder.path().join("state"));
        let key = self.key();
        let watch = ["watch", log, "--key", &key, "--state", state.to_str().unwrap()];
        let output = swarm(&[&watch, arguments].concat(), &[]).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        said
    }

    /// Also with all entries of the log that the server serves.
    #[track_caller]
    pub(super) fn verified_by_url(&self, desk: &Desk, status: i32) -> String {
        self.verified(&["--log", &desk.url()], status)
    }

    /// Also with a file of this content.
    #[track_caller]
    pub(super) fn verified_with_members(&self, members: &str, status: i32) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("members");
        fs::write(&file, members).unwrap();
        self.verified(&["--members", file.to_str().unwrap()], status)
    }
}
