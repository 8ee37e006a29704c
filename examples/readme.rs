//! The snippets of the workspace's README and of the guide for embedders, compiled as doctests.
#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Guide;
