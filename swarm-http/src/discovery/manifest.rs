//! The manifest: names, links and limits of the service, for programs.

use http::StatusCode;
use http::header::LINK;
use serde::Serialize;
use swarm_core::SessionId;
use swarm_core::domain::{Body, MemoUrl, Nonce, Revision, Signature, Stance};
use swarm_core::proof::note::VerifierKey;
use swarm_core::rules::CHALLENGE_MILLIS;

use super::guide;
use crate::request::RequestContext;
use crate::request::route::BODY_LIMIT;
use crate::response::{Answer, Reply, SERVICE_LINKS, ok};

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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    tenant: &'a str,
    origin: String,
    name: &'a str,
    version: &'static str,
    links: Links,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_key: Option<String>,
    limits: Limits,
    open_sessions: Vec<SessionId>,
}

#[derive(Serialize)]
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
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    request_bytes: usize,
    takes_per_session: u8,
    nonce: u32,
    stance: u32,
    body: u32,
    memo_url: u32,
    signature: u32,
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

/// `/robots.txt`: everything but the operators' routes may be indexed, or nothing.
pub(crate) async fn robots(request: RequestContext) -> Reply {
    let base = request.base_path();
    let disallowed: &[_] = match request.served.config().noindex {
        true => &["/"],
        false => &["/api/swarm/admin/", "/api/ic/admin/"],
    };
    let mut text = "User-agent: *\n".to_owned();
    text.extend(disallowed.iter().map(|path| format!("Disallow: {base}{path}\n")));
    if !request.served.config().noindex {
        text.push_str(&format!("Allow: {base}/\n"));
    }
    Ok(Answer::new(StatusCode::OK, "text/plain; charset=utf-8", text))
}
