//! The memory and the time that both verifiers take for large bundles, honest and hostile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use swarm_http::{Services, Site};
use swarm_redis_testing::wait_until;
use swarm_store_memory::MemoryStore;

use super::measured::{Measured, measure};
use crate::clients::python;
use crate::harness::{ADMIN, Author, Server, log_signer, services, tenant};
use crate::program::swarm;

const DAY: &str = "2026-11-21";

/// The most memory that a verifier may take for a bundle, in multiples of its size.
const MAX_TIMES: usize = 8;

/// The most processor time that a verifier may take for an honest bundle of 10,000 takes, in seconds.
const MAX_SECONDS: f64 = 10.0;

/// The two verifiers of a file.
fn verifiers(file: &Path, key: &str) -> [(&'static str, Command); 2] {
    let arguments = [file.to_str().unwrap(), "--key", key];
    let rust = swarm(&[&["verify"], &arguments[..]].concat(), &[]);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python/verify_bundle.py");
    let mut other = Command::new(python());
    other.arg("-B").arg(program).args(arguments);
    [("swarm", rust), ("python", other)]
}

#[test]
fn honest_bundle_of_ten_thousand_takes_is_verified_in_eight_times_its_size() {
    let store = MemoryStore::new();
    let services = Services::from(services(&store)).with_signer(log_signer());
    let mut config = tenant("default", ADMIN, &[]);
    config.quotas.applications_per_address = 10_000;
    let server = Server::maintained(Site::single(services, config));
    let client = server.client();
    client.convene(DAY, "aurora");
    let body = "Utilisation is high, and liquidity was withdrawn twice this week. ".repeat(3);
    for number in 0..2_000 {
        let author = Author::join(&client, &format!("Member {number}"));
        for _ in 0..5 {
            let draft =
                author.draft_of(json!({ "date": DAY, "subjectId": "aurora", "body": body }));
            client.submit(&author, draft).expect(201);
        }
    }
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let url = format!("http://{}/api/swarm/sessions/1/bundle", client.address);
    let mut bundle = String::new();
    wait_until("the log is signed", || {
        let Ok(mut answer) = ureq::get(&url).call() else { return false };
        bundle = answer.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
        true
    });
    let key = client.get("/.well-known/swarm.json").json()["logKey"].as_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.json");
    fs::write(&file, &bundle).unwrap();
    for (name, command) in verifiers(&file, &key) {
        let Measured { status, memory, seconds } = measure(&command);
        let times = memory as f64 / bundle.len() as f64;
        println!("{name}: {times:.1} times the size, {seconds:.1} s");
        assert_eq!(status, 0, "{name}");
        assert!(memory <= MAX_TIMES * bundle.len(), "{name}: {times:.1} times the size");
        assert!(seconds <= MAX_SECONDS, "{name}: {seconds:.1} s");
    }
}

/// Each has as many values as a text of its length may have, or as can be had of its shape.
#[test]
fn hostile_bundles_take_at_most_eight_times_their_size() {
    const SIZE: usize = 100_000_000;
    let list = |element: &str| vec![element; SIZE / (element.len() + 1)].join(",");
    let keys = (0..SIZE / 13).map(|key| format!("\"{key:08}\":1")).collect::<Vec<_>>().join(",");
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("bundle.json");
    let bundle = |session: &str, takes: &str, entries: &str| {
        format!(
            r#"{{"format":"swarm-bundle/1","session":{{{session}}},"takes":[{takes}],"members":[{takes}],"entries":[{entries}],"checkpoint":"x"}}"#
        )
    };
    let roster = |elements: String| format!(r#""roster":[{elements}]"#);
    let key = "6Z0bbHpqNhWVdWhqHBjLBKXRFBT5Kq9ER5Tjhj3fTzk=";
    for (name, text) in [
        ("takes that are numbers", bundle("", &list("12345678"), "")),
        ("entries that are numbers", bundle("", "", &list("1.000000"))),
        ("takes that are nested lists", bundle("", &list("[[1234567890123456789012]]"), "")),
        ("a take of numbers", bundle("", &format!("{{\"weights\":[{}]}}", list("1.000000")), "")),
        ("a roster of numbers", bundle(&roster(list("12345678")), "", "")),
        ("a roster of long numbers", bundle(&roster(list("1.000000")), "", "")),
        ("a roster of texts", bundle(&roster(list("\"aaaaaa\"")), "", "")),
        ("a roster of lists", bundle(&roster(list("[[1234567890123456789012]]")), "", "")),
        ("a roster of objects", bundle(&roster(list("{\"aaaaa\":1.0000000}")), "", "")),
        (
            "a roster of members",
            bundle(&roster(list("{\"memberId\":\"ada\",\"excused\":false}")), "", ""),
        ),
        ("a session of unknown fields", bundle(&keys, "", "")),
    ] {
        fs::write(&file, &text).unwrap();
        let [(_, command), _] = verifiers(&file, key);
        let Measured { status, memory, seconds } = measure(&command);
        let times = memory as f64 / text.len() as f64;
        println!("{name}: {times:.1} times the size, {seconds:.1} s, {status}");
        assert!(matches!(status, 1 | 2), "{name}: {status}");
        assert!(memory <= MAX_TIMES * text.len(), "{name}: {times:.1} times the size");
    }
}

/// Numbers of many digits and small objects, which take far more memory than their text as `float` and `dict`.
#[test]
fn odd_decimals_take_python_at_most_eight_times_the_size() {
    const SIZE: usize = 40_000_000;
    let decimals = |before: &str, digits: usize, after: &str| {
        let mut list = String::with_capacity(SIZE);
        let mut state = 1_u64;
        while list.len() + before.len() + digits + after.len() + 3 < SIZE {
            state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            let odd = state % 10_u64.pow(digits as u32);
            list.push_str(&format!("{before}0.{odd:0digits$}{after},"));
        }
        list.pop();
        list
    };
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("bundle.json");
    let bundle = |session: &str, takes: &str| {
        format!(
            r#"{{"format":"swarm-bundle/1","session":{{{session}}},"takes":[{takes}],"members":[],"entries":[],"checkpoint":"x"}}"#
        )
    };
    let take = |weights: String| format!(r#"{{"id":1,"weights":[{weights}]}}"#);
    let weight = r#"{"bucket":"a","weight":"#;
    for (name, text) in [
        ("decimals", bundle("", &decimals("", 6, ""))),
        ("long decimals", bundle("", &decimals("", 17, ""))),
        ("a take of decimals", bundle("", &take(decimals("", 6, "")))),
        ("a take of weights", bundle("", &take(decimals(weight, 6, "}")))),
        ("a take of long weights", bundle("", &take(decimals(weight, 17, "}")))),
        ("a roster of decimals", bundle(&format!(r#""roster":[{}]"#, decimals("", 6, "")), "")),
    ] {
        fs::write(&file, &text).unwrap();
        let [_, (_, command)] = verifiers(&file, "6Z0bbHpqNhWVdWhqHBjLBKXRFBT5Kq9ER5Tjhj3fTzk=");
        let Measured { status, memory, seconds } = measure(&command);
        let times = memory as f64 / text.len() as f64;
        println!("{name}: {times:.1} times the size, {seconds:.1} s, {status}");
        assert_eq!(status, 1, "{name}");
        assert!(memory <= MAX_TIMES * text.len(), "{name}: {times:.1} times the size");
    }
}

/// Names of fields and short texts, each of which takes an object of its own.
#[test]
fn many_names_and_texts_take_python_at_most_eight_times_the_size() {
    const SIZE: usize = 40_000_000;
    let names = |value: &str| {
        let length = value.len() + 12;
        (0..SIZE / length)
            .map(|name| format!("\"{name:08}\":{value}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let texts = |text: &str| vec![text; SIZE / (text.len() + 1)].join(",");
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("bundle.json");
    let bundle = |more: &str, session: &str, take: &str, member: &str, entry: &str| {
        format!(
            r#"{{"format":"swarm-bundle/1",{more}"session":{{{session}}},"takes":[{take}],"members":[{member}],"entries":[{entry}],"checkpoint":"x"}}"#
        )
    };
    let row = |fields: String| format!("{{\"id\":1,{fields}}}");
    for (name, text) in [
        ("a bundle of unknown fields", bundle(&(names("1") + ","), "", "", "", "")),
        ("a session of unknown fields", bundle("", &names("1"), "", "", "")),
        ("a session of unknown objects", bundle("", &names("{}"), "", "", "")),
        ("a take of unknown fields", bundle("", "", &row(names("1")), "", "")),
        ("a member of unknown fields", bundle("", "", "", &row(names("1")), "")),
        ("an entry of unknown fields", bundle("", "", "", "", &row(names("1")))),
        ("buckets", bundle("", &format!("\"buckets\":[{}]", texts("\"aaaaaa\"")), "", "", "")),
        (
            "a take of texts",
            bundle("", "", &row(format!("\"x\":[{}]", texts("\"aaaaaa\""))), "", ""),
        ),
    ] {
        fs::write(&file, &text).unwrap();
        let [_, (_, command)] = verifiers(&file, "6Z0bbHpqNhWVdWhqHBjLBKXRFBT5Kq9ER5Tjhj3fTzk=");
        let Measured { status, memory, seconds } = measure(&command);
        let times = memory as f64 / text.len() as f64;
        println!("{name}: {times:.1} times the size, {seconds:.1} s, {status}");
        assert!(matches!(status, 1 | 2), "{name}: {status}");
        assert!(memory <= MAX_TIMES * text.len(), "{name}: {times:.1} times the size");
    }
}
