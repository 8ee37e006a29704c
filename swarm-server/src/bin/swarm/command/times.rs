//! Times as people type them.

use std::fmt::Display;
use std::time::SystemTime;

use swarm_core::Timestamp;
use swarm_core::domain::TimeOfDay;

use crate::failure::CommandError;

/// The time by the clock of this machine.
#[allow(
    clippy::disallowed_methods,
    reason = "a deadline typed as +3h counts from the reader's clock"
)]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::EPOCH.plus_millis(since.as_millis().try_into().unwrap_or(i64::MAX))
}

/// Reads `+3h` (`s`, `m`, `h` or `d` from now), `19:00` (UTC, the next one) or an RFC 3339 time.
///
/// # Errors
/// [`CommandError::Usage`] for any other text.
pub(crate) fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    if let Some(span) = text.strip_prefix('+') {
        return moved(now, span, 1).ok_or_else(|| wrong(text, "+3h"));
    }
    if let Ok(time) = TimeOfDay::parse("time", text) {
        let today = now.at(time);
        return Ok(if today <= now { today.plus_millis(DAY_MILLIS) } else { today });
    }
    Timestamp::parse("time", text).map_err(|_| wrong(text, "+3h"))
}

/// Reads a time to look back to: `-3h` (`s`, `m`, `h` or `d` before now), `19:00` (UTC, the last one) or an RFC 3339
/// time.
///
/// # Errors
/// [`CommandError::Usage`] for any other text.
pub(crate) fn parse_past_time(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    if let Some(span) = text.strip_prefix('-') {
        return moved(now, span, -1).ok_or_else(|| wrong(text, "-3h"));
    }
    if let Ok(time) = TimeOfDay::parse("time", text) {
        let today = now.at(time);
        return Ok(if today > now { today.plus_millis(-DAY_MILLIS) } else { today });
    }
    Timestamp::parse("time", text).map_err(|_| wrong(text, "-3h"))
}

const DAY_MILLIS: i64 = 86_400_000;

/// Returns a time in UTC and, unless that is the same, in a time zone.
pub(crate) fn in_both_times(time: impl Display, local: &str, zone: &str) -> String {
    match zone {
        "UTC" => time.to_string(),
        zone => format!("{time} = {local} {zone}"),
    }
}

fn wrong(text: &str, span: &str) -> CommandError {
    CommandError::Usage(format!(
        "{text:?} is not a time: give {span}, 19:00 (UTC) or 2026-11-21T19:00:00Z"
    ))
}

/// The time that is a span such as `90m` after this one, or before it. `None` outside of the years of RFC 3339.
fn moved(now: Timestamp, span: &str, sign: i64) -> Option<Timestamp> {
    let time = Timestamp::from_millis(now.millis() + sign * span_millis(span)?)?;
    Timestamp::parse("time", &time.to_string()).ok()
}

/// The milliseconds of a span such as `90m`.
fn span_millis(span: &str) -> Option<i64> {
    let (number, unit) = span.split_at_checked(span.len().checked_sub(1)?)?;
    let millis = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| i64::from(number) * millis)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    #[test]
    fn relative_and_daily_times_are_read() {
        let now = Timestamp::parse("now", "2026-11-21T18:00:00Z").unwrap();
        for (text, expected) in [
            ("+3h", "2026-11-21T21:00:00Z"),
            ("+90m", "2026-11-21T19:30:00Z"),
            ("+1d", "2026-11-22T18:00:00Z"),
            ("19:00", "2026-11-21T19:00:00Z"),
            ("17:00", "2026-11-22T17:00:00Z"),
            ("2026-11-21T19:00:00+01:00", "2026-11-21T18:00:00Z"),
        ] {
            let expected = Timestamp::parse("time", expected).unwrap();
            assert_eq!(parse_time(text, now).unwrap(), expected, "{text}");
        }
        for text in
            ["", "+", "+h", "+3", "3h", "+-3h", "25:00", "tomorrow", "+3µ", "-3h", "+99999999d"]
        {
            assert!(parse_time(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn times_to_look_back_to_are_read() {
        let now = Timestamp::parse("now", "2026-11-21T18:00:00Z").unwrap();
        for (text, expected) in [
            ("-3h", "2026-11-21T15:00:00Z"),
            ("19:00", "2026-11-20T19:00:00Z"),
            ("17:00", "2026-11-21T17:00:00Z"),
            ("2026-11-21T19:00:00+01:00", "2026-11-21T18:00:00Z"),
        ] {
            let expected = Timestamp::parse("time", expected).unwrap();
            assert_eq!(parse_past_time(text, now).unwrap(), expected, "{text}");
        }
        for text in ["", "-", "-3", "--3h", "3h", "+1h", "-99999999d", "-4294967295d", "yesterday"]
        {
            assert!(parse_past_time(text, now).is_err(), "{text}");
        }
    }
}
