//! Forged cosignatures and receipts, forks, and tiles that are not those of a checkpoint.

use std::fs;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use swarm_core::domain::{Actor, LogEntry};
use swarm_core::proof::note::{KeyKind, NoteSignature, NoteSigner};

use super::desk::{Desk, ORIGIN};
use crate::program::swarm;

fn says(arguments: &[&str]) -> (Option<i32>, String) {
    let output = swarm(arguments, &[]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the clock of the witness")]
fn forged_cosignature_is_noticed() {
    let desk = Desk::aggregated();
    let honest = desk.read();
    let signer = |seed| NoteSigner::new("witness.example/w", KeyKind::Cosigner, &[seed; 32]);
    let (witness, other) = (signer(1).unwrap(), signer(2).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy");
    fs::write(&policy, format!("witness W {}\nquorum W\n", witness.verifier())).unwrap();
    let policy = ["--policy", policy.to_str().unwrap()];

    let mut note = honest.checkpoint(honest.size());
    let said = honest.verified_under(note.clone(), &policy, 1);
    assert!(said.contains("fails: witness: no witness of the policy cosigned it"), "{said}");
    let text = note.text().to_owned();
    let encoded = |signature: NoteSignature| {
        let line = signature.to_string();
        STANDARD.decode(line.rsplit(' ').next().unwrap()).unwrap()
    };
    // The name and the id of the witness, the signature of somebody else.
    let (own, forged) = (encoded(witness.sign(&text, 1)), encoded(other.sign(&text, 1)));
    let forged = STANDARD.encode([&own[..4], &forged[4..]].concat());
    let line = format!("\u{2014} witness.example/w {forged}");
    note.push(NoteSignature::parse(&line).unwrap());
    let said = honest.verified_under(note.clone(), &[], 0);
    assert!(said.contains("unproven: witness: ") && !said.contains("witness.example"), "{said}");
    let said = honest.watched_under(&note, &policy, 1);
    assert!(said.contains("a cosignature that is not valid: W"), "{said}");
    honest.verified_under(note, &policy, 1);

    let cosigned = |seconds: u64| {
        let mut note = honest.checkpoint(honest.size());
        note.push(witness.sign(&text, seconds));
        note
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    honest.watched_under(&cosigned(now), &policy, 0);
    let said = honest.verified_under(cosigned(now), &policy, 0);
    assert!(said.contains("cosigned by \"W\" at 20") && said.contains("was there then"), "{said}");
    // A cosignature says that each entry was there at its time: not before the last of them, nor later than now.
    for seconds in [now - 86_400, now + 86_400, i64::MAX.cast_unsigned()] {
        let said = honest.verified_under(cosigned(seconds), &policy, 0);
        assert!(said.contains("holds: witness: cosigned by \"W\"\n"), "{said}");
        assert!(said.contains("notable: witness: the cosignature of \"W\" is not of "), "{said}");
        assert!(!said.contains("was there then"), "{said}");
        let said = honest.watched_under(&cosigned(seconds), &policy, 0);
        assert!(said.contains("the time of the cosignature of W is before"), "{said}");
    }
    for seconds in [0, 1 << 63] {
        let said = honest.verified_under(cosigned(seconds), &policy, 1);
        assert!(!said.contains("was there then") && !said.contains("notable: witness"), "{said}");
        honest.watched_under(&cosigned(seconds), &policy, 1);
    }
    // A policy has a meaning in ASCII alone: other bytes are comments, or parts of names.
    let named = format!("# caf\u{e9}\nwitness W {}\nquorum W\n", witness.verifier());
    let named = named.chars().map(|it| u8::try_from(it).unwrap()).collect::<Vec<_>>();
    fs::write(policy[1], named).unwrap();
    honest.watched_under(&cosigned(now), &policy, 0);
    honest.verified_under(cosigned(now), &policy, 0);
}

/// The operator writes the log again, signs it, and serves what an authority has signed before.
#[test]
fn rewritten_log_does_not_fit_the_timestamp_of_the_one_before() {
    let desk = Desk::aggregated();
    let mut forged = desk.read();
    forged.stamp();
    let said = forged.verified(&[], 0);
    assert!(said.contains("unproven: timestamp: that the checkpoint of "), "{said}");
    let eve = Actor::operator("eve").unwrap();
    forged.each_act(|act| act.by = eve.clone());
    let said = forged.verified(&[], 1);
    assert!(said.contains("fails: timestamp: its checkpoint of "), "{said}");
    assert!(said.contains("is not of the log of the bundle"), "{said}");
    assert_eq!(said.matches("fails: ").count(), 1, "nothing else shows it: {said}");
}

#[test]
fn fork_is_proven_and_other_tiles_show_nothing() {
    let desk = Desk::aggregated();
    let honest = desk.read();
    let folder = tempfile::tempdir().unwrap();
    let keep = |name: &str, text: String| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (key, url, size) = (honest.key(), desk.url(), honest.size());
    let compare = |one: &str, other: &str| says(&["verify", one, other, &url, "--key", &key]);
    let new = keep("new", honest.checkpoint(size).to_string());
    let old = keep("old", honest.checkpoint(size - 3).to_string());
    let (status, said) = compare(&old, &new);
    assert!(status == Some(0) && said.contains("continues that of"), "{said}");

    let mut fork = desk.read();
    for line in &mut fork.entries {
        if let LogEntry::Take(take) = &mut line.entry {
            take.session_version = 7;
        }
    }
    for size in [size - 3, size - 1, size] {
        let forked = keep("forked", fork.checkpoint(size).to_string());
        let (status, said) = compare(&forked, &new);
        assert!(status == Some(1) && said.contains("fails: consistency: a fork: "), "{said}");
    }
    // The tiles of the other history, which a cache may serve, accuse nobody.
    let forked = keep("forked", fork.checkpoint(size).to_string());
    let (status, said) = compare(&old, &forked);
    assert!(status == Some(2) && said.contains("are not those of the checkpoint"), "{said}");

    // A checkpoint may stand in a bundle.
    let bundle = keep("bundle", desk.client().get("/api/swarm/sessions/1/bundle").text);
    let (status, said) = compare(&old, &bundle);
    assert_eq!(status, Some(0), "{said}");
}

/// An answer to a read of anybody, signed for its date alone, with the status and the body of another one around it.
#[test]
fn signature_over_less_is_no_receipt() {
    let desk = Desk::aggregated();
    let date = "Sat, 21 Nov 2026 14:00:00 GMT";
    let input = format!("(\"date\");created=1795269600;keyid=\"{ORIGIN}\"");
    let base = format!("\"date\": {date}\n\"@signature-params\": {input}");
    let signature = STANDARD.encode(desk.signer().sign_bytes(base.as_bytes()));
    let receipt = format!(
        "HTTP/1.1 201 Created\r\ndate: {date}\r\nsignature-input: swarm={input}\r\n\
         signature: swarm=:{signature}:\r\n\r\n{{\"ok\":true,\"status\":201}}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("receipt");
    fs::write(&file, receipt).unwrap();
    let key = desk.signer().verifier().to_string();
    let request = ["--request", "POST /api/swarm/submit", "--key", &key];
    let (status, said) = says(&[&["verify", file.to_str().unwrap()], &request[..]].concat());
    assert!(status == Some(1) && said.contains("fails: receipt: it does not cover"), "{said}");
    assert!(!said.contains("holds"), "{said}");
}
