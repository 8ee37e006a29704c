//! Dates and times for pages: absolute, in UTC, with the year unless it is the current one. Relative
//! times may be shown in addition, never instead.

use swarm_core::Timestamp;
use swarm_core::domain::Day;

use super::markup::{Markup, escape};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Formats times relative to the current time by the store's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeFormatter {
    pub(crate) now: Timestamp,
}

impl TimeFormatter {
    /// `20 Nov, 20:41 UTC`, as a `time` element.
    pub(crate) fn time(self, moment: Timestamp) -> Markup {
        element(&moment.to_string(), &self.time_text(moment))
    }

    /// `20:41 UTC`, as a `time` element, where the day is known.
    pub(crate) fn clock(moment: Timestamp) -> Markup {
        let text = moment.to_string();
        element(&text, &format!("{} UTC", text.get(11..16).unwrap_or_default()))
    }

    /// `20 Nov`, as a `time` element.
    pub(crate) fn day(self, day: Day) -> Markup {
        element(&day.to_string(), &self.day_text(day))
    }

    /// `Friday, 20 Nov 2026`, as a `time` element.
    pub(crate) fn weekday(day: Day) -> Markup {
        let text = day.to_string();
        let weekday = day_number(day).and_then(|number| usize::try_from(number.rem_euclid(7)).ok());
        let weekday = weekday.and_then(|at| WEEKDAYS.get(at)).copied().unwrap_or_default();
        element(&text, format!("{weekday}, {}", written(&text, true)).trim_start_matches(", "))
    }

    /// `20 Nov, 20:41 UTC`.
    pub(crate) fn time_text(self, moment: Timestamp) -> String {
        let text = moment.to_string();
        match text.get(11..16) {
            Some(clock) => format!("{}, {clock} UTC", self.without_this_year(&text)),
            None => text,
        }
    }

    /// `20 Nov`.
    pub(crate) fn day_text(self, day: Day) -> String {
        self.without_this_year(&day.to_string())
    }

    /// `20 Nov 2026`, whatever the year is now.
    #[cfg(feature = "pictures")]
    pub(crate) fn whole_day(day: Day) -> String {
        written(&day.to_string(), true)
    }

    /// `20 Nov 2026, 20:41 UTC`, whatever the year is now.
    #[cfg(feature = "pictures")]
    pub(crate) fn whole_time(moment: Timestamp) -> String {
        let text = moment.to_string();
        let clock = text.get(11..16).unwrap_or_default();
        format!("{}, {clock} UTC", written(&text, true))
    }

    /// A message of the API with its days and times as pages write them.
    pub(crate) fn written_out(self, message: &str) -> String {
        let shown = |word: &str| {
            let plain = word.trim_end_matches([',', ':', ';']);
            let text = match (Timestamp::parse("time", plain), Day::in_calendar("date", plain)) {
                (Ok(time), _) => self.time_text(time),
                (_, Ok(day)) => self.day_text(day),
                _ => return word.to_owned(),
            };
            text + word.strip_prefix(plain).unwrap_or_default()
        };
        message.split(' ').map(shown).collect::<Vec<_>>().join(" ")
    }

    fn without_this_year(self, text: &str) -> String {
        let this_year = self.now.to_string().get(..4) == text.get(..4);
        written(text, !this_year)
    }

    /// The time left until a moment, to the minute: `3 h 12 min`; `None` once it has passed.
    pub(crate) fn left(self, until: Timestamp) -> Option<String> {
        let left = until.millis() - self.now.millis();
        (left >= 0).then(|| span(left))
    }

    /// The time so many days ago.
    pub(crate) fn days_ago(self, days: i64) -> Timestamp {
        self.now.plus_millis(-days * 86_400_000)
    }

    /// Returns whether a deadline has not passed; one that is not set has not.
    pub(crate) fn is_ahead(self, deadline: Option<Timestamp>) -> bool {
        deadline.is_none_or(|deadline| deadline >= self.now)
    }

    /// The time since a moment: `4 min ago`.
    pub(crate) fn ago(self, moment: Timestamp) -> String {
        format!("{} ago", span((self.now.millis() - moment.millis()).max(0)))
    }
}

/// Days since 1970-01-01; `None` for a date that the calendar does not have.
pub(crate) fn day_number(day: Day) -> Option<i64> {
    let midnight = Timestamp::parse("date", &format!("{day}T00:00:00Z"));
    midnight.ok().map(Timestamp::day_number)
}

/// The date at the start of a text, such as `2026-11-20`, as `20 Nov 2026`.
fn written(text: &str, with_year: bool) -> String {
    let part = |from: usize, to: usize| text.get(from..to);
    let month = part(5, 7).and_then(|month| month.parse::<usize>().ok()?.checked_sub(1));
    let month = month.and_then(|month| MONTHS.get(month));
    match (part(0, 4), month, part(8, 10)) {
        (Some(year), Some(month), Some(day)) => {
            let day = day.trim_start_matches('0');
            if with_year { format!("{day} {month} {year}") } else { format!("{day} {month}") }
        }
        _ => text.to_owned(),
    }
}

/// The two largest units of a duration in milliseconds, down to the minute. No line ends within it.
pub(crate) fn span(millis: i64) -> String {
    let minutes = millis / 60_000;
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    let of = |count: i64, unit: &str| format!("{count}\u{a0}{unit}");
    let days_text = of(days, if days == 1 { "day" } else { "days" });
    match (days, hours, minutes) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, _) => of(minutes, "min"),
        (0, _, 0) => of(hours, "h"),
        (0, ..) => format!("{}\u{a0}{}", of(hours, "h"), of(minutes, "min")),
        (_, 0, _) => days_text,
        _ => format!("{days_text}\u{a0}{}", of(hours, "h")),
    }
}

fn element(machine: &str, text: &str) -> Markup {
    Markup(format!("<time datetime=\"{}\">{}</time>", escape(machine), escape(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse("t", text).unwrap()
    }

    fn time_formatter() -> TimeFormatter {
        TimeFormatter { now: moment("2026-11-21T12:52:00Z") }
    }

    #[test]
    fn times_are_absolute_with_year_if_not_current() {
        let time = |text| time_formatter().time_text(moment(text));
        assert_eq!(time("2026-11-05T20:41:59.999Z"), "5 Nov, 20:41 UTC");
        assert_eq!(time("2025-12-31T23:59:00Z"), "31 Dec 2025, 23:59 UTC");
        let Markup(element) = time_formatter().time(moment("2026-11-05T20:41:59.999Z"));
        let machine = "<time datetime=\"2026-11-05T20:41:59.999Z\">5 Nov, 20:41 UTC</time>";
        assert_eq!(element, machine);
    }

    #[test]
    fn days_and_times_of_a_message_are_written_out() {
        let message = "Aurora, 2026-11-20: ends 2025-12-31T23:59:00.000Z, not 2026-02-30";
        let shown = "Aurora, 20 Nov: ends 31 Dec 2025, 23:59 UTC, not 2026-02-30";
        assert_eq!(time_formatter().written_out(message), shown);
    }

    #[test]
    fn weekdays_are_named() {
        let day = |text| TimeFormatter::weekday(Day::parse(text).unwrap()).0;
        assert!(day("2026-11-20").contains(">Friday, 20 Nov 2026<"));
        assert!(day("1969-12-31").contains(">Wednesday, 31 Dec 1969<"));
        assert!(day("2026-02-30").contains(">30 Feb 2026<"), "no calendar has it");
    }

    #[test]
    fn durations_are_written_to_the_minute() {
        let left = |text| time_formatter().left(moment(text));
        assert_eq!(left("2026-11-21T16:04:30Z").as_deref(), Some("3\u{a0}h\u{a0}12\u{a0}min"));
        assert_eq!(left("2026-11-21T12:52:59Z").as_deref(), Some("less than a minute"));
        assert_eq!(left("2026-11-23T14:00:00Z").as_deref(), Some("2\u{a0}days\u{a0}1\u{a0}h"));
        assert_eq!(left("2026-11-21T12:51:59Z"), None);
        assert_eq!(time_formatter().ago(moment("2026-11-20T12:51:00Z")), "1\u{a0}day ago");
        assert_eq!(time_formatter().ago(moment("2027-01-01T00:00:00Z")), "less than a minute ago");
    }
}
