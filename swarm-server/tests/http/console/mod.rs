//! The operators' console, over sockets.

mod agenda;
mod attacks;
mod desk;
mod forms;
mod pages;
mod previews;
mod roles;
mod sessions;
pub mod visitor;
