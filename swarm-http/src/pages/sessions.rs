//! `/swarm/sessions`: all sessions, paged, newest first.

use askama::Template;
use http::StatusCode;
use swarm_core::SessionId;

use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{SessionRow, Subjects, number_param, part_title};
use crate::request::RequestContext;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 40;

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    rows: Vec<SessionRow>,
    /// Whether there is a page with newer sessions.
    later: bool,
    next: Option<String>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let found = request.tenant().sessions(PER_PAGE, before).await?;
    let ids = found.sessions.iter().map(|session| &session.subject_id);
    let subjects = Subjects::find(request.tenant(), ids).await?;
    let rows = found.sessions.iter().map(|one| SessionRow::new(one, &subjects, reading)).collect();
    let address = |before: SessionId| format!("/swarm/sessions?before={before}");
    let path = before.map_or("/swarm/sessions".to_owned(), address);
    let page = SessionsPage {
        frame: Frame::new(
            SiteContext::of(&request),
            part_title("Sessions", "before", before),
            path,
        ),
        rows,
        later: before.is_some(),
        next: found.next_before.map(address),
    };
    Ok(html(StatusCode::OK, &page))
}
