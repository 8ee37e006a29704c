//! Answers, and what goes wrong (specification, section 7A; contract, section 5).

use bytes::Bytes;
use serde::Serialize;
use swarm_core::domain::{MemberId, TakeId};
use swarm_core::rules::committee::NOT_PERSISTED;
use swarm_core::wire::Status as _;
use swarm_core::{
    CommitteeError, CommitteeRefusal, Error, Refusal, Rejection, StoreError, SubmitError, json,
};
use warp::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, LINK, X_CONTENT_TYPE_OPTIONS};
use warp::http::{HeaderMap, HeaderValue, StatusCode};
use warp::reply::Response;

/// What a handler answers.
pub(crate) type Reply = Result<Answer, Fault>;

/// An answer, whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn empty(status: StatusCode) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Public reads say otherwise; whatever else is answered may hold a credential.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self { status, headers, body: Bytes::new() }
    }

    pub(crate) fn new(status: StatusCode, kind: &'static str, text: String) -> Self {
        let mut answer = Self::empty(status);
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Self { body: text.into(), ..answer }
    }

    pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Self {
        Self::new(status, "application/json", json::write(value))
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// `value` as it is, with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Reply {
    Ok(Answer::json(StatusCode::OK, value))
}

/// `{ok: true, status, …fields}`, with the same status.
pub(crate) fn done<T: Serialize>(status: StatusCode, fields: &T) -> Reply {
    #[derive(Serialize)]
    struct Done<'a, T> {
        ok: bool,
        status: u16,
        #[serde(flatten)]
        fields: &'a T,
    }
    Ok(Answer::json(status, &Done { ok: true, status: status.as_u16(), fields }))
}

/// Why a request gets no other answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A rule said no: the domain form.
    Refused(Rejection),
    /// The request never reached the domain layer: `{error}` alone.
    Request(StatusCode, &'static str),
    /// The path is known, the method is not.
    Method(HeaderValue),
    /// The operator's token is missing or wrong.
    AdminToken,
    /// The store, or another part of the world, did not answer.
    Unavailable(Error),
    /// A rule of the committee said no: `{error, detail?}`.
    Committee(CommitteeRefusal),
    /// As [`Fault::Unavailable`], with this status and text, in the form of the committee.
    CommitteeUnavailable(StatusCode, &'static str, CommitteeError),
    /// The handler panicked: a defect. No rule said so, in either interface: `{error}` alone.
    Panicked,
}

impl Fault {
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Self::Refused(rejected) => rejection(&rejected),
            Self::Request(status, error) => request_fault(status, error),
            Self::Method(allow) => {
                let error = "method not allowed";
                let mut answer = request_fault(StatusCode::METHOD_NOT_ALLOWED, error);
                answer.headers.insert(ALLOW, allow);
                answer
            }
            Self::AdminToken => domain(&Domain::new(401, "admin token required")),
            Self::Unavailable(error) => unavailable(&error),
            Self::Committee(refusal) => committee_refusal(&refusal),
            Self::CommitteeUnavailable(status, text, error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "{text}");
                request_fault(status, text)
            }
            Self::Panicked => request_fault(StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
        }
    }
}

/// The domain form of an error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Domain<'a> {
    ok: bool,
    status: u16,
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_payload: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member_id: Option<&'a MemberId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recommendation_id: Option<TakeId>,
}

impl<'a> Domain<'a> {
    fn new(status: u16, error: &'a str) -> Self {
        Self {
            ok: false,
            status,
            error,
            detail: None,
            expected_payload: None,
            member_id: None,
            recommendation_id: None,
        }
    }
}

fn domain(body: &Domain<'_>) -> Answer {
    let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::json(status, body)
}

fn rejection(rejection: &Rejection) -> Answer {
    let Rejection { reason: refusal, original } = rejection;
    let text = refusal.to_string();
    let mut body = Domain::new(refusal.status(), &text);
    body.recommendation_id = *original;
    match refusal {
        Refusal::InvalidRequest(invalid) => body.detail = Some(invalid.to_string()),
        Refusal::BadApplication { expected_payload } => {
            body.expected_payload = Some(expected_payload);
        }
        Refusal::KeyRegistered(holder) => body.member_id = Some(holder),
        _ => {}
    }
    let mut answer = domain(&body);
    let link = original.map(|id| format!("</swarm/takes/{id}>; rel=\"original\""));
    if let Some(link) = link.and_then(|link| HeaderValue::try_from(link).ok()) {
        answer.headers.insert(LINK, link);
    }
    answer
}

fn request_fault(status: StatusCode, error: &str) -> Answer {
    #[derive(Serialize)]
    struct Plain<'a> {
        error: &'a str,
    }
    Answer::json(status, &Plain { error })
}

fn committee_refusal(refusal: &CommitteeRefusal) -> Answer {
    #[derive(Serialize)]
    struct Detailed {
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    }
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
    Answer::json(status, &Detailed { error: refusal.to_string(), detail: refusal.detail() })
}

impl Fault {
    /// Why a submission to the committee came to nothing.
    pub(crate) fn of_submission(error: CommitteeError) -> Self {
        match error {
            CommitteeError::Refused(refusal) => refusal.into(),
            error => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Self::CommitteeUnavailable(status, NOT_PERSISTED, error)
            }
        }
    }
}

impl From<CommitteeRefusal> for Fault {
    fn from(refusal: CommitteeRefusal) -> Self {
        Self::Committee(refusal)
    }
}

impl From<CommitteeError> for Fault {
    fn from(error: CommitteeError) -> Self {
        match error {
            CommitteeError::Refused(refusal) => refusal.into(),
            error => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::CommitteeUnavailable(status, "store unavailable", error)
            }
        }
    }
}

fn unavailable(error: &Error) -> Answer {
    tracing::error!(error = error as &dyn std::error::Error, "no answer from the store");
    domain(&Domain::new(503, "store unavailable"))
}

impl From<Rejection> for Fault {
    fn from(refused: Rejection) -> Self {
        Self::Refused(refused)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Rejection { reason: refusal, original: None })
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            error => Self::Unavailable(error),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<SubmitError> for Fault {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(refused) => refused.into(),
            SubmitError::Store(error) => error.into(),
            SubmitError::Entropy(error) => Self::Unavailable(error.into()),
            error => Self::Unavailable(StoreError::unavailable("submit", error).into()),
        }
    }
}
