//! `/swarm/members`: the active members, paged.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::{Member, MemberId};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links;
use super::list_filter::ListFilter;
use super::lists::part_title;
use super::markdown::first_words;
use super::markup::{Markup, clipped};
use super::people::member_name;
use crate::request::RequestContext;
use crate::request::parameters::no_position;
use crate::response::{ApiError, Reply};

/// Members per page.
const PER_PAGE: usize = 100;

/// How often members are read for one page; more than once only in a search.
const MAX_READS: usize = 20;

/// Longest excerpt of a lens, in letters.
const MAX_LENS: usize = 110;

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    find: ListFilter,
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
    let times = time_formatter(&request).await?;
    let find = ListFilter::of(&request, "/swarm/members", &["q"]);
    let after = request.query().remove("after").map(MemberId::parse).transpose();
    let after = after.map_err(|_| no_position("after"))?;
    let (mut found, next) = look(&request, &find, after.clone()).await?;
    // Ids are random. A page has its members in the order in which they joined.
    found.sort_by(|a, b| (a.joined_at, &a.id).cmp(&(b.joined_at, &b.id)));
    let row = |member: &Arc<Member>| MemberRow {
        name: member_name(member),
        href: links::member(&member.id),
        lens: first_words(member.lens.as_str(), MAX_LENS),
        joined: member.joined_at.map(|joined| times.day(joined.day())).unwrap_or_default(),
    };
    let address = |after: &MemberId| find.address_after(after.as_str());
    let path = after.as_ref().map_or_else(|| find.address(None), address);
    let last = after.as_ref().map(|id| clipped(id.as_str(), 9));
    let title = part_title(&find.title("Members"), "after", last);
    let page = MembersPage {
        members: found.iter().map(row).collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        later: after.is_some(),
        next: next.as_ref().map(address),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// Searches a limited number of members. Also returns the last member that was searched, if there are more.
async fn look(
    request: &RequestContext,
    find: &ListFilter,
    after: Option<MemberId>,
) -> Result<(Vec<Arc<Member>>, Option<MemberId>), ApiError> {
    let needle = find.needle();
    let is_match =
        |member: &Arc<Member>| needle.as_ref().is_none_or(|needle| needle.is_in_member(member));
    let (mut found, mut next) = (Vec::new(), after);
    for _ in 0..MAX_READS {
        let (read, more) = request.tenant().member_page(next, PER_PAGE - found.len()).await?;
        found.extend(read.into_iter().filter(is_match));
        next = more;
        if next.is_none() || found.len() == PER_PAGE {
            break;
        }
    }
    Ok((found, next))
}
