//! `/swarm/takes`: the newest takes, whatever the state of their sessions, found by text, session, subject, member
//! and stance. Of an amended take the latest revision, unless superseded ones are asked for.

use std::collections::HashMap;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::STANCES;
use swarm_core::rules::PublicTake;
use swarm_core::{MemberId, TakeId};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::list_filter::ListFilter;
use super::lists::{
    Subjects, TakeSessions, TakeView, number_param, part_title, revised_texts, withheld_text,
};
use super::markdown::first_words;
use super::markup::{Markup, clipped, escape};
use super::people::People;
use crate::request::RequestContext;
use crate::request::parameters::TakeList;
use crate::response::Reply;

/// Takes per page.
const PER_PAGE: usize = 25;

/// Longest excerpt of a write-up, in letters.
const MAX_WORDS: usize = 300;

#[derive(Template)]
#[template(path = "takes.html")]
struct TakesPage {
    frame: Frame,
    /// Whether superseded takes are listed too.
    superseded: bool,
    /// Whether the list is searched or filtered.
    is_filtered: bool,
    find: ListFilter,
    stances: Vec<(&'static str, bool)>,
    takes: Vec<TakeView>,
    later: bool,
    next: Option<String>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?.map(TakeId);
    let names = ["q", "session", "subject", "member", "stance", "superseded", "limit"];
    let find = ListFilter::of(&request, "/swarm/takes", &names);
    let list = request.take_list()?;
    let found = list.page(tenant, before, request.rows(PER_PAGE)?).await?;
    let TakeList { filter, session, superseded } = list;
    let takes: Vec<_> = found.takes.into_iter().map(|on_file| on_file.take).collect();
    let ids = takes.iter().map(PublicTake::subject_id).chain(&filter.subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let ids = takes.iter().map(PublicTake::member_id).chain(&filter.member);
    let people = People::find(tenant, ids).await?;
    let sessions = TakeSessions::find(tenant, &takes).await?;
    let mut revised = match superseded {
        true => revised_texts(tenant, &takes, &sessions).await?,
        false => HashMap::new(),
    };
    let mut view = |take: &PublicTake| {
        let view = TakeView::in_list(take, &sessions, &subjects, &people, times);
        let view = TakeView { revised: revised.remove(&take.id()), ..view };
        let Some(take) = take.open() else { return view };
        let words = match &take.withheld {
            Some(mark) => withheld_text(mark),
            None => first_words(take.draft().body.as_str(), MAX_WORDS),
        };
        TakeView { body: Markup(format!("<p>{}</p>", escape(&words))), ..view }
    };
    let find = find
        .named("session", session.map(|id| id.to_string()))
        .named("subject", filter.subject.as_ref().map(|id| subjects.name(id)))
        .named("member", filter.member.as_ref().map(|id| member_text(id, &people)))
        .named("superseded", superseded.then(|| "too".to_owned()));
    let stance = |(name, _)| (name, find.value("stance") == Some(name));
    let filters = ["q", "session", "subject", "member", "stance"];
    let page = TakesPage {
        superseded,
        is_filtered: filters.into_iter().any(|name| find.value(name).is_some()),
        takes: takes.iter().map(&mut view).collect(),
        stances: STANCES.into_iter().map(stance).collect(),
        later: before.is_some(),
        next: found.next_before.map(|before| find.address(Some(before.0))),
        frame: Frame::new(
            SiteContext::of(&request),
            part_title(&find.title("Takes"), "before", before),
            find.address(before.map(|before| before.0)),
        ),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The name with the beginning of the id: members may share a name, and titles differ.
fn member_text(id: &MemberId, people: &People) -> String {
    format!("{} {}", people.person(id).name, clipped(id.as_str(), 9))
}
