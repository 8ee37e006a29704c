//! The operators' console, below `/operate` (API.md, 14): what the operators' API does, as pages and forms.
//!
//! A form runs the handler of an API's route within the process, with the fields as its JSON body. So each rule, each
//! text of a refusal and the role that an act needs exist once, in the route table and below it.

mod act;
mod acts;
mod answers;
mod body;
mod change;
mod confirm;
mod cookie;
mod entrance;
mod form;
mod page;
mod place;
mod places;
mod same_origin;
mod signed_out;
mod table;
mod visit;

pub(crate) use acts::ALL as ACTS;
pub(crate) use change::change;
pub(crate) use entrance::{secret, show, sign_in, sign_out, style};
pub(crate) use place::Place;
pub(crate) use visit::Rows;
