//! The routes of interface B, the daily committee (API.md, 8), and of its pages.

mod api;
mod context;
mod guide;
#[cfg(feature = "pages")]
mod pages;

use crate::request::route::Route;

pub(super) use guide::guide;

/// The routes.
pub(crate) fn routes() -> Vec<Route> {
    let routes = api::routes().into_iter();
    #[cfg(feature = "pages")]
    let routes = routes.chain(pages::routes());
    routes.collect()
}
