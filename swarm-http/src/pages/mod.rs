//! Pages for people (contract, section 9). Everything on them comes from strangers: templates,
//! charts and Markdown escape all of it, and the policy sent along lets nothing run, whatever they
//! forgot. Each page is rendered from the reads that the API has, and whoever prefers JSON gets
//! what the API answers with.

mod acts;
mod charts;
pub(crate) mod committee;
mod fault;
mod feed;
mod frame;
mod home;
mod links;
mod lists;
pub(crate) mod log;
mod markdown;
mod markup;
pub(crate) mod member;
pub(crate) mod members;
pub(crate) mod memo;
mod moment;
mod negotiation;
mod people;
pub(crate) mod session;
pub(crate) mod sessions;
mod shares;
mod stance;
mod static_files;
pub(crate) mod subject;
pub(crate) mod subjects;
pub(crate) mod take;

use warp::http::HeaderMap;

use crate::request::RequestContext;
use crate::response::{Answer, ApiError};
use crate::tenants::ServedTenant;

pub(crate) use feed::feed;
pub(crate) use frame::{Desk, Frame, html};
pub(crate) use markup::Markup;
pub(crate) use negotiation::{page, quality};
pub(crate) use static_files::{icon, style};

use negotiation::prefers_html;

/// The home page, or what went wrong as a page.
pub(crate) async fn home(request: RequestContext) -> Answer {
    let desk = Desk::of(&request);
    home::page(request).await.unwrap_or_else(|error| fault::page(desk, error))
}

/// The page of a path that is not there, where a page is preferred.
pub(crate) fn unknown_path(
    headers: &HeaderMap,
    served: &ServedTenant,
    origin: String,
    error: ApiError,
) -> Answer {
    if prefers_html(headers) {
        return fault::page(Desk::new(served, origin), error);
    }
    error.into_answer()
}
