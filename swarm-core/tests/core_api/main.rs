//! All tests of the public API of `swarm-core`, in one binary: each binary would be linked by itself.

mod aggregate;
mod bundles;
mod committee;
mod declared;
mod diagnose;
mod layering;
mod preflight;
mod proof;
mod records;
mod requests;
mod rules;
mod scoring;
mod vectors;
