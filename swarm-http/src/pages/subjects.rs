//! `/swarm/subjects`: all subjects, paged.

use askama::Template;
use http::StatusCode;

use super::find::Find;
use super::frame::{Frame, SiteContext, html};
use super::links;
use super::lists::{number_param, part_title, subject_title};
use super::markup::clipped;
use crate::request::RequestContext;
use crate::response::Reply;

/// Subjects per page.
const PER_PAGE: usize = 100;

/// Longest excerpt of a thesis, in letters.
const MAX_BLURB: usize = 110;

#[derive(Template)]
#[template(path = "subjects.html")]
struct SubjectsPage {
    frame: Frame,
    find: Find,
    rows: Vec<SubjectRow>,
    later: bool,
    next: Option<String>,
}

struct SubjectRow {
    name: String,
    href: String,
    status: String,
    blurb: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let from = number_param(&request, "from")?.unwrap_or(0);
    let skipped = usize::try_from(from).unwrap_or(usize::MAX);
    let find = Find::of(&request, "/swarm/subjects", &["q"]);
    let needle = find.needle();
    let mut all = request.tenant().subjects().await?;
    all.retain(|subject| {
        let blurb = subject.thesis_blurb.as_deref().unwrap_or_default();
        let texts = [&subject.name, subject.id.as_str(), blurb];
        needle.as_ref().is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
    });
    let rows = all.iter().skip(skipped).take(PER_PAGE).map(|subject| SubjectRow {
        name: subject_title(subject),
        href: links::subject(&subject.id),
        status: clipped(&subject.status, 20),
        blurb: clipped(subject.thesis_blurb.as_deref().unwrap_or_default(), MAX_BLURB),
    });
    let path = if from == 0 { find.address(None) } else { find.address_at("from", from) };
    let next = skipped.saturating_add(PER_PAGE);
    let title = part_title("Subjects", "after", (from > 0).then_some(from));
    let page = SubjectsPage {
        rows: rows.collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        later: from > 0,
        next: (next < all.len()).then(|| find.address_at("from", next as u64)),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
