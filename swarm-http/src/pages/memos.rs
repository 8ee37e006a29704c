//! `/swarm/memos`: the published memos, newest first, found by text, subject and member.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Memo, MemoId};
use swarm_core::rules::MemoFilter;
use swarm_core::service::MemoPage;

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links;
use super::list_filter::ListFilter;
use super::lists::{Subjects, memo_title, number_param, part_title};
use super::markdown::first_words;
use super::markup::Markup;
use super::people::{People, Person};
use crate::request::RequestContext;
use crate::response::Reply;

/// Memos per page.
const PER_PAGE: usize = 40;

/// Longest excerpt of a memo, in letters.
const MAX_EXCERPT: usize = 160;

#[derive(Template)]
#[template(path = "memos.html")]
struct MemosPage {
    frame: Frame,
    find: ListFilter,
    rows: Vec<Row>,
    later: bool,
    next: Option<String>,
}

struct Row {
    when: Markup,
    href: String,
    title: String,
    who: Person,
    subject: Option<(String, String)>,
    words: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?.map(MemoId);
    let find = ListFilter::of(&request, "/swarm/memos", &["q", "subject", "member", "limit"]);
    let filter = request.memo_filter()?;
    let per_page = request.rows(PER_PAGE)?;
    let MemoPage { memos, next_before, .. } = tenant.memo_page(&filter, before, per_page).await?;
    let MemoFilter { member, subject, .. } = filter;
    let ids = memos.iter().filter_map(|memo| memo.draft.subject_id.as_ref()).chain(&subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let ids = memos.iter().map(|memo| &memo.member_id).chain(&member);
    let people = People::find(tenant, ids).await?;
    let row = |memo: &Memo| Row {
        when: times.day(memo.published_at.day()),
        href: links::memo(memo.id),
        title: memo_title(memo),
        who: people.person(&memo.member_id),
        subject: memo.draft.subject_id.as_ref().map(|id| subjects.link(id)),
        words: first_words(&memo.draft.body, MAX_EXCERPT),
    };
    let find = find
        .named("subject", subject.as_ref().map(|id| subjects.name(id)))
        .named("member", member.as_ref().map(|id| people.person(id).name));
    let page = MemosPage {
        frame: Frame::new(
            SiteContext::of(&request),
            part_title(&find.title("Memos"), "before", before),
            find.address(before.map(|before| before.0)),
        ),
        rows: memos.iter().map(row).collect(),
        later: before.is_some(),
        next: next_before.map(|before| find.address(Some(before.0))),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
