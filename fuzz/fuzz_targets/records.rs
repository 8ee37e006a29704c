//! Any bytes as a stored record: decoded or rejected, never a panic; and a decoded record round-trips.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swarm_core::domain::committee::{CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeTake};
use swarm_core::domain::{Challenge, Member, Message, Session, Snapshot, Take};
use swarm_core::records::Record;

fuzz_target!(|text: &str| {
    reads_back::<Take>(text);
    reads_back::<Session>(text);
    reads_back::<Snapshot>(text);
    reads_back::<Member>(text);
    reads_back::<Challenge>(text);
    reads_back::<Message>(text);
    reads_back::<CommitteeMember>(text);
    reads_back::<CommitteeDay>(text);
    reads_back::<CommitteeBrief>(text);
    reads_back::<CommitteeTake>(text);
});

fn reads_back<R: Record>(text: &str) {
    let Ok(record) = R::from_text(text) else { return };
    let text = record.to_text();
    match R::from_text(&text) {
        Ok(again) => assert_eq!(again.to_text(), text),
        Err(unreadable) => panic!("{unreadable}: {text}"),
    }
}
