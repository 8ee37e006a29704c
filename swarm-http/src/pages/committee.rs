//! `/swarm/committee` and `/swarm/committee/<date>`: the daily committee.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Day, StanceScale};
use swarm_core::rules::committee::PublicCommitteeTake;
use swarm_core::{CommitteeRefusal, Resource};

use super::charts::stance_field;
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::list_filter::{ListFilter, Rows};
use super::lists::{StanceRow, Subjects, part_title};
use super::markdown::{HeadingLevel, markdown};
use super::markup::{Markup, clipped, count};
use super::people::Person;
use super::time_text::TimeFormatter;
use super::{links, stance};
use crate::request::RequestContext;
use crate::request::parameters::no_position;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 40;

/// Takes per page of a day.
const TAKES_PER_PAGE: usize = 60;

/// Longest excerpt of a synthesis, in letters.
const MAX_SYNTHESIS: usize = 160;

#[derive(Template)]
#[template(path = "committee.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<Row>,
    later: bool,
    next: Option<String>,
}

struct Row {
    when: Markup,
    href: String,
    subject: (String, String),
    synthesis: String,
    takes: String,
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let query = request.query();
    let before =
        query.get("before").map(|text| Day::parse(text).map_err(|_| no_position("before")));
    let before = before.transpose()?;
    let find = ListFilter::of(&request, "/swarm/committee", &["limit"]);
    let per_page = request.rows(PER_PAGE)?;
    let mut lines = request.committee()?.sessions(before, per_page + 1).await?;
    let more = lines.len() > per_page;
    lines.truncate(per_page);
    let ids = lines.iter().map(|line| &line.subject_id);
    let subjects = Subjects::find(request.tenant(), ids).await?;
    let row = |line: &swarm_core::rules::committee::SessionLine| Row {
        when: times.day(line.date),
        href: links::committee(line.date),
        subject: subjects.link(&line.subject_id),
        synthesis: clipped(line.synthesis.as_deref().unwrap_or_default(), MAX_SYNTHESIS),
        takes: match line.takes {
            0 => String::new(),
            takes => count(takes, "take", "takes"),
        },
    };
    let path = before.map_or_else(|| find.address(None), |day| find.address_before(day));
    let page = ListPage {
        frame: Frame::new(
            SiteContext::of(&request),
            part_title("Committee", "before", before),
            path,
        ),
        rows: lines.iter().map(row).collect(),
        later: before.is_some(),
        next: lines.last().filter(|_| more).map(|last| find.address_before(last.date)),
    };
    Ok(html(StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "committee_session.html")]
struct SessionPage {
    frame: Frame,
    subject: (String, String),
    date: Markup,
    deadline: Markup,
    open: bool,
    synthesis: Option<Markup>,
    field: Option<Markup>,
    /// The field as a table.
    rows: Vec<StanceRow>,
    takes: Vec<TakeView>,
    path: String,
    later: bool,
    next: Option<String>,
}

struct TakeView {
    member: String,
    stance: Markup,
    when: Markup,
    model: Option<String>,
    body: Markup,
    commit: String,
}

pub(crate) async fn session(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let day = request.path.first().and_then(|text| Day::parse(text).ok());
    let day = day.ok_or(CommitteeRefusal::NotFound(Resource::Session))?;
    let session = request.committee()?.session(day).await?;
    let subjects = Subjects::find(request.tenant(), [&session.subject_id]).await?;
    let subject = subjects.link(&session.subject_id);
    let time = times.time(session.deadline_utc);
    let left = times.left(session.deadline_utc);
    let deadline = match &left {
        Some(left) => format!("closes {time}, in {left}"),
        None => format!("closed {time}"),
    };
    let title = format!("Committee of {}: {}", times.day_text(day), subject.1);
    let rows: Vec<_> = session.takes.iter().map(row).collect();
    let dots: Vec<_> = rows.iter().filter_map(StanceRow::dot).collect();
    let path = links::committee(day);
    let shown = Rows::at(&request, &path, request.portion.of(TAKES_PER_PAGE))?;
    let (later, next) = (shown.is_later(), shown.next(session.takes.len()));
    let title = part_title(&title, "from take", shown.from());
    let takes = shown.of_all(&session.takes).map(|it| view(it, times)).collect();
    let frame = Frame::new(SiteContext::of(&request), title, shown.address);
    let page = SessionPage {
        frame: frame.below("/swarm/committee", "Committee").called(&*times.day_text(day)).article(),
        subject,
        date: TimeFormatter::weekday(day),
        deadline: Markup(deadline),
        open: left.is_some(),
        synthesis: session
            .synthesis
            .as_deref()
            .filter(|_| !later)
            .map(|text| markdown(text, HeadingLevel::H2)),
        field: (!dots.is_empty() && !later)
            .then(|| stance_field(StanceScale::of_service(), &dots, None)),
        rows,
        takes,
        path,
        later,
        next,
    };
    Ok(html(StatusCode::OK, &page))
}

fn row(take: &PublicCommitteeTake) -> StanceRow {
    StanceRow {
        who: Person { name: take.member_id.to_string(), href: None },
        take: None,
        stance: take.stance.into(),
        confidence: take.confidence.get(),
        scale: StanceScale::of_service().clone(),
    }
}

fn view(take: &PublicCommitteeTake, times: TimeFormatter) -> TakeView {
    TakeView {
        member: take.member_id.to_string(),
        stance: stance::word(take.stance.as_str(), Some(take.confidence)),
        when: times.time(take.received_at),
        model: take.model.as_ref().map(|model| model.as_str().to_owned()),
        body: markdown(take.body.as_str(), HeadingLevel::H3),
        commit: take.commit.clone(),
    }
}
