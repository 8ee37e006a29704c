//! What is signed, what is hashed, and how either is checked.

mod canonical;
mod sign;
mod token;
mod verify;

pub use canonical::{Payload, canonical};
pub use sign::KeyPair;
pub use token::{BearerToken, ChallengeText};
pub use verify::{Verified, holds, verify};
