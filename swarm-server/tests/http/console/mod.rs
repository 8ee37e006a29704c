//! The operators' console, over sockets.

mod attacks;
mod desk;
mod forms;
mod pages;
mod roles;
mod sessions;
pub mod visitor;
