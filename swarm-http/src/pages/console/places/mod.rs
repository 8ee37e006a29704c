//! The pages of the console.

mod applications;
mod committee;
mod convene;
mod current;
mod log;
mod members;
mod outbox;
mod overview;
mod records;
mod session;
mod sessions;
mod store;
mod subjects;

use super::page::Page;
use super::place::Place;
use super::visit::Visit;
use crate::response::ApiError;

pub(super) use current::{digest, session};

/// Makes a page.
pub(super) async fn page(place: Place, visit: &mut Visit) -> Result<Page, ApiError> {
    visit.seen = digest(place, visit).await?;
    match place {
        Place::Overview => overview::page(visit).await,
        Place::Sessions => sessions::page(visit).await,
        Place::Session => session::page(visit).await,
        Place::Convene => convene::page(visit).await,
        Place::Applications => applications::page(visit).await,
        Place::Members => members::list(visit).await,
        Place::Member => members::page(visit).await,
        Place::Subjects => subjects::list(visit).await,
        Place::Subject => subjects::page(visit).await,
        Place::Records => Ok(records::page(visit)),
        Place::Committee => committee::page(visit).await,
        Place::Outbox => outbox::page(visit).await,
        Place::Acts => log::page(visit).await,
        Place::Store => store::page(visit).await,
    }
}
