//! How a test reports what was promised and what it got.

use std::fmt::{Arguments, Debug};

/// Ends the test unless what came is what was promised, and says both. More words may say where.
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

/// Ends the test unless the promise, given in words, holds.
macro_rules! ensure {
    ($holds:expr, $promised:literal, $came:expr $(,)?) => {
        if !$holds {
            let promised = ::std::format_args!($promised);
            $crate::promise::broken(stringify!($holds), &promised, &$came, ::std::format_args!(""));
        }
    };
}

pub(crate) use {ensure, promised};

/// Ends the test.
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
