//! `/swarm/members`: the active members and how they compare, sorted and paged.
//!
//! Members beyond [`MAX_COMPARED`](swarm_core::service::MAX_COMPARED) are listed by id, without figures: `after` leads to
//! them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::rules::{MIN_SCORED, RankedMember, Ranking, ScoreFilter};
use swarm_core::service::{ComparedMember, MemberComparison};
use swarm_core::{Member, MemberId};

use super::charts::float;
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links;
use super::list_filter::{ListFilter, Sort};
use super::lists::part_title;
use super::markdown::first_words;
use super::markup::{Markup, clipped};
use super::outcome::signed_figure;
use super::people::member_name;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::request::parameters::no_position;
use crate::response::{ApiError, Reply};

/// Members per page.
const PER_PAGE: usize = 50;

/// How often members are read for one page by id; more than once only in a search.
const MAX_READS: usize = 20;

/// Longest excerpt of a lens, in letters.
const MAX_LENS: usize = 70;

/// Longest name in the table, in letters.
const MAX_NAME: usize = 40;

/// The orders: names and words.
const SORTS: [(&str, &str); 8] = [
    ("joined", "oldest"),
    ("newest", "newest"),
    ("name", "name"),
    ("filed", "filed"),
    ("distance", "distance"),
    ("against", "against"),
    ("record", "record"),
    ("last", "last session"),
];

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    find: ListFilter,
    sorts: Vec<Sort>,
    members: Vec<MemberRow>,
    /// How many there are, in words.
    count: String,
    /// The number of results that they are compared over.
    results: usize,
    /// Whether any session has an outcome.
    has_records: bool,
    later: bool,
    next: Option<String>,
    /// The address of the members that have no figures here.
    others: Option<String>,
}

struct MemberRow {
    name: String,
    href: String,
    lens: String,
    joined: Markup,
    filed: String,
    distance: String,
    against: String,
    record: String,
    last: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let find = ListFilter::of(&request, "/swarm/members", &["q", "sort"]);
    if request.query().contains_key("after") {
        return by_id(&request, find, times).await;
    }
    let tenant = request.tenant();
    let comparison = request.served.overview().await.comparison(tenant).await?;
    let every_session = ScoreFilter::default();
    let ranking = request.served.scores().await.ranking(tenant, &every_session, MIN_SCORED).await?;
    let records = Records::of(&ranking.ranking);
    let needle = find.needle();
    let is_match = |compared: &&ComparedMember| {
        needle.as_ref().is_none_or(|needle| needle.is_in_member(&compared.member))
    };
    let mut found: Vec<_> = comparison.members.iter().filter(is_match).collect();
    let sort = find.sort(&SORTS);
    sort_by(&mut found, sort, &records);
    let rows = find.rows(&request, request.portion.of(PER_PAGE))?;
    let shown = rows.of_all(&found);
    let title = part_title(&find.sorted_title("Members", &SORTS), "from", rows.from());
    let page = MembersPage {
        members: shown.map(|compared| row(compared, &records, times)).collect(),
        count: find.count(found.len(), "member", "members"),
        results: comparison.results,
        has_records: records.has_any(),
        frame: Frame::new(SiteContext::of(&request), title, rows.address.clone()),
        sorts: find.sorts(&SORTS, sort),
        later: rows.is_later(),
        next: rows.next(found.len()),
        others: last_of(&comparison).map(|last| find.address_after(last.as_str())),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The highest id of those compared, if there are more members.
fn last_of(comparison: &MemberComparison) -> Option<&MemberId> {
    let ids = comparison.members.iter().map(|compared| &compared.member.id);
    ids.max().filter(|_| comparison.is_cut)
}

/// The places of members in the ranking, by member.
struct Records<'a>(HashMap<&'a MemberId, &'a RankedMember>);

impl<'a> Records<'a> {
    fn of(ranking: &'a Ranking) -> Self {
        let all = ranking.ranked.iter().chain(&ranking.unranked);
        Self(all.map(|ranked| (&ranked.member_id, ranked)).collect())
    }

    fn has_any(&self) -> bool {
        !self.0.is_empty()
    }

    fn place(&self, member: &MemberId) -> Option<usize> {
        self.0.get(member)?.place
    }

    /// `#3 · +0.012`, `too few`, `none`
    fn text(&self, member: &MemberId) -> String {
        let Some(ranked) = self.0.get(member) else { return "none".to_owned() };
        match ranked.place.zip(ranked.figures.skill) {
            Some((place, skill)) => format!("#{place} · {}", signed_figure(skill)),
            None => "too few".to_owned(),
        }
    }
}

/// Sorts members. They come in the order in which they joined, and stay in it where nothing tells them apart; those without
/// the figure come last.
fn sort_by(members: &mut [&ComparedMember], sort: &str, records: &Records<'_>) {
    let descending = |figure: Option<f64>| figure.unwrap_or(f64::NEG_INFINITY);
    let part = |part: usize, whole: usize| (whole > 0).then(|| ratio(part, whole));
    match sort {
        "newest" => members.reverse(),
        "name" => members.sort_by_cached_key(|it| member_name(&it.member).to_lowercase()),
        "record" => members.sort_by_key(|it| {
            let place = records.place(&it.member.id);
            (place.is_none(), place)
        }),
        "last" => members.sort_by_key(|it| Reverse(it.last)),
        "filed" => members.sort_by(|a, b| {
            let [one, other] = [a, b].map(|it| descending(part(it.filed, it.expected)));
            other.total_cmp(&one).then(b.counted.cmp(&a.counted))
        }),
        "distance" => members.sort_by(|a, b| {
            let [one, other] = [a, b].map(|it| descending(it.distance));
            other.total_cmp(&one)
        }),
        "against" => members.sort_by(|a, b| {
            let [one, other] = [a, b].map(|it| descending(part(it.against, it.decided)));
            other.total_cmp(&one).then(b.decided.cmp(&a.decided))
        }),
        _ => {}
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    float(part) / float(whole)
}

fn row(compared: &ComparedMember, records: &Records<'_>, times: TimeFormatter) -> MemberRow {
    let ComparedMember { counted, expected, filed, distance, decided, against, .. } = compared;
    let of = |part: &usize, whole: &usize| format!("{part} of {whole}");
    let none = || "–".to_owned();
    MemberRow {
        filed: match (expected, counted) {
            (0, 0) => none(),
            (0, counted) => counted.to_string(),
            _ => of(filed, expected),
        },
        distance: distance.map_or_else(none, |far| format!("{far:.2}")),
        against: if *decided > 0 { of(against, decided) } else { none() },
        record: records.text(&compared.member.id),
        last: compared.last.map_or_else(|| Markup::text("–"), |day| times.day(day)),
        ..plain(&compared.member, times)
    }
}

/// A member without figures.
fn plain(member: &Member, times: TimeFormatter) -> MemberRow {
    let joined = member.joined_at.map(|joined| times.day(joined.day()));
    MemberRow {
        name: clipped(&member_name(member), MAX_NAME),
        href: links::member(&member.id),
        lens: first_words(member.lens.as_str(), MAX_LENS),
        joined: joined.unwrap_or_default(),
        filed: String::new(),
        distance: String::new(),
        against: String::new(),
        record: String::new(),
        last: Markup::default(),
    }
}

/// The members after an id, by id.
async fn by_id(request: &RequestContext, find: ListFilter, times: TimeFormatter) -> Reply {
    let after = request.query().remove("after").map(MemberId::parse).transpose();
    let after = after.map_err(|_| no_position("after"))?;
    let (found, next) = look(request, &find, after.clone()).await?;
    let address = |after: &MemberId| find.address_after(after.as_str());
    let path = after.as_ref().map_or_else(|| find.address(None), address);
    let last = after.as_ref().map(|id| clipped(id.as_str(), 9));
    let title = part_title(&find.sorted_title("Members", &SORTS), "after", last);
    let next = next.as_ref().map(address);
    let page = MembersPage {
        members: found.iter().map(|member| plain(member, times)).collect(),
        count: String::new(),
        results: 0,
        has_records: false,
        frame: Frame::new(SiteContext::of(request), title, path),
        sorts: Vec::new(),
        later: after.is_some(),
        next,
        others: None,
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
    let (needle, per_page) = (find.needle(), request.portion.of(PER_PAGE));
    let is_match =
        |member: &Arc<Member>| needle.as_ref().is_none_or(|needle| needle.is_in_member(member));
    let (mut found, mut next) = (Vec::new(), after);
    for _ in 0..MAX_READS {
        let (read, more) = request.tenant().member_page(next, per_page - found.len()).await?;
        found.extend(read.into_iter().filter(is_match));
        next = more;
        if next.is_none() || found.len() == per_page {
            break;
        }
    }
    Ok((found, next))
}
