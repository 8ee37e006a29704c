//! `/swarm/memos/<id>`: a memo, or that it was retracted.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::MemoId;
use swarm_core::wire::Problem;

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::Markup;
use super::negotiation::prefers_html;
use super::people::{People, Person};
use super::{links, lists};
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

#[derive(Template)]
#[template(path = "memo.html")]
struct MemoPage {
    frame: Frame,
    who: Person,
    when: Markup,
    subject: Option<(String, String)>,
    session: Option<(String, String)>,
    body: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let id = request.memo_id()?;
    let memo = match tenant.find_memo(id).await? {
        Some(memo) => memo,
        None if prefers_html(&request.headers) => return Ok(retracted(&request, id)),
        None => tenant.memo(id).await?,
    };
    let who = People::find(tenant, [&memo.member_id]).await?.person(&memo.member_id);
    let subject = match &memo.draft.subject_id {
        Some(id) => Some(lists::subject(tenant, id).await?),
        None => None,
    };
    let session = memo.draft.session_id.map(|id| (links::session(id), format!("session {id}")));
    let frame =
        Frame::new(SiteContext::of(&request), lists::memo_title(&memo), links::memo(memo.id))
            .showing(format!("Memo {}", memo.id))
            .below("/swarm/memos", "Memos");
    let page = MemoPage {
        frame: frame.with_description(&first_words(&memo.draft.body, 200)).article(),
        when: times.time(memo.published_at),
        body: markdown(&memo.draft.body, HeadingLevel::H1),
        subject,
        session,
        who,
    };
    Ok(html(StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "memo_retracted.html")]
struct RetractedPage {
    frame: Frame,
}

/// The page of a memo that was retracted: that it was, and nothing of it.
fn retracted(request: &RequestContext, id: MemoId) -> Answer {
    let title = format!("Memo {id} was retracted");
    let frame = Frame::new(SiteContext::of(request), title, links::memo(id));
    let page = RetractedPage { frame: frame.below("/swarm/memos", "Memos") };
    html(StatusCode::NOT_FOUND, &page).of_problem(Problem::MemoRetracted)
}
