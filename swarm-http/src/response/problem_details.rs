//! Errors as problem details (RFC 9457), for clients that prefer them (API.md, 1.2).
//!
//! They are made of the finished error, whichever route, page or limit made it: its code, its hint, and the fields of
//! its JSON body.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use swarm_core::json::{Json, Object, write};

use super::accept::{accept, prefers_problem};
use super::{Answer, SWARM_HINT};
use crate::schema::{SchemaRef, schema};

/// Of the problem details of any error.
pub(crate) const PROBLEM_DETAILS: SchemaRef = schema!("common", "ProblemDetails", {
    "type": "object",
    "description": "The same error as problem details (RFC 9457), for clients whose Accept prefers application/problem+json.",
    "required": ["type", "title", "status", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "The place of the code in /docs/errors."},
        "title": {"type": "string", "minLength": 1, "description": "The text of the error."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "code": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "description": "As in the header Swarm-Error."},
        "hint": {"type": "string", "description": "As in the header Swarm-Hint."},
        "detail": {"type": "string"},
        "expectedPayload": {"type": "string"},
        "memberId": {"$ref": "#/components/schemas/MemberId"},
        "recommendationId": {"$ref": "#/components/schemas/Id"},
        "policy": {"type": "string"}
    }
});

/// The form of the errors of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorForm {
    /// The origin of the types of problem details, if the client prefers these.
    origin: Option<String>,
}

impl ErrorForm {
    /// The form that the `Accept` header of a request selects.
    pub(crate) fn of(headers: &HeaderMap, origin: impl FnOnce() -> String) -> Self {
        Self { origin: prefers_problem(&accept(headers)).then(origin) }
    }

    /// The answer in this form. Anything but an error stays as it is.
    pub(crate) fn apply(&self, mut answer: Answer) -> Answer {
        let (Some(origin), Some(problem)) = (&self.origin, answer.problem) else { return answer };
        let body = answer.error_json.take().unwrap_or_else(|| answer.body.clone());
        let mut fields = Json::read(&body).unwrap_or(Json::Null).into_object();
        // Some pages of errors have no JSON body.
        let title = fields.text("error").unwrap_or_else(|_| problem.code().replace('-', " "));
        let hint = answer.header(&SWARM_HINT).map(str::to_owned);
        let mut details = Object::default();
        details.set("type", Json::Text(format!("{origin}/docs/errors#{}", problem.code())));
        details.set("title", Json::Text(title));
        details.set("status", Json::from(f64::from(answer.status.as_u16())));
        details.set("code", Json::from(problem.code()));
        if let Some(hint) = hint {
            details.set("hint", Json::Text(hint));
        }
        for (name, value) in fields.members() {
            if !matches!(name, "ok" | "status" | "error") {
                details.set(name, value.clone());
            }
        }
        let kind = HeaderValue::from_static("application/problem+json");
        answer.headers.insert(CONTENT_TYPE, kind);
        answer.body = write(&details).into();
        answer
    }
}
