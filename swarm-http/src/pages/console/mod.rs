//! The operators' console, below `/operate` (MANUAL.md, 14): what the operators' API does, as pages and forms.
//!
//! A form runs the handler of an API's route within the process, with the fields as its JSON body. So each rule, each
//! text of a refusal and the role that an act needs exist once, in the route table and below it.

mod acts;
mod body;
mod change;
mod confirm;
mod context;
mod cookie;
mod form;
mod handlers;
mod layout;
mod page_id;
mod pages;
mod same_origin;
mod table;

pub(crate) use acts::{OperatorRoutes, all as acts};
pub(crate) use change::change;
pub(crate) use handlers::{secret, show, sign_in, sign_out, style};
pub(crate) use page_id::PageId;
