//! `/swarm/members`: the active members, paged.

use askama::Template;
use http::StatusCode;
use swarm_core::rules::Needle;

use super::find::Find;
use super::frame::{Frame, SiteContext, html, reading};
use super::links;
use super::lists::{number_param, part_title};
use super::markdown::first_words;
use super::markup::Markup;
use super::people::member_name;
use crate::request::RequestContext;
use crate::response::Reply;

/// Members per page.
const PER_PAGE: usize = 100;

/// Longest excerpt of a lens, in letters.
const MAX_LENS: usize = 110;

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    find: Find,
    members: Vec<MemberRow>,
    later: bool,
    next: Option<String>,
}

struct MemberRow {
    name: String,
    href: String,
    lens: String,
    joined: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let from = number_param(&request, "from")?.unwrap_or(0);
    let skipped = usize::try_from(from).unwrap_or(usize::MAX);
    let find = Find::of(&request, "/swarm/members", &["q"]);
    let needle = find.needle();
    let mut all = request.tenant().members().await?;
    all.retain(|member| {
        let has = |it: &Needle| it.is_in(member.name.as_str()) || it.is_in(member.lens.as_str());
        needle.as_ref().is_none_or(has)
    });
    let rows = all.iter().skip(skipped).take(PER_PAGE).map(|member| MemberRow {
        name: member_name(member),
        href: links::member(&member.id),
        lens: first_words(member.lens.as_str(), MAX_LENS),
        joined: member.joined_at.map(|joined| reading.day(joined.day())).unwrap_or_default(),
    });
    let path = if from == 0 { find.address(None) } else { find.address_at("from", from) };
    let next = skipped.saturating_add(PER_PAGE);
    let title = part_title(&find.title("Members"), "after", (from > 0).then_some(from));
    let page = MembersPage {
        members: rows.collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        later: from > 0,
        next: (next < all.len()).then(|| find.address_at("from", next as u64)),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
