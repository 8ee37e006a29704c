//! Notes, checkpoints and proofs as texts. The expected values were made with Python's `hashlib` and
//! `cryptography`.

use std::fs;
use std::path::Path;

use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::note::{KeyKind, NoteSignature, NoteSigner, SignedNote, VerifierKey};
use swarm_core::proof::succession::Succession;
use swarm_core::proof::tlog_policy::TlogPolicy;
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_core::proof::tree::{TreeHash, inclusion, root};

use crate::proof::{Leaves, entry};

const ORIGIN: &str = "acme.example/swarm/log/acme";
const LOG_KEY: &str =
    "acme.example/swarm/log/acme+e74c36b8+ASeKZHXaif+qy/9K7gJuzV5/dF5rztZs7watiqdyhxut";
const EMPTY: &str = "acme.example/swarm/log/acme
0
47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=

— acme.example/swarm/log/acme 50w2uFI21WSJcw8ByZG5SmYY0wK6jQ61FJml+padxwfPipRJPK7EluG57WuP7j7Di+wrn78QXmcw4EpCGSA7M1T3SAY=
";
const WITNESS: &str = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
const COSIGNED: &str = "— witness.example/w1 qkoJ0QAAAABpJIEANABkd/iNuEDr62dNwgN2Hoe8OA23UZ8dM4M9VQv4kQzQVXkm+b+TiDcNREhcSE+i4BvlYiaTqB8nUTJiEgJQCg==";

const SUCCESSION: &str = "swarm log succession v1
desk.example/swarm/log/acme
1024
b5ldbmR/yxd0LEPQQ0Wx8UjMGlM+8K4hC9bQBOzB2Mw=
desk.example/swarm/log/acme/2+1b577daf+AcqTrBcFGHBx1nuDx/8O/oEI6OxFMFdddyaHkzPb2r58
";

fn log_key() -> NoteSigner {
    let secret = ServerSecret::new(std::array::from_fn(|index| index as u8));
    secret.log_key(ORIGIN).unwrap()
}

/// The texts of the blocks in the guide to proofs that begin with this.
fn blocks(begin: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../PROOFS.md");
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.trim_start().strip_prefix("text\n"));
    let lines =
        |block: &str| block.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    let blocks: Vec<String> = blocks.map(lines).collect();
    blocks.into_iter().filter(|block| block.starts_with(begin)).collect()
}

#[test]
fn policies_of_the_guide_are_read() {
    for begin in ["witness ", "log "] {
        let [policy] = blocks(begin).try_into().unwrap();
        TlogPolicy::parse(policy.trim_end()).unwrap();
    }
}

#[test]
fn succession_names_the_log_after_one_that_ended() {
    let text = SUCCESSION.to_owned();
    let succession = Succession::parse(&text).unwrap();
    assert_eq!(succession.to_string(), text);
    assert_eq!(succession.last.size, 1024);
    assert_eq!(succession.successor.name(), "desk.example/swarm/log/acme/2");
    let key = log_key();
    let note = succession.sign(&key);
    assert!(note.is_signed_by(key.verifier()));
    assert_eq!(
        Succession::parse(SignedNote::parse(&note.to_string()).unwrap().text()),
        Ok(succession)
    );
    assert!(Checkpoint::parse(&text).is_err(), "it does not pass for a checkpoint");
    let lines: Vec<_> = text.lines().collect();
    for place in 0..lines.len() {
        let without = [&lines[..place], &lines[place + 1..]].concat().join("\n") + "\n";
        assert!(Succession::parse(&without).is_err(), "{without}");
    }
    for wrong in
        [text.trim_end(), &format!("{text}more\n"), &text.replace("1024", "01024"), WITNESS]
    {
        assert!(Succession::parse(wrong).is_err(), "{wrong}");
    }
    let cosigner = text.replace(lines[4], WITNESS);
    assert!(Succession::parse(&cosigner).is_err(), "the key of a log alone");
}

#[test]
fn the_key_of_a_log_is_derived_from_the_secret_and_the_origin() {
    assert_eq!(log_key().verifier().to_string(), LOG_KEY);
    let other = ServerSecret::new([0; 32]);
    assert_ne!(other.log_key(ORIGIN).unwrap().verifier(), log_key().verifier());
    let second = other.log_key("acme.example/swarm/log/acme/2").unwrap();
    assert_ne!(
        second.verifier().public_key(),
        other.log_key(ORIGIN).unwrap().verifier().public_key()
    );
    assert_eq!(format!("{other:?}"), "ServerSecret(..)");
    assert_eq!(format!("{:?}", log_key()), format!("NoteSigner({LOG_KEY})"));
    for bad in ["", "acme example", "acme+example", "acme\nexample"] {
        assert!(other.log_key(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_checkpoint_of_an_empty_log_is_signed() {
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size: 0, root: TreeHash::empty() };
    let note = checkpoint.sign(&log_key());
    assert_eq!(note.to_string(), EMPTY);
    assert_eq!(SignedNote::parse(EMPTY), Ok(note.clone()));
    assert_eq!(Checkpoint::parse(note.text()), Ok(checkpoint));
    assert!(note.is_signed_by(&VerifierKey::parse(LOG_KEY).unwrap()));
    assert_eq!(note.signatures()[0].name(), ORIGIN);
}

#[test]
fn a_witness_cosigns_a_text_with_a_time() {
    let (witness, mut note) =
        (VerifierKey::parse(WITNESS).unwrap(), SignedNote::parse(EMPTY).unwrap());
    assert_eq!((witness.kind(), note.cosigned_at(&witness)), (KeyKind::Cosigner, None));
    let signer = NoteSigner::new("witness.example/w1", KeyKind::Cosigner, &[7; 32]).unwrap();
    assert_eq!(signer.sign(note.text(), 1_764_000_000).to_string(), COSIGNED);
    note.push(NoteSignature::parse(COSIGNED).unwrap());
    note.push(signer.sign(note.text(), 1_764_000_001));
    assert_eq!(note.cosigned_at(&witness), Some(1_764_000_001));
    assert!(note.is_signed_by(log_key().verifier()));
    assert_eq!(note.cosigned_at(log_key().verifier()), None);
    assert_eq!(SignedNote::parse(&note.to_string()), Ok(note.clone()));
    note.push(signer.sign("another text\n", 1_764_000_002));
    assert_eq!(note.cosigned_at(&witness), None, "one of its signatures does not hold");
}

#[test]
fn a_signature_of_another_text_or_key_does_not_count() {
    let (key, note) = (VerifierKey::parse(LOG_KEY).unwrap(), SignedNote::parse(EMPTY).unwrap());
    assert!(!SignedNote::parse(&EMPTY.replace("\n0\n", "\n1\n")).unwrap().is_signed_by(&key));
    let other = ServerSecret::new([9; 32]).log_key(ORIGIN).unwrap();
    assert!(!note.is_signed_by(other.verifier()));
    assert!(!SignedNote::new(note.text().to_owned()).is_signed_by(&key));
    // The other key's signature under this key's name and id.
    let foreign = other.sign(note.text(), 0).to_string();
    assert!(!NoteSignature::parse(&foreign).unwrap().is_of(&key));
}

#[test]
fn malformed_notes_keys_and_checkpoints_are_refused() {
    let note = |from: &str, to: &str| SignedNote::parse(&EMPTY.replacen(from, to, 1));
    for (from, to) in [
        ("— ", "- "),
        ("\n\n", "\n"),
        ("SAY=\n", "SAY="),
        ("SAY=\n", "SAY=\n\n"),
        ("SAY=\n", "SAY=\nmore\n"),
        ("SAY=", "SAY"),
        ("acme", "ac\u{7}me"),
        ("\n0\n", "\n0\r\n"),
        ("— acme.example/", "— acme.example+"),
    ] {
        assert!(note(from, to).is_err(), "{from:?} to {to:?}");
    }
    for bad in [
        "",
        ORIGIN,
        &LOG_KEY.replace("e74c36b8", "e74c36b9"),
        &LOG_KEY.replace("e74c36b8", "E74C36B8"),
        &LOG_KEY.replace("ASeK", "AieK"),
        &LOG_KEY.replace("acme", "a cme"),
        &format!("{LOG_KEY}="),
        &LOG_KEY[..LOG_KEY.len() - 4],
    ] {
        assert!(VerifierKey::parse(bad).is_err(), "{bad}");
    }
    let root = TreeHash::empty();
    assert!(Checkpoint::parse(&format!("a\n7\n{root}\nextension\n")).is_ok());
    for bad in [
        format!("a\n7\n{root}"),
        format!("a\n07\n{root}\n"),
        format!("a\n+7\n{root}\n"),
        format!("\n7\n{root}\n"),
        format!("a\n7\n{root}\n\n"),
        "a\n7\n".to_owned(),
        "a\n7\nAAAA\n".to_owned(),
    ] {
        assert!(Checkpoint::parse(&bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_proof_is_read_back_and_proves_its_entry_alone() {
    let leaves = Leaves::new(300);
    let Ok(root) = root(300, leaves.read());
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size: 300, root }.sign(&log_key());
    let Ok(hashes) = inclusion(299, 300, leaves.read());
    let proof = TlogProof { extra: None, index: 299, hashes, checkpoint };
    let text = proof.to_string();
    assert!(text.starts_with("c2sp.org/tlog-proof@v1\nindex 299\n"));
    assert_eq!(TlogProof::parse(&text), Ok(proof.clone()));
    let extra = TlogProof::parse(&text.replace("index", "extra aGk=\nindex")).unwrap();
    assert_eq!(extra, TlogProof { extra: Some(b"hi".to_vec()), ..proof.clone() });
    assert_eq!(extra.session_version(), None);
    assert!(proof.proves(&entry(299)) && !proof.proves(&entry(298)));
    assert!(!TlogProof { index: 298, ..proof.clone() }.proves(&entry(299)));

    let alone = TlogProof { hashes: Vec::new(), index: 0, ..proof };
    assert_eq!(TlogProof::parse(&alone.to_string()), Ok(alone));
    for bad in [
        "",
        &text.replace("index", "extra a\nindex"),
        &text.replace("@v1", "@v2"),
        &text.replace("index 2", "index 02"),
    ] {
        assert!(TlogProof::parse(bad).is_err(), "{bad}");
    }
}
