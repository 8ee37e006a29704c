//! The operators' console, over sockets.

mod agenda;
mod attacks;
mod desk;
mod forms;
mod pages;
mod previews;
mod roles;
mod sessions;
mod sign_on;
pub mod visitor;
