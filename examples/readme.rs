//! The snippets of the workspace's README, compiled as doctests.
#![doc = include_str!("../README.md")]
