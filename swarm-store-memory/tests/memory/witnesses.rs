//! Checkpoints that are offered to witnesses (API.md, 11.6).
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test panics")]

use std::sync::Mutex;

use async_trait::async_trait;
use swarm_core::domain::{Actor, Attribution, Seq, SessionState, Subject};
use swarm_core::json::Json;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::note::{KeyKind, NoteSigner, SignedNote};
use swarm_core::proof::tree::{TreeHash, verify_consistency};
use swarm_core::proof::witness::WitnessKey;
use swarm_core::service::LogQuery;
use swarm_core::service::signed_log::{
    LogSigner, OfferOutcome, SignedCheckpoint, SignedLog, Signing, Witness, WitnessAnswer,
};
use swarm_core::{Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::session_draft;

/// A witness with scripted answers; without one, it answers by C2SP `tlog-witness`.
struct Scripted {
    signer: NoteSigner,
    key: WitnessKey,
    cosigned: Mutex<(u64, TreeHash)>,
    answers: Mutex<Vec<WitnessAnswer>>,
    bodies: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(size: u64) -> Self {
        let signer = NoteSigner::new("witness.example/w1", KeyKind::Cosigner, &[7; 32]).unwrap();
        Self {
            key: WitnessKey::parse(&signer.verifier().to_string()).unwrap(),
            signer,
            cosigned: Mutex::new((size, TreeHash::empty())),
            answers: Mutex::default(),
            bodies: Mutex::default(),
        }
    }

    fn answering(answers: &[(u16, &str)]) -> Self {
        let witness = Self::new(0);
        let answers = answers
            .iter()
            .map(|(status, body)| WitnessAnswer { status: *status, body: (*body).to_owned() });
        *witness.answers.lock().unwrap() = answers.rev().collect();
        witness
    }

    fn cosign(&self, body: &str) -> WitnessAnswer {
        let (head, note) = body.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        let old: u64 = lines.next().unwrap().strip_prefix("old ").unwrap().parse().unwrap();
        let proof: Vec<_> = lines.map(|line| TreeHash::parse(line).unwrap()).collect();
        let signed = checkpoint(note);
        let mut cosigned = self.cosigned.lock().unwrap();
        if old != cosigned.0 {
            return answer(409, &format!("{}\n", cosigned.0));
        }
        let (size, root) = (signed.checkpoint.size, signed.checkpoint.root);
        assert!(old == 0 || verify_consistency(old, &cosigned.1, size, &root, &proof));
        *cosigned = (size, root);
        answer(200, &format!("{}\n", self.signer.sign(signed.note.text(), 1_764_000_000)))
    }
}

#[async_trait]
impl Witness for Scripted {
    fn key(&self) -> &WitnessKey {
        &self.key
    }

    async fn add_checkpoint(&self, body: String) -> Result<WitnessAnswer, String> {
        self.bodies.lock().unwrap().push(body.clone());
        let scripted = self.answers.lock().unwrap().pop();
        Ok(scripted.unwrap_or_else(|| self.cosign(&body)))
    }
}

#[tokio::test]
async fn cosignature_is_kept_until_the_next_checkpoint() {
    let (tenant, log) = desk();
    let witness = Scripted::new(0);
    let (mut known, signed) = (0, written(&tenant, &log, 3).await);
    assert_eq!(log.offer(&signed, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    assert_eq!(known, 3);
    let shown = log.checkpoint().await.unwrap().unwrap();
    assert_eq!(shown.note.cosigned_at(witness.signer.verifier()), Some(1_764_000_000));
    assert!(shown.note.is_signed_by(&shown.key));
    let proof = log.proof(Seq(2)).await.unwrap().unwrap();
    assert_eq!(proof.checkpoint, shown.note, "in proofs too");
    assert_eq!(log.sign().await.unwrap(), Signing::Current, "it stays");
    assert_eq!(log.offer(&signed, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    assert_eq!(log.checkpoint().await.unwrap().unwrap().note, shown.note, "once");
    // Asked again on another day, it cosigns with that time, which takes the place of the one before.
    let later = format!("{}\n", witness.signer.sign(signed.note.text(), 1_764_086_400));
    *witness.answers.lock().unwrap() = vec![answer(200, &later)];
    assert_eq!(log.offer(&signed, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    let shown = log.checkpoint().await.unwrap().unwrap();
    assert_eq!(shown.note.cosigned_at(witness.signer.verifier()), Some(1_764_086_400));
    assert_eq!(shown.note.signatures().len(), 2);

    let next = written(&tenant, &log, 600).await;
    assert_eq!(next.note.cosigned_at(witness.signer.verifier()), None);
    assert_eq!(log.offer(&next, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    let bodies = witness.bodies.lock().unwrap().clone();
    assert!(bodies[3].starts_with("old 3\n"), "{}", bodies[3]);
}

#[tokio::test]
async fn witness_that_knows_the_log_already_is_asked_from_its_size_on() {
    let (tenant, log) = desk();
    let witness = Scripted::new(0);
    let first = written(&tenant, &log, 5).await;
    assert_eq!(log.offer(&first, &witness, &mut 0).await.unwrap(), OfferOutcome::Cosigned);
    let second = written(&tenant, &log, 4).await;
    let mut known = 0;
    assert_eq!(log.offer(&second, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    assert_eq!((known, witness.bodies.lock().unwrap().len()), (9, 3));
}

#[tokio::test]
async fn witness_of_a_longer_log_is_found() {
    let (tenant, log) = desk();
    let (witness, signed) = (Scripted::new(9), written(&tenant, &log, 3).await);
    let mut known = 0;
    assert_eq!(log.offer(&signed, &witness, &mut known).await.unwrap(), OfferOutcome::Ahead(9));
    assert_eq!(known, 9);
}

#[tokio::test]
async fn proofs_are_under_the_last_cosigned_checkpoint_that_covers_them() {
    let (tenant, log) = desk();
    let (witness, old) = (Scripted::new(0), written(&tenant, &log, 300).await);
    written(&tenant, &log, 1).await;
    assert_eq!(log.offer(&old, &witness, &mut 0).await.unwrap(), OfferOutcome::Superseded);
    let shown = log.checkpoint().await.unwrap().unwrap();
    assert_eq!(shown.note.signatures().len(), 1, "the last one is not cosigned");
    let cosigned = shown.cosigned.clone().unwrap();
    assert_eq!((cosigned.text(), cosigned.signatures().len()), (old.note.text(), 2));
    let last = written(&tenant, &log, 700).await;
    for (seq, note) in
        [(1, &cosigned), (257, &cosigned), (300, &cosigned), (301, &last.note), (1_001, &last.note)]
    {
        let proof = log.proof(Seq(seq)).await.unwrap().unwrap();
        assert_eq!(proof.checkpoint, *note, "{seq}");
        let page = tenant.log(&LogQuery::all(Seq(seq - 1), 1)).await.unwrap();
        assert!(proof.proves(&page.lines().next().unwrap().text()), "{seq}");
    }
    let both = log.proofs(&[Seq(3), Seq(700)]).await.unwrap().unwrap();
    assert!(both.iter().all(|proof| proof.checkpoint == last.note), "all under one");
    // An older one that comes late does not replace it, and the next one does.
    let mut known = 300;
    assert_eq!(log.offer(&last, &witness, &mut known).await.unwrap(), OfferOutcome::Cosigned);
    written(&tenant, &log, 1).await;
    let proof = log.proof(Seq(1)).await.unwrap().unwrap();
    assert_eq!(proof.checkpoint.text(), last.note.text());
    let late = Scripted::new(0);
    assert_eq!(log.offer(&old, &late, &mut 0).await.unwrap(), OfferOutcome::Superseded);
    assert_eq!(log.proof(Seq(1)).await.unwrap().unwrap().checkpoint.text(), last.note.text());
}

#[tokio::test]
async fn fork_that_a_witness_sees_is_remembered_until_it_cosigns() {
    let (tenant, log) = desk();
    let signed = written(&tenant, &log, 3).await;
    let fork = Scripted::answering(&[(409, "2\n"), (422, "")]);
    assert_eq!(log.offer(&signed, &fork, &mut 0).await.unwrap(), OfferOutcome::Forked(2));
    let dispute = "the witness witness.example/w1 has cosigned 2 other entries of the log: a fork";
    assert_eq!(log.disputes(), [dispute]);
    let silent = Scripted::answering(&[(500, "")]);
    let _ = log.offer(&signed, &silent, &mut 0).await.unwrap();
    assert_eq!(log.disputes(), [dispute], "it said nothing of the log");
    let ahead = Scripted::new(9);
    assert_eq!(log.offer(&signed, &ahead, &mut 0).await.unwrap(), OfferOutcome::Ahead(9));
    assert_eq!(log.disputes().len(), 1);
    let _ = log.offer(&signed, &Scripted::new(0), &mut 0).await.unwrap();
    assert!(log.disputes().is_empty());
}

#[tokio::test]
async fn answers_without_a_cosignature_are_refused() {
    let (tenant, log) = desk();
    let signed = written(&tenant, &log, 3).await;
    let other = NoteSigner::new("witness.example/w1", KeyKind::Cosigner, &[8; 32]).unwrap();
    let foreign = format!("{}\n", other.sign(signed.note.text(), 1));
    let wrong = format!("{}\n", Scripted::new(0).signer.sign("another text\n", 1));
    for answer in [(200, ""), (200, &*foreign), (200, &wrong), (404, ""), (500, "x"), (409, "much")]
    {
        let witness = Scripted::answering(&[answer]);
        let offered = log.offer(&signed, &witness, &mut 0).await.unwrap();
        assert!(matches!(offered, OfferOutcome::Refused(_)), "{answer:?}: {offered:?}");
    }
    let liar = Scripted::answering(&[(409, "1\n"), (409, "2\n"), (409, "3\n"), (409, "1\n")]);
    let offered = log.offer(&signed, &liar, &mut 0).await.unwrap();
    assert!(matches!(offered, OfferOutcome::Refused(_)), "{offered:?}");
    assert_eq!(liar.bodies.lock().unwrap().len(), 3);
    assert_eq!(log.checkpoint().await.unwrap().unwrap(), signed, "nothing is kept");
}

#[tokio::test]
async fn entries_that_close_sessions_are_recorded() {
    let (tenant, log) = desk();
    written(&tenant, &log, 1).await;
    let draft = session_draft("s0");
    let session = tenant.convene(&draft, &Attribution::SCHEDULE).await.unwrap();
    log.sign().await.unwrap();
    assert_eq!(log.last_closing(), None);
    let closed = SessionState::WindowClosed;
    tenant.advance(session.id, closed, &Attribution::SCHEDULE).await.unwrap();
    written(&tenant, &log, 1).await;
    assert_eq!(log.last_closing(), Some(Seq(3)));
}

fn desk() -> (Tenant, SignedLog) {
    let id = TenantId::parse("acme").unwrap();
    let tenant = Swarm::new(MemoryStore::new(), SystemEntropy).tenant(&id);
    let signer = LogSigner::without_memory(ServerSecret::new([1; 32]));
    let log = tenant.signed_log("acme.example", &signer).unwrap();
    (tenant, log)
}

/// Appends entries, and signs them.
async fn written(tenant: &Tenant, log: &SignedLog, entries: u64) -> SignedCheckpoint {
    for number in 0..entries {
        let text = format!(r#"{{"id":"s{number}","name":"S"}}"#);
        let mut fields = Json::read(text.as_bytes()).unwrap().into_object();
        let subject = Subject::read(&mut fields).unwrap();
        let _ = tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
    }
    assert!(matches!(log.sign().await.unwrap(), Signing::Signed(_)));
    log.checkpoint().await.unwrap().unwrap()
}

fn checkpoint(note: &str) -> SignedCheckpoint {
    let note = SignedNote::parse(note).unwrap();
    let checkpoint = swarm_core::proof::checkpoint::Checkpoint::parse(note.text()).unwrap();
    let key = ServerSecret::new([1; 32]).log_key(&checkpoint.origin).unwrap().verifier().clone();
    assert!(note.is_signed_by(&key));
    SignedCheckpoint { key, note, checkpoint, cosigned: None, published: None }
}

fn answer(status: u16, body: &str) -> WitnessAnswer {
    WitnessAnswer { status, body: body.to_owned() }
}
