//! Dry runs of operators' changes (API.md, 7.1): judged and answered, but not committed.

use swarm_core::json::{Json, Object, write};
use swarm_core::rules::{Caution, CautionCode};
use swarm_core::service::signed_log::SignedLog;
use swarm_core::wire::RequestError;
use swarm_core::{Invalid, Tenant};

use crate::committee::TenantCommittee;
use crate::response::{Answer, ApiError, Reply};
use crate::schema::{SchemaRef, schema};
use crate::tenants::ServedTenant;

/// The services of a tenant for a dry run.
pub(crate) struct DryRun {
    pub(crate) tenant: Tenant,
    pub(crate) committee: TenantCommittee,
    pub(crate) signed_log: Option<SignedLog>,
}

impl DryRun {
    /// The services for a dry run.
    pub(crate) fn of(served: &ServedTenant) -> Self {
        let tenant = served.tenant().dry_run();
        Self {
            committee: served.committee.dry_run(),
            signed_log: served.signed_log().map(|log| log.dry_run(&tenant)),
            tenant,
        }
    }

    /// The services for a dry run, if the query has `dry_run`. A query with two values is refused, because the
    /// request must not commit what its sender took for a dry run.
    pub(crate) fn of_query(query: &str, served: &ServedTenant) -> Result<Option<Self>, ApiError> {
        let mut values =
            form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "dry_run");
        let first = values.next().map(|(_, value)| value);
        match (first.as_deref(), values.next()) {
            (None | Some("false"), None) => Ok(None),
            (Some("true"), None) => Ok(Some(Self::of(served))),
            _ => {
                let invalid = Invalid::new("dry_run", "must be true or false");
                Err(RequestError::InvalidQuery(invalid).into())
            }
        }
    }
}

/// What [`mark_dry_run`] makes of an answer.
pub(crate) const ANSWER: SchemaRef = schema!("common", "DryRun", {
    "type": "object",
    "required": ["dryRun", "cautions"],
    "additionalProperties": true,
    "description": "The answer to a dry run: as without it, but for dryRun and cautions, and null for the id, token or key \
        that would be minted.",
    "properties": {
        "dryRun": {"const": true},
        "cautions": {
            "type": "array",
            "description": "What a person should hear before the change.",
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"enum": CautionCode::ALL.map(CautionCode::as_str)},
                    "message": {"type": "string"}
                }
            }
        }
    }
});

/// Adds `dryRun` and the cautions to the answer of a dry run, and sets to null what a commit would have minted: the member
/// with this name, or `object.member`.
pub(crate) fn mark_dry_run(mut answer: Answer, minted: Option<&str>) -> Reply {
    let body = Json::read(&answer.body).map_err(|_| RequestError::Internal)?;
    let mut body = body.into_object();
    if let Some(minted) = minted {
        clear(&mut body, minted);
    }
    body.set("dryRun", Json::Bool(true));
    let caution = |caution: &Caution| {
        let Caution { code, message } = caution;
        Json::from([("code", Json::from(code.as_str())), ("message", Json::from(message.as_str()))])
    };
    body.set("cautions", answer.cautions.iter().map(caution).collect());
    answer.body = write(&Json::Object(body)).into();
    Ok(answer)
}

fn clear(object: &mut Object, path: &str) {
    match path.split_once('.') {
        None => object.set(path, Json::Null),
        Some((name, rest)) => {
            if let Some(Json::Object(inner)) = object.get_mut(name) {
                clear(inner, rest);
            }
        }
    }
}
