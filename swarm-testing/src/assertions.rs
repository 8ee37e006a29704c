//! Assertions that report the expected and the actual value.

use std::fmt::{Arguments, Debug};

/// Panics with both values unless the actual value equals the expected one. Further arguments
/// describe the place, as in `format!`.
macro_rules! expect_eq {
    ($actual:expr, $expected:expr $(,)?) => {
        $crate::assertions::expect_eq!($actual, $expected, "")
    };
    ($actual:expr, $expected:expr, $($about:tt)+) => {
        match (&$actual, &$expected) {
            (actual, expected) => {
                if *actual != *expected {
                    let about = ::std::format_args!($($about)+);
                    $crate::assertions::fail(stringify!($actual), &expected, &actual, about);
                }
            }
        }
    };
}

/// Panics unless the condition holds. The expectation is described in words.
macro_rules! ensure {
    ($condition:expr, $expected:literal, $actual:expr $(,)?) => {
        if !$condition {
            let expected = ::std::format_args!($expected);
            let about = ::std::format_args!("");
            $crate::assertions::fail(stringify!($condition), &expected, &$actual, about);
        }
    };
}

pub(crate) use {ensure, expect_eq};

/// Panics with a report.
#[cold]
#[track_caller]
pub(crate) fn fail(
    asserted: &str,
    expected: &dyn Debug,
    actual: &dyn Debug,
    about: Arguments<'_>,
) -> ! {
    let asserted = asserted.split_whitespace().collect::<Vec<_>>().join(" ");
    panic!("{asserted} {about}\n  expected: {expected:?}\n    actual: {actual:?}");
}
