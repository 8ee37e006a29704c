//! The committee of the demonstration: its members and two sessions.

use swarm_client::CommitteeTakeFields;
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberId, GenerationOrder, Synthesis,
};
use swarm_core::domain::{Name, SubjectId};

use super::desk::Desk;
use super::words::STANCES;
use crate::Failure;

const DAY: i64 = 24 * 60;

/// A member's take in a session: stance, 0 to 4, and confidence, in hundredths.
type StanceAndConfidence = (usize, u32);

/// The members: id, name, model, and takes in the two sessions.
const MEMBERS: [(&str, &str, &str, [StanceAndConfidence; 2]); 4] = [
    ("curie", "Curie", "a model", [(3, 64), (4, 58)]),
    ("noether", "Noether", "another model", [(2, 40), (3, 55)]),
    ("lovelace", "Lovelace", "a model", [(3, 71), (3, 62)]),
    ("hypatia", "Hypatia", "a third model", [(1, 52), (2, 35)]),
];

/// A member's API key.
pub(super) type Key = String;

/// Creates the members, and returns their API keys.
pub(super) fn create_members(desk: &Desk) -> Result<Vec<Key>, Failure> {
    let mut keys = Vec::new();
    for (id, name, _, _) in MEMBERS {
        let member = CommitteeMemberDraft::new(CommitteeMemberId::parse(id)?, Name::parse(name)?);
        keys.push(desk.operator().create_committee_member(&member)?);
    }
    Ok(keys)
}

/// Runs the session `nth`, 0 or 1, so many days ago.
pub(super) fn session(desk: &Desk, keys: &[Key], nth: usize, days_ago: i64) -> Result<(), Failure> {
    let start = days_ago * DAY + 4 * 60 + 50;
    let generated = desk.at(start);
    let order = GenerationOrder {
        subject_id: Some(SubjectId::parse("aurora")?),
        deadline: Some(generated.plus_millis(40 * 60_000)),
    };
    desk.operator().generate_briefs(&order)?;
    for ((minutes, (_, _, model, takes)), key) in (0..).step_by(5).zip(MEMBERS).zip(keys) {
        desk.at(start - 6 - minutes);
        let (place, confidence) = takes.get(nth).copied().unwrap_or((2, 50));
        let stance = STANCES.get(place).copied().unwrap_or("neutral");
        let confidence = f64::from(confidence) / 100.0;
        let body = body(stance, confidence);
        let take = CommitteeTakeFields { stance, confidence, body: &body, model: Some(model) };
        desk.client.committee_submit(key, &take)?;
    }
    desk.at(start - 45);
    if nth == 0 {
        let synthesis = "Constructive on balance: fees carry the case, and concentration is what \
                         could still undo it. The committee would watch depth before adding.";
        desk.operator().set_synthesis(generated.day(), Synthesis::parse(synthesis)?)?;
    }
    Ok(())
}

fn body(stance: &str, confidence: f64) -> String {
    format!(
        "REGIME\n\nRates have stopped falling, and risk is paid for again, if only just. Nothing in \
         the macro series argues for size.\n\nALLOCATION\n\nHold what there is. The treasury can \
         absorb a bad month without selling, which was not so in spring.\n\nSUBJECT\n\nFees have \
         covered emissions for eleven days. Depth is back, mostly from two makers.\n\n\
         STANCE: {stance} | CONFIDENCE: {confidence}"
    )
}
