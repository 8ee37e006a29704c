//! The rules without a store, `async` or a clock: pure functions from facts to a judgement.
//!
//! Run it: `cargo run -p swarm-examples --example rules_alone`

use std::error::Error;
use std::sync::Arc;

use swarm_core::domain::{
    AttemptId, Body, Confidence, Contact, Day, Invalid, Lens, Member, MemberId, MemberState, Name,
    Nonce, Salt, Session, SessionDraft, SessionId, Signed, Stance, SubjectId, Take, TakeDraft,
    TakeId, Timestamp, Version,
};
use swarm_core::json::{self, Json};
use swarm_core::proof::KeyPair;
use swarm_core::rules::{self, Basis, Rejection, Submission, Versioned};
use swarm_core::wire::Problem;

fn main() -> Result<(), Box<dyn Error>> {
    let session = session()?;
    let ada = KeyPair::from_seed(&[1; 32]);
    let signed = ada.sign(draft("ada", "constructive", 0.75)?);

    let in_time = basis(&session, "ada", &ada, "2026-11-21T22:50:00Z")?;
    println!("In time:          {}", described(&judge(&in_time, &signed, 1)));

    let too_late = basis(&session, "ada", &ada, "2026-11-21T23:25:00.001Z")?;
    println!("Too late by 1 ms: {}", described(&judge(&too_late, &signed, 1)));

    let surer = TakeDraft { confidence: Confidence::parse(1.0)?, ..signed.payload.clone() };
    let tampered = Signed { payload: surer, signature: signed.signature.clone() };
    println!("Tampered with:    {}", described(&judge(&in_time, &tampered, 1)));

    let mut takes = vec![Arc::new(judge(&in_time, &signed, 1)?)];
    for (id, name, stance, confidence) in [(2, "bob", "bullish", 0.5), (3, "eve", "cautious", 0.25)]
    {
        let keys = KeyPair::from_seed(&[id; 32]);
        let facts = basis(&session, name, &keys, "2026-11-21T22:55:00Z")?;
        let signed = keys.sign(draft(name, stance, confidence)?);
        takes.push(Arc::new(judge(&facts, &signed, id.into())?));
    }
    let snapshot = rules::aggregate(&session.record, &takes, at("2026-11-21T23:26:00Z")?);
    println!("Aggregated:       {}", json::write(&snapshot));
    Ok(())
}

/// What a service does between load and commit. The store assigns id and time; here they are made up.
fn judge(facts: &Basis, signed: &Signed<TakeDraft>, id: u64) -> Result<Take, Rejection> {
    let filing =
        rules::judge(facts, &Submission::new(signed.clone()), AttemptId([0; 16]), Salt([0; 32]))?;
    Ok(filing.take(TakeId(id), facts.now))
}

fn described(judgement: &Result<Take, Rejection>) -> String {
    match judgement {
        Ok(take) => format!("accepted, {}", json::write(take)),
        Err(rejection) => format!("{}, {rejection}", Problem::from(rejection).status()),
    }
}

/// A session with a deadline at 23:25 and a quorum of two.
fn session() -> Result<Versioned<Session>, Box<dyn Error>> {
    let fields = br#"{ "date": "2026-11-21", "subjectId": "acme", "quorum": 2,
                       "windowClosesAt": "2026-11-21T23:25:00Z" }"#;
    let draft = SessionDraft::read(&mut Json::read(fields)?.into_object())?;
    let session = draft.convened(SessionId(1), at("2026-11-21T22:45:00Z")?);
    Ok(Versioned { version: Version(1), record: Arc::new(session) })
}

/// The payload that a member signs.
fn draft(name: &str, stance: &str, confidence: f64) -> Result<TakeDraft, Box<dyn Error>> {
    let take = TakeDraft::new(
        MemberId::parse(name)?,
        Day::parse("2026-11-21")?,
        SubjectId::parse("acme")?,
        Nonce::parse("n-1")?,
        Stance::parse(stance)?,
        Confidence::parse(confidence)?,
    );
    Ok(TakeDraft { body: Body::parse(format!("So says {name}."))?, ..take })
}

/// The facts that a take of this member is judged by, as a store would load them.
fn basis(
    session: &Versioned<Session>,
    name: &str,
    keys: &KeyPair,
    now: &str,
) -> Result<Basis, Box<dyn Error>> {
    let member = Arc::new(member(name, keys)?);
    Ok(Basis {
        now: at(now)?,
        member: Some(Versioned { version: Version(1), record: member }),
        session: Some(session.map(Session::terms)),
        latest: None,
        spent: None,
    })
}

fn member(name: &str, keys: &KeyPair) -> Result<Member, Box<dyn Error>> {
    let joined = at("2026-11-01T12:00:00Z")?;
    Ok(Member {
        id: MemberId::parse(name)?,
        name: Name::parse(name)?,
        contact: Contact::parse(format!("{name}@example.org"))?,
        lens: Lens::parse("")?,
        public_key: Some(keys.public_key()),
        state: MemberState::Claimed,
        applied_at: joined,
        reviewed_at: Some(joined),
        joined_at: Some(joined),
        claimed_at: Some(joined),
        token: None,
        token_claimed_at: None,
        used_claim: None,
    })
}

fn at(text: &str) -> Result<Timestamp, Invalid> {
    Timestamp::parse("timestamp", text)
}
