//! `/swarm/memos/<id>`: a memo.

use askama::Template;
use http::StatusCode;

use super::frame::{Frame, SiteContext, html, reading};
use super::markdown::{HeadingLevel, markdown};
use super::markup::Markup;
use super::people::{People, Person};
use super::{links, lists};
use crate::request::RequestContext;
use crate::response::Reply;

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
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let memo = tenant.memo(request.memo_id()?).await?;
    let who = People::find(tenant, [&memo.member_id]).await?.person(&memo.member_id);
    let subject = match &memo.draft.subject_id {
        Some(id) => Some(lists::subject(tenant, id).await?),
        None => None,
    };
    let session = memo.draft.session_id.map(|id| (links::session(id), format!("session {id}")));
    let frame =
        Frame::new(SiteContext::of(&request), lists::memo_title(&memo), links::memo(memo.id))
            .showing(format!("Memo {}", memo.id))
            .below("/swarm/members", "Members");
    let frame = match &who.href {
        Some(href) => frame.below(href, &who.name),
        None => frame,
    };
    let page = MemoPage {
        frame: frame.article(),
        when: reading.time(memo.published_at),
        body: markdown(&memo.draft.body, HeadingLevel::H1),
        subject,
        session,
        who,
    };
    Ok(html(StatusCode::OK, &page))
}
