//! The records that the forms of a page would change.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use swarm_core::domain::SubjectId;
use swarm_core::json::write;
use swarm_core::{Error, Refusal, Session, SessionId};

use super::super::place::Place;
use super::super::visit::Visit;
use crate::number::number;
use crate::response::ApiError;

/// The session that it is about.
pub(in crate::pages::console) async fn session(
    place: Place,
    visit: &Visit,
) -> Result<Option<Arc<Session>>, ApiError> {
    if place != Place::Session {
        return Ok(None);
    }
    let unknown = Refusal::NotFound(swarm_core::Resource::Session);
    let id = number(visit.part(0)).map(SessionId).ok_or(unknown)?;
    Ok(Some(visit.request.tenant().session_record(id).await?))
}

/// A digest of the record that its forms change, so that a form made from an older one is noticed.
pub(in crate::pages::console) async fn digest(
    place: Place,
    visit: &Visit,
) -> Result<Option<String>, ApiError> {
    let text = match place {
        Place::Session => session(place, visit).await?.map(|session| write(&*session)),
        Place::Subject => {
            let Ok(id) = SubjectId::parse(visit.part(0).to_owned()) else { return Ok(None) };
            match visit.request.tenant().subject(&id).await {
                Ok(subject) => Some(write(&subject)),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error.into()),
            }
        }
        _ => None,
    };
    Ok(text.map(|text| {
        let digest = Sha256::digest(text);
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }))
}
