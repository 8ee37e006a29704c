//! The report: a printed table, and a JSON file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use swarm_benches::signature_backend;

/// The ratios: a name, the dividend (the first measurement less the others), and the divisor.
const RATIOS: [(&str, &[&str], &str); 10] = [
    ("a take in memory / a strict verification", &["take, memory"], "strict verification"),
    ("a take in SQLite / a strict verification", &["take, SQLite"], "strict verification"),
    (
        "a take on Redis / a strict verification",
        &["take, Redis, clients that sleep"],
        "strict verification",
    ),
    (
        "a take in memory without a strict verification / bare warp",
        &["take, memory", "strict verification"],
        "bare warp, 201",
    ),
    (
        "a take on Redis / in memory",
        &["take, Redis, clients that sleep"],
        "take, memory, clients that sleep",
    ),
    (
        "redis-server / a take in memory",
        &["take, redis-server"],
        "take, memory, clients that sleep",
    ),
    (
        "redis-server, a take / a script of its size that does nothing",
        &["take, redis-server"],
        "nothing, redis-server",
    ),
    (
        "bare warp, the same bytes / a session with 100 takes",
        &["bare warp, the same 200"],
        "session with 100 takes",
    ),
    ("bare warp, the same bytes / 304 of a session", &["bare warp, the same 304"], "session, 304"),
    (
        "p99 of a take beside reads / alone",
        &["p99 of a take, beside reads of 10,000 takes"],
        "p99 of a take, alone",
    ),
];

/// The measurements of all rounds, by name.
#[derive(Default)]
pub struct Report {
    names: Vec<&'static str>,
    rounds: BTreeMap<&'static str, Vec<f64>>,
}

impl Report {
    /// Adds a measurement.
    pub fn add(&mut self, name: &'static str, time: Duration) {
        let rounds = self.rounds.entry(name).or_default();
        if rounds.is_empty() {
            self.names.push(name);
        }
        rounds.push(time.as_secs_f64() * 1e6);
    }

    /// Prints the report, and writes it to `target/http.json`.
    pub fn print(&self) {
        println!("\n{:<62} {:>9}   from    to", "microseconds", "median");
        for name in &self.names {
            line(name, self.rounds.get(name).cloned().unwrap_or_default());
        }
        println!();
        for (name, parts, whole) in RATIOS {
            line(name, self.ratios(parts, whole));
        }
        let ratios: BTreeMap<_, _> =
            RATIOS.iter().map(|(name, parts, whole)| (name, self.ratios(parts, whole))).collect();
        let json = json!({
            "signatures": signature_backend(), "microseconds": self.rounds, "ratios": ratios,
        });
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("http.json");
        std::fs::write(&path, json.to_string()).expect("a file");
        println!("\nall rounds: {}", path.display());
    }

    /// In each round: the first of `parts`, less the others, divided by `whole`.
    fn ratios(&self, parts: &[&str], whole: &str) -> Vec<f64> {
        let of = |name: &str| self.rounds.get(name).cloned().unwrap_or_default();
        let mut parts = parts.iter().map(|name| of(name));
        let first = parts.next().unwrap_or_default();
        let less =
            |left: Vec<f64>, right: Vec<f64>| left.iter().zip(right).map(|(a, b)| a - b).collect();
        parts.fold(first, less).iter().zip(of(whole)).map(|(part, whole)| part / whole).collect()
    }
}

fn line(name: &str, mut rounds: Vec<f64>) {
    rounds.sort_unstable_by(f64::total_cmp);
    if let (Some(least), Some(most), Some(median)) =
        (rounds.first(), rounds.last(), rounds.get(rounds.len() / 2))
    {
        println!("{name:<62} {median:>9.2}   {least:.2}  {most:.2}");
    }
}
