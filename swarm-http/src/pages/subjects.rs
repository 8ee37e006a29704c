//! `/swarm/subjects`: the subjects with their latest results, sorted and paged.
//!
//! Subjects beyond [`MAX_BOARD`](swarm_core::service::MAX_BOARD) are listed by id, without results: `after` leads to them.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Subject, SubjectId};
use swarm_core::service::{Board, ResultPoint, SubjectTrend};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::list_filter::{ListFilter, Sort};
use super::lists::part_title;
use super::markup::named;
use super::subject_card::{self, SubjectCard, is_in};
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::request::parameters::no_position;
use crate::response::Reply;

/// Subjects per page.
const PER_PAGE: usize = 15;

/// The orders: names and words.
const SORTS: [(&str, &str); 5] = [
    ("next", "next"),
    ("name", "name"),
    ("score", "score"),
    ("change", "change"),
    ("spread", "spread"),
];

#[derive(Template)]
#[template(path = "subjects.html")]
struct SubjectsPage {
    frame: Frame,
    find: ListFilter,
    sorts: Vec<Sort>,
    rows: Vec<SubjectCard>,
    /// How many there are, in words.
    count: String,
    later: bool,
    next: Option<String>,
    /// The address of the subjects that have no results here.
    others: Option<String>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let find = ListFilter::of(&request, "/swarm/subjects", &["q", "sort", "limit"]);
    if request.query().contains_key("after") {
        return by_id(&request, find, times).await;
    }
    let board = request.served.overview().await.board(request.tenant()).await?;
    let needle = find.needle();
    let found =
        |trend: &&Arc<SubjectTrend>| needle.as_ref().is_none_or(|needle| is_in(needle, trend));
    let mut trends: Vec<_> = board.subjects().filter(found).collect();
    let sort = find.sort(&SORTS);
    sort_by(&mut trends, sort, times);
    let rows = find.rows(&request, request.rows(PER_PAGE)?)?;
    let shown = rows.of_all(&trends);
    let last = board.subjects().next_back().filter(|_| board.is_cut());
    let title = part_title(&find.sorted_title("Subjects", &SORTS), "from", rows.from());
    let page = SubjectsPage {
        rows: shown.map(|trend| SubjectCard::new(trend, times)).collect(),
        count: find.count(trends.len(), "subject", "subjects"),
        frame: Frame::new(SiteContext::of(&request), title, rows.address.clone()),
        sorts: find.sorts(&SORTS, sort),
        later: rows.is_later(),
        next: rows.next(trends.len()),
        others: last.map(|last| find.address_after(last.id.as_str())),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The subjects, those first about which a session closes first.
pub(super) fn in_order(board: &Board, times: TimeFormatter) -> Vec<&Arc<SubjectTrend>> {
    let mut trends: Vec<_> = board.subjects().collect();
    sort_by(&mut trends, "next", times);
    trends
}

/// Sorts subjects, by name where nothing else tells them apart. Those without the figure come last. Figures compare on
/// the scale of the service, whatever the scales of their sessions.
fn sort_by(trends: &mut [&Arc<SubjectTrend>], sort: &str, times: TimeFormatter) {
    let figure = |trend: &SubjectTrend| match sort {
        "score" => trend.latest()[0].and_then(ResultPoint::normalized_score),
        "change" => subject_card::normalized_difference(trend).map(f64::abs),
        "spread" => trend.latest()[0].and_then(ResultPoint::normalized_spread),
        _ => None,
    };
    trends.sort_by_cached_key(|trend| named(&trend.name, trend.id.as_str()).to_lowercase());
    match sort {
        "name" => {}
        "next" => trends.sort_by_cached_key(|trend| {
            let next = subject_card::next(trend, times);
            let open = next.filter(|session| times.is_ahead(session.window_closes_at));
            let newest = trend.results.last().map(|point| (point.date, point.session));
            let closes = open.and_then(|session| session.window_closes_at);
            (open.is_none(), closes.is_none(), closes, next.is_none(), Reverse(newest))
        }),
        _ => trends.sort_by(|a, b| {
            let [a, b] = [a, b].map(|trend| figure(trend).unwrap_or(f64::NEG_INFINITY));
            b.total_cmp(&a)
        }),
    }
}

/// The subjects after an id, by id.
async fn by_id(request: &RequestContext, find: ListFilter, times: TimeFormatter) -> Reply {
    let after = request.query().remove("after").map(SubjectId::parse).transpose();
    let after = after.map_err(|_| no_position("after"))?;
    let needle = find.needle();
    let keeps = |subject: &Subject| needle.as_ref().is_none_or(|it| it.is_in_subject(subject));
    let found =
        request.tenant().subjects_where(after.as_ref(), request.rows(PER_PAGE)?, keeps).await?;
    let board = request.served.overview().await.board(request.tenant()).await?;
    let address = |after: &SubjectId| find.address_after(after.as_str());
    let last = after.as_ref().map(|id| named(id.as_str(), ""));
    let title = part_title(&find.sorted_title("Subjects", &SORTS), "after", last);
    let path = after.as_ref().map_or_else(|| find.address(None), address);
    let row = |subject: &Subject| match board.get(&subject.id) {
        Some(trend) => SubjectCard::new(trend, times),
        None => SubjectCard::of_subject(subject),
    };
    let next = found.next_after.as_ref().map(address);
    let page = SubjectsPage {
        rows: found.subjects.iter().map(row).collect(),
        count: String::new(),
        frame: Frame::new(SiteContext::of(request), title, path),
        sorts: Vec::new(),
        later: after.is_some(),
        next,
        others: None,
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
