//! `/swarm/ranking`: the members by the lower bound of their skill, with the crowd and always neutral among them.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::SubjectId;
use swarm_core::rules::{MIN_SCORED, RankedMember, Ranking, ScoreFigures};
use swarm_core::service::{Board, NamedRanking, SubjectTrend};

use super::frame::{Frame, SiteContext, html};
use super::links;
use super::list_filter::ListFilter;
use super::lists::{Subjects, part_title};
use super::markup::{clipped, named};
use super::outcome::{figure, interval, signed_figure};
use crate::request::RequestContext;
use crate::response::Reply;

/// Rows per page.
const PER_PAGE: usize = 60;

/// Longest name in the table, in letters.
const MAX_NAME: usize = 40;

/// The most subjects to choose from; beyond it the id is typed.
const MAX_SUBJECTS: usize = 60;

#[derive(Template)]
#[template(path = "ranking.html")]
struct RankingPage {
    frame: Frame,
    find: ListFilter,
    subject: String,
    /// The ids and names of the subjects to choose from; none if there are too many, or the one asked for is not among them.
    subjects: Vec<(String, String)>,
    since: String,
    min: usize,
    /// How many sessions it takes to say something, and whether a place takes fewer.
    least: usize,
    has_few: bool,
    sessions: usize,
    /// Whether anybody is better than the crowd, in a sentence.
    verdict: Option<String>,
    ranked: Vec<Row>,
    unranked: Vec<Row>,
    /// Whether nobody has a place.
    none_ranked: bool,
    later: bool,
    next: Option<String>,
}

struct Row {
    /// Empty for a baseline, and for a member without a place.
    place: String,
    name: String,
    /// The path of the member; `None` for a baseline.
    href: Option<String>,
    scored: usize,
    skill: String,
    interval: String,
    loss: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let (filter, min) = request.scores_selected()?;
    let find = ListFilter::of(&request, "/swarm/ranking", &["subject", "since", "min"]);
    let shown = find.rows(&request, request.portion.of(PER_PAGE))?;
    let tenant = request.tenant();
    let named = request.served.scores().await.ranking(tenant, &filter, min).await?;
    let subjects = Subjects::find(tenant, &filter.subject).await?;
    let find = find.named("subject", filter.subject.as_ref().map(|id| subjects.name(id)));
    let ranking = &named.ranking;
    let ranked = with_baselines(&named);
    let count = ranked.len() + ranking.unranked.len();
    let unranked = ranking.unranked.iter().map(Entry::Member);
    let mut rows: Vec<_> = ranked.into_iter().map(|entry| (true, entry)).collect();
    rows.extend(unranked.map(|entry| (false, entry)));
    let (ranked, unranked): (Vec<_>, Vec<_>) =
        shown.of_all(rows).partition(|(is_ranked, _)| *is_ranked);
    let view = |rows: Vec<(bool, Entry<'_>)>| -> Vec<Row> {
        rows.into_iter().map(|(_, entry)| entry.row(&named)).collect()
    };
    let title = part_title(&find.title("Ranking"), "from", shown.from());
    let board = request.served.overview().await.board(tenant).await?;
    let page = RankingPage {
        subjects: choices(&board, filter.subject.as_ref()),
        subject: filter.subject.as_ref().map_or("", |id| id.as_str()).to_owned(),
        since: filter.since.map(|day| day.to_string()).unwrap_or_default(),
        min,
        least: MIN_SCORED,
        has_few: min < MIN_SCORED,
        sessions: ranking.sessions(),
        verdict: verdict(ranking),
        none_ranked: ranking.ranked.is_empty(),
        ranked: view(ranked),
        unranked: view(unranked),
        later: shown.is_later(),
        next: shown.next(count),
        frame: Frame::new(SiteContext::of(&request), title, shown.address)
            .with_description("Who was right: members by how much less they lost than the crowd."),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The subjects to choose from.
fn choices(board: &Board, asked: Option<&SubjectId>) -> Vec<(String, String)> {
    let is_known = |id: &SubjectId| board.subjects().any(|subject| subject.id == *id);
    if board.is_cut() || board.subjects().count() > MAX_SUBJECTS || !asked.is_none_or(is_known) {
        return Vec::new();
    }
    let choice = |subject: &Arc<SubjectTrend>| {
        let id = subject.id.as_str();
        (id.to_owned(), clipped(&named(&subject.name, id), MAX_NAME))
    };
    let mut choices: Vec<_> = board.subjects().map(choice).collect();
    choices.sort_by_cached_key(|(_, name)| name.to_lowercase());
    choices
}

/// A row of the ranking.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Member(&'a RankedMember),
    /// What every member could have filed without knowing anything.
    Baseline(&'static str, &'a ScoreFigures),
}

impl Entry<'_> {
    fn figures(&self) -> &ScoreFigures {
        match self {
            Self::Member(member) => &member.figures,
            Self::Baseline(_, figures) => figures,
        }
    }

    fn row(self, ranking: &NamedRanking) -> Row {
        let figures = self.figures();
        let row = Row {
            place: String::new(),
            name: String::new(),
            href: None,
            scored: figures.scored,
            skill: figures.skill.map(signed_figure).unwrap_or_default(),
            interval: interval(figures).unwrap_or_default(),
            loss: figures.loss.map(figure).unwrap_or_default(),
        };
        match self {
            Self::Baseline(name, _) => Row { name: name.to_owned(), ..row },
            Self::Member(member) => {
                let id = &member.member_id;
                Row {
                    place: member.place.map(|place| place.to_string()).unwrap_or_default(),
                    name: clipped(&named(ranking.name(id), id.as_str()), MAX_NAME),
                    href: Some(links::member(id)),
                    ..row
                }
            }
        }
    }
}

/// How many of the members with a place are better or worse than the crowd, by the intervals of their skill; `None` if no
/// member has been scored often enough to say.
pub(super) fn verdict(ranking: &Ranking) -> Option<String> {
    let of = ranking.telling().count();
    let with = |is: &dyn Fn(&ScoreFigures) -> bool| {
        ranking.telling().filter(|member| is(&member.figures)).count()
    };
    let better = with(&|figures| figures.low.is_some_and(|low| low > 0.0));
    let worse = with(&|figures| figures.high.is_some_and(|high| high < 0.0));
    // Members with fewer sessions may have a place too.
    let listed = match ranking.min < MIN_SCORED {
        true => format!("scored at least {MIN_SCORED} times"),
        false => "with a place".to_owned(),
    };
    if of == 1 {
        let is = match (better, worse) {
            (1, _) => "is surely better than the crowd",
            (_, 1) => "is surely worse than the crowd",
            _ => "cannot be told from the crowd",
        };
        return Some(format!("The one member {listed} {is}."));
    }
    let number = |count: usize, word: &str| match count {
        0 => format!("none is {word}"),
        1 => format!("1 is {word}"),
        _ => format!("{count} are {word}"),
    };
    let others = match of - better - worse {
        0 => "",
        1 => "; 1 cannot be told from it",
        _ => "; the others cannot be told from it",
    };
    (of > 0).then(|| {
        let better = number(better, "surely better than the crowd");
        let worse = number(worse, "surely worse");
        format!("Of {of} members {listed}, {better} and {worse}{others}.")
    })
}

/// The members with a place, and the crowd and always neutral where they would stand; without sessions, nothing.
fn with_baselines(ranking: &NamedRanking) -> Vec<Entry<'_>> {
    let ranking = &ranking.ranking;
    let mut rows: Vec<_> = ranking.ranked.iter().map(Entry::Member).collect();
    if ranking.sessions() > 0 {
        rows.push(Entry::Baseline("crowd", &ranking.crowd));
        rows.push(Entry::Baseline("always neutral", &ranking.neutral));
    }
    // Members stay in their order, and before a baseline that is as good.
    rows.sort_by(|a, b| a.figures().by_skill(b.figures()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(low: f64, high: f64) -> RankedMember {
        let (low, high) = (Some(low), Some(high));
        RankedMember {
            member_id: "m".parse().unwrap(),
            place: Some(1),
            figures: ScoreFigures { scored: 20, loss: Some(0.1), skill: Some(0.0), low, high },
        }
    }

    #[test]
    fn verdict_counts_whole_intervals() {
        let [better, unsure, worse] = [(0.1, 0.2), (-0.1, 0.2), (-0.2, -0.1)];
        let (crowd, unranked) = (member(0.0, 0.0).figures, Vec::new());
        let ranking = |min: usize, intervals: &[(f64, f64)]| {
            let ranked = intervals.iter().map(|(low, high)| member(*low, *high)).collect();
            Ranking { min, crowd, neutral: crowd, ranked, unranked: unranked.clone() }
        };
        let told =
            |intervals: &[(f64, f64)]| verdict(&ranking(MIN_SCORED, intervals)).unwrap_or_default();
        assert_eq!(told(&[]), "");
        assert_eq!(
            told(&[better, unsure, unsure, worse, worse]),
            "Of 5 members with a place, 1 is surely better than the crowd and 2 are surely worse; \
             the others cannot be told from it."
        );
        for (interval, is) in [
            (better, "is surely better than the crowd"),
            (worse, "is surely worse than the crowd"),
            (unsure, "cannot be told from the crowd"),
        ] {
            assert_eq!(told(&[interval]), format!("The one member with a place {is}."));
        }
        // A place may take fewer sessions than a verdict.
        let mut low = ranking(2, &[better, worse, better]);
        let said = verdict(&low).unwrap();
        assert!(said.starts_with("Of 3 members scored at least 20 times, 2 are"), "{said}");
        for member in &mut low.ranked {
            member.figures.scored = 19;
        }
        assert_eq!(verdict(&low), None);
    }
}
