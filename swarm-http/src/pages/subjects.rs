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
use crate::response::{ApiError, Reply};

/// Subjects per page.
const PER_PAGE: usize = 100;

/// How often subjects are read for one page; more than once only in a search.
const MAX_READS: usize = 20;

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
    let found = look(&request, &find, after.clone()).await?;
    let address = |after: &SubjectId| find.address_after(after.as_str());
    let path = after.as_ref().map_or_else(|| find.address(None), address);
    let last = after.as_ref().map(|id| named(id.as_str(), ""));
    let title = part_title(&find.title("Subjects"), "after", last);
    let page = SubjectsPage {
        rows: found.subjects.iter().map(row).collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        later: after.is_some(),
        next: found.next.as_ref().map(address),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// Some subjects, and the last one that was looked at, if there are more.
struct Found {
    subjects: Vec<Subject>,
    next: Option<SubjectId>,
}

/// Searches a limited number of subjects.
async fn look(
    request: &RequestContext,
    find: &ListFilter,
    after: Option<SubjectId>,
) -> Result<Found, ApiError> {
    let needle = find.needle();
    let is_match = |subject: &Subject| {
        let blurb = subject.thesis_blurb.as_deref().unwrap_or_default();
        let texts = [&subject.name, subject.id.as_str(), blurb];
        needle.as_ref().is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
    };
    let mut found = Found { subjects: Vec::new(), next: after };
    for _ in 0..MAX_READS {
        let room = PER_PAGE - found.subjects.len();
        let page = request.tenant().subjects(room, found.next.as_ref()).await?;
        found.subjects.extend(page.subjects.into_iter().filter(is_match));
        found.next = page.next_after;
        if found.next.is_none() || found.subjects.len() == PER_PAGE {
            break;
        }
    }
    Ok(found)
}

fn row(subject: &Subject) -> SubjectRow {
    SubjectRow {
        name: subject_title(subject),
        href: links::subject(&subject.id),
        status: clipped(&subject.status, 20),
        blurb: clipped(subject.thesis_blurb.as_deref().unwrap_or_default(), MAX_BLURB),
    }
}
