//! Timestamps, days, and times of day. This crate reads no clock: the time comes from the store.

use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SecondsFormat, Timelike, Utc};

use super::Invalid;
use super::form::{FormSchema, NamedSchema, parsed, value};
use super::json::Json;

/// A time in UTC with millisecond precision (API.md, 1.1), on the wire `2026-11-21T22:45:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Parses an RFC 3339 text of the years 0000 to 9999 (UTC). Fractions of a millisecond are
    /// truncated. A second 60 (a leap second) is valid only at the end of a UTC day, and is read as
    /// the first second of the next day.
    ///
    /// # Errors
    /// [`Invalid`], naming `field`, for any other text.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, Invalid> {
        DateTime::parse_from_rfc3339(text)
            .ok()
            .map(|moment| moment.to_utc())
            .filter(|moment| {
                !is_leap_second(*moment) || (moment.hour(), moment.minute()) == (23, 59)
            })
            .and_then(|moment| Self::from_millis(moment.timestamp_millis()))
            .filter(|moment| (0..=9999).contains(&moment.0.year()))
            .ok_or_else(|| Invalid::new(field, "must be an RFC 3339 date and time"))
    }

    /// The schema of times in requests.
    pub const SENT: NamedSchema = NamedSchema::new("common", "Moment", || {
        let description = "An RFC 3339 time with any offset; truncated to milliseconds.";
        Json::from([
            ("type", "string".into()),
            ("format", "date-time".into()),
            ("description", description.into()),
        ])
    });

    /// The start of 1970.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Returns the time `millis` milliseconds after the start of 1970; `None` when out of chrono's
    /// range.
    pub fn from_millis(millis: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(millis).map(Self)
    }

    /// Milliseconds since the start of 1970.
    pub fn millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// The same time as chrono has it.
    pub(super) fn date_time(self) -> DateTime<Utc> {
        self.0
    }

    /// Returns the duration from here until `later`; zero when `later` is not later.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.millis().saturating_sub(self.millis()).try_into().unwrap_or(0))
    }

    /// The time `millis` milliseconds later, saturating at the last time that chrono represents.
    pub fn plus_millis(self, millis: i64) -> Self {
        let last = DateTime::<Utc>::MAX_UTC.timestamp_millis();
        Self::from_millis(self.millis().saturating_add(millis).min(last)).unwrap_or(self)
    }
}

fn is_leap_second(moment: DateTime<Utc>) -> bool {
    moment.timestamp_subsec_nanos() >= 1_000_000_000
}

/// The UTC day of a timestamp.
impl Timestamp {
    /// The milliseconds of a UTC day, without leap seconds.
    pub(crate) const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

    /// Returns the UTC day of this time; the year is clamped to 0000–9999.
    pub fn day(self) -> Day {
        let part = |part: u32| u8::try_from(part).unwrap_or_default();
        Day {
            year: u16::try_from(self.0.year().clamp(0, 9999)).unwrap_or_default(),
            month: part(self.0.month()),
            day: part(self.0.day()),
        }
    }

    /// Returns the number of the UTC day, counted from 1970-01-01 as day 0.
    pub fn day_number(self) -> i64 {
        self.millis().div_euclid(Self::DAY_MILLIS)
    }

    /// The start of the UTC day of this time.
    pub fn day_begin(self) -> Self {
        self.plus_millis(-self.millis().rem_euclid(Self::DAY_MILLIS))
    }

    /// The end of the UTC day of this time, which is the start of the next.
    pub fn day_end(self) -> Self {
        self.day_begin().plus_millis(Self::DAY_MILLIS)
    }

    /// The time of day `time` on the UTC day of this time.
    pub fn at(self, time: TimeOfDay) -> Self {
        self.day_begin().plus_millis(i64::from(time.minutes) * 60_000)
    }
}

value!(
    Timestamp,
    |fields, name| parsed(fields, name, |text| Self::parse(name, &text)),
    named Self::SENT
);

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A date in the form `YYYY-MM-DD` (API.md, 5.1). It need not be in the calendar: a take may name
/// 2026-02-30, and then no session matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// Parses four ASCII digits, a hyphen, two digits, a hyphen and two digits.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("date", "must be written YYYY-MM-DD");
        let [a, b, c, d, b'-', e, f, b'-', g, h] = text.as_bytes() else {
            return Err(invalid());
        };
        let digits = [a, b, c, d, e, f, g, h];
        if !digits.iter().all(|digit| digit.is_ascii_digit()) {
            return Err(invalid());
        }
        let pair = |high: &u8, low: &u8| (high - b'0') * 10 + (low - b'0');
        Ok(Self {
            year: u16::from(pair(a, b)) * 100 + u16::from(pair(c, d)),
            month: pair(e, f),
            day: pair(g, h),
        })
    }

    /// Parses a day that exists in the calendar.
    ///
    /// # Errors
    /// [`Invalid`], naming `field`, for any other text.
    pub fn in_calendar(field: &'static str, text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
            .ok()
            .filter(|day| day.is_in_calendar())
            .ok_or_else(|| Self::not_in_calendar(field))
    }

    pub(crate) fn not_in_calendar(field: &'static str) -> Invalid {
        Invalid::new(field, "must be a day of the calendar, YYYY-MM-DD")
    }

    /// The start of this day in UTC; `None` when it does not exist in the calendar.
    pub fn begin(self) -> Option<Timestamp> {
        let date = NaiveDate::from_ymd_opt(self.year.into(), self.month.into(), self.day.into())?;
        Some(Timestamp(date.and_time(NaiveTime::MIN).and_utc()))
    }

    /// Returns whether this day exists in the calendar.
    pub fn is_in_calendar(self) -> bool {
        NaiveDate::from_ymd_opt(self.year.into(), self.month.into(), self.day.into()).is_some()
    }
}

value!(
    Day,
    |fields, name| parsed(fields, name, |text| Self::in_calendar(name, &text)),
    FormSchema::reference("Day")
);

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl serde::Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A time of day with minute precision, in UTC unless said otherwise,, `00:00` to `23:59`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimeOfDay {
    /// Minutes since midnight, 0 to 1439.
    minutes: u16,
}

impl TimeOfDay {
    /// The time `minutes` after midnight, clamped to 23:59.
    pub const fn from_minutes(minutes: u16) -> Self {
        Self { minutes: if minutes < 24 * 60 { minutes } else { 24 * 60 - 1 } }
    }

    /// Parses two ASCII digits, a colon and two digits, on the 24-hour clock.
    ///
    /// # Errors
    /// [`Invalid`], naming `field`, for any other text.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(field, "must be a time of day, HH:MM, 00:00 to 23:59");
        let [a, b, b':', c, d] = text.as_bytes() else { return Err(invalid()) };
        if ![a, b, c, d].iter().all(|digit| digit.is_ascii_digit()) {
            return Err(invalid());
        }
        let pair = |high: &u8, low: &u8| u16::from(high - b'0') * 10 + u16::from(low - b'0');
        let (hour, minute) = (pair(a, b), pair(c, d));
        if hour > 23 || minute > 59 {
            return Err(invalid());
        }
        Ok(Self { minutes: hour * 60 + minute })
    }
}

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_keep_milliseconds_and_print_in_utc() {
        let printed = |text| Timestamp::parse("t", text).map(|moment| moment.to_string());
        assert_eq!(
            printed("2026-11-21T23:45:00.1239+01:00"),
            Ok("2026-11-21T22:45:00.123Z".into())
        );
        assert_eq!(printed("2026-11-21T22:45:00Z"), Ok("2026-11-21T22:45:00.000Z".into()));
        for bad in ["", "2026-11-21", "2026-11-21T22:45:00", "2026-13-01T00:00:00Z", "now"] {
            assert!(printed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn leap_second_is_valid_only_at_the_end_of_a_utc_day() {
        let read = |text| Timestamp::parse("t", text).map(|moment| moment.to_string());
        for text in ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00"] {
            assert_eq!(read(text), Ok("2017-01-01T00:00:00.000Z".into()), "{text}");
        }
        for bad in ["2026-11-21T12:34:60Z", "2026-11-21T23:59:60+01:00", "2026-11-21T23:59:61Z"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn day_parse_checks_only_the_pattern() {
        for text in ["2026-02-28", "2026-02-30", "0000-00-00", "9999-99-99"] {
            assert_eq!(Day::parse(text).map(|day| day.to_string()), Ok(text.to_owned()));
        }
        for bad in ["", "2026-2-28", "+026-02-28", "2026-02-28 ", "２０２６-02-28", "2026/02/28"]
        {
            assert!(Day::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn calendar_has_leap_years() {
        let known = |text| Day::parse(text).is_ok_and(Day::is_in_calendar);
        assert!(known("2028-02-29") && !known("2026-02-29") && !known("2026-00-10"));
    }

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let moment = |text| Timestamp::parse("t", text).unwrap();
        for (text, day) in [
            ("2028-02-28T23:59:59.999Z", "2028-02-28"),
            ("2028-02-29T00:00:00Z", "2028-02-29"),
            ("2028-03-01T00:30:00+01:00", "2028-02-29"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31"),
        ] {
            assert_eq!(moment(text).day().to_string(), day);
            assert_eq!(moment(text).day().begin(), Some(moment(text).day_begin()));
        }
        let time = TimeOfDay::parse("t", "22:45").unwrap();
        for text in ["2028-02-29T00:00:00Z", "2028-02-29T23:59:59.999Z"] {
            assert_eq!(moment(text).at(time), moment("2028-02-29T22:45:00Z"));
        }
        assert_eq!(moment("1969-12-31T12:00:00Z").at(time), moment("1969-12-31T22:45:00Z"));
        assert_eq!(moment("1969-12-31T23:59:59.999Z").day_number(), -1);
        assert_eq!(Timestamp::EPOCH.day_number(), 0);
    }

    #[test]
    fn time_of_day_has_two_digits_each() {
        for text in ["00:00", "09:05", "23:59"] {
            assert_eq!(TimeOfDay::parse("t", text).map(|time| time.to_string()), Ok(text.into()));
        }
        for bad in ["", "9:05", "24:00", "23:60", "23:59:00", "+1:00", "２３:59", "23-59"] {
            assert!(TimeOfDay::parse("t", bad).is_err(), "{bad}");
        }
    }
}
