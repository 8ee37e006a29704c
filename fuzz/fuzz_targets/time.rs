//! Days and instants that parse round-trip through their text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swarm_core::domain::{Day, Timestamp};

fuzz_target!(|text: &str| {
    if let Ok(moment) = Timestamp::parse("moment", text) {
        assert_eq!(Timestamp::parse("moment", &moment.to_string()), Ok(moment));
    }
    if let Ok(day) = Day::parse(text) {
        assert_eq!(day.to_string(), text);
    }
});
