//! The corpus of bundles in `vectors/bundles`, valid and tampered. These tests compute it, and check that
//! verification finds in each bundle what `cases.json` says.
//! `SWARM_WRITE_VECTORS=1 cargo test -p swarm-core --test core_api bundles` writes the files.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod cases;
mod declared;
mod desk;
mod edits;
mod logs;
mod receipts;
mod rewrites;
mod seals;
mod watched;
mod withheld;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cases::Case;
use swarm_core::audit::{Bundle, Check, Evidence, Finding, KeySource, LogKey, Verdict, audit};
use swarm_core::domain::LogEntry;
use swarm_core::json::{Json, RawJson, write};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/bundles")
}

fn findings(bundle: &str, key: Option<&str>) -> Vec<Finding> {
    let bundle = Bundle::read(RawJson::read(bundle.as_bytes()).unwrap()).unwrap();
    let key = key.map(|key| LogKey::parse(key, KeySource::Given).unwrap());
    audit(&bundle, &Evidence { key: key.as_ref(), ..Evidence::default() })
}

fn checks(findings: &[Finding], verdict: Verdict) -> BTreeSet<&'static str> {
    let of_verdict = findings.iter().filter(|finding| finding.verdict == verdict);
    of_verdict.map(|finding| finding.check.code()).collect()
}

fn failing(findings: &[Finding]) -> BTreeSet<&'static str> {
    checks(findings, Verdict::Fails)
}

/// `cases.json`: for each file the checks that fail, and those that find something notable.
fn index(cases: &[Case]) -> String {
    let of = |case: &Case| {
        let findings = findings(&case.bundle, Some(&case.key));
        let (fails, notable) = (failing(&findings), checks(&findings, Verdict::Notable));
        Json::from([
            ("file", Json::from(&*case.file())),
            ("about", Json::from(case.about)),
            ("key", Json::from(&*case.key)),
            ("fails", fails.into_iter().map(Json::from).collect()),
            ("notable", notable.into_iter().map(Json::from).collect()),
        ])
    };
    let rows: Vec<_> = cases.iter().map(|case| write(&of(case))).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

#[test]
fn vectors_are_up_to_date() {
    let cases = cases::all();
    let names: BTreeSet<_> = cases.iter().map(Case::file).collect();
    assert_eq!(names.len(), cases.len(), "two cases have one name");
    let mut files: BTreeMap<_, _> =
        cases.iter().map(|case| (case.file(), format!("{}\n", case.bundle))).collect();
    files.insert("cases.json".to_owned(), index(&cases));
    if std::env::var_os("SWARM_WRITE_VECTORS").is_some() {
        fs::create_dir_all(folder()).unwrap();
        for old in fs::read_dir(folder()).unwrap() {
            fs::remove_file(old.unwrap().path()).unwrap();
        }
        for (name, text) in &files {
            fs::write(folder().join(name), text).unwrap();
        }
    }
    let there: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(there, files.keys().cloned().collect());
    for (name, text) in &files {
        assert!(fs::read_to_string(folder().join(name)).unwrap() == *text, "{name} differs");
    }
}

#[test]
fn tampering_is_found_and_named() {
    let cases = cases::all();
    let tampered = cases.iter().filter(|case| !case.finds.is_empty());
    assert!(tampered.count() >= 35);
    let mut problems = Vec::new();
    for case in &cases {
        let findings = findings(&case.bundle, Some(&case.key));
        let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
        let fails = failing(&findings);
        if case.finds.is_empty() {
            if !fails.is_empty() {
                problems.push(format!("{}: {lines:#?}", case.file()));
            }
            continue;
        }
        problems.extend(unnamed(case, &case.finds, &findings, Verdict::Fails));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What the findings of this verdict do not name.
fn unnamed(
    case: &Case,
    expected: &[(&str, &str)],
    findings: &[Finding],
    verdict: Verdict,
) -> Vec<String> {
    let is_unnamed = |(check, named): &&(&str, &str)| {
        !findings.iter().any(|finding| {
            (finding.verdict, finding.check.code()) == (verdict, *check)
                && finding.text.contains(named)
        })
    };
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    let file = case.file();
    let problem = |(check, named): &(&str, &str)| {
        format!("{file}: {check} does not name {named:?}: {lines:#?}")
    };
    expected.iter().filter(is_unnamed).map(problem).collect()
}

#[test]
fn notable_acts_are_named_with_what_they_changed() {
    let cases = cases::all();
    let problems = cases.iter().flat_map(|case| {
        let findings = findings(&case.bundle, Some(&case.key));
        unnamed(case, &case.notable, &findings, Verdict::Notable)
    });
    let problems: Vec<_> = problems.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let quiet = cases.iter().find(|case| case.name == "valid-quiet").unwrap();
    let findings = findings(&quiet.bundle, Some(&quiet.key));
    assert!(checks(&findings, Verdict::Notable).is_empty(), "{findings:#?}");
}

#[test]
fn every_check_is_failed_by_a_case() {
    let found: BTreeSet<_> =
        cases::all().iter().flat_map(|case| case.finds.iter().map(|(check, _)| *check)).collect();
    let trust = [
        Check::Consistency,
        Check::Receipt,
        Check::Content,
        Check::Origin,
        Check::Witness,
        Check::Completeness,
        Check::Quorum,
        Check::Keys,
        Check::Sessions,
        Check::Identity,
        Check::Clock,
        Check::Unknown,
    ];
    let checks = Check::ALL.iter().filter(|check| !trust.contains(check));
    assert_eq!(found, checks.map(|check| check.code()).collect());
}

/// A line that counts nothing would say that something was looked at.
#[test]
fn nothing_holds_of_no_takes_or_beside_a_fault() {
    let mut without_acts = desk::Desk::with_roster();
    without_acts.lines.retain(|line| !matches!(line.entry, LogEntry::Session(_)));
    let mut empty = desk::Desk::with_roster();
    empty.aggregate();
    let more = [without_acts, empty].map(|desk| Case::new("more", "", &desk, &[]));
    for case in cases::all().iter().chain(&more) {
        let findings = findings(&case.bundle, Some(&case.key));
        let fails = failing(&findings);
        for finding in findings.iter().filter(|it| it.verdict == Verdict::Holds) {
            let words: Vec<_> = finding.text.split([' ', ';']).collect();
            let counts_nothing = words.windows(2).any(|it| it[0] == "0" && it[1] != "times");
            let is_beside_fault = fails.contains(finding.check.code());
            assert!(!counts_nothing && !is_beside_fault, "{}: {finding}", case.file());
        }
    }
    let [without_acts, empty] =
        more.map(|case| checks(&findings(&case.bundle, Some(&case.key)), Verdict::Holds));
    assert_eq!(without_acts, BTreeSet::from(["record", "snapshot", "checkpoint"]));
    for check in ["signature", "members", "nonce", "revision"] {
        assert!(!empty.contains(check), "{check}");
    }
}

#[test]
fn unproven_facts_are_listed() {
    let case = cases::all().into_iter().find(|case| case.name == "valid-localhost").unwrap();
    let unproven = |key: Option<&str>| -> Vec<&str> {
        let findings = findings(&case.bundle, key);
        let unproven = findings.iter().filter(|finding| finding.verdict == Verdict::Unproven);
        unproven.map(|finding| finding.check.code()).collect()
    };
    let after = ["origin", "witness", "completeness", "sessions", "identity", "clock"];
    assert_eq!(unproven(Some(&case.key)), [&["keys"], &after[..]].concat());
    assert_eq!(unproven(None), [&["keys", "checkpoint"], &after[..]].concat());
}

/// Only the entries number acts, so a bundle of another maker holds with and without numbers in the records.
#[test]
fn numbers_of_acts_in_records_are_unknown_fields() {
    let case = cases::all().into_iter().find(|case| case.name == "valid-unknown-fields").unwrap();
    let findings = findings(&case.bundle, Some(&case.key));
    let unknown = findings.iter().find(|finding| finding.check == Check::Unknown).unwrap();
    assert!(unknown.text.ends_with(r#""sessionVersion", "version""#), "{unknown}");
    assert_eq!(failing(&findings), BTreeSet::new());
}
