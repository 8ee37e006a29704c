//! The manifest: names, links and limits of the service, for programs.

use http::StatusCode;
use http::header::LINK;
use schemars::JsonSchema;
use serde::Serialize;
use swarm_core::SessionId;
use swarm_core::domain::{Body, MemoUrl, Nonce, Revision, Signature, Stance};
use swarm_core::proof::note::VerifierKey;
use swarm_core::rules::CHALLENGE_MILLIS;

use super::guide;
use crate::request::RequestContext;
use crate::request::route::BODY_LIMIT;
use crate::response::{Answer, Reply, SERVICE_LINKS, ok};
use crate::schema::{SchemaRef, schema};

/// `/.well-known/swarm.json`.
pub(crate) async fn manifest(request: RequestContext) -> Reply {
    let origin = request.origin();
    let at = |path: &str| format!("{origin}{path}");
    let key = match request.served.signed_log() {
        Some(log) => Some(log.verifier().await?),
        None => None,
    };
    let mut answer = ok(&Manifest {
        tenant: request.served.config().id.as_str(),
        name: &request.served.config().name,
        version: env!("CARGO_PKG_VERSION"),
        links: Links {
            home: at("/"),
            guide: at("/skill.md"),
            llms: at("/llms.txt"),
            openapi: at("/openapi.json"),
            docs: at("/docs"),
            sessions: at("/api/swarm/sessions"),
            open_sessions: at("/api/swarm/open-sessions"),
        },
        signing_key: key.as_ref().map(VerifierKey::public_key).map(ToString::to_string),
        log_key: key.as_ref().map(ToString::to_string),
        limits: limits(),
        open_sessions: guide::open_sessions(&request)
            .await?
            .iter()
            .map(|session| session.id)
            .collect(),
        origin,
    })?;
    answer.headers.insert(LINK, SERVICE_LINKS);
    Ok(answer)
}

pub(crate) const MANIFEST: SchemaRef = schema!("server", "Manifest", of Manifest<'_>);

/// Names, links and limits of the service.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    /// The id of the tenant.
    tenant: &'a str,
    /// The origin of its links.
    origin: String,
    /// The name of the service.
    name: &'a str,
    /// The version of the server.
    version: &'static str,
    /// Where things are.
    links: Links,
    /// The public key of the log, in base64, if the log is signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_key: Option<String>,
    /// The same key with its name, as a C2SP verifier key.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_key: Option<String>,
    /// Limits in characters, unless the name says bytes.
    limits: Limits,
    /// The sessions that accept takes.
    open_sessions: Vec<SessionId>,
}

#[derive(JsonSchema, Serialize)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
struct Links {
    home: String,
    guide: String,
    llms: String,
    openapi: String,
    docs: String,
    sessions: String,
    open_sessions: String,
}

/// Limits in characters, unless the name says otherwise (API.md, 5.1).
#[derive(JsonSchema, Serialize)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
struct Limits {
    request_bytes: usize,
    #[schemars(range(max = 5))]
    takes_per_session: u8,
    nonce: u32,
    stance: u32,
    body: u32,
    memo_url: u32,
    signature: u32,
    #[schemars(range(min = 0))]
    challenge_seconds: i64,
}

fn limits() -> Limits {
    Limits {
        request_bytes: BODY_LIMIT,
        takes_per_session: Revision::CAP.get(),
        nonce: Nonce::MAX,
        stance: Stance::MAX,
        body: Body::MAX,
        memo_url: MemoUrl::MAX,
        signature: Signature::MAX,
        challenge_seconds: CHALLENGE_MILLIS / 1_000,
    }
}

/// `/robots.txt`: everything but the operators' routes, and pages that have an address for each text and each entry, may be
/// indexed, or nothing.
pub(crate) async fn robots(request: RequestContext) -> Reply {
    let base = request.base_path();
    let disallowed: &[_] = match request.served.config().noindex {
        true => &["/"],
        false => &["/api/swarm/admin/", "/api/ic/admin/", "/swarm/find", "/swarm/since/"],
    };
    let mut text = "User-agent: *\n".to_owned();
    text.extend(disallowed.iter().map(|path| format!("Disallow: {base}{path}\n")));
    if !request.served.config().noindex {
        text.push_str(&format!("Allow: {base}/\n"));
    }
    Ok(Answer::new(StatusCode::OK, "text/plain; charset=utf-8", text))
}
