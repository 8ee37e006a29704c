//! What the pages say about a record beyond its fields (API.md, 10.3): how far a session has come,
//! whether its members agree, what changed since the session before, and how a member compares with the
//! others. All of it measures agreement, not accuracy: no outcome is on record.

mod agreement;
mod counting;
mod member;
mod movement;
mod stage;

pub use agreement::{Agreement, agreement, dissent};
pub use counting::{Counting, counting, counting_by_time};
pub use member::{MemberFigures, distance_from_others, is_against, member_figures, stance_changes};
pub use movement::{Crossing, Movement, movement};
pub use stage::{Stage, stage};
