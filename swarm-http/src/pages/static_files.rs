//! Static files: the style sheet and the icon.

use http::StatusCode;

use crate::request::RequestContext;
use crate::response::{Answer, Reply};

pub(crate) async fn style(_: RequestContext) -> Reply {
    let style = include_str!("../../templates/style.css");
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", style.to_owned()))
}

pub(crate) async fn icon(_: RequestContext) -> Reply {
    let icon = include_str!("../../templates/icon.svg");
    Ok(Answer::new(StatusCode::OK, "image/svg+xml", icon.to_owned()))
}
