//! Whether a member may file in a session, before it has written a take (API.md, 4.6).

use super::judge::{Evaluation, STANDING_CHECKS};
use super::{Basis, Refusal};
use crate::domain::Revision;

/// The outcome that a valid take of a member with a fresh nonce would have in a session now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The refusal that the take would get; `None` if it would be filed.
    pub refusal: Option<Refusal>,
    /// The revision that the take would become; `None` if the member has filed all.
    pub revision: Option<Revision>,
    /// How many takes the member may still file in that session, that one included.
    pub takes_left: u8,
}

/// Runs the checks of [`judge`](super::judge) that do not depend on what the take says.
pub fn standing(basis: &Basis) -> Standing {
    let mut evaluation = Evaluation::of_standing(basis);
    let refusal = STANDING_CHECKS.into_iter().find_map(|check| check(&mut evaluation).err());
    Standing { refusal, revision: basis.next_revision(), takes_left: basis.takes_left() }
}
