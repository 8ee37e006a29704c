//! The corpus of bundles in `vectors/bundles`, valid and tampered. These tests compute it, and check that
//! verification finds in each bundle what `cases.json` says.
//! `SWARM_WRITE_VECTORS=1 cargo test -p swarm-core --test core_api bundles` writes the files.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod cases;
mod desk;
mod edits;
mod logs;
mod receipts;
mod rewrites;
mod seals;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cases::Case;
use swarm_core::audit::{Bundle, Check, Finding, KeySource, LogKey, Verdict, audit};
use swarm_core::json::{Json, write};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/bundles")
}

fn findings(bundle: &str, key: Option<&str>) -> Vec<Finding> {
    let bundle = Bundle::read(Json::read(bundle.as_bytes()).unwrap().into_object()).unwrap();
    let key = key.map(|key| LogKey::parse(key, KeySource::Given).unwrap());
    audit(&bundle, key.as_ref())
}

fn failing(findings: &[Finding]) -> BTreeSet<&'static str> {
    let failing = findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    failing.map(|finding| finding.check.code()).collect()
}

/// `cases.json`: for each file the checks that fail.
fn index(cases: &[Case]) -> String {
    let of = |case: &Case| {
        let fails = failing(&findings(&case.bundle, Some(&case.key)));
        Json::from([
            ("file", Json::from(&*case.file())),
            ("about", Json::from(case.about)),
            ("key", Json::from(&*case.key)),
            ("fails", fails.into_iter().map(Json::from).collect()),
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
        for (check, named) in &case.finds {
            let is_named = findings.iter().any(|finding| {
                let Finding { verdict, check: of, text } = finding;
                (*verdict, of.code()) == (Verdict::Fails, *check) && text.contains(named)
            });
            if !is_named {
                let file = case.file();
                problems.push(format!("{file}: {check} does not name {named:?}: {lines:#?}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
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
        Check::Identity,
        Check::Clock,
        Check::Unknown,
    ];
    let checks = Check::ALL.iter().filter(|check| !trust.contains(check));
    assert_eq!(found, checks.map(|check| check.code()).collect());
}

#[test]
fn unproven_facts_are_listed() {
    let case = cases::all().into_iter().find(|case| case.name == "valid-localhost").unwrap();
    let unproven = |key: Option<&str>| -> Vec<&str> {
        let findings = findings(&case.bundle, key);
        let unproven = findings.iter().filter(|finding| finding.verdict == Verdict::Unproven);
        unproven.map(|finding| finding.check.code()).collect()
    };
    let always = ["origin", "witness", "completeness", "identity", "clock"];
    assert_eq!(unproven(Some(&case.key)), always);
    assert_eq!(unproven(None), [&["checkpoint"], &always[..]].concat());
}
