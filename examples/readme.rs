//! The snippets of the workspace's README, of the guide for embedders and of the README of the fixtures, compiled as doctests.
#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../swarm-testing/README.md")]
struct Testing;
