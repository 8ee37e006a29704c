//! An answer: status, headers and body, which is in memory or made while it is sent.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LINK, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use swarm_core::domain::{Salt, Seq};
use swarm_core::rules::Caution;
use swarm_core::wire::{self, Problem};
use swarm_core::{Session, SessionId, TakeId};

use super::encodings::Encodings;
use super::{BodyStream, ResponseBody};
use crate::following::EventStream;

/// A line of help: what was wrong with a request, or what an answer leaves open (API.md, 9.2).
pub(crate) const SWARM_HINT: HeaderName = HeaderName::from_static("swarm-hint");

/// The code of an error (API.md, 1.2).
const SWARM_ERROR: HeaderName = HeaderName::from_static("swarm-error");

/// The salt of the take that was just filed, if it is sealed (API.md, 5.8).
pub(super) const SWARM_SEAL: HeaderName = HeaderName::from_static("swarm-seal");

/// The number of the log's entry of the take that was just filed (API.md, 11.7).
pub(super) const SWARM_ENTRY: HeaderName = HeaderName::from_static("swarm-entry");

/// The headers of every answer below the path of the console, unless it has its own.
const OF_CONSOLE: [(HeaderName, HeaderValue); 2] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (ROBOTS, NO_INDEX),
];

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const NO_INDEX: HeaderValue = HeaderValue::from_static("noindex, nofollow");

/// A part of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A session and its takes.
    Session(SessionId),
    /// The scores, in the state with this number.
    Scores(u64),
}

/// A complete answer.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The error code, as in the header `Swarm-Error`.
    pub(crate) problem: Option<Problem>,
    /// The JSON body of the error that the body shows as a page.
    pub(crate) error_json: Option<Bytes>,
    /// ETag and compressed forms, of a public answer whose headers are complete.
    pub(crate) encodings: Option<Arc<Encodings>>,
    /// The part of what is stored that this answer depends on, if it is known.
    pub(crate) scope: Option<Scope>,
    /// Whether the answer is only for the caller, although others may read at the same path. No cache keeps it.
    pub(crate) is_private: bool,
    /// What should be heard before the change, for the answer of a dry run.
    pub(crate) cautions: Vec<Caution>,
    /// What is sent in place of the body, if the answer is a stream.
    pub(crate) stream: Option<BodyStream>,
}

impl Answer {
    pub(crate) fn empty(status: StatusCode) -> Self {
        // Enough for the usual headers without reallocating.
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Public reads replace this; other answers may contain a credential.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self {
            status,
            headers,
            body: Bytes::new(),
            problem: None,
            error_json: None,
            encodings: None,
            scope: None,
            is_private: false,
            cautions: Vec::new(),
            stream: None,
        }
    }

    /// A stream of events.
    pub(crate) fn of_events(events: EventStream) -> Self {
        let mut answer = Self::new(StatusCode::OK, "text/event-stream", String::new());
        // A proxy that compresses would hold the events back.
        let untouched = HeaderValue::from_static("no-store, no-transform");
        answer.headers.insert(CACHE_CONTROL, untouched);
        // For nginx, which would gather the events.
        let (name, off) = (HeaderName::from_static("x-accel-buffering"), "no");
        answer.headers.insert(name, HeaderValue::from_static(off));
        let texts = BodyStream::new(events.into_texts().map(Ok));
        Self { stream: Some(texts), ..answer.private() }
    }

    /// The answer with a body that is made while it is sent. No cache keeps it.
    #[cfg(feature = "pages")]
    pub(crate) fn streamed(self, stream: BodyStream) -> Self {
        Self { body: Bytes::new(), stream: Some(stream), ..self.private() }
    }

    pub(crate) fn new(status: StatusCode, kind: &'static str, text: String) -> Self {
        let mut answer = Self::empty(status);
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Self { body: text.into(), ..answer }
    }

    /// Marks the answer as depending only on this session and its takes.
    pub(crate) fn of_session(self, session: &Session) -> Self {
        Self { scope: Some(Scope::Session(session.id)), ..self }
    }

    /// Marks the answer as depending only on the scores in this state.
    pub(crate) fn of_scores(self, state: u64) -> Self {
        Self { scope: Some(Scope::Scores(state)), ..self }
    }

    /// Marks the answer as only for the caller.
    pub(crate) fn private(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// Adds the salt of a sealed take as `Swarm-Seal`, if there is one.
    pub(crate) fn with_seal(mut self, salt: Option<Salt>) -> Self {
        if let Some(salt) = salt.and_then(|salt| HeaderValue::try_from(salt.to_string()).ok()) {
            self.headers.insert(SWARM_SEAL, salt);
        }
        self
    }

    /// Adds what should be heard before the change.
    pub(crate) fn with_cautions(self, cautions: Vec<Caution>) -> Self {
        Self { cautions, ..self }
    }

    /// Adds the number of the log's entry of the take that was just filed as `Swarm-Entry`, if it is known.
    pub(crate) fn with_entry(mut self, entry: Option<Seq>) -> Self {
        if let Some(entry) = entry {
            self.headers.insert(SWARM_ENTRY, HeaderValue::from(entry.0));
        }
        self
    }

    /// Marks the answer as this error.
    pub(crate) fn of_problem(mut self, problem: Problem) -> Self {
        self.headers.insert(SWARM_ERROR, HeaderValue::from_static(problem.code()));
        Self { problem: Some(problem), ..self }
    }

    /// Adds the hint as `Swarm-Hint`, if there is one.
    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        if let Some(hint) = hint.and_then(|hint| HeaderValue::try_from(hint).ok()) {
            self.headers.insert(SWARM_HINT, hint);
        }
        self
    }

    /// Returns whether the path is that of the console, or below it.
    pub(crate) fn is_of_console(path: &str) -> bool {
        let rest = path.strip_prefix("/operate");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Tells browsers and crawlers what any answer below the path of the console is: in no frame, and in no index (MANUAL.md,
    /// 14). A page has told them already.
    pub(crate) fn guarded_at(mut self, path: &str) -> Self {
        if Self::is_of_console(path) {
            for (name, value) in OF_CONSOLE {
                self.headers.entry(name).or_insert(value);
            }
        }
        self
    }

    /// Tells crawlers to keep the answer out of their index.
    pub(crate) fn unlisted(mut self) -> Self {
        self.headers.insert(ROBOTS, NO_INDEX);
        self
    }

    /// A page in place of the error's body, with the headers of the error, such as `Allow` and `Retry-After`. It has its own
    /// status.
    #[cfg(feature = "pages")]
    pub(crate) fn shown_as(self, page: Self) -> Self {
        let (mut headers, problem) = (self.headers, self.problem);
        headers.extend(page.headers.clone());
        Self { headers, problem, error_json: Some(self.body), ..page }
    }

    /// Adds one more hint to `Swarm-Hint`, if there is one.
    pub(crate) fn with_further_hint(self, further: Option<String>) -> Self {
        let Some(further) = further else { return self };
        let hint = match self.header(&SWARM_HINT) {
            Some(hint) => format!("{hint}; {further}"),
            None => further,
        };
        self.with_hint(Some(hint))
    }

    /// Adds a link to the next page of a list.
    pub(crate) fn with_next(mut self, address: &str) -> Self {
        if let Ok(link) = HeaderValue::try_from(format!("<{address}>; rel=\"next\"")) {
            self.headers.append(LINK, link);
        }
        self
    }

    /// The header of this name, if it is text.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn into_response(mut self) -> Response<ResponseBody> {
        match self.stream.take() {
            Some(stream) => {
                let body = ResponseBody::stream(&stream);
                self.into_bytes_response::<Bytes>().map(|_empty| body)
            }
            None => self.into_bytes_response(),
        }
    }

    /// The response, without the body of a stream.
    pub(crate) fn into_bytes_response<B: From<Bytes>>(self) -> Response<B> {
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// The `Link` to the take on file with the same bytes.
fn original(id: TakeId) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("</swarm/takes/{id}>; rel=\"original\"")).ok()
}

impl From<wire::Answer> for Answer {
    fn from(answer: wire::Answer) -> Self {
        let status = StatusCode::from_u16(answer.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let challenge = answer.bearer_challenge();
        let mut whole = Self::new(status, "application/json", answer.body);
        if let Some(seconds) = answer.retry_after {
            whole.headers.insert(RETRY_AFTER, seconds.into());
        }
        if let Some(link) = answer.original.and_then(original) {
            whole.headers.insert(LINK, link);
        }
        if let Some(challenge) = challenge {
            whole.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        match answer.problem {
            Some(problem) => whole.of_problem(problem),
            None => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::rules::{Refusal, Rejection};

    use super::*;

    /// Routes of an embedder make their answers from those of the core.
    #[test]
    fn answer_of_an_error_has_its_headers() {
        let headers = |answer: wire::Answer| Answer::from(answer).headers;
        let missing = headers((&Refusal::MissingBearer).into());
        assert_eq!(missing[WWW_AUTHENTICATE], "Bearer");
        let unknown = headers((&Refusal::UnknownToken).into());
        assert_eq!(unknown[WWW_AUTHENTICATE], "Bearer error=\"invalid_token\"");
        let busy = headers((&wire::RequestError::TooManyAttempts(7)).into());
        assert_eq!(busy[RETRY_AFTER], "7");
        let mut replay = Rejection::from(Refusal::NonceUsed);
        replay.original = Some(TakeId(3));
        assert_eq!(headers((&replay).into())[LINK], "</swarm/takes/3>; rel=\"original\"");
        let plain = headers((&Refusal::WindowClosed).into());
        for name in [WWW_AUTHENTICATE, RETRY_AFTER, LINK] {
            assert!(!plain.contains_key(name));
        }
    }
}
