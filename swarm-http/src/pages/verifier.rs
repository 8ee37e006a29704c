//! `/verify`: the verifier in the browser, and `verify.html`, the same in one file (MANUAL.md, 10.7). It is the one page with a
//! script.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};
use swarm_core::proof::hex;

use super::frame::{Frame, SiteContext, html_with_script};
use super::lists::number_param;
use crate::request::RequestContext;
use crate::response::caching::prepared;
use crate::response::{Answer, Reply};

/// `swarm-verifier-wasm`, as `./check verifier` builds it.
const WASM: &[u8] = include_bytes!("../../templates/verify/verifier.wasm");
/// Calls `verifier.wasm`.
const VERIFIER: &str = include_str!("../../templates/verify/verifier.js");
/// The form and its findings.
const SCRIPT: &str = include_str!("../../templates/verify/page.js");
const STYLE: &str = include_str!("../../templates/verify/style.css");
/// What the style sheet of all pages has for the others.
const STYLE_OF_FILE: &str = include_str!("../../templates/verify/file.css");

#[derive(Template)]
#[template(path = "verify/page.html")]
struct VerifierPage {
    frame: Frame,
    /// The digest of `verify.html`.
    sha256: &'static str,
    /// The take and the session that the commands name, where they have some of it: an id, or the word in its place.
    take: Option<String>,
    session: Option<String>,
    /// Whether nothing was asked for, so that there are commands of all.
    is_any: bool,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let site = SiteContext::of(&request);
    let (session, take) = (number_param(&request, "session")?, number_param(&request, "take")?);
    let title = match (session, take) {
        (Some(session), _) => format!("Verify session {session}"),
        (None, Some(take)) => format!("Verify take {take}"),
        (None, None) => "Verify".to_owned(),
    };
    let (session, take, is_any) = match (session, take) {
        (Some(session), _) => (Some(session.to_string()), None, false),
        (None, Some(take)) => (None, Some(take.to_string()), false),
        (None, None) => (Some("SESSION".to_owned()), Some("TAKE".to_owned()), true),
    };
    let frame = Frame::new(site, title, "/verify")
        .with_description("Checks takes, proofs, bundles and receipts in the browser.");
    let page = VerifierPage { frame, sha256: &FILE.sha256, take, session, is_any };
    Ok(html_with_script(StatusCode::OK, &page))
}

pub(crate) async fn wasm(_: RequestContext) -> Reply {
    static ANSWER: LazyLock<Answer> =
        LazyLock::new(|| constant("application/wasm", Bytes::from_static(WASM)));
    Ok(ANSWER.clone())
}

pub(crate) async fn verifier(_: RequestContext) -> Reply {
    static ANSWER: LazyLock<Answer> = LazyLock::new(|| constant(JAVASCRIPT, VERIFIER.into()));
    Ok(ANSWER.clone())
}

pub(crate) async fn script(_: RequestContext) -> Reply {
    static ANSWER: LazyLock<Answer> = LazyLock::new(|| constant(JAVASCRIPT, SCRIPT.into()));
    Ok(ANSWER.clone())
}

pub(crate) async fn style(_: RequestContext) -> Reply {
    static ANSWER: LazyLock<Answer> =
        LazyLock::new(|| constant("text/css; charset=utf-8", STYLE.into()));
    Ok(ANSWER.clone())
}

/// `verify.html`, to be kept: no browser shows it as a page of this origin.
pub(crate) async fn file(_: RequestContext) -> Reply {
    static ANSWER: LazyLock<Answer> = LazyLock::new(|| {
        let mut answer = plain("application/octet-stream", FILE.text.clone());
        let name = HeaderValue::from_static("attachment; filename=\"verify.html\"");
        answer.headers.insert(CONTENT_DISPOSITION, name);
        prepared(answer, true)
    });
    Ok(ANSWER.clone())
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// An answer that is the same for every tenant, with its ETag and its compressed form.
fn constant(kind: &'static str, body: Bytes) -> Answer {
    prepared(plain(kind, body), true)
}

fn plain(kind: &'static str, body: Bytes) -> Answer {
    Answer { body, ..Answer::new(StatusCode::OK, kind, String::new()) }
}

/// The verifier in one file, which needs nothing else. Its own policy lets it reach no network.
#[derive(Template)]
#[template(path = "verify/file.html")]
struct VerifierFile {
    style: String,
    script: String,
    /// The module, in base64.
    wasm: String,
    /// The digests of style and script, for the policy.
    style_digest: String,
    script_digest: String,
}

struct WholeFile {
    text: Bytes,
    sha256: String,
}

static FILE: LazyLock<WholeFile> = LazyLock::new(|| {
    let style = [STYLE_OF_FILE, STYLE].concat();
    // As one script, these are no modules.
    let script = VERIFIER.replacen("export class", "class", 1)
        + &SCRIPT.replacen("import { Verifier } from './verifier.js';\n", "", 1);
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    let file = VerifierFile {
        style_digest: digest(&style),
        script_digest: digest(&script),
        wasm: STANDARD.encode(WASM),
        style,
        script,
    };
    // Writing to a string fails only if a `Display` fails, and none here does.
    let text = file.render().unwrap_or_default();
    WholeFile { sha256: hex(&Sha256::digest(&text)), text: text.into() }
});

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    /// `./check verifier` runs it with `SWARM_WRITE_DIGEST`.
    #[test]
    fn proofs_md_names_the_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../PROOFS.md");
        let proofs = std::fs::read_to_string(path).unwrap();
        let (before, rest) = proofs.split_once("SHA-256 of `verify.html`:\n\n```text\n").unwrap();
        let (named, after) = rest.split_once('\n').unwrap();
        if std::env::var_os("SWARM_WRITE_DIGEST").is_some() {
            let end = before.len() + (proofs.len() - before.len() - rest.len());
            let start = proofs.get(..end).unwrap();
            std::fs::write(path, format!("{start}{}\n{after}", FILE.sha256)).unwrap();
            return;
        }
        assert_eq!(named, FILE.sha256, "run ./check verifier, which writes it");
    }

    #[test]
    fn file_is_whole() {
        let text = std::str::from_utf8(&FILE.text).unwrap();
        for tag in
            ["<style>", "<script type=\"text/plain\" id=\"wasm\">", "<script type=\"module\">"]
        {
            assert_eq!(text.matches(tag).count(), 1, "{tag}");
        }
        assert_eq!(text.matches("</script>").count(), 2);
        for outside in ["import {", "export class", "src=", "href="] {
            assert!(!text.contains(outside), "{outside}");
        }
    }
}
