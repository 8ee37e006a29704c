//! Assertions that report the expected and the actual value.

use std::fmt::{Arguments, Debug};

/// Panics with both values unless the actual value equals the promised one. Further arguments
/// describe the place, as in `format!`.
macro_rules! promised {
    ($came:expr, $promised:expr $(,)?) => {
        $crate::promise::promised!($came, $promised, "")
    };
    ($came:expr, $promised:expr, $($about:tt)+) => {
        match (&$came, &$promised) {
            (came, promised) => {
                if *came != *promised {
                    let about = ::std::format_args!($($about)+);
                    $crate::promise::broken(stringify!($came), &promised, &came, about);
                }
            }
        }
    };
}

/// Panics unless the condition holds. The promise is described in words.
macro_rules! ensure {
    ($holds:expr, $promised:literal, $came:expr $(,)?) => {
        if !$holds {
            let promised = ::std::format_args!($promised);
            $crate::promise::broken(stringify!($holds), &promised, &$came, ::std::format_args!(""));
        }
    };
}

pub(crate) use {ensure, promised};

/// Panics with a report.
#[cold]
#[track_caller]
pub(crate) fn broken(
    asked: &str,
    promised: &dyn Debug,
    came: &dyn Debug,
    about: Arguments<'_>,
) -> ! {
    let asked = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    panic!("{asked} {about}\n  promised: {promised:?}\n      came: {came:?}");
}
