//! The functions that hosts of WebAssembly call. A host calls them in this order:
//!
//! 1. [`verifier_allocate`] for the options, and again for each text; it writes each input where the call says.
//! 2. [`verifier_verify`], which verifies and returns the exit status.
//! 3. [`verifier_report`] and [`verifier_report_length`]: where the report is, in UTF-8.
//! 4. [`verifier_free`], after which the next verification may begin.
//!
//! No function follows a pointer: they only say where the buffers of this module begin. So whatever a host passes, it cannot make
//! them read or write elsewhere. Lengths are bounded by [`MAX_BYTES`] together.
#![expect(unsafe_code, reason = "a name that is not mangled may be the name of another function")]

use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::report::{MAX_BYTES, report};

/// Maximum number of inputs; more than any verification takes.
const MAX_INPUTS: usize = 8;

/// What is allocated.
struct Buffers {
    /// The options, then the texts.
    inputs: Vec<Vec<u8>>,
    report: String,
}

static BUFFERS: Mutex<Buffers> = Mutex::new(Buffers { inputs: Vec::new(), report: String::new() });

fn buffers() -> MutexGuard<'static, Buffers> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates the next input. Returns where it begins, or null if there are 8 inputs, or all together would have more
/// than [`MAX_BYTES`].
#[unsafe(no_mangle)]
pub extern "C" fn verifier_allocate(length: usize) -> *mut u8 {
    let inputs = &mut buffers().inputs;
    let size = inputs.iter().fold(length, |size, input| size.saturating_add(input.len()));
    if size > MAX_BYTES || inputs.len() == MAX_INPUTS {
        return null_mut();
    }
    inputs.push(vec![0; length]);
    inputs.last_mut().map_or(null_mut(), |input| input.as_mut_ptr())
}

/// Verifies the inputs, and makes the report. Returns the exit status of `swarm verify`.
#[unsafe(no_mangle)]
pub extern "C" fn verifier_verify() -> u32 {
    let buffers = &mut *buffers();
    let inputs: Vec<&[u8]> = buffers.inputs.iter().map(Vec::as_slice).collect();
    let (options, texts) = match inputs.as_slice() {
        [options, texts @ ..] => (*options, texts),
        [] => (b"{}".as_slice(), [].as_slice()),
    };
    let report = report(options, texts);
    buffers.report = report.json;
    report.status.into()
}

/// Returns where the report begins; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn verifier_report() -> *const u8 {
    let report = &buffers().report;
    if report.is_empty() { null() } else { report.as_ptr() }
}

/// Returns the number of bytes of the report.
#[unsafe(no_mangle)]
pub extern "C" fn verifier_report_length() -> usize {
    buffers().report.len()
}

/// Frees the inputs and the report.
#[unsafe(no_mangle)]
pub extern "C" fn verifier_free() {
    let buffers = &mut *buffers();
    buffers.inputs = Vec::new();
    buffers.report = String::new();
}
