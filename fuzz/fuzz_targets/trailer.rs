//! A committee body is accepted exactly when it ends with the trailer, compared with a second parser that reads
//! backwards from the end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swarm_core::domain::committee::{BodyFault, CommitteeBody};

const STANCES: [&str; 5] = ["bullish", "constructive", "neutral", "cautious", "bearish"];

fuzz_target!(|text: &str| {
    let body = format!("{}\n{text}", "x".repeat(80));
    match CommitteeBody::parse(body.as_str()) {
        Ok(taken) => assert!(taken.as_str() == body && has_trailer(&body)),
        Err(BodyFault::NoTrailer) => assert!(!has_trailer(&body)),
        Err(_) => {}
    }
});

fn has_trailer(body: &str) -> bool {
    let body = body.trim_end_matches([' ', '\t', '\r', '\n']);
    let line = body.rsplit('\n').next().unwrap_or_default();
    STANCES.into_iter().any(|stance| {
        line.strip_prefix(&format!("STANCE: {stance} | CONFIDENCE: ")).is_some_and(is_decimal)
    })
}

fn is_decimal(text: &str) -> bool {
    let (whole, digits) = text.split_once('.').unwrap_or((text, "0"));
    let all = |allowed: fn(char) -> bool| !digits.is_empty() && digits.chars().all(allowed);
    match whole {
        "0" => all(|digit| digit.is_ascii_digit()),
        "1" => all(|digit| digit == '0'),
        _ => false,
    }
}
