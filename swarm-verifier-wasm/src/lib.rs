//! The verifier of Swarm as WebAssembly: what `swarm verify` says of a take, a proof, a bundle or a receipt, in a browser or
//! in Node.js.
//!
//! [`report`] is the verification. The module [`abi`] exports it to hosts of WebAssembly, which have no strings: a host
//! allocates an input for the options and one for each text, writes them, and reads the report. `verifier.js` beside the
//! built file (`swarm-http/src/pages/verifier`) does that.

pub mod abi;
mod report;

pub use report::{MAX_BYTES, Report, report};
