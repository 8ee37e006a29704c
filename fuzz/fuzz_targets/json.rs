//! The strict reader accepts only JSON, and a value that was read and written reads the same. What is read part by part is
//! what is read whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swarm_core::json::{Json, RawJson, write};

fuzz_target!(|bytes: &[u8]| {
    let json = Json::read(bytes);
    assert_eq!(RawJson::read(bytes).map(RawJson::to_json), json);
    let Ok(json) = json else { return };
    let text = write(&json);
    assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "not JSON at all");
    let again = Json::read(text.as_bytes()).expect("what was written can be read");
    assert_eq!(write(&again), text);
});
