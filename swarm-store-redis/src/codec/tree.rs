//! The state of the tree over the log: `version log size checkpoint`, the last perhaps empty.

use std::sync::Arc;

use swarm_core::domain::{Seq, Version};
use swarm_core::store::{TreeChange, TreeState, Versioned};

use super::{Decoded, Words};

/// Encodes the state that a change saves.
pub(crate) fn encode_tree(change: &TreeChange) -> String {
    let TreeState { log, size, checkpoint } = &change.state;
    let version = change.expected.map_or(Version(1), Version::next).0;
    format!("{version} {log} {size} {}", checkpoint.as_deref().unwrap_or_default())
}

/// Decodes a state.
pub(crate) fn decode_tree(text: &str) -> Decoded<Versioned<TreeState>> {
    let mut words = Words(text);
    let (version, log, size) = (Version(words.number()?), words.number()?, Seq(words.number()?));
    let checkpoint = Some(words.rest()).filter(|text| !text.is_empty()).map(Arc::from);
    Ok(Versioned { version, record: Arc::new(TreeState { log, size, checkpoint }) })
}
