//! A served desk with two members and a session.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use swarm_client::LogTiles;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::note::NoteSigner;

pub(super) use super::forged::Forged;
use crate::harness::{ADMIN, Author, Client};
use crate::program::Program;

pub(super) const DAY: &str = "2026-11-21";

/// The origin of its log.
pub(super) const ORIGIN: &str = "localhost/swarm/log/default";

pub(super) struct Desk {
    program: Program,
    pub(super) ada: Author,
    pub(super) grace: Author,
}

impl Desk {
    /// With a session that is convened with these fields.
    pub(super) fn convened(fields: &Value) -> Self {
        let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
        let client = &program.client;
        let (ada, grace) = (Author::join(client, "Ada"), Author::join(client, "Grace"));
        client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
        let mut session = json!({ "date": DAY, "subjectId": "aurora" });
        session.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.operate("/sessions", &session).expect(201);
        Self { program, ada, grace }
    }

    /// With a session in which both filed, one of them twice, and that is aggregated.
    pub(super) fn aggregated() -> Self {
        let desk = Self::convened(&json!({}));
        for author in [&desk.ada, &desk.grace, &desk.ada] {
            desk.file(author);
        }
        let state = json!({ "state": "aggregated" });
        desk.client().operate("/sessions/1/state", &state).expect(200);
        desk
    }

    pub(super) fn client(&self) -> &Client {
        &self.program.client
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.client().address)
    }

    pub(super) fn file(&self, author: &Author) {
        self.client().submit(author, author.draft(DAY, "aurora")).expect(201);
    }

    pub(super) fn patch(&self, change: &Value) {
        let body = change.to_string();
        let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
        let path = "/api/swarm/admin/sessions/1";
        self.client().send("PATCH", path, &headers, body.as_bytes()).expect(200);
    }

    pub(super) fn brief(&self) {
        self.client().operate("/sessions/1/brief", &json!({})).expect(201);
    }

    /// The key of the log, which the operator has.
    pub(super) fn signer(&self) -> NoteSigner {
        let pem = fs::read_to_string(self.program.folder.path().join("swarm.key")).unwrap();
        let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(text).unwrap();
        let secret = der.last_chunk().unwrap();
        ServerSecret::new(*secret).log_key(ORIGIN).unwrap()
    }

    /// The bundle of the first session and all entries of the log.
    pub(super) fn read(&self) -> Forged {
        self.read_session(1)
    }

    /// The bundle of this session and all entries of the log.
    pub(super) fn read_session(&self, session: u64) -> Forged {
        let client = self.client();
        client.wait_until_all_is_signed();
        let bundle = client.get(&format!("/api/swarm/sessions/{session}/bundle")).expect(200).text;
        let mut tiles = LogTiles::new(&self.url()).unwrap();
        tiles.of_size(client.log_entries().len() as u64);
        Forged::read(&bundle, tiles.entries(0).unwrap(), self.signer())
    }
}
