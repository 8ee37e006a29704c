//! The strict reader accepts only JSON, and a value that was read and written reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swarm_core::json::{Json, write};

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = Json::read(bytes) else { return };
    let text = write(&json);
    assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "not JSON at all");
    let again = Json::read(text.as_bytes()).expect("what was written can be read");
    assert_eq!(write(&again), text);
});
