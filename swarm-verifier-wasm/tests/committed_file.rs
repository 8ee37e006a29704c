//! `verifier.wasm`, as it is committed, in Node.js: it says what this crate says, to the byte. If it does not, it is of
//! other sources: `./check verifier` builds it anew. `./check nightly verifier` compares it byte for byte.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use swarm_verifier_wasm::{MAX_BYTES, report};

/// Texts and options.
struct Case {
    texts: Vec<String>,
    options: Value,
}

impl Case {
    fn new(texts: &[&str], options: Value) -> Self {
        Self { texts: texts.iter().map(|text| (*text).to_owned()).collect(), options }
    }

    /// What this crate says.
    fn report(&self) -> String {
        let texts: Vec<_> = self.texts.iter().map(String::as_bytes).collect();
        report(self.options.to_string().as_bytes(), &texts).json
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn vector(name: &str) -> String {
    fs::read_to_string(root().join("vectors").join(name)).unwrap()
}

/// The files of `vectors/bundles`, with the key of the log.
fn bundles() -> Vec<(String, String)> {
    let cases: Vec<Value> = serde_json::from_str(&vector("bundles/cases.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let bundle = |case: &Value| vector(&format!("bundles/{}", text(&case["file"])));
    cases.iter().map(|case| (bundle(case), text(&case["key"]))).collect()
}

/// Each bundle of the vectors, with the key of its log and what else a reader may have.
fn of_bundles() -> Vec<Case> {
    let cases = (0..).zip(bundles()).map(|(number, (bundle, key))| {
        let policy = "witness one witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs\nquorum one\n";
        let options = match number % 4 {
            0 => json!({ "servedKey": key, "members": "ada GX9rI+FshTLGq8g4+s1ep4m+DHaykgM0A5v6iz02jWE=" }),
            1 => json!({ "policy": policy }),
            _ => json!({ "key": key, "strict": true }),
        };
        Case::new(&[&bundle], options)
    });
    cases.collect()
}

/// Each take of a bundle, alone and with its proof, in both orders; the proof of another take too.
fn of_takes() -> Vec<Case> {
    let (bundle, key) = &bundles()[0];
    let bundle: Value = serde_json::from_str(bundle).unwrap();
    let checkpoint = bundle["checkpoint"].as_str().unwrap();
    let proof = |entry: &Value| {
        let hashes = entry["proof"].as_array().unwrap().iter();
        let hashes: String = hashes.map(|hash| format!("{}\n", hash.as_str().unwrap())).collect();
        format!("c2sp.org/tlog-proof@v1\nindex {}\n{hashes}\n{checkpoint}", entry["index"])
    };
    let proofs: Vec<_> = bundle["entries"].as_array().unwrap().iter().map(proof).collect();
    let mut cases = Vec::new();
    for take in bundle["takes"].as_array().unwrap() {
        let (text, member) = (take.to_string(), take["publicKey"].as_str().unwrap());
        cases.push(Case::new(&[&text], json!({})));
        cases.push(Case::new(&[&text], json!({ "key": member })));
        cases.push(Case::new(&[&text], json!({ "key": key })));
        cases.push(Case::new(&[&text.replace("cautious", "bullish")], json!({})));
        for proof in &proofs {
            let options = json!({ "key": key, "memberKey": member });
            cases.push(Case::new(&[&text, proof], options.clone()));
            cases.push(Case::new(&[proof, &text], options));
        }
        cases.push(Case::new(&[&text, &proofs[0]], json!({})));
        cases.push(Case::new(&[&text, &proofs[0]], json!({ "servedKey": key })));
    }
    cases
}

/// Texts of other kinds, and of none.
fn of_others() -> Vec<Case> {
    let key = &bundles()[0].1;
    let receipt = "HTTP/1.1 201 Created\r\nsignature-input: a=(\"@status\");keyid=\"x\"\r\n\
                   signature: a=:AA==:\r\n\r\n{}";
    let request = json!({ "key": key, "request": "POST /api/swarm/submit" });
    vec![
        Case::new(&[receipt], request.clone()),
        Case::new(&[receipt, "{}"], request.clone()),
        Case::new(&["{}", receipt], request),
        Case::new(&[receipt], json!({})),
        Case::new(&[], json!({})),
        Case::new(&["a", "b", "c"], json!({})),
        Case::new(&[""], json!({})),
        Case::new(&["\u{1f680} \u{202e}"], json!({})),
        Case::new(&["{\"session\": 1, \"takes\": []}"], json!({})),
        Case::new(&["{\"sealed\": 1}"], json!({})),
        Case::new(&["{}"], json!({ "key": "\u{0}" })),
        Case::new(&["{}"], json!({ "policy": "", "request": 1 })),
        Case::new(&[&"[".repeat(1000)], json!({})),
        Case::new(&[&format!("[{}]", "1,".repeat(200_000))], json!({})),
    ]
}

/// The package of `examples/npm-verifier`, with what `npm pack` puts into it.
fn package(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let sources =
        [root().join("examples/npm-verifier"), root().join("swarm-http/templates/verify")];
    fs::create_dir_all(&folder).unwrap();
    let described = fs::read_to_string(sources[0].join("package.json")).unwrap();
    let described: Value = serde_json::from_str(&described).unwrap();
    let files = described["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    for file in files.chain(["package.json"]) {
        let source = sources.iter().map(|folder| folder.join(file)).find(|file| file.is_file());
        fs::copy(source.unwrap(), folder.join(file)).unwrap();
    }
    folder
}

fn node() -> Command {
    Command::new(std::env::var("SWARM_NODE").unwrap_or_else(|_| "node".to_owned()))
}

/// What the package says of texts.
fn said(package: &Path, cases: &[Case]) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reports.mjs");
    let mut program = node();
    program.arg(script).arg(package).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = program.stderr(Stdio::piped()).spawn().unwrap();
    let given: Value =
        cases.iter().map(|case| json!({ "texts": case.texts, "options": case.options })).collect();
    program.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    output(program.wait_with_output().unwrap()).lines().map(str::to_owned).collect()
}

#[track_caller]
fn output(ran: Output) -> String {
    let [text, errors] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(ran.status.success(), "{text}{errors}");
    text
}

#[test]
fn committed_file_says_what_this_crate_says() {
    let cases = [of_bundles(), of_takes(), of_others()];
    let cases: Vec<_> = cases.into_iter().flatten().collect();
    assert!(cases.len() > 250, "{}", cases.len());
    let said = said(&package("verifier-package"), &cases);
    assert_eq!(said.len(), cases.len());
    let mut statuses = [0; 4];
    for (case, said) in cases.iter().zip(said) {
        let expected = case.report();
        let (texts, options) = (&case.texts, &case.options);
        assert_eq!(
            said, expected,
            "verifier.wasm is of other sources: run ./check verifier. {options} {texts:?}"
        );
        let report: Value = serde_json::from_str(&said).unwrap();
        statuses[usize::try_from(report["status"].as_u64().unwrap()).unwrap()] += 1;
    }
    assert!(statuses.iter().all(|number| *number > 5), "{statuses:?}");
}

#[test]
fn package_verifies_a_bundle_and_refuses_a_changed_one() {
    let key = &bundles()[0].1;
    let (valid, changed) =
        (vector("bundles/valid-published.json"), vector("bundles/take-stance.json"));
    let cases = [&valid, &changed].map(|bundle| Case::new(&[bundle], json!({ "key": key })));
    let reports: Vec<Value> = said(&package("verifier-bundles"), &cases)
        .iter()
        .map(|report| serde_json::from_str(report).unwrap())
        .collect();
    let last = |report: &Value| report["lines"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&reports[0]["status"], &reports[1]["status"]), (&json!(0), &json!(1)));
    assert_eq!(last(&reports[0])["text"], "the bundle holds; 1 finding is notable");
    assert_eq!(last(&reports[1])["text"], "the bundle fails");
    let lines = reports[1]["lines"].as_array().unwrap();
    let fails = lines.iter().filter(|line| line["verdict"] == "fails");
    assert!(
        fails.clone().any(|line| line["text"].as_str().unwrap().starts_with("fails: signature:"))
    );
    assert_eq!(fails.count(), 3);
}

#[test]
fn types_of_the_package_are_those_of_its_functions() {
    let folder = package("verifier-types");
    fs::write(
        folder.join("use.ts"),
        "import { verify, type Report } from './index.js';\n\
         const report: Report = await verify(['{}', new Uint8Array(2)], { key: 'k', strict: true });\n\
         const said: string = report.status === 2 ? report.error : report.lines.map((it) => it.text).join();\n\
         // @ts-expect-error no option has this name\n\
         await verify([said], { keys: 'k' });\n\
         // @ts-expect-error a text is no list of texts\n\
         await verify(said);\n",
    )
    .unwrap();
    let tools = std::env::var("SWARM_NODE_TOOLS")
        .expect("SWARM_NODE_TOOLS is not set: ./check installs these tools and sets it");
    let compiler = Path::new(&tools).join("node_modules/typescript/bin/tsc");
    let ran = node()
        .arg(compiler)
        .args(["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"])
        .args(["--lib", "es2022,dom", "use.ts"])
        .current_dir(&folder)
        .output()
        .unwrap();
    output(ran);
}

#[test]
fn report_says_whether_anything_was_verified() {
    let bundle: Value = serde_json::from_str(&bundles()[0].0).unwrap();
    let take = bundle["takes"][0].clone();
    let mut withheld = take.clone();
    let fields = withheld.as_object_mut().unwrap();
    fields.retain(|name, _| name != "body" && name != "memoUrl");
    fields.insert(
        "withheld".to_owned(),
        json!({ "at": "2026-11-21T12:00:00.000Z", "note": "names" }),
    );
    let mut forged = take.clone();
    forged["confidence"] = json!(0.123);
    for (take, status, is_verified) in
        [(take, 0, true), (withheld, 0, false), (forged, 1, false), (json!({}), 2, false)]
    {
        let text = Case::new(&[&take.to_string()], json!({})).report();
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&report["status"], &report["verified"]), (&json!(status), &json!(is_verified)));
    }
}

#[test]
fn size_of_texts_is_bounded() {
    let large = vec![b' '; MAX_BYTES];
    let refused = report(b"{}", &[&large]);
    assert_eq!(refused.status, 2);
    assert!(refused.json.contains("too large"), "{}", refused.json);
}
