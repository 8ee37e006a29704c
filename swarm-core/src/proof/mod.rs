//! Signatures, tokens, keys and hashes: how they are made and checked.

pub mod checkpoint;
pub mod diagnose;
pub mod log_key;
pub mod note;
pub mod structured_fields;
pub mod succession;
pub mod tile;
pub mod tlog_policy;
pub mod tlog_proof;
pub mod tree;
pub mod witness;

mod api_key;
mod canonical;
mod commit_reference;
mod dump_key;
mod ed25519;
mod entropy;
mod log_line;
mod pem;
mod sign;
mod token;
mod verify;
mod webhook_signature;

pub use crate::domain::hex;
pub use api_key::ApiKey;
pub use canonical::{Payload, canonical};
pub use commit_reference::commit_reference;
pub use diagnose::diagnose;
pub use dump_key::{DumpKey, DumpSignature};
pub use ed25519::verify_signature;
#[cfg(feature = "system-entropy")]
pub use entropy::SystemEntropy;
#[cfg(feature = "service")]
pub(crate) use entropy::Zeros;
pub use entropy::{Entropy, NoEntropy};
pub use log_line::{log_line, opening_entry, take_entry};
pub use pem::pem_text;
pub use sign::KeyPair;
pub use token::{BearerToken, ChallengeText};
pub use verify::{Verified, verify};
pub use webhook_signature::webhook_signature;
