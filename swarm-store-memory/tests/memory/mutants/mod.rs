//! Mutants of the record layer, to test the conformance suite: each asks its backend for one thing less, or for another. A case must
//! fail on each of them, and each case on one.
//!
//! A [survey](Survey) of all cases finds what the record layer asks for, so that no list of faults is kept: a new check,
//! write or query has its mutants at once.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod cases;
mod mutated;
mod sites;

use std::collections::BTreeMap;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread;

use swarm_testing::conformance::Case;

use sites::{Mutation, Plan};

/// More than there are processors: cases wait for deadlines.
const THREADS: usize = 8;

/// The name of the threads that run mutants. Their panics are not shown.
const MUTANT: &str = "mutant";

/// Of so many mutants the first tier runs one.
const SAMPLED: usize = 8;

/// Mutants that no case notices, by the reason.
const UNNOTICED: &[(&str, &[(&str, &str)])] = &[
    (
        "no two records have the same value",
        &[
            ("basis", "members_by_token: in the other order"),
            ("bearer", "members_by_token: in the other order"),
            ("committee basis", "committee_members_by_api_key: in the other order"),
        ],
    ),
    (
        "there is no other value",
        &[
            ("committee basis", "committee_days_by_generation, the last first: of any generated"),
            ("tree", "trees: of any id"),
            ("webhook", "deliveries_by_failure, the last first: of any failed"),
        ],
    ),
    ("entries with a topic refer to no take", &[("acts", "log: unveiled")]),
    (
        "what is read is not changed by one commit",
        &[
            ("committee takes", "queries: one by one"),
            ("documents by key", "queries: one by one"),
            ("member", "queries: one by one"),
            ("take context", "queries: one by one"),
            ("takes by id", "queries: one by one"),
            ("tiles", "queries: one by one"),
        ],
    ),
    (
        "the commit compares it again",
        &[
            ("put document", "commit: uncompared"),
            ("put document", "members: of any id"),
            ("put document", "queries: one by one"),
            ("put document", "sessions: of any id"),
        ],
    ),
    (
        "it is compared before the commit, too, and no case can have time pass in between",
        &[
            ("give challenge", "deadline: earlier"),
            ("give challenge", "deadline: later"),
            ("give challenge", "deadline: unchecked"),
        ],
    ),
    (
        "all have the same outcome",
        &[
            ("give challenge", "checks: in another order"),
            ("mark takes", "checks: in another order"),
            ("save session", "checks: in another order"),
        ],
    ),
    (
        "the port leaves open which outcome is told",
        &[
            ("put document", "checks: in another order"),
            ("queue message", "checks: in another order"),
        ],
    ),
    (
        "earlier ones are superseded already",
        &[
            ("file", "current of takes_by_revision: of any revision"),
            ("restore", "current of takes_by_revision: of any revision"),
        ],
    ),
    (
        "no case restores submissions of a day about two subjects",
        &[("restore", "current of committee_takes_by_subject: of any subject")],
    ),
    (
        "only the order of the numbers is seen",
        &[("file committee", "committee_takes: numbers left out")],
    ),
    (
        "no case has as many records as are removed at a time",
        &[
            ("remove webhook records", "removal of earlier deliveries_by_time: in the other order"),
            ("remove webhook records", "removal of earlier notices_by_time: in the other order"),
        ],
    ),
    (
        "they are never read again",
        &[("save committee day", "removal of earlier committee_briefs: left out")],
    ),
    (
        "the record layer uses the first ones",
        &[
            ("document page", "documents: no limit"),
            ("members", "members_by_state: no limit"),
            ("sessions", "sessions_by_day, the last first: no limit"),
            ("take context", "takes_by_session, the last first: no limit"),
            ("take context", "takes_by_session: no limit"),
        ],
    ),
    ("its parts are not used", &[("take context", "takes: unveiled")]),
    ("no case accepts a clock by an act of the service", &[("accept clock", "entry: no topic")]),
    (
        "no case asks for fewer records than there are in such a list",
        &[
            ("committee sessions", "committee_days_by_subject, the last first: no limit"),
            ("messages", "messages_by_state: in the other order"),
            ("operator acts", "operator_acts_by_actor, the last first: no limit"),
            ("session summaries", "sessions_by_subject, the last first: no limit"),
            ("sessions", "sessions, the last first: no limit"),
            ("sessions", "sessions_by_state, the last first: no limit"),
        ],
    ),
    (
        "no case meets this race",
        &[
            ("members", "queries: one by one"),
            ("put document", "version of members: unchecked"),
            ("put document", "version of sessions: unchecked"),
            ("session authors", "queries: one by one"),
        ],
    ),
];

/// Cases that notice no mutant, with the reason.
const IDLE: &[(&str, &str)] = &[
    ("documents::collections_are_initially_empty", NOTHING),
    ("log::log_is_initially_empty", NOTHING),
    ("tree::tree_is_initially_absent", NOTHING),
    ("transfer::unused_tenant_has_only_a_head", NOTHING),
    ("committee::members::committee_is_initially_empty", NOTHING),
    ("committee::days::unknown_day_is_none", NOTHING),
];

const NOTHING: &str = "a mutant shows no record that is not there";

#[test]
fn sample_of_mutants_is_noticed() {
    let survey = Survey::of_all_cases();
    survey.compare_lists();
    let mutants: Vec<_> = survey.mutants.keys().filter(|it| !is_listed(it)).collect();
    let sampled: Vec<_> = mutants.into_iter().step_by(SAMPLED).collect();
    let unnoticed: Vec<_> =
        survey.noticed(&sampled).into_iter().filter(|(_, by)| by.is_none()).collect();
    assert!(unnoticed.is_empty(), "no case notices these: {unnoticed:#?}");
}

mod nightly {
    use super::*;

    #[test]
    fn every_mutant_is_noticed_and_every_case_notices_one() {
        let survey = Survey::of_all_cases();
        survey.compare_lists();
        let noticed = survey.noticed(&survey.mutants.keys().collect::<Vec<_>>());
        let is_wrong =
            |(mutant, by): &(&Mutation, Option<usize>)| is_listed(mutant) == by.is_some();
        let wrong: Vec<_> = noticed.iter().filter(|it| is_wrong(it)).collect();
        let busy: Vec<_> = noticed.iter().filter_map(|(_, by)| *by).collect();
        let idle = survey.idle(&busy);
        let listed: Vec<_> = IDLE.iter().map(|(case, _)| *case).collect();
        assert!(
            wrong.is_empty() && idle == listed,
            "not as listed: {wrong:#?}; these cases notice nothing: {idle:#?}"
        );
    }
}

fn is_listed(mutant: &Mutation) -> bool {
    UNNOTICED.iter().any(|(_, listed)| listed.contains(&(mutant.op, mutant.what.as_str())))
}

/// What all cases together ask of a backend.
struct Survey {
    cases: Vec<Case>,
    /// The number of calls of each.
    calls: Vec<usize>,
    /// All mutants, each with the cases that would meet it: those with the fewest calls first.
    mutants: BTreeMap<Mutation, Vec<usize>>,
}

impl Survey {
    fn of_all_cases() -> Self {
        let cases = cases::all();
        let surveyed = in_parallel(cases.len(), |case| {
            let plan = Arc::new(Plan::survey());
            let has_passed = cases::passes(&cases[case], &plan);
            (plan.surveyed(), has_passed)
        });
        let failed: Vec<_> =
            surveyed.iter().zip(&cases).filter(|((_, passed), _)| !passed).collect();
        let failed: Vec<_> = failed.iter().map(|(_, case)| case.name).collect();
        assert!(failed.is_empty(), "these fail without a change: {failed:#?}");
        let mut mutants = BTreeMap::<_, Vec<usize>>::new();
        let mut calls = Vec::new();
        for (case, ((met, made), _)) in surveyed.into_iter().enumerate() {
            met.into_iter().for_each(|mutant| mutants.entry(mutant).or_default().push(case));
            calls.push(made);
        }
        mutants.values_mut().for_each(|meet| meet.sort_by_key(|case| calls[*case]));
        Self { cases, calls, mutants }
    }

    /// Checks that what is listed exists.
    fn compare_lists(&self) {
        let exists = |(op, what): &(&str, &str)| {
            self.mutants.keys().any(|mutant| (mutant.op, mutant.what.as_str()) == (*op, *what))
        };
        let listed = UNNOTICED.iter().flat_map(|(_, listed)| listed.iter());
        let gone: Vec<_> = listed.filter(|it| !exists(it)).collect();
        assert!(gone.is_empty(), "listed, but there are none such: {gone:#?}");
    }

    /// Mutants, each with a case that notices it.
    fn noticed<'a>(&self, mutants: &[&'a Mutation]) -> Vec<(&'a Mutation, Option<usize>)> {
        in_parallel(mutants.len(), |number| {
            let mutant = mutants[number];
            let mut meet = self.mutants[mutant].iter().copied();
            (mutant, meet.find(|case| self.notices(*case, mutant)))
        })
    }

    fn notices(&self, case: usize, mutant: &Mutation) -> bool {
        // One that reads a page again and again does not end.
        let plan = Plan::mutant(mutant, 4 * self.calls[case] + 1_000);
        !cases::passes(&self.cases[case], &Arc::new(plan))
    }

    /// The cases that notice no mutant. Of those in `busy` it is known that they notice one.
    fn idle(&self, busy: &[usize]) -> Vec<&str> {
        let mut mutants: Vec<_> = self.mutants.iter().collect();
        mutants.sort_by_key(|(_, meet)| meet.len());
        let notices_one = |case: usize| {
            let mut met = mutants.iter().filter(|(_, meet)| meet.contains(&case));
            busy.contains(&case) || met.any(|(mutant, _)| self.notices(case, mutant))
        };
        let notice = in_parallel(self.cases.len(), notices_one);
        self.cases.iter().zip(notice).filter(|(_, one)| !one).map(|(case, _)| case.name).collect()
    }
}

/// Calls a function with each number below `count`, in several threads.
fn in_parallel<T: Send>(count: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let show = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if thread::current().name() != Some(MUTANT) {
                show(panic);
            }
        }));
    });
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            break;
        }
        let result = run(number);
        results.lock().unwrap().insert(number, result);
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            thread::Builder::new().name(MUTANT.to_owned()).spawn_scoped(scope, work).unwrap();
        }
    });
    results.into_inner().unwrap().into_values().collect()
}
