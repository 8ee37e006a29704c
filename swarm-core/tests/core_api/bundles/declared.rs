//! Sessions that declare their stances, a number of revisions and a method of aggregation: bundles that follow the
//! declaration, and some that do not.

use swarm_core::domain::{
    Method, Outcome, OutcomeValue, RankedStance, Revision, SessionAct, Stance, StanceScale,
};
use swarm_core::{Session, rules};
use swarm_testing::moment;

use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;
use crate::bundles::rewrites::{seal, snapshot, step};

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, about, change: &dyn Fn(&mut Desk), finds: &[_]| {
        let mut desk = Desk::declared();
        change(&mut desk);
        Case::new(name, about, &desk, finds)
    };
    vec![
        case("valid-declared-open", "a session with stances of its own, open", &|_| {}, &[]),
        case(
            "valid-declared",
            "a session with stances of its own, aggregated by the weighted median, with an outcome",
            &|desk| {
                desk.finish();
                desk.outcome(Some(50.0));
            },
            &[],
        ),
        case(
            "declared-result-by-mean",
            "a result that is the mean, though the session declares the weighted median",
            &|desk| {
                desk.finish();
                let mut session = Session::clone(&desk.session);
                session.declaration.method = Some(Method::Mean);
                let at = snapshot(desk).figures.aggregated_at;
                let mut by_mean = rules::aggregate(&session, &desk.takes, at);
                let consensus = by_mean.figures.consensus.as_mut().unwrap();
                consensus.method = Some(Method::WeightedMedian);
                seal(desk, by_mean);
            },
            &[("snapshot", "consensus.score is 12.000001")],
        ),
        case(
            "declared-result-names-another-method",
            "a result that names another method than the session declares",
            &|desk| {
                desk.finish();
                let mut other = snapshot(desk);
                other.figures.consensus.as_mut().unwrap().method = Some(Method::Mean);
                seal(desk, other);
            },
            &[("snapshot", "consensus.method is \"weighted_median\"")],
        ),
        case(
            "declared-over-cap",
            "a third take of a member, though the session allows two",
            &|desk| desk.file("ada", "no", 0.9, &[]),
            &[("revision", "take 15 of \"ada\" is revision 3, and the session allows 2")],
        ),
        case(
            "declared-other-stance",
            "a take with a stance that the session does not declare",
            &|desk| {
                desk.file("grace", "bullish", 0.9, &[]);
                desk.finish();
            },
            &[("stance", "take 15: \"bullish\" is none that the session declares")],
        ),
        case(
            "declared-method-changed",
            "the method is changed once takes are on file",
            &|desk| {
                step(desk, SessionAct::Quorum, |desk| {
                    desk.session.declaration.method = Some(Method::Mean);
                });
                desk.finish();
            },
            &[("history", "\"quorum\" also changes \"method\"")],
        ),
        case(
            "declared-cap-raised",
            "the number of revisions is raised by an act that says nothing of it",
            &|desk| {
                step(desk, SessionAct::Brief, |desk| {
                    desk.session.declaration.max_revisions = Revision::new(3);
                });
            },
            &[("history", "\"brief\" also changes \"maxRevisions\"")],
        ),
        case(
            "declared-stance-added",
            "a stance is added once takes are on file",
            &|desk| {
                step(desk, SessionAct::Deadline, |desk| {
                    let scale = desk.session.declaration.stances.clone().unwrap();
                    let mut stances = scale.stances().to_vec();
                    stances.push(RankedStance {
                        name: Stance::parse("bullish").unwrap(),
                        rank: 101.0,
                    });
                    desk.session.declaration.stances = Some(StanceScale::parse(stances).unwrap());
                });
            },
            &[("history", "\"deadline\" also changes \"stances\"")],
        ),
        case(
            "declared-rank-in-record",
            "the record has another rank than the log",
            &|desk| {
                desk.finish();
                let scale = desk.session.declaration.stances.clone().unwrap();
                let mut stances = scale.stances().to_vec();
                stances
                    .iter_mut()
                    .filter(|it| it.rank > 12.0 && it.rank < 13.0)
                    .for_each(|it| it.rank = 12.0);
                desk.session.declaration.stances = Some(StanceScale::parse(stances).unwrap());
            },
            &[
                ("history", "the record differs from the last act"),
                ("snapshot", "consensus.score is 12"),
            ],
        ),
        case(
            "declared-outcome-off-scale",
            "an outcome above the highest rank",
            &|desk| {
                desk.finish();
                step(desk, SessionAct::Outcome, |desk| {
                    desk.session.outcome = Some(Outcome {
                        value: Some(OutcomeValue::parse(100.5).unwrap()),
                        source: None,
                        recorded_at: moment("2026-11-21T19:00:01Z"),
                    });
                });
            },
            &[("outcome", "with a value that is not on the scale of its stances")],
        ),
    ]
}
