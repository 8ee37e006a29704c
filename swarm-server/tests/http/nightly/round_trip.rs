//! A tenant that is moved through all stores (MANUAL.md, 13.3): the dumps are equal, and every read answers the same.

use serde_json::json;
use swarm_core::service::dump::{DumpReader, DumpWriter};
use swarm_core::store::{Restored, Store};
use swarm_redis_testing::Cluster;
use swarm_store_postgres::PostgresStore;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::backend::{connect, now};
use crate::clock::Clock;
use crate::committee_fixture::{chair, submit, take};
use crate::harness::{Author, Client, Server};
use crate::routes::{self, RECORDS, Samples};

const DAY: &str = "2026-11-21";

/// Reads of further records, and with queries.
const MORE_READS: [&str; 18] = [
    "/api/swarm/sessions?limit=1",
    "/api/swarm/sessions/1?after=1&limit=1",
    "/api/swarm/sessions/2",
    "/api/swarm/sessions/3",
    "/api/swarm/sessions/4",
    "/api/swarm/sessions/5",
    "/api/swarm/takes/6",
    "/api/swarm/brief?date=2026-11-21&subject=aurora",
    "/api/swarm/takes/2",
    "/api/swarm/takes/3",
    "/api/swarm/takes/4",
    "/api/swarm/memos/2",
    "/api/swarm/log?after=3&limit=4",
    "/swarm/sessions/2",
    "/swarm/sessions/4",
    "/swarm/sessions/5",
    "/swarm/takes?q=again",
    "/swarm/takes/2",
];

#[test]
fn tenant_moved_through_all_stores_dumps_and_reads_the_same() {
    let clock = Clock::noon();
    let memory = Store::from(clock.store());
    let desk = Desk::at(&served(memory.clone()).client, &clock);
    let file = |folder: &TempDir| {
        let hands = clock.clone();
        let path = folder.path().join("swarm.db");
        Store::from(SqliteStore::open_with_clock(path, move || hands.now()).unwrap())
    };
    let (first, last) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let of_programs = Clock::of_programs();
    of_programs.move_by(-60_000);
    let cluster = Cluster::start_in(&of_programs.environment(), 0, || of_programs.move_by(60_000));
    let postgres = swarm_postgres_testing::Server::start(&[]);
    let url = postgres.url();
    let database = Store::from(now(PostgresStore::create(&url)).unwrap());
    postgres.set_clock(&url, clock.now().millis());

    let first = file(&first);
    let dump = moved(&memory, &first);
    let reads = desk.reads(&served(memory).client);
    desk.is_at(served(first.clone()), &reads);
    let cluster = Store::from(connect(&cluster.url()));
    assert_eq!(moved(&first, &cluster), dump);
    desk.is_at(served(cluster.clone()), &reads);
    assert_eq!(moved(&cluster, &database), dump);
    desk.is_at(served(database.clone()), &reads);
    let last = file(&last);
    assert_eq!(moved(&database, &last), dump);
    let server = served(last.clone());
    desk.is_at(served(last), &reads);
    desk.goes_on_at(&server.client);
}

struct Served {
    client: Client,
    _server: Server,
}

fn served(store: Store) -> Served {
    let server = Server::on(store);
    // The address that links are built from.
    Served { client: server.client().at("desk.example"), _server: server }
}

/// Members with their tokens, and the key of a member of the committee.
struct Desk {
    ada: Author,
    grace: Author,
    key: String,
}

impl Desk {
    /// Records of every kind.
    fn at(client: &Client, clock: &Clock) -> Self {
        let operate = |path: &str, body| client.operate(path, &body);
        let subject =
            json!({ "id": "aurora", "name": "Aurora", "wallets": [{ "b": 1.0, "a": 1e2 }] });
        operate("/subjects", subject).expect(201);
        let value = json!({ "date": DAY, "totalValueUsd": 1.5, "positions": [], "notable": ["a"] });
        operate("/subjects/aurora/snapshots", value).expect(201);
        operate("/regime", json!({ "date": DAY, "composite": 40, "regime": "calm" })).expect(200);
        let signal = json!({ "signal_key": "flows", "date": DAY, "payload": { "z": 1, "a": [] } });
        operate("/signals", signal).expect(200);
        let [ada, grace] = ["Ada", "Gr\u{e4}ce"].map(|name| Author::join(client, name));
        let (waiting, _) = Author::apply(client, "Waiting");
        let (rejected, _) = Author::apply(client, "Rejected");
        operate("/reject", json!({ "memberId": rejected.as_str() })).expect(200);
        assert_ne!(waiting, rejected);
        // A token reads the salts of takes that were filed after it was claimed.
        clock.move_by(1);
        Self::sessions(client, [&ada, &grace]);
        for title in ["kept", "retracted"] {
            let memo = json!({ "title": title, "body": "# Long\n\ntext", "sessionId": 1 });
            let bearer = ada.bearer();
            let headers = [("authorization", bearer.as_str())];
            client.post("/api/swarm/memos", &headers, &memo.to_string()).expect(201);
        }
        operate("/memos/2/retract", json!({})).expect(200);
        let seat = chair(client, "/members", &json!({ "id": "m", "name": "M" })).expect(201);
        let key = seat.json()["api_key"].as_str().unwrap().to_owned();
        let body = json!({ "subject_id": "aurora", "deadline_utc": "2026-11-21T23:25:00Z" });
        chair(client, "/briefs", &body).expect(201);
        for stance in ["bullish", "neutral"] {
            submit(client, &key, &take(stance)).expect(200);
        }
        let synthesis = json!({ "date": DAY, "synthesis": "Mixed." });
        chair(client, "/synthesis", &synthesis).expect(200);
        Self { ada, grace, key }
    }

    /// One that is published, one that is open, one that was withdrawn, one that is sealed, one that was opened.
    fn sessions(client: &Client, [ada, grace]: [&Author; 2]) {
        let roster = [ada, grace].map(|author| json!({ "memberId": author.id.as_str() }));
        let convene = |day: u32| {
            let closes = format!("2026-11-{day}T19:00:00Z");
            let body = json!({
                "date": DAY, "subjectId": "aurora", "windowClosesAt": closes, "roster": roster,
                "quorum": 2, "buckets": ["hold", "add"],
            });
            client.operate("/sessions", &body).expect(201);
        };
        convene(21);
        for (author, body) in [(ada, "once"), (grace, "twice"), (ada, "again")] {
            let draft = author.draft_of(json!({
                "date": DAY, "subjectId": "aurora", "stance": "bullish", "body": body,
                "weights": [{ "bucket": "hold", "weight": 0.25 }],
            }));
            client.submit(author, draft).expect(201);
        }
        client.operate("/sessions/1/brief", &json!({})).expect(201);
        for state in ["window_closed", "aggregated", "published"] {
            let body = json!({ "state": state, "note": format!("now {state}") });
            client.operate("/sessions/1/state", &body).expect(200);
        }
        convene(22);
        client.operate("/sessions/2/brief", &json!({})).expect(201);
        convene(23);
        client.operate("/sessions/3/withdraw", &json!({ "note": "twice" })).expect(200);
        client.submit(ada, ada.draft(DAY, "aurora")).expect(201);
        for day in ["2026-11-24", "2026-11-25"] {
            let body = json!({ "date": day, "subjectId": "aurora", "blind": true });
            client.operate("/sessions", &body).expect(201);
            client.submit(grace, grace.draft(day, "aurora")).expect(201);
        }
        client.operate("/sessions/5/state", &json!({ "state": "aggregated" })).expect(200);
    }

    /// The status, the tag and the text of each read.
    fn reads(&self, client: &Client) -> Vec<String> {
        let samples = Samples { member: self.ada.id.as_str(), ..RECORDS };
        let public = routes::public_reads().filter(|route| !route.needs_signed_log());
        let public = public.map(|route| samples.path(route.info.path));
        let read = |path: String| {
            let is_gone = path.ends_with("/sessions/3") || path.ends_with("/memos/2");
            let answer = client.get(&path).expect(if is_gone { 404 } else { 200 });
            let tag = answer.header("etag").unwrap_or_default().to_owned();
            format!("{path} {} {tag}\n{}", answer.status, answer.text)
        };
        public.chain(MORE_READS.map(str::to_owned)).map(read).collect()
    }

    /// Checks that the server reads the same, and knows the tokens.
    fn is_at(&self, server: Served, reads: &[String]) {
        for (found, before) in self.reads(&server.client).iter().zip(reads) {
            assert_eq!(found, before);
        }
        for author in [&self.ada, &self.grace] {
            let bearer = author.bearer();
            let headers = [("authorization", bearer.as_str())];
            let path = "/api/swarm/verify-token";
            server.client.send("GET", path, &headers, b"").expect(200);
        }
        let bearer = self.grace.bearer();
        let headers = [("authorization", bearer.as_str())];
        let own = server.client.send("GET", "/api/swarm/takes/5", &headers, b"").expect(200);
        let sealed = server.client.get("/api/swarm/takes/5").expect(200).json();
        assert!(own.json()["salt"].is_string() && sealed["salt"].is_null());
        assert_eq!(own.json()["sealed"], sealed["sealed"]);
    }

    /// Checks that ids and numbers go on, and that the keys are known.
    fn goes_on_at(&self, client: &Client) {
        let filed = client.submit(&self.grace, self.grace.draft(DAY, "aurora")).expect(201);
        assert_eq!(filed.json()["recommendationId"], 7);
        submit(client, &self.key, &take("bearish")).expect(200);
        assert_eq!(client.convene(DAY, "aurora"), 6);
    }
}

/// Copies all tenants, checked as by `swarm copy`; returns the dump.
fn moved(from: &Store, to: &Store) -> String {
    now(async {
        let (mut writer, mut text) = DumpWriter::new("swarm test");
        for tenant in from.tenants().await.unwrap() {
            let mut dump = from.dump(&tenant).await.unwrap();
            loop {
                let records = dump.next().await.unwrap();
                if records.is_empty() {
                    break;
                }
                text.extend(records.into_iter().map(|record| writer.record(&tenant, record)));
            }
        }
        text.push_str(&writer.end(None).0);
        let (mut reader, mut restore) = (DumpReader::new(), to.restore().await.unwrap());
        for line in text.lines() {
            if let Some((tenant, record)) = reader.line(line.as_bytes()).unwrap() {
                restore.write(&tenant, vec![record]).await.unwrap();
            }
        }
        reader.finish().unwrap();
        assert_eq!(restore.commit().await.unwrap(), Restored::Complete);
        text
    })
}
