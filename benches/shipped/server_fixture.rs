//! A released server with members and open sessions, all created over HTTP.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use http_body_util::Full;
use hyper::StatusCode;
use hyper::body::Bytes;
use serde_json::{Value, json};
use swarm_client::{Client, TakeFields, new_key, sign_take};
use swarm_core::Session;
use swarm_core::domain::{AdminTokenHash, MemberId, Quotas, SessionId, TokenHash};
use swarm_core::json::Object;
use swarm_core::proof::{KeyPair, hex};
use tempfile::TempDir;

use super::load::{self, LoadRequest};
use super::process::Process;

/// The token of the operators of all tenants.
pub const ADMIN: &str = "adm_of_the_benchmark";

/// The number of members that join at the same time.
const CONCURRENT_JOINS: usize = 4;

/// A member that may file.
#[derive(Debug)]
pub struct Author {
    key: KeyPair,
    id: MemberId,
    token: String,
}

/// A server, its members and its sessions.
#[derive(Debug)]
pub struct ServerFixture {
    /// The server.
    pub server: Process,
    /// The members.
    pub authors: Vec<Author>,
    /// Its sessions, all of them open.
    pub sessions: Vec<Session>,
    folder: TempDir,
}

impl Author {
    /// Its member id.
    pub fn id(&self) -> &MemberId {
        &self.id
    }

    /// Its public key, in base64.
    pub fn public_key(&self) -> String {
        self.key.public_key().to_string()
    }

    /// The hash of its bearer token.
    pub fn token_hash(&self) -> TokenHash {
        TokenHash::of(self.token.as_bytes())
    }
}

impl ServerFixture {
    /// `swarm serve` over this store, with members and sessions.
    ///
    /// # Panics
    /// When it cannot be set up.
    pub fn new(program: &Path, store: &str, members: usize, sessions: usize) -> Self {
        Self::with_log(program, store, members, sessions, Stdio::null())
    }

    /// As [`new`](Self::new), with the server's log redirected.
    ///
    /// # Panics
    /// When it cannot be set up.
    pub fn with_log(
        program: &Path,
        store: &str,
        members: usize,
        sessions: usize,
        log: Stdio,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = serve(program);
        command.args(["--store", store]);
        // They all apply from one address. A baseline may be too old to know the quota, so it is raised only if need be.
        if members > Quotas::default().applications_per_address as usize {
            let quotas = format!("[tenants.quotas]\napplications_per_address = {members}\n");
            configure(&mut command, &folder, &(configuration(1) + &quotas));
        } else {
            command.env("SWARM_ADMIN_TOKEN", ADMIN);
        }
        Self::of(command, folder, members, sessions, log)
    }

    /// The first of `count` tenants of `swarm serve` in memory, each with an open session.
    ///
    /// # Panics
    /// When it cannot be set up.
    pub fn first_of(program: &Path, tenants: usize, members: usize, sessions: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = serve(program);
        configure(&mut command, &folder, &configuration(tenants));
        let fixture = Self::of(command, folder, members, sessions, Stdio::null());
        for (path, body) in opening(0) {
            let ask = |number| operation(number, &format!("/swarm/admin{path}"), &body);
            let requests = (1..tenants).map(ask).collect();
            load::send(fixture.server.address, 64, requests, StatusCode::CREATED);
        }
        fixture
    }

    /// Sends requests of the operator of a tenant, by number: paths below `/api`, and bodies.
    ///
    /// # Panics
    /// When an answer has another status.
    pub fn operate(
        &self,
        tenant: usize,
        expected: StatusCode,
        requests: impl Iterator<Item = (String, Value)>,
    ) {
        let requests = requests.map(|(path, body)| operation(tenant, &path, &body)).collect();
        load::send(self.server.address, 1, requests, expected);
    }

    /// Publishes a memo of `characters` of each of the first authors.
    ///
    /// # Panics
    /// When one is refused.
    pub fn publish_memos(&self, authors: usize, characters: usize) {
        let body =
            json!({ "title": "A memo", "body": "Lending *grows*. ".repeat(characters / 17) });
        let memo = |author: &Author| {
            let request = hyper::Request::post("/api/swarm/memos")
                .header("host", self.server.address.to_string())
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {}", author.token));
            request.body(Full::new(body.to_string().into())).expect("a request")
        };
        let memos = self.authors.iter().take(authors).map(memo).collect();
        load::send(self.server.address, 1, memos, StatusCode::CREATED);
    }

    fn of(
        mut command: Command,
        folder: TempDir,
        members: usize,
        sessions: usize,
        log: Stdio,
    ) -> Self {
        command.current_dir(folder.path());
        let server = Process::start_with_log(&command, log);
        let client = Client::new(&format!("http://{}", server.address)).expect("an address");
        let sessions = (0..sessions).map(|number| convene(&client, number)).collect();
        Self { authors: join(&client, members), server, sessions, folder }
    }

    /// The size of the files in its working directory, in bytes.
    ///
    /// # Panics
    /// When they cannot be read.
    pub fn disk(&self) -> usize {
        let size = |file: io::Result<fs::DirEntry>| Ok(file?.metadata()?.len());
        let all =
            fs::read_dir(&self.folder).and_then(|files| files.map(size).sum::<io::Result<u64>>());
        usize::try_from(all.expect("their sizes")).expect("64 bits")
    }

    /// The request that files a usual take of an author in a session, both by number.
    ///
    /// # Panics
    /// When there is no such author or session.
    pub fn take(&self, author: usize, session: usize) -> LoadRequest {
        self.take_of(crate::USUAL, author, session)
    }

    /// A usual take of each author in the session.
    ///
    /// # Panics
    /// When there is no such session.
    pub fn takes(&self, session: usize) -> Vec<LoadRequest> {
        self.takes_of(crate::USUAL, session)
    }

    /// A take of each author in the session, with a write-up of `length` characters.
    ///
    /// # Panics
    /// When there is no such session.
    pub fn takes_of(&self, characters: usize, session: usize) -> Vec<LoadRequest> {
        (0..self.authors.len()).map(|author| self.take_of(characters, author, session)).collect()
    }

    /// A usual take with a write-up of `length` characters.
    ///
    /// # Panics
    /// When there is no such author or session.
    pub fn take_of(&self, characters: usize, author: usize, session: usize) -> LoadRequest {
        let author = self.authors.get(author).expect("a number of an author");
        let session = self.sessions.get(session).expect("a number of a session");
        let service = format!("http://{}", self.server.address);
        let take = sign_take(&service, &author.key, &author.id, session, &fields(characters))
            .expect("a take");
        hyper::Request::post("/api/swarm/submit")
            .header("host", self.server.address.to_string())
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", author.token))
            .body(Full::new(take.to_json().into()))
            .expect("a request")
    }

    /// The request that reads a session and all its takes, by number.
    ///
    /// # Panics
    /// When there is no such session.
    pub fn read(&self, session: usize, tag: Option<&str>) -> LoadRequest {
        let session = self.sessions.get(session).expect("a number of a session");
        self.get(&format!("/api/swarm/sessions/{}", session.id), tag)
    }

    /// A revalidation of a path, with this entity tag.
    ///
    /// # Panics
    /// When it is not a path.
    pub fn get(&self, path: &str, tag: Option<&str>) -> LoadRequest {
        let request = hyper::Request::get(path).header("host", self.server.address.to_string());
        let request = tag.into_iter().fold(request, |it, tag| it.header("if-none-match", tag));
        request.body(Full::new(Bytes::new())).expect("a request")
    }
}

/// Gives a command a configuration file in this folder.
fn configure(command: &mut Command, folder: &TempDir, text: &str) {
    let config = folder.path().join("swarm.toml");
    fs::write(&config, text).expect("a file");
    command.arg("--config").arg(config);
}

/// The configuration of tenants, in memory by default.
fn configuration(tenants: usize) -> String {
    let hash = hex(AdminTokenHash::of(ADMIN.as_bytes()).as_bytes());
    let table = |number| {
        let host = host(number);
        format!(
            r#"
            [[tenants]]
            id = "t{number}"
            hosts = ["{host}"]
            admin_token_hash = "sha256:{hash}"
            "#
        )
    };
    "store = 'memory'".to_owned() + &(0..tenants).map(table).collect::<String>()
}

/// The request of an operator of a tenant.
fn operation(tenant: usize, path: &str, body: &Value) -> LoadRequest {
    hyper::Request::post(format!("/api{path}"))
        .header("host", host(tenant))
        .header("content-type", "application/json")
        .header("x-admin-token", ADMIN)
        .body(Full::new(body.to_string().into()))
        .expect("a request")
}

/// The host of a tenant, by number. The first is found by the address.
pub fn host(number: usize) -> String {
    if number == 0 { "127.0.0.1".to_owned() } else { format!("t{number}.example") }
}

fn serve(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["serve", "--listen=127.0.0.1:0"]);
    command
}

/// The operator's requests that open a session, with their paths.
fn opening(number: usize) -> [(&'static str, Value); 2] {
    let id = format!("subject-{number}");
    let subject = json!({ "id": id, "name": id, "thesisBlurb": "A lending market." });
    let draft = json!({
        "date": "2026-11-21", "subjectId": id, "windowClosesAt": "9999-12-31T23:59:59Z",
    });
    [("/subjects", subject), ("/sessions", draft)]
}

fn convene(client: &Client, number: usize) -> Session {
    let [_, mut convened] = opening(number).map(|(path, body)| operate(client, path, &body));
    let convened = convened.take("session");
    let id = convened.expect("a session").into_object().id_if_any("id").expect("an id");
    client.session(SessionId(id.expect("an id"))).expect("it is there").0
}

fn operate(client: &Client, path: &str, body: &Value) -> Object {
    let path = format!("/api/swarm/admin{path}");
    client.operator(ADMIN).send("POST", &path, body).expect("an operator may")
}

fn join(client: &Client, members: usize) -> Vec<Author> {
    thread::scope(|scope| {
        let doors: Vec<_> = (0..CONCURRENT_JOINS)
            .map(|door| {
                scope.spawn(move || {
                    let mine = (door..members).step_by(CONCURRENT_JOINS);
                    mine.map(|number| author(client, number)).collect::<Vec<_>>()
                })
            })
            .collect();
        doors.into_iter().flat_map(|door| door.join().expect("all joined")).collect()
    })
}

fn author(client: &Client, number: usize) -> Author {
    let key = new_key().expect("entropy");
    let id = client.apply(&key, &format!("Ada {number}"), "a@example.org", "").expect("applied");
    operate(client, "/activate", &json!({ "memberId": id }));
    let token = client.claim(&key, &id).expect("claimed");
    Author { key, id, token }
}

/// A take with four weights and a write-up of this length.
fn fields(characters: usize) -> TakeFields {
    let usual = crate::Author::new(1).draft(0, characters);
    TakeFields::new("constructive", 0.72)
        .with_body(usual.body.as_str())
        .with_memo(usual.memo_url.as_str())
        .with_weights(usual.weights.expect("it has some"))
}
