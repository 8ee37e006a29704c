//! The operators' console, over sockets.

mod attacks;
mod desk;
mod forms;
mod pages;
mod roles;
mod sessions;
mod sign_on;
pub mod visitor;
