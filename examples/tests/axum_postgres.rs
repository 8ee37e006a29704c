//! The service of `axum_postgres.rs` over sockets, on a PostgreSQL of its own.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

#[path = "../axum_postgres.rs"]
#[allow(dead_code, reason = "the example is a program")]
mod axum_postgres;
#[path = "../common/mod.rs"]
mod common;

use std::time::Duration;

use axum_postgres::App;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::Agent;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use swarm_core::domain::{Confidence, Day, SubjectId};
use swarm_core::proof::KeyPair;
use swarm_core::{TakeDraft, TenantId};
use swarm_store_postgres::tokio_postgres::{Config, NoTls, Row};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

const KEY: &[u8] = b"a key of the staff's sign-on";

/// A token as the sign-on of the service would sign it.
fn token(algorithm: &str, claims: &Value, key: &[u8]) -> String {
    let header = json!({ "alg": algorithm, "typ": "JWT" });
    let parts = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = parts.join(".");
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn claims(role: &str) -> Value {
    json!({ "sub": "ada", "aud": "opinions", "exp": 4_102_444_800_u64, "role": role })
}

/// What came back: status, media type, text.
type Answer = (u16, String, String);

/// A client of the service.
#[derive(Clone)]
struct Client(String);

impl Client {
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.0));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("content-type", "application/json").body(body.to_owned());
        let request = request.unwrap();
        spawn_blocking(move || {
            let agent = ureq::Agent::config_builder().http_status_as_error(false).build();
            let mut answer = agent.new_agent().run(request).unwrap();
            let kind = answer.headers().get("content-type");
            let kind = kind.map_or("", |kind| kind.to_str().unwrap()).to_owned();
            let status = answer.status().as_u16();
            (status, kind, answer.body_mut().read_to_string().unwrap())
        })
        .await
        .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn desk_runs_inside_the_service() {
    let postgres = spawn_blocking(|| swarm_postgres_testing::Server::start(&[])).await.unwrap();
    let database: Config = postgres.address().parse().unwrap();
    let app = App::open(database.clone(), KEY).await.unwrap();
    let site = app.site.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client(format!("http://{}", listener.local_addr().unwrap()));
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    let serving = tokio::spawn(app.serve(listener, stopped));

    // Only staff add desks, and no token but one of the sign-on counts.
    let desk = r#"{ "id": "acme", "name": "Acme" }"#;
    let expired = json!({ "sub": "ada", "aud": "opinions", "exp": 1, "role": "admin" });
    let elsewhere = json!({ "sub": "ada", "aud": "x", "exp": 4_102_444_800_u64, "role": "admin" });
    for (sent, status) in [
        (token("HS256", &claims("admin"), b"another key"), 401),
        (token("none", &claims("admin"), KEY), 401),
        (token("HS256", &expired, KEY), 401),
        (token("HS256", &elsewhere, KEY), 401),
        ("a.b.c".to_owned(), 401),
        (token("HS256", &claims("reader"), KEY), 403),
        (token("HS256", &claims("admin"), KEY), 201),
        (token("HS256", &claims("admin"), KEY), 409),
    ] {
        let added = client.send("POST", "/staff/desks", &[("x-staff", &sent)], desk).await;
        assert_eq!(added.0, status, "{added:?}");
        assert!(status == 201 || added.1 == "application/problem+json", "{added:?}");
    }

    // Staff operate it without a token of Swarm; what a client says of itself does not count.
    let staff = token("HS256", &claims("admin"), KEY);
    let subject = r#"{ "id": "falcon", "name": "Falcon" }"#;
    let admin = "/desks/acme/api/swarm/admin/subjects";
    for spoofed in [[("x-user", "ada")], [("x-admin-token", "ada")]] {
        assert_eq!(client.send("POST", admin, &spoofed, subject).await.0, 401);
    }
    assert_eq!(client.send("POST", admin, &[("x-staff", &staff)], subject).await.0, 201);
    let cookie = format!("theme=dark; staff={staff}");
    let console = client.send("GET", "/desks/acme/operate", &[("cookie", &cookie)], "").await;
    assert!(console.0 == 200 && console.2.contains("<bdi>ada</bdi>, admin"), "{console:?}");
    assert!(
        console.2.contains("action=\"/desks/acme/operate")
            || console.2.contains("href=\"/desks/acme/operate")
    );

    for unknown in ["/desks/bolt", "/desks/bolt/api/swarm/takes", "/desks"] {
        assert_eq!(client.send("GET", unknown, &[], "").await.0, 404, "{unknown}");
    }

    // A member files, and the policy refuses what is restricted.
    let served = site.tenant(&TenantId::parse("acme").unwrap()).unwrap();
    let agent = Agent::join(served.tenant()).await.unwrap();
    let bearer = format!("Bearer {}", agent.token.reveal());
    let restricted = agent.signed_text("n-0", "Project Falcon closes.").unwrap();
    let problem = [("authorization", &*bearer), ("accept", "application/problem+json")];
    let submit = "/desks/acme/api/swarm/submit";
    let refused = client.send("POST", submit, &problem, &restricted).await;
    assert_eq!((refused.0, &*refused.1), (409, "application/problem+json"));
    let details: Value = serde_json::from_str(&refused.2).unwrap();
    assert_eq!(
        (&details["code"], &details["policy"]),
        (&json!("policy-conflict"), &json!("restricted-list"))
    );
    let filed = client.send("POST", submit, &problem, &agent.signed_take("n-1").unwrap()).await;
    assert_eq!(filed.0, 201, "{filed:?}");
    let page =
        client.send("GET", "/desks/acme/swarm/takes/1", &[("accept", "text/html")], "").await;
    assert!(page.0 == 200 && page.2.contains("href=\"/desks/acme/swarm/style.css\""), "{page:?}");

    // A customer becomes a member without a mail, and files without a token of Swarm.
    let keys = KeyPair::from_seed(&[9; 32]);
    let customer =
        json!({ "sub": "grace", "aud": "opinions", "exp": 4_102_444_800_u64, "role": "customer" });
    let customer = token("HS256", &customer, KEY);
    let member = json!({ "name": "Grace", "publicKey": keys.public_key() }).to_string();
    let of_staff = [("x-customer", &*staff)];
    assert_eq!(client.send("POST", "/me/acme/key", &of_staff, &member).await.0, 401);
    assert_eq!(client.send("POST", "/me/acme/key", &[("x-user", "grace")], &member).await.0, 401);
    let signed_on = [("x-customer", &*customer)];
    assert_eq!(client.send("POST", "/me/bolt/key", &signed_on, &member).await.0, 404);
    let operating = client.send("POST", admin, &[("x-staff", &*customer)], subject).await;
    assert_eq!(operating.0, 401, "a customer is no operator");
    assert_eq!(client.send("POST", "/me/acme/key", &signed_on, &member).await.0, 201);
    assert_eq!(client.send("POST", "/me/acme/key", &signed_on, &member).await.0, 409);
    let take = TakeDraft::new(
        "grace".parse().unwrap(),
        Day::parse("2026-11-21").unwrap(),
        SubjectId::parse("aurora").unwrap(),
        "g-1".parse().unwrap(),
        "bullish".parse().unwrap(),
        Confidence::parse(0.7).unwrap(),
    );
    let take = keys.sign(take).to_json();
    let filed = client.send("POST", submit, &signed_on, &take).await;
    assert!(filed.0 == 201 && filed.2.contains("\"recommendationId\":2"), "{filed:?}");
    let problem = [("x-customer", &*customer), ("accept", "application/problem+json")];
    let again = client.send("POST", submit, &problem, &take).await;
    assert_eq!((again.0, &*again.1), (409, "application/problem+json"));
    let me = "/desks/acme/api/swarm/me";
    assert_eq!(client.send("GET", me, &signed_on, "").await.0, 200);
    assert_eq!(client.send("GET", me, &of_staff, "").await.0, 401);
    let mails = served.tenant().outbox(None, 10).await.unwrap().messages;
    assert_eq!(mails.len(), 1, "that of the member that applied: {mails:?}");

    // The service has it in a table of its own.
    let (own, connection) = database.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    let read = async {
        loop {
            let rows = own
                .query("SELECT desk, subject, stance FROM stances ORDER BY stance", &[])
                .await
                .unwrap();
            if rows.len() == 2 {
                let texts = |row: &Row| [0, 1, 2].map(|column| row.get::<_, String>(column));
                return rows.iter().map(texts).collect::<Vec<_>>();
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    let rows = timeout(Duration::from_secs(60), read).await.unwrap();
    assert_eq!(rows, [["acme", "aurora", "bullish"], ["acme", "aurora", "cautious"]]);

    // The trigger wrote what is billed in the commit of the take.
    let billed = own.query("SELECT desk, take FROM billed ORDER BY take", &[]).await.unwrap();
    let billed: Vec<_> = billed.iter().map(|row| (row.get::<_, &str>(0), row.get(1))).collect();
    assert_eq!(billed, [("acme", 1_i64), ("acme", 2)]);

    // A request that waits for entries does not hold up the end.
    let waiting = client.clone();
    let waiting = tokio::spawn(async move {
        waiting.send("GET", "/desks/acme/api/swarm/log?after=1000&wait=60", &[], "").await
    });
    sleep(Duration::from_millis(200)).await;
    stop.send(()).unwrap();
    timeout(Duration::from_secs(20), serving).await.unwrap().unwrap().unwrap();
    assert_eq!(waiting.await.unwrap().0, 200);

    // Desks are still there after a restart.
    let again = App::open(database, KEY).await.unwrap();
    assert_eq!(again.site.tenants().len(), 1);
}
