//! `/swarm/find`: members, subjects, takes and memos that contain a text. What is sealed or withheld is not searched.
//!
//! Members and subjects are searched in memory. Of takes and memos only the newest are searched, because these are read; the
//! lists of takes and of memos go on from there.

use std::collections::HashSet;

use askama::Template;
use http::StatusCode;
use swarm_core::Error;
use swarm_core::domain::Memo;
use swarm_core::rules::{MemoFilter, Needle, PublicTake, TakeFilter};
use swarm_core::service::{ComparedMember, SubjectTrend};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links::{self, part};
use super::lists::{Subjects, TakeSessions, memo_title};
use super::markdown::first_words;
use super::markup::{Markup, capitalized, clipped, escape, named};
use super::people::{People, member_name};
use super::stance;
use super::subject_card::is_in;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::response::{ApiError, Reply};
use crate::schema::{SchemaRef, schema};

/// Path of the page.
const PATH: &str = "/swarm/find";

/// Number of results of each kind where all kinds are shown, and where one is.
const FEW: usize = 4;
const MANY: usize = 25;

/// Longest excerpt, and longest title, in letters.
const MAX_EXCERPT: usize = 180;
const MAX_TITLE: usize = 100;

/// Number of the newest takes, and of the newest memos, that are searched.
const TAKES: usize = 250;
const MEMOS: usize = 100;

/// Letters of an excerpt before what was found.
const BEFORE: usize = 60;

/// Longest text that an excerpt is taken from, in letters.
const MAX_TEXT: usize = 20_000;

#[derive(Template)]
#[template(path = "find.html")]
struct FindPage {
    frame: Frame,
    text: String,
    /// The kinds to choose from; none without a text.
    chips: Vec<Chip>,
    groups: Vec<Group>,
    /// The lists that search all takes and all memos.
    lists: [String; 2],
}

/// A kind of results: its name, the number of them and of how many that is, its address, and whether it is the one chosen.
struct Chip {
    name: String,
    count: String,
    href: String,
    is_chosen: bool,
}

/// The results of one kind.
struct Group {
    name: String,
    /// How many there are of how many that were looked through, unless these are all: where the kind is the one chosen.
    scope: Option<String>,
    hits: Vec<Hit>,
    /// Where more of them are, and what the link says.
    more: Option<(String, String)>,
}

/// A result.
struct Hit {
    href: String,
    title: Markup,
    /// What else it is: when and about what.
    facts: Markup,
    words: Markup,
    /// At its right.
    word: Markup,
}

/// What was found of one kind.
struct Found {
    /// Those that are shown.
    hits: Vec<Hit>,
    count: usize,
    /// What was searched, if that is not all of them: `the newest 250`.
    scope: Option<String>,
}

/// A kind of results.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Members,
    Subjects,
    Takes,
    Memos,
}

/// Of the kind to look for.
pub(crate) const FOUND_KIND: SchemaRef = schema!("common", "FoundKind", {
    "enum": Kind::ALL.map(Kind::value), "description": "What to look for; all of them unless given."
});

impl Kind {
    const ALL: [Self; 4] = [Self::Members, Self::Subjects, Self::Takes, Self::Memos];

    fn name(self) -> String {
        capitalized(self.value())
    }

    /// The value of the parameter.
    fn value(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Subjects => "subjects",
            Self::Takes => "takes",
            Self::Memos => "memos",
        }
    }

    /// The list that searches all of this kind for a text.
    fn list(self, text: &str) -> String {
        format!("/swarm/{}?q={}", self.value(), part(text))
    }
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let mut query = request.query();
    let chosen = request.filter("kind", |text| {
        let found = Kind::ALL.into_iter().find(|kind| kind.value() == text);
        found.ok_or_else(|| format!("must be one of {}", Kind::ALL.map(Kind::value).join(", ")))
    })?;
    let text = query.remove("q").unwrap_or_default();
    // As much as is looked for.
    let text: String = text.trim().chars().take(Needle::MAX).collect();
    let text = &*text;
    let address = |kind: Option<Kind>| {
        let kind = kind.map(|kind| format!("&kind={}", kind.value()));
        format!("{PATH}?q={}{}", part(text), kind.unwrap_or_default())
    };
    let mut found = Vec::new();
    if let Some(needle) = Needle::new(text) {
        for kind in Kind::ALL {
            let most = request.portion.of(if chosen == Some(kind) { MANY } else { FEW });
            found.push((kind, find(&request, kind, &needle, most, times).await?));
        }
    }
    let chip = |(kind, found): &(Kind, Found)| Chip {
        name: kind.name(),
        count: found.counted(),
        href: address(Some(*kind)),
        is_chosen: chosen == Some(*kind),
    };
    let mut chips: Vec<_> = found.iter().map(chip).collect();
    if let Some(first) = chips.first().map(|_| chosen.is_none()) {
        let name = "All".to_owned();
        let all = Chip { name, count: String::new(), href: address(None), is_chosen: first };
        chips.insert(0, all);
    }
    let shown = found.into_iter().filter(|(kind, found)| {
        chosen.is_none_or(|chosen| chosen == *kind) && !found.hits.is_empty()
    });
    let title = match (Needle::new(text), chosen) {
        (None, _) => "Find".to_owned(),
        (Some(_), None) => format!("Find “{}”", clipped(text, 40)),
        (Some(_), Some(kind)) => format!("Find “{}” in {}", clipped(text, 40), kind.value()),
    };
    let path = if text.is_empty() { PATH.to_owned() } else { address(chosen) };
    let page = FindPage {
        groups: shown
            .map(|(kind, found)| found.group(kind, (text, chosen.is_some()), &address))
            .collect(),
        frame: Frame::new(SiteContext::of(&request), title, path),
        lists: [Kind::Takes, Kind::Memos].map(|kind| kind.list(text)),
        text: text.to_owned(),
        chips,
    };
    Ok(html(StatusCode::OK, &page))
}

impl Found {
    /// How many there are, and of how many if these are not all: `72 in the newest 250`.
    fn counted(&self) -> String {
        match &self.scope {
            Some(scope) => format!("{} in {scope}", self.count),
            None => self.count.to_string(),
        }
    }

    fn group(
        self,
        kind: Kind,
        (text, is_alone): (&str, bool),
        address: &dyn Fn(Option<Kind>) -> String,
    ) -> Group {
        let list = kind.list(text);
        let is_cut = self.count > self.hits.len();
        let scope = (is_alone && self.scope.is_some())
            .then(|| format!("{} {}", self.counted(), kind.value()));
        let more = match self.scope {
            newest if is_cut && !is_alone => {
                let of = newest.map(|newest| format!(" in {newest} {}", kind.value()));
                let text = format!("All {}{}", self.count, of.unwrap_or_default());
                Some((address(Some(kind)), text))
            }
            Some(newest) => Some((list, format!("Of {newest} {}; search all", kind.value()))),
            None => is_cut.then(|| (list, "All of them".to_owned())),
        };
        Group { name: kind.name(), scope, hits: self.hits, more }
    }
}

async fn find(
    request: &RequestContext,
    kind: Kind,
    needle: &Needle,
    most: usize,
    times: TimeFormatter,
) -> Result<Found, ApiError> {
    Ok(match kind {
        Kind::Members => members(request, needle, most, times).await?,
        Kind::Subjects => subjects(request, needle, most).await?,
        Kind::Takes => takes(request, needle, most, times).await?,
        Kind::Memos => memos(request, needle, most, times).await?,
    })
}

async fn members(
    request: &RequestContext,
    needle: &Needle,
    most: usize,
    times: TimeFormatter,
) -> Result<Found, Error> {
    let comparison = request.served.overview().await.comparison(request.tenant()).await?;
    let is_found = |it: &&ComparedMember| needle.is_in_member(&it.member);
    let found: Vec<_> = comparison.members.iter().filter(is_found).collect();
    let hit = |compared: &&ComparedMember| {
        let member = &compared.member;
        let joined = member.joined_at.map(|joined| times.day(joined.day()));
        Hit {
            href: links::member(&member.id),
            title: marked(&clipped(&member_name(member), MAX_TITLE), needle),
            facts: Markup::default(),
            words: excerpt(member.lens.as_str(), needle),
            word: joined.map(|joined| Markup(format!("since {joined}"))).unwrap_or_default(),
        }
    };
    Ok(Found {
        hits: found.iter().take(most).map(hit).collect(),
        count: found.len(),
        scope: comparison.is_cut.then(|| comparison.members.len().to_string()),
    })
}

async fn subjects(request: &RequestContext, needle: &Needle, most: usize) -> Result<Found, Error> {
    let board = request.served.overview().await.board(request.tenant()).await?;
    let found: Vec<_> = board.subjects().filter(|trend| is_in(needle, trend)).collect();
    let hit = |trend: &&std::sync::Arc<SubjectTrend>| {
        let figures = trend.latest()[0].map(|point| &point.figures);
        let consensus = figures.and_then(|it| it.consensus.as_ref().map(|found| (it, found)));
        let score = consensus.map(|(figures, consensus)| {
            let score = super::charts::signed(consensus.score);
            Markup(format!("<strong>{score}</strong> {}", stance::of_consensus(figures, consensus)))
        });
        Hit {
            href: links::subject(&trend.id),
            title: marked(&clipped(&named(&trend.name, trend.id.as_str()), MAX_TITLE), needle),
            facts: Markup::default(),
            words: around(trend.thesis.as_deref().unwrap_or_default(), needle),
            word: score.unwrap_or_default(),
        }
    };
    Ok(Found {
        hits: found.iter().take(most).map(hit).collect(),
        count: found.len(),
        scope: board.is_cut().then(|| board.subjects().count().to_string()),
    })
}

async fn takes(
    request: &RequestContext,
    needle: &Needle,
    most: usize,
    times: TimeFormatter,
) -> Result<Found, Error> {
    let tenant = request.tenant();
    let filter = TakeFilter { needle: Some(needle.clone()), ..TakeFilter::default() };
    let scan = tenant.newest_takes(None, TAKES, |_| true).await?;
    let searched = scan.takes.len();
    // Of the revisions of a member only the latest.
    let mut members = HashSet::new();
    let mut is_latest =
        |take: &PublicTake| members.insert((take.session_id(), take.member_id().clone()));
    let latest = scan.takes.into_iter().filter(|take| is_latest(take));
    let found: Vec<_> = latest.filter(|take| filter.keeps(take)).collect();
    let count = found.len();
    let shown: Vec<_> = found.into_iter().take(most).collect();
    let subjects = Subjects::find(tenant, shown.iter().map(PublicTake::subject_id)).await?;
    let people = People::find(tenant, shown.iter().map(PublicTake::member_id)).await?;
    let sessions = TakeSessions::find(tenant, &shown).await?;
    let hit = |take: &PublicTake| {
        let words = match take.open() {
            Some(take) if take.withheld.is_none() => excerpt(take.draft().body.as_str(), needle),
            _ => Markup::default(),
        };
        let name = people.person(take.member_id()).name;
        let subject = marked(&clipped(&subjects.name(take.subject_id()), MAX_TITLE), needle);
        let remark = sessions.remark(take).map(|remark| format!(" · {remark}"));
        let (time, remark) = (times.time(take.filed_at()), remark.unwrap_or_default());
        Hit {
            href: links::take(take.id()),
            title: Markup(format!("Take {} of {}", take.id(), escape(&clipped(&name, 60)))),
            facts: Markup(format!("on <bdi>{subject}</bdi>, {time}{remark}")),
            words,
            word: stance::of_take(sessions.scale(take), take),
        }
    };
    Ok(Found {
        hits: shown.iter().map(hit).collect(),
        count,
        scope: scan.next_before.map(|_| newest(searched)),
    })
}

async fn memos(
    request: &RequestContext,
    needle: &Needle,
    most: usize,
    times: TimeFormatter,
) -> Result<Found, Error> {
    let tenant = request.tenant();
    let filter = MemoFilter { needle: Some(needle.clone()), ..MemoFilter::default() };
    let page = tenant.memo_page(&MemoFilter::default(), None, MEMOS).await?;
    let searched = page.memos.len();
    let found: Vec<_> = page.memos.iter().filter(|memo| filter.keeps(memo)).collect();
    let shown = found.iter().take(most);
    let people = People::find(tenant, shown.clone().map(|memo| &memo.member_id)).await?;
    let hit = |memo: &&Memo| {
        let name = clipped(&people.person(&memo.member_id).name, 60);
        let facts = format!("by <bdi>{}</bdi>", escape(&name));
        Hit {
            href: links::memo(memo.id),
            title: marked(&clipped(&memo_title(memo), MAX_TITLE), needle),
            facts: Markup(facts),
            words: excerpt(&memo.draft.body, needle),
            word: times.day(memo.published_at.day()),
        }
    };
    Ok(Found {
        hits: shown.map(hit).collect(),
        count: found.len(),
        scope: page.next_before.map(|_| newest(searched)),
    })
}

fn newest(searched: usize) -> String {
    format!("the newest {searched}")
}

/// The part of a write-up around what was found first, without formatting.
fn excerpt(text: &str, needle: &Needle) -> Markup {
    around(&first_words(text, MAX_TEXT), needle)
}

/// A text in which what was found is marked.
fn marked(text: &str, needle: &Needle) -> Markup {
    let (mut marked, mut from) = (String::new(), 0);
    for found in needle.ranges_in(text) {
        let before = text.get(from..found.start).unwrap_or_default();
        let part = text.get(found.clone()).unwrap_or_default();
        marked.push_str(&format!("{}<mark>{}</mark>", escape(before), escape(part)));
        from = found.end;
    }
    marked.push_str(&escape(text.get(from..).unwrap_or_default()));
    Markup(marked)
}

/// The part of a text around what was found first, marked; its beginning if nothing was.
fn around(text: &str, needle: &Needle) -> Markup {
    let first = needle.ranges_in(text).into_iter().next().map_or(0, |found| found.start);
    let head = text.get(..first).unwrap_or_default();
    let start = head.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    // From the beginning of a word on.
    let start = match head.get(start..).and_then(|rest| rest.find(' ')) {
        Some(space) if start > 0 => start + space + 1,
        _ => start,
    };
    let cut = if start > 0 { "… " } else { "" };
    let part = clipped(text.get(start..).unwrap_or_default(), MAX_EXCERPT);
    marked(&format!("{cut}{part}"), needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(text: &str) -> Needle {
        Needle::new(text).unwrap()
    }

    #[test]
    fn found_text_is_marked_and_escaped() {
        let Markup(html) = marked("<b>Utilisation</b> & UTIL", &needle("util"));
        let expected = "&lt;b&gt;<mark>Util</mark>isation&lt;/b&gt; &amp; <mark>UTIL</mark>";
        assert_eq!(html, expected);
        assert_eq!(marked("İstanbul", &needle("stan")).0, "İ<mark>stan</mark>bul");
        assert_eq!(marked("a<b", &needle("<")).0, "a<mark>&lt;</mark>b");
    }

    #[test]
    fn number_says_of_how_many_where_not_all_were_looked_through() {
        let found = |scope: Option<&str>| Found {
            hits: Vec::new(),
            count: 72,
            scope: scope.map(str::to_owned),
        };
        let newest = Some("the newest 250");
        assert_eq!(
            [None, newest].map(|scope| found(scope).counted()),
            ["72", "72 in the newest 250"]
        );
        let scope = |scope, is_alone| {
            found(scope).group(Kind::Takes, ("x", is_alone), &|_| String::new()).scope
        };
        assert_eq!(scope(newest, true).as_deref(), Some("72 in the newest 250 takes"));
        assert_eq!([scope(newest, false), scope(None, true)], [None, None]);
    }

    #[test]
    fn excerpt_is_around_what_was_found() {
        let text = format!("{}the needle {}", "word ".repeat(60), "more ".repeat(60));
        let Markup(html) = around(&text, &needle("needle"));
        assert!(html.starts_with("… word") && html.contains("the <mark>needle</mark> more"));
        assert_eq!(around("Nothing of it.", &needle("x")).0, "Nothing of it.");
    }
}
