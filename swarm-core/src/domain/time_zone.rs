//! Time zones, by their names in the IANA database.
//!
//! chrono-tz contains the rules of the zones; no file of the system is read. So all servers of a store that run the same
//! version compute the same times, and a container without zone files works too.

use chrono::{LocalResult, NaiveDateTime, SecondsFormat, TimeZone as _};
use chrono_tz::{GapInfo, Tz};

use super::{Invalid, TimeOfDay, Timestamp};

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeZone(Tz);

impl TimeZone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Tz::UTC);

    /// Parses a name of the IANA database, such as `America/New_York`.
    ///
    /// # Errors
    /// [`Invalid`], naming `field`, for any other text.
    pub fn parse(field: &'static str, name: &str) -> Result<Self, Invalid> {
        let rule = "must be a name of the IANA time zone database, like America/New_York";
        name.parse().map(Self).map_err(|_| Invalid::new(field, rule))
    }

    /// Returns its name in the IANA database.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns when the clocks of this zone show `time` on the day with this number, counted from 1970-01-01 as day 0.
    /// A time that they leave out is the first one after it; one that comes twice is the first. `None` out of chrono's
    /// range.
    pub fn at(self, day_number: i64, time: TimeOfDay) -> Option<Timestamp> {
        let local = local_time(day_number, time)?;
        let first = match self.0.from_local_datetime(&local) {
            LocalResult::Single(only) => only,
            LocalResult::Ambiguous(first, _) => first,
            LocalResult::None => GapInfo::new(&local, &self.0)?.end?,
        };
        Timestamp::from_millis(first.timestamp_millis())
    }

    /// Returns the number of the day of this time in this zone, counted from 1970-01-01 as day 0.
    pub fn day_number(self, time: Timestamp) -> i64 {
        let local = self.0.from_utc_datetime(&time.date_time().naive_utc()).naive_local();
        local.and_utc().timestamp_millis().div_euclid(Timestamp::DAY_MILLIS)
    }

    /// Returns whether the clocks of this zone ever show the day with this number: Samoa left out 2011-12-30.
    pub fn has_day(self, day_number: i64) -> bool {
        let begin = self.at(day_number, TimeOfDay::from_minutes(0));
        begin.is_some_and(|begin| self.day_number(begin) == day_number)
    }

    /// Returns the time on the clocks of this zone, with its offset: `2026-11-23T09:00:00-05:00`.
    pub fn local(self, time: Timestamp) -> String {
        let local = self.0.from_utc_datetime(&time.date_time().naive_utc());
        local.to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

fn local_time(day_number: i64, time: TimeOfDay) -> Option<NaiveDateTime> {
    let day = Timestamp::from_millis(day_number.checked_mul(Timestamp::DAY_MILLIS)?)?;
    Some(day.at(time).date_time().naive_utc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Day;

    fn at(zone: &str, day: &str, time: &str) -> String {
        let day = Day::in_calendar("day", day).unwrap().begin().unwrap().day_number();
        let time = TimeOfDay::parse("time", time).unwrap();
        TimeZone::parse("timezone", zone).unwrap().at(day, time).unwrap().to_string()
    }

    #[test]
    fn local_times_follow_summer_time() {
        for (day, time, utc) in [
            ("2026-01-15", "14:00", "2026-01-15T19:00:00.000Z"),
            ("2026-07-15", "14:00", "2026-07-15T18:00:00.000Z"),
            // Left out: from 02:00 to 03:00.
            ("2026-03-08", "02:30", "2026-03-08T07:00:00.000Z"),
            ("2026-03-08", "03:00", "2026-03-08T07:00:00.000Z"),
            // Twice: from 01:00 to 02:00.
            ("2026-11-01", "01:30", "2026-11-01T05:30:00.000Z"),
            ("2026-11-01", "02:00", "2026-11-01T07:00:00.000Z"),
        ] {
            assert_eq!(at("America/New_York", day, time), utc, "{day} {time}");
        }
        assert_eq!(at("UTC", "2026-11-23", "14:00"), "2026-11-23T14:00:00.000Z");
    }

    #[test]
    fn days_are_of_the_zone() {
        let zone = |name| TimeZone::parse("timezone", name).unwrap();
        let late = Timestamp::parse("time", "2026-11-23T23:30:00Z").unwrap();
        assert_eq!(zone("Asia/Tokyo").day_number(late), late.day_number() + 1);
        assert_eq!(zone("America/New_York").day_number(late), late.day_number());
        assert_eq!(zone("Asia/Tokyo").local(late), "2026-11-24T08:30:00+09:00");
        assert_eq!(TimeZone::UTC.local(late), "2026-11-23T23:30:00Z");
        let day = |text| Day::parse(text).unwrap().begin().unwrap().day_number();
        assert!(!zone("Pacific/Apia").has_day(day("2011-12-30")));
        assert!(zone("Pacific/Apia").has_day(day("2011-12-31")));
        // Midnight is left out, the day is not.
        assert!(zone("America/Sao_Paulo").has_day(day("2018-11-04")));
        assert_eq!(at("America/Sao_Paulo", "2018-11-04", "00:00"), "2018-11-04T03:00:00.000Z");
    }

    #[test]
    fn names_are_of_the_database() {
        for name in ["UTC", "America/New_York", "Europe/Berlin", "Etc/GMT+5", "US/Eastern"] {
            assert_eq!(TimeZone::parse("timezone", name).unwrap().name(), name);
        }
        for bad in ["", "new york", "America/Nowhere", "+01:00", "europe/berlin", "CEST"] {
            assert!(TimeZone::parse("timezone", bad).is_err(), "{bad}");
        }
    }
}
