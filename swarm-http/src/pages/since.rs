//! `/swarm/since/<seq>`: what changed after an entry of the log, a subject at a time. It links to the same page from the
//! newest entry on, which readers keep as a bookmark.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Seq, SubjectId};
use swarm_core::rules::Movement;
use swarm_core::service::{LogQuery, News, OutcomeNews, ResultPoint, SubjectNews};
use swarm_core::wire::RequestError;
use swarm_core::{Error, MemberId, SessionId};

use super::charts::{shown, signed};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links;
use super::list_filter::Rows;
use super::lists::{Named, part_title};
use super::markup::{Markup, count};
use super::outcome::value_text;
use super::people::{People, Person};
use super::subject_card::SubjectCard;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::request::parameters::number;
use crate::response::Reply;

/// Subjects per page.
const PER_PAGE: usize = 15;

/// Maximum number of members named in a line.
const MAX_CROSSINGS: usize = 6;
const MAX_MISSING: usize = 8;

/// Maximum number of sessions named in a line.
const MAX_SESSIONS: usize = 4;

#[derive(Template)]
#[template(path = "since.html")]
struct SincePage {
    frame: Frame,
    after: Seq,
    end: Seq,
    /// When the entry was appended after which things changed, and how long ago that is.
    when: Option<(Markup, String)>,
    is_cut: bool,
    rows: Vec<NewsRow>,
    /// The path of the first page.
    path: String,
    later: bool,
    next: Option<String>,
    joined: usize,
    memos: usize,
}

/// What changed in a subject.
struct NewsRow {
    card: SubjectCard,
    /// `score +0.36 to +0.70 (+0.34)`
    score: Option<String>,
    /// The members that changed sides: the member, the stance before and after.
    crossings: Vec<(Person, String, String)>,
    more_crossings: usize,
    /// `14 of 24 filed` of the latest result, with those that did not.
    filed: Option<(String, Named)>,
    /// `2 results, 30 members filed, 3 takes revised`
    counts: String,
    /// Sessions whose outcome was recorded: `+1`, `+1, corrected from +0.5`.
    outcomes: SessionNames,
    /// Sessions that were convened, and those that were voided.
    convened: SessionNames,
    voided: SessionNames,
}

/// The newest of some sessions: the path, the id, and what there is to say of each.
struct SessionNames {
    shown: Vec<(String, SessionId, String)>,
    more: usize,
}

impl SessionNames {
    /// Of sessions in ascending order of their ids.
    fn new(
        sessions: impl DoubleEndedIterator<Item = (SessionId, String)> + ExactSizeIterator,
    ) -> Self {
        let more = sessions.len().saturating_sub(MAX_SESSIONS);
        let newest = sessions.rev().take(MAX_SESSIONS);
        let shown = newest.map(|(id, words)| (links::session(id), id, words));
        Self { shown: shown.collect(), more }
    }

    fn plain(sessions: &BTreeSet<SessionId>) -> Self {
        Self::new(sessions.iter().map(|id| (*id, String::new())))
    }
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let asked = request.path.first().and_then(|part| number(part)).map(Seq);
    let asked = asked.ok_or(RequestError::UnknownPath)?;
    let path = format!("/swarm/since/{asked}");
    let rows = Rows::at(&request, &path, request.portion.of(PER_PAGE))?;
    let news = request.served.overview().await.news(tenant, asked).await?;
    if asked > news.end {
        // The bookmark is of another log.
        return Err(RequestError::UnknownPath.into());
    }
    let shown: Vec<_> = rows.of_all(&news.subjects).collect();
    let moved = movements(&request, &shown).await?;
    let people = People::find(tenant, &members(&moved)).await?;
    let row = |subject: &&SubjectNews| row(subject, moved.get(&subject.subject), &people, times);
    let title = part_title(&format!("Since entry {asked}"), "from", rows.from());
    let page = SincePage {
        when: when(&request, &news, times).await?,
        rows: shown.iter().filter_map(row).collect(),
        next: rows.next(news.subjects.len()),
        later: rows.is_later(),
        frame: Frame::new(SiteContext::of(&request), title, rows.address),
        after: news.after,
        end: news.end,
        is_cut: news.is_cut,
        joined: news.joined,
        memos: news.memos,
        path,
    };
    Ok(html(StatusCode::OK, &page))
}

/// When the entry was appended after which things changed; `None` if there is none.
async fn when(
    request: &RequestContext,
    news: &News,
    times: TimeFormatter,
) -> Result<Option<(Markup, String)>, Error> {
    let Some(before) = news.after.0.checked_sub(1) else { return Ok(None) };
    let page = request.tenant().log(&LogQuery::all(Seq(before), 1)).await?;
    let line = page.lines().next().map(|line| (times.time(line.at), times.ago(line.at)));
    Ok(line)
}

/// What changed between the results before and now, by subject.
async fn movements(
    request: &RequestContext,
    shown: &[&SubjectNews],
) -> Result<HashMap<SubjectId, Arc<Movement>>, Error> {
    let mut moved = HashMap::new();
    for news in shown {
        if let [Some(before), Some(after)] = news.then_and_now()
            && before.session != after.session
        {
            let movements = &request.site.movements;
            let found = movements.between(request.tenant(), before, after).await?;
            moved.extend(found.map(|found| (news.subject.clone(), found)));
        }
    }
    Ok(moved)
}

/// The members that the page names.
fn members(moved: &HashMap<SubjectId, Arc<Movement>>) -> Vec<MemberId> {
    let named = moved.values().flat_map(|movement| {
        let crossings = movement.crossings.iter().map(|it| &it.member).take(MAX_CROSSINGS);
        crossings.chain(movement.missing.iter().take(MAX_MISSING))
    });
    named.cloned().collect()
}

/// `None` for a subject that is not known.
fn row(
    news: &SubjectNews,
    moved: Option<&Arc<Movement>>,
    people: &People,
    times: TimeFormatter,
) -> Option<NewsRow> {
    let trend = news.trend.as_deref()?;
    let crossings = moved.map(|moved| moved.crossings.as_slice()).unwrap_or_default();
    let named = crossings.iter().take(MAX_CROSSINGS);
    let latest = trend.results.last().filter(|point| news.results.contains(&point.session));
    Some(NewsRow {
        card: SubjectCard::new(trend, times),
        score: score(news),
        crossings: named
            .map(|it| (people.person(&it.member), it.from.clone(), it.to.clone()))
            .collect(),
        more_crossings: crossings.len().saturating_sub(MAX_CROSSINGS),
        filed: latest.map(|latest| filed(latest, moved, people)),
        counts: counts(news),
        outcomes: SessionNames::new(
            news.outcomes.iter().map(|(id, outcome)| (*id, outcome_words(outcome))),
        ),
        convened: SessionNames::plain(&news.convened),
        voided: SessionNames::plain(&news.voided),
    })
}

/// `score −0.20 to +0.44 (+0.64)`; `None` without a new result that is one.
fn score(news: &SubjectNews) -> Option<String> {
    let [before, now] = news.then_and_now();
    let result = now.filter(|now| news.results.contains(&now.session))?;
    if let Some(before) = before {
        return change(before, result);
    }
    Some(match news.last_two() {
        Some([before, latest]) => format!("{}, both new", change(before, latest)?),
        None => format!("first score {}", signed(result.score()?)),
    })
}

/// `score −0.20 to +0.44 (+0.64)`, `score +0.44, unchanged`
fn change(from: &ResultPoint, to: &ResultPoint) -> Option<String> {
    let (before, now) = (from.score()?, to.score()?);
    let after = signed(now);
    if !to.has_scale_of(from) {
        return Some(format!("score {after}, on another scale than before"));
    }
    // The difference of the figures shown: readers subtract them.
    let [from, by] = [before, shown(now) - shown(before)].map(signed);
    Some(match from == after {
        true => format!("score {after}, unchanged"),
        false => format!("score {from} to {after} ({by})"),
    })
}

/// `+1`, `+1, corrected from +0.5`, `annulled`
fn outcome_words(outcome: &OutcomeNews) -> String {
    let words = |value: Option<f64>| value.map_or_else(|| "annulled".to_owned(), value_text);
    let now = words(outcome.now);
    match outcome.before {
        Some(before) if before != outcome.now => {
            format!("{now}, corrected from {}", words(before))
        }
        _ => now,
    }
}

/// `14 of 24 filed`, and the members that did not.
fn filed(latest: &ResultPoint, moved: Option<&Arc<Movement>>, people: &People) -> (String, Named) {
    let participation = &latest.figures.participation;
    let filed = match participation.expected {
        Some(expected) => format!("{} of {expected} filed", participation.members),
        None => format!("{} filed", participation.members),
    };
    let quorum = latest.figures.quorum.as_ref().filter(|quorum| !quorum.met);
    let missed = quorum.map(|quorum| format!("; {} needed for the quorum", quorum.required));
    let missing = moved.map(|moved| moved.missing.iter().collect::<Vec<_>>());
    // Members are known to be missing from the result that the score is of.
    let missing = missing.filter(|_| latest.is_result()).unwrap_or_default();
    (filed + &missed.unwrap_or_default(), Named::new(&missing, MAX_MISSING, people))
}

/// `2 results, 30 takes filed, 3 revised`
fn counts(news: &SubjectNews) -> String {
    let of = |number: usize, one, many| (number > 0).then(|| count(number, one, many));
    let parts = [
        of(news.results.len(), "result", "results"),
        of(news.filed, "take filed", "takes filed"),
        of(news.revised, "take revised", "takes revised"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
