//! The pages of the console, a file each.

mod applications;
#[cfg(feature = "committee")]
mod committee;
mod convene;
mod log;
mod members;
mod operator_acts;
mod outbox;
mod overview;
mod records;
mod session;
mod sessions;
mod store;
mod subjects;
mod take;
mod webhooks;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use swarm_core::domain::SubjectId;
use swarm_core::json::write;
use swarm_core::{Error, Invalid, MemberId, Refusal, Session, SessionId};

pub(super) use session::outcome_text;

use super::context::ConsoleContext;
use super::form::FormData;
use super::layout::Page;
use super::page_id::PageId;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Makes a page.
pub(super) async fn page(page_id: PageId, context: &mut ConsoleContext) -> Result<Page, ApiError> {
    context.record_digest = digest(page_id, context).await?;
    match page_id {
        PageId::Overview => overview::page(context).await,
        PageId::Sessions => sessions::page(context).await,
        PageId::Session => session::page(context).await,
        PageId::Take => take::page(context).await,
        PageId::Convene => convene::page(context).await,
        PageId::Applications => applications::page(context).await,
        PageId::Members => members::list(context).await,
        PageId::Member => members::page(context).await,
        PageId::Subjects => subjects::list(context).await,
        PageId::Subject => subjects::page(context).await,
        PageId::Records => records::page(context).await,
        #[cfg(feature = "committee")]
        PageId::Committee => committee::page(context).await,
        #[cfg(not(feature = "committee"))]
        PageId::Committee => Err(swarm_core::wire::RequestError::UnknownPath.into()),
        PageId::Outbox => outbox::page(context).await,
        PageId::Webhooks => webhooks::page(context).await,
        PageId::Acts => log::page(context).await,
        PageId::AllActs => operator_acts::page(context).await,
        PageId::Store => store::page(context).await,
    }
}

/// The session that the page is about.
pub(super) async fn session(
    page_id: PageId,
    context: &ConsoleContext,
) -> Result<Option<Arc<Session>>, ApiError> {
    if page_id != PageId::Session {
        return Ok(None);
    }
    let unknown = Refusal::NotFound(swarm_core::Resource::Session);
    let id = number(context.part(0)).map(SessionId).ok_or(unknown)?;
    Ok(Some(context.request.tenant().session_record(id).await?))
}

/// The members of the roster that a form of the page keeps instead of listing them.
pub(super) async fn kept_roster(
    page_id: PageId,
    context: &ConsoleContext,
    sent: &FormData,
) -> Result<Option<Vec<MemberId>>, ApiError> {
    match page_id {
        PageId::Convene => convene::kept_roster(context, sent).await,
        _ => Ok(None),
    }
}

/// Checks that what a form of the page creates is new: to the API, it would replace the one that there is.
pub(super) async fn check_new(
    page_id: PageId,
    context: &ConsoleContext,
    sent: &FormData,
) -> Result<(), ApiError> {
    let PageId::Subjects = page_id else { return Ok(()) };
    // The API says what is wrong with an id.
    let Ok(id) = SubjectId::parse(sent.text("id").to_owned()) else { return Ok(()) };
    match Error::if_any(context.request.tenant().subject(&id).await)? {
        Some(_) => {
            let rule = "is that of a subject already, which is changed on its page";
            Err(Refusal::InvalidRequest(Invalid::new("id", rule)).into())
        }
        None => Ok(()),
    }
}

/// A digest of the record that the page's forms change, so that a form of an older version is refused.
pub(super) async fn digest(
    page_id: PageId,
    context: &ConsoleContext,
) -> Result<Option<String>, ApiError> {
    let text = match page_id {
        PageId::Session => session(page_id, context).await?.map(|session| write(&*session)),
        PageId::Subject => {
            let Ok(id) = SubjectId::parse(context.part(0).to_owned()) else { return Ok(None) };
            Error::if_any(context.request.tenant().subject(&id).await)?
                .map(|subject| write(&subject))
        }
        _ => None,
    };
    Ok(text.map(|text| {
        let digest = Sha256::digest(text);
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }))
}
