//! `/swarm/subjects`: all subjects, paged.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Subject, SubjectId};

use super::frame::{Frame, SiteContext, html};
use super::links;
use super::list_filter::ListFilter;
use super::lists::{part_title, subject_title};
use super::markup::{clipped, named};
use crate::request::RequestContext;
use crate::request::parameters::no_position;
use crate::response::Reply;

/// Subjects per page.
const PER_PAGE: usize = 100;

/// Longest excerpt of a thesis, in letters.
const MAX_BLURB: usize = 110;

#[derive(Template)]
#[template(path = "subjects.html")]
struct SubjectsPage {
    frame: Frame,
    find: ListFilter,
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
    let find = ListFilter::of(&request, "/swarm/subjects", &["q"]);
    let after = request.query().remove("after").map(SubjectId::parse).transpose();
    let after = after.map_err(|_| no_position("after"))?;
    let needle = find.needle();
    let keeps = |subject: &Subject| needle.as_ref().is_none_or(|it| it.is_in_subject(subject));
    let found = request.tenant().subjects_where(PER_PAGE, after.as_ref(), keeps).await?;
    let address = |after: &SubjectId| find.address_after(after.as_str());
    let path = after.as_ref().map_or_else(|| find.address(None), address);
    let last = after.as_ref().map(|id| named(id.as_str(), ""));
    let title = part_title(&find.title("Subjects"), "after", last);
    let page = SubjectsPage {
        rows: found.subjects.iter().map(row).collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        later: after.is_some(),
        next: found.next_after.as_ref().map(address),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

fn row(subject: &Subject) -> SubjectRow {
    SubjectRow {
        name: subject_title(subject),
        href: links::subject(&subject.id),
        status: clipped(&subject.status, 20),
        blurb: clipped(subject.thesis_blurb.as_deref().unwrap_or_default(), MAX_BLURB),
    }
}
