//! The schedule of a tenant: sessions that convene by themselves (API.md, 7.7).

use std::collections::BTreeSet;

use super::distinct::are_distinct;
use super::session::check_practice;
use super::{
    Bucket, Day, Declaration, Invalid, MemberId, QuestionText, Resolution, SubjectId, TimeOfDay,
    TimeZone,
};

/// The longest window of a session that the schedule convenes, in milliseconds: 31 days.
pub const MAX_WINDOW_MILLIS: i64 = 31 * 24 * 60 * 60 * 1_000;

/// The longest time from a deadline until the outcome is known, in milliseconds: 3,650 days.
const MAX_RESOLUTION_MILLIS: i64 = 3_650 * 24 * 60 * 60 * 1_000;

/// The entries of a tenant's schedule. They come from the configuration and are not stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule(Vec<ScheduleEntry>);

/// Sessions of the same kind, at most one a day.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleEntry {
    /// The subjects. They take turns, one a day.
    pub subjects: Vec<SubjectId>,
    /// The days of the week.
    pub days: Weekdays,
    /// The time zone of days and times.
    pub timezone: TimeZone,
    /// The days without a session.
    pub skip: BTreeSet<Day>,
    /// When the window opens.
    pub opens: TimeOfDay,
    /// When the window closes.
    pub closes: Closes,
    /// Who is expected; `None`: every member may file.
    pub roster: Option<ScheduledRoster>,
    /// The number of members required for a quorum.
    pub quorum: Option<u32>,
    /// The buckets of bucket-weight sessions.
    pub buckets: Option<Vec<Bucket>>,
    /// Whether the brief is published when the session is convened.
    pub brief: bool,
    /// Whether the session is aggregated when its window has closed.
    pub aggregate: bool,
    /// Whether the session is published when it is aggregated.
    pub publish: bool,
    /// Whether takes are sealed until the session is opened (API.md, 5.8).
    pub blind: bool,
    /// Whether the sessions are for practice.
    pub practice: bool,
    /// What a stance is about.
    pub question: Option<QuestionText>,
    /// How the outcome is determined.
    pub resolution: Option<Resolution>,
    /// How many milliseconds after the deadline the outcome will be known.
    pub resolves_after: Option<i64>,
    /// The stances, the number of revisions and the method of aggregation of its sessions.
    pub declaration: Declaration,
}

/// When a window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// This number of milliseconds after it opens.
    After(i64),
    /// At the next such time of day, in the time zone of the entry.
    At(TimeOfDay),
}

/// The roster of a session that the schedule convenes.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduledRoster {
    /// The members that are active when it is convened.
    Active,
    /// These members.
    Members(Vec<MemberId>),
}

impl Schedule {
    /// Checks the entries. The error has the position of the entry, counted from 0.
    ///
    /// # Errors
    /// [`Invalid`], naming the first key that breaks its rule.
    pub fn new(entries: Vec<ScheduleEntry>) -> Result<Self, (usize, Invalid)> {
        for (place, entry) in entries.iter().enumerate() {
            entry.check().map_err(|invalid| (place, invalid))?;
            if entries.iter().take(place).any(|earlier| earlier.is_like(entry)) {
                let rule = "must not be those of another entry that opens at the same time";
                return Err((place, Invalid::new("subjects", rule)));
            }
        }
        Ok(Self(entries))
    }

    /// Returns the entries, in the order of the configuration.
    pub fn entries(&self) -> &[ScheduleEntry] {
        &self.0
    }
}

impl ScheduleEntry {
    fn check(&self) -> Result<(), Invalid> {
        if self.subjects.is_empty() {
            return Err(Invalid::new("subjects", "must name at least one"));
        }
        if !are_distinct(self.subjects.iter().map(SubjectId::as_str)) {
            return Err(Invalid::new("subjects", "must name each subject once"));
        }
        if self.days.is_empty() {
            return Err(Invalid::new("days", "must name at least one"));
        }
        match self.closes {
            Closes::After(millis) if !(1_000..=MAX_WINDOW_MILLIS).contains(&millis) => {
                return Err(Invalid::new("closes_after", "must be from 1s to 31d"));
            }
            _ => {}
        }
        if self.resolves_after.is_some_and(|millis| !(1..=MAX_RESOLUTION_MILLIS).contains(&millis))
        {
            return Err(Invalid::new("resolves_after", "must be from 1s to 3650d"));
        }
        check_practice(self.practice, self.roster.is_some(), self.quorum)?;
        if self.quorum.is_some_and(|quorum| quorum > 1_000_000) {
            return Err(Invalid::new("quorum", "must be at most 1,000,000"));
        }
        let buckets = self.buckets.as_deref();
        if buckets.is_some_and(<[Bucket]>::is_empty) {
            return Err(Invalid::new("buckets", "must name a bucket"));
        }
        if !are_distinct(buckets.into_iter().flatten().map(Bucket::as_str)) {
            return Err(Invalid::new("buckets", "must name each bucket once"));
        }
        match &self.roster {
            Some(ScheduledRoster::Members(members))
                if !are_distinct(members.iter().map(MemberId::as_str)) =>
            {
                Err(Invalid::new("roster", "must list each member once"))
            }
            _ => Ok(()),
        }
    }

    /// Whether both list the same subjects, and open at the same time of the same zone on at least one same weekday.
    fn is_like(&self, other: &Self) -> bool {
        self.subjects == other.subjects
            && self.timezone == other.timezone
            && self.opens == other.opens
            && self.days.overlaps(other.days)
    }
}

impl Closes {
    /// Parses `closes_after`: a whole number with `s`, `m`, `h` or `d`.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn after(text: &str) -> Result<Self, Invalid> {
        span_millis("closes_after", text).map(Self::After)
    }
}

/// Parses a duration, a whole number with `s`, `m`, `h` or `d`, as milliseconds.
///
/// # Errors
/// [`Invalid`], naming `field`, for any other text.
pub fn span_millis(field: &'static str, text: &str) -> Result<i64, Invalid> {
    let invalid = || Invalid::new(field, "must be a number with s, m, h or d: 5h");
    let unit = match text.as_bytes().last() {
        Some(b's') => 1_000,
        Some(b'm') => 60_000,
        Some(b'h') => 60 * 60_000,
        Some(b'd') => 24 * 60 * 60_000,
        _ => return Err(invalid()),
    };
    let digits = text.get(..text.len() - 1).unwrap_or_default();
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(invalid());
    }
    let number: i64 = digits.parse().map_err(|_| invalid())?;
    number.checked_mul(unit).ok_or_else(invalid)
}

/// Days of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weekdays([bool; 7]);

impl Weekdays {
    /// All seven.
    pub const ALL: Self = Self([true; 7]);

    const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

    /// Parses a list of `mon`, `tue`, `wed`, `thu`, `fri`, `sat` and `sun`.
    ///
    /// # Errors
    /// [`Invalid`] when one is no day of the week, or is named twice.
    pub fn parse<'t>(names: impl IntoIterator<Item = &'t str>) -> Result<Self, Invalid> {
        let mut days = [false; 7];
        for name in names {
            let day = Self::NAMES.iter().zip(&mut days).find(|(known, _)| **known == name);
            let Some((_, day)) = day else {
                return Err(Invalid::new("days", "must name mon, tue, wed, thu, fri, sat or sun"));
            };
            if std::mem::replace(day, true) {
                return Err(Invalid::new("days", "must name each day once"));
            }
        }
        Ok(Self(days))
    }

    /// Returns whether the day with this number, counted from 1970-01-01 as day 0, is one of them.
    pub fn contain(self, day_number: i64) -> bool {
        // 1970-01-01 was a Thursday.
        let weekday = usize::try_from((day_number + 3).rem_euclid(7));
        weekday.is_ok_and(|weekday| self.0.get(weekday) == Some(&true))
    }

    /// Returns the number of these weekdays from day 0 up to, but not including, this day; negative
    /// before 1970.
    pub fn count_before(self, day_number: i64) -> i64 {
        let in_week = (0..7).filter(|day| self.contain(*day)).count();
        let in_part = (0..day_number.rem_euclid(7)).filter(|day| self.contain(*day)).count();
        let [in_week, in_part] = [in_week, in_part].map(|count| i64::try_from(count).unwrap_or(0));
        day_number.div_euclid(7) * in_week + in_part
    }

    fn is_empty(self) -> bool {
        !self.0.contains(&true)
    }

    fn overlaps(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(one, other)| *one && other)
    }
}

impl std::fmt::Display for Weekdays {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::ALL {
            return f.write_str("daily");
        }
        let named = Self::NAMES.iter().zip(self.0).filter(|(_, is)| *is).map(|(name, _)| *name);
        f.write_str(&named.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(subjects: &[&str], opens: &str, closes: Closes) -> ScheduleEntry {
        ScheduleEntry {
            subjects: subjects.iter().map(|id| SubjectId::parse(*id).unwrap()).collect(),
            days: Weekdays::ALL,
            timezone: TimeZone::UTC,
            skip: BTreeSet::new(),
            opens: TimeOfDay::parse("opens", opens).unwrap(),
            closes,
            roster: None,
            quorum: None,
            buckets: None,
            brief: false,
            aggregate: false,
            publish: false,
            blind: false,
            practice: false,
            question: None,
            resolution: None,
            resolves_after: None,
            declaration: Declaration::default(),
        }
    }

    const HOUR: Closes = Closes::After(3_600_000);

    #[test]
    fn durations_have_a_number_and_a_unit() {
        for (text, millis) in
            [("1s", 1_000), ("90m", 5_400_000), ("5h", 18_000_000), ("31d", MAX_WINDOW_MILLIS)]
        {
            assert_eq!(Closes::after(text), Ok(Closes::After(millis)), "{text}");
        }
        for bad in ["", "5", "h", "5 h", "-5h", "+5h", "5H", "1.5h", "5hh", "99999999999999999d"] {
            assert!(Closes::after(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn weekdays_are_counted_from_1970() {
        let days = |names: &[&str]| Weekdays::parse(names.iter().copied()).unwrap();
        // Day 0 was a Thursday, day 4 a Monday.
        assert!(
            days(&["thu"]).contain(0) && days(&["mon"]).contain(4) && days(&["wed"]).contain(-1)
        );
        for names in [&["mon"][..], &["mon", "tue", "wed", "thu", "fri"], &["sat", "sun"]] {
            let days = days(names);
            for day in -20..20 {
                let after = days.count_before(day) + i64::from(days.contain(day));
                assert_eq!(days.count_before(day + 1), after, "{names:?} {day}");
            }
            assert_eq!(days.count_before(0), 0);
        }
        assert_eq!(days(&["fri", "mon"]).to_string(), "mon fri");
        for bad in [&["Mon"][..], &["monday"], &[""], &["mon", "mon"]] {
            assert!(Weekdays::parse(bad.iter().copied()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn invalid_entries_are_named() {
        let field = |entries: Vec<ScheduleEntry>| {
            Schedule::new(entries).map_err(|(place, invalid)| (place, invalid.field)).unwrap_err()
        };
        let good = entry(&["a"], "14:00", HOUR);
        assert_eq!(field(vec![entry(&[], "14:00", HOUR)]), (0, "subjects"));
        assert_eq!(field(vec![good.clone(), entry(&["a", "a"], "15:00", HOUR)]), (1, "subjects"));
        assert_eq!(field(vec![entry(&["a"], "14:00", Closes::After(999))]), (0, "closes_after"));
        let days = Weekdays::parse([]).unwrap();
        assert_eq!(field(vec![ScheduleEntry { days, ..good.clone() }]), (0, "days"));
        let practice = ScheduleEntry { practice: true, quorum: Some(1), ..good.clone() };
        assert_eq!(field(vec![practice]), (0, "quorum"));
        let resolves_after = Some(MAX_RESOLUTION_MILLIS + 1);
        let late = ScheduleEntry { resolves_after, ..good.clone() };
        assert_eq!(field(vec![late]), (0, "resolves_after"));
        let buckets = Some(vec![]);
        assert_eq!(field(vec![ScheduleEntry { buckets, ..good.clone() }]), (0, "buckets"));
        let quorum = Some(1_000_001);
        assert_eq!(field(vec![ScheduleEntry { quorum, ..good.clone() }]), (0, "quorum"));
        let twice = ScheduleEntry { quorum: Some(1), ..good.clone() };
        assert_eq!(field(vec![good.clone(), twice.clone()]), (1, "subjects"));
        let [weekdays, weekend] = [&["mon"][..], &["sat", "sun"]]
            .map(|names| Weekdays::parse(names.iter().copied()).unwrap());
        let apart = [
            ScheduleEntry { days: weekdays, ..good.clone() },
            ScheduleEntry { days: weekend, ..twice.clone() },
        ];
        assert!(Schedule::new(apart.into()).is_ok());
        let timezone = TimeZone::parse("timezone", "Europe/Berlin").unwrap();
        let elsewhere = ScheduleEntry { timezone, ..twice };
        assert!(Schedule::new(vec![good, elsewhere]).is_ok());
    }
}
