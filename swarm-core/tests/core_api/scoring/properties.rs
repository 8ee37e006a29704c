//! Properties of scores.

use proptest::prelude::*;
use swarm_core::SessionId;
use swarm_core::domain::{Quote, StanceScale};
use swarm_core::json::write;
use swarm_core::rules::{Ranking, ScoreBook, ScoreFigures, ScoreFilter, scores};
use swarm_testing::id;

use super::{quote, session};

const STANCES: [&str; 6] =
    ["bearish", "cautious", "neutral", "constructive", "bullish", "sideways"];

fn confidence() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), (0..=100_u8).prop_map(|it| f64::from(it) / 100.0), 0.0..1.0]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-2..=2_i8).prop_map(f64::from),
        (-200..=200_i16).prop_map(|hundredths| f64::from(hundredths) / 100.0),
        -2.0..2.0
    ]
}

/// What each of eight members files in a session, if it does, and the outcome.
type Filed = (Vec<Option<(&'static str, f64)>>, f64);

fn filed() -> impl Strategy<Value = Filed> {
    let take = prop::option::of((prop::sample::select(&STANCES[..]), confidence()));
    (prop::collection::vec(take, 8), value())
}

fn quotes(filed: &[Option<(&'static str, f64)>]) -> Vec<Quote> {
    let quote = |(member, filed): (u64, &Option<(&str, f64)>)| {
        let (stance, confidence) = (*filed)?;
        Some(quote(member, &format!("member {member}"), stance, confidence))
    };
    (0..).zip(filed).filter_map(quote).collect()
}

fn put(book: &mut ScoreBook, number: usize, quotes: Vec<Quote>, value: f64) {
    let number = u64::try_from(number).unwrap() + 1;
    let date = format!("2026-01-{number:02}");
    book.put(&session(number, &date, "aurora", quotes), Some(value));
}

fn book(sessions: &[Filed]) -> ScoreBook {
    let mut book = ScoreBook::default();
    for (number, (filed, value)) in sessions.iter().enumerate() {
        put(&mut book, number, quotes(filed), *value);
    }
    book
}

fn rows(ranking: &Ranking) -> impl Iterator<Item = (&str, ScoreFigures)> {
    let all = ranking.ranked.iter().chain(&ranking.unranked);
    all.map(|member| (member.member_id.as_str(), member.figures))
}

/// The figures of a member in the ranking.
fn figures(ranking: &Ranking, member: &str) -> Option<ScoreFigures> {
    rows(ranking).find(|(id, _)| *id == member).map(|(_, figures)| figures)
}

/// The expected loss of a forecast, if each of these outcomes, 0 to 1, is as likely.
fn expected_loss(filed: (&'static str, f64), outcomes: &[f64]) -> f64 {
    let quotes = quotes(&[Some(filed)]);
    let loss = |value: &f64| {
        scores(SessionId(1), StanceScale::of_service(), *value, &quotes).scores[0].forecast.loss
    };
    outcomes.iter().map(loss).sum::<f64>()
}

proptest! {
    #[test]
    fn scores_do_not_depend_on_the_order_of_quotes(
        (filed, value) in filed(), turn in 0..8_usize, reverse in any::<bool>(),
    ) {
        let in_order = quotes(&filed);
        let mut other = in_order.clone();
        let count = other.len().max(1);
        other.rotate_left(turn % count);
        if reverse {
            other.reverse();
        }
        let one = scores(SessionId(1), StanceScale::of_service(), value, &in_order);
        let two = scores(SessionId(1), StanceScale::of_service(), value, &other);
        prop_assert_eq!(write(&one), write(&two));
        let mut books = [ScoreBook::default(), ScoreBook::default()];
        put(&mut books[0], 0, in_order, value);
        put(&mut books[1], 0, other, value);
        let [one, two] = books.map(|book| book.ranking(&ScoreFilter::default(), 2));
        prop_assert_eq!(one, two);
    }

    #[test]
    fn ranking_does_not_depend_on_the_order_of_sessions(
        sessions in prop::collection::vec(filed(), 0..12), turn in 0..12_usize,
    ) {
        let mut turned: Vec<_> = sessions.iter().enumerate().collect();
        let count = turned.len().max(1);
        turned.rotate_left(turn % count);
        let mut other = ScoreBook::default();
        for (number, (filed, value)) in turned {
            put(&mut other, number, quotes(filed), *value);
        }
        let filter = ScoreFilter::default();
        let book = book(&sessions);
        prop_assert_eq!(book.ranking(&filter, 3), other.ranking(&filter, 3));
        for member in 0..8 {
            let member = id(&format!("member {member}"));
            prop_assert_eq!(book.record(&member, &filter), other.record(&member, &filter));
        }
    }

    /// The figures depend neither on `min`, which decides who is listed where, nor on members of other sessions.
    #[test]
    fn figures_do_not_depend_on_who_is_listed(
        sessions in prop::collection::vec(filed(), 0..12), min in 2..12_usize,
    ) {
        let filter = ScoreFilter::default();
        let alone = book(&sessions);
        let mut with_strangers = alone.clone();
        let strangers = vec![quote(1, "stranger", "bullish", 1.0), quote(2, "other", "neutral", 0.5)];
        put(&mut with_strangers, 20, strangers.clone(), 1.0);
        put(&mut with_strangers, 21, strangers, -0.5);
        let (one, two) = (alone.ranking(&filter, 2), with_strangers.ranking(&filter, min));
        prop_assert_eq!(rows(&one).count() + 2, rows(&two).count());
        for (member, found) in rows(&one) {
            prop_assert_eq!(Some(found), figures(&two, member));
            prop_assert_eq!(found, alone.record(&id(member), &filter).figures);
        }
    }

    #[test]
    fn members_are_ranked_by_written_figures(
        sessions in prop::collection::vec(filed(), 0..12), min in 2..6_usize,
    ) {
        let ranking = book(&sessions).ranking(&ScoreFilter::default(), min);
        prop_assert!(ranking.ranked.iter().all(|member| member.figures.scored >= min));
        prop_assert!(ranking.unranked.iter().all(|member| (1..min).contains(&member.figures.scored)));
        prop_assert!(ranking.unranked.iter().all(|member| member.place.is_none()));
        for (position, pair) in (1..).zip(ranking.ranked.windows(2)) {
            let key = |at: usize| (pair[at].figures.low.unwrap(), pair[at].figures.skill.unwrap());
            prop_assert!(key(0) >= key(1));
            let place = if key(0) == key(1) { pair[0].place.unwrap() } else { position + 1 };
            prop_assert_eq!(pair[1].place, Some(place));
        }
        prop_assert!(ranking.ranked.first().is_none_or(|member| member.place == Some(1)));
        for (_, figures) in rows(&ranking) {
            for figure in [figures.loss, figures.skill, figures.low, figures.high].into_iter().flatten() {
                prop_assert_eq!(format!("{figure:.12}").parse(), Ok(figure));
            }
        }
    }

    /// A member that expects a mean outcome loses least, in expectation, by filing it.
    #[test]
    fn honest_filing_loses_least(
        outcomes in prop::collection::vec(value(), 1..8),
        stance in prop::sample::select(&STANCES[..5]), confidence in confidence(),
    ) {
        let mean = outcomes.iter().sum::<f64>() / f64::from(u8::try_from(outcomes.len()).unwrap());
        let side = if mean < 0.0 { "bearish" } else { "bullish" };
        let honest = expected_loss((side, (mean.abs() / 2.0).min(1.0)), &outcomes);
        prop_assert!(honest <= expected_loss((stance, confidence), &outcomes) + 1e-10);
    }

    /// The crowd's loss is at most the mean of the members' losses, so that the mean skill in a session is at most 0.
    #[test]
    fn crowd_is_at_least_as_good_as_its_members_on_average((filed, value) in filed()) {
        let found = scores(SessionId(1), StanceScale::of_service(), value, &quotes(&filed));
        prop_assert!(found.scores.iter().map(|score| score.skill).sum::<f64>() <= 1e-10);
        prop_assert_eq!(found.crowd.is_some(), !found.scores.is_empty());
    }
}

#[test]
fn bins_contain_their_lower_bounds() {
    let mut book = ScoreBook::default();
    // Forecasts of 0, 0.2, 0.4, 0.6, 0.8 and 1.
    let filed = [
        ("bearish", 1.0),
        ("bearish", 0.6),
        ("cautious", 0.4),
        ("constructive", 0.4),
        ("bullish", 0.6),
        ("bullish", 1.0),
    ];
    for (number, (stance, confidence)) in filed.into_iter().enumerate() {
        put(&mut book, number, vec![quote(1, "ada", stance, confidence)], 2.0);
    }
    let record = book.record(&id("ada"), &ScoreFilter::default());
    assert_eq!(record.calibration.map(|bin| bin.n), [1, 1, 1, 1, 2]);
    assert_eq!(record.calibration[4].forecast, Some(0.9));
    assert_eq!((record.right.n, record.right.of), (3, 6));
    assert_eq!(record.figures.skill, Some(0.0), "a member alone is the crowd");
}
