//! What goes wrong (specification, section 7A; contract, sections 3 and 5).

use serde::Serialize;
use swarm_core::domain::{MemberId, TakeId};
use swarm_core::rules::committee::NOT_PERSISTED;
use swarm_core::wire::Status as _;
use swarm_core::{
    CommitteeError, CommitteeRefusal, Error, Refusal, Rejection, StoreError, SubmitError,
};
use warp::http::header::{ALLOW, LINK};
use warp::http::{HeaderValue, StatusCode};

use super::Answer;

/// Why a request gets no other answer.
#[derive(Debug)]
pub(crate) enum ApiError {
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
    /// As [`ApiError::Unavailable`], with this status and text, in the form of the committee.
    CommitteeUnavailable(StatusCode, &'static str, CommitteeError),
    /// The handler panicked: a defect. No rule said so, in either interface: `{error}` alone.
    Panicked,
}

impl ApiError {
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Self::Refused(rejected) => rejection(&rejected),
            Self::Request(status, error) => plain_error(status, error),
            Self::Method(allow) => {
                let error = "method not allowed";
                let mut answer = plain_error(StatusCode::METHOD_NOT_ALLOWED, error);
                answer.headers.insert(ALLOW, allow);
                answer
            }
            Self::AdminToken => domain(&Domain::new(401, "admin token required")),
            Self::Unavailable(error) => unavailable(&error),
            Self::Committee(refusal) => committee_refusal(&refusal),
            Self::CommitteeUnavailable(status, text, error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "{text}");
                plain_error(status, text)
            }
            Self::Panicked => plain_error(StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
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

fn plain_error(status: StatusCode, error: &str) -> Answer {
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

impl ApiError {
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

impl From<CommitteeRefusal> for ApiError {
    fn from(refusal: CommitteeRefusal) -> Self {
        Self::Committee(refusal)
    }
}

impl From<CommitteeError> for ApiError {
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

impl From<Rejection> for ApiError {
    fn from(refused: Rejection) -> Self {
        Self::Refused(refused)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Rejection { reason: refusal, original: None })
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            error => Self::Unavailable(error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(refused) => refused.into(),
            SubmitError::Store(error) => error.into(),
            SubmitError::Entropy(error) => Self::Unavailable(error.into()),
            error => Self::Unavailable(StoreError::unavailable("submit", error).into()),
        }
    }
}
