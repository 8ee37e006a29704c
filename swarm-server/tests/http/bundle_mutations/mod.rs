//! The two verifiers of bundles, on bundles that were changed at random: they agree on the exit status, and on what holds, what
//! fails, what is notable and what is unproven. Many of the bundles are signed again, so that the changes reach the later checks.

mod forge;
mod mutate;
mod nightly;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use swarm_core::audit::{Bundle, Evidence, KeySource, LogKey, Verdict, audit};
use swarm_core::json::RawJson;

use crate::clients::python;
use forge::Forger;
use mutate::Random;

/// Reads cases, one on each line, and prints for each what the Python verifier finds.
const CHECK: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import verify_bundle
verdicts = ("holds", "fails", "notable", "unproven")
for line in open(sys.argv[2], encoding="utf-8"):
    case = json.loads(line)
    try:
        report = verify_bundle.verify(verify_bundle.read_bundle(case["bundle"]), case["key"])
        found = {"status": report.status(), **{it: sorted(report.checks(it)) for it in verdicts}}
    except verify_bundle.Invalid:
        found = {"status": 2, **{it: [] for it in verdicts}}
    print(json.dumps(found))
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What `swarm verify` finds in a bundle.
fn found(bundle: &str, key: &str) -> Value {
    let none = json!({ "status": 2, "holds": [], "fails": [], "notable": [], "unproven": [] });
    let Ok(json) = RawJson::read(bundle.as_bytes()) else { return none };
    let Ok(bundle) = Bundle::read(json) else { return none };
    let key = LogKey::parse(key, KeySource::Given).unwrap();
    let findings = audit(&bundle, &Evidence { key: Some(&key), ..Evidence::default() });
    let of = |verdict| {
        let found = findings.iter().filter(|finding| finding.verdict == verdict);
        let mut checks: Vec<_> = found.map(|finding| finding.check.code()).collect();
        checks.sort_unstable();
        checks.dedup();
        checks
    };
    let fails = of(Verdict::Fails);
    json!({
        "status": i32::from(!fails.is_empty()),
        "holds": of(Verdict::Holds),
        "fails": fails,
        "notable": of(Verdict::Notable),
        "unproven": of(Verdict::Unproven),
    })
}

/// Changes bundles of the corpus with these seeds, and compares what both verifiers find.
fn compare(seeds: impl IntoIterator<Item = u64>) {
    let folder = root().join("vectors/bundles");
    let cases: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("cases.json")).unwrap()).unwrap();
    let read = |case: &Value| {
        let file = case["file"].as_str().unwrap().to_owned();
        (fs::read_to_string(folder.join(&file)).unwrap(), file)
    };
    let cases = cases.as_array().unwrap();
    let all: Vec<_> = cases.iter().map(read).collect();
    let holds = |case: &&Value| case["fails"].as_array().unwrap().is_empty();
    let valid: Vec<_> = cases.iter().filter(holds).map(read).collect();
    let forger = Forger::new();
    let mutated: Vec<_> = seeds
        .into_iter()
        .map(|seed| {
            let mut random = Random::new(seed);
            // Most begin with a bundle that holds, so that what fails is what was changed.
            let cases = if random.below(4) == 0 { &all } else { &valid };
            let (text, file) = &cases[random.below(cases.len())];
            (seed, file, mutate::bundle(text, &forger, &mut random))
        })
        .collect();
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("cases.jsonl");
    let mut lines = std::io::BufWriter::new(fs::File::create(&file).unwrap());
    for (_, _, bundle) in &mutated {
        writeln!(lines, "{}", json!({ "bundle": bundle, "key": forger.key() })).unwrap();
    }
    lines.into_inner().unwrap().sync_all().unwrap();
    let output = Command::new(python())
        .args(["-B", "-c", CHECK])
        .args([root().join("examples/python"), file])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), mutated.len());
    let mut statuses = [0_usize; 3];
    let mut differences = Vec::new();
    for ((seed, file, bundle), line) in mutated.iter().zip(said.lines()) {
        let rust = found(bundle, forger.key());
        let python: Value = serde_json::from_str(line).unwrap();
        statuses[usize::try_from(rust["status"].as_u64().unwrap()).unwrap()] += 1;
        if rust != python {
            if let Some(kept) = std::env::var_os("SWARM_KEEP_MUTATIONS") {
                fs::write(Path::new(&kept).join(format!("{seed}.json")), bundle).unwrap();
            }
            differences.push(format!("seed {seed}, {file}: swarm {rust}, Python {python}"));
        }
    }
    let number = differences.len();
    differences.truncate(20);
    assert!(differences.is_empty(), "{number} differ:\n{}", differences.join("\n"));
    // The changes are neither all harmless nor all nonsense.
    let least = mutated.len() / 50;
    assert!(statuses.iter().all(|count| *count >= least), "{statuses:?}");
}

#[test]
fn both_verifiers_agree_on_changed_bundles() {
    // The last one adds a field to a declared stance.
    compare((0..2_000).chain([20_402]));
}
