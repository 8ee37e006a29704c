//! The `[[tenants.schedule]]` tables of the configuration file (API.md, 7.7).

use std::collections::BTreeSet;

use serde::Deserialize;
use swarm_core::domain::{
    Bucket, Closes, Day, Declaration, Invalid, MemberId, Method, QuestionText, RankedStance,
    Resolution, Revision, Schedule, ScheduleEntry, ScheduledRoster, StanceScale, SubjectId,
    TimeOfDay, TimeZone, Weekdays, span_millis,
};

/// The milliseconds of a duration: a whole number with `s`, `m`, `h` or `d`.
pub(crate) fn millis(text: &str) -> Option<i64> {
    match Closes::after(text) {
        Ok(Closes::After(millis)) => Some(millis),
        _ => None,
    }
}

/// A `[[tenants.schedule]]` table, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleTable {
    subject: Option<String>,
    subjects: Option<Vec<String>>,
    days: Option<Vec<String>>,
    timezone: Option<String>,
    #[serde(default)]
    skip: Vec<String>,
    opens: String,
    closes_after: Option<String>,
    closes: Option<String>,
    roster: Option<RosterTable>,
    quorum: Option<u32>,
    buckets: Option<Vec<String>>,
    #[serde(default)]
    brief: bool,
    #[serde(default)]
    aggregate: bool,
    #[serde(default)]
    publish: bool,
    #[serde(default)]
    blind: bool,
    #[serde(default)]
    practice: bool,
    question: Option<String>,
    resolution: Option<String>,
    resolves_after: Option<String>,
    stances: Option<Vec<RankedStance>>,
    max_revisions: Option<u8>,
    method: Option<String>,
}

/// `"active"`, or a list of member ids.
#[derive(Deserialize)]
#[serde(untagged, expecting = "roster: must be \"active\" or a list of member ids")]
enum RosterTable {
    Name(String),
    Ids(Vec<String>),
}

/// The schedule of a tenant. The error is the key and the reason.
pub(crate) fn schedule(tables: &[ScheduleTable]) -> Result<Schedule, (String, String)> {
    let fault = |(place, invalid): (usize, Invalid)| {
        let rule = format!("{} (entry {})", invalid.rule, place + 1);
        (format!("schedule.{}", invalid.field), rule)
    };
    let entry = |(place, table)| entry(table).map_err(|invalid| fault((place, invalid)));
    let entries = tables.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
    Schedule::new(entries).map_err(fault)
}

fn entry(table: &ScheduleTable) -> Result<ScheduleEntry, Invalid> {
    let buckets = table.buckets.as_deref();
    Ok(ScheduleEntry {
        subjects: subjects(table)?,
        days: match &table.days {
            Some(days) => Weekdays::parse(days.iter().map(String::as_str))?,
            None => Weekdays::ALL,
        },
        timezone: match &table.timezone {
            Some(name) => TimeZone::parse("timezone", name)?,
            None => TimeZone::UTC,
        },
        skip: skip(&table.skip)?,
        opens: TimeOfDay::parse("opens", &table.opens)?,
        closes: closes(table)?,
        roster: table.roster.as_ref().map(roster).transpose()?,
        quorum: table.quorum,
        buckets: buckets.map(|names| each(names, Bucket::parse)).transpose()?,
        brief: table.brief,
        aggregate: table.aggregate,
        publish: table.publish,
        blind: table.blind,
        practice: table.practice,
        question: table.question.clone().map(QuestionText::parse).transpose()?,
        resolution: table.resolution.clone().map(Resolution::parse).transpose()?,
        resolves_after: match &table.resolves_after {
            Some(text) => Some(span_millis("resolves_after", text)?),
            None => None,
        },
        declaration: declaration(table)?,
    })
}

fn declaration(table: &ScheduleTable) -> Result<Declaration, Invalid> {
    let max_revisions = table.max_revisions.map(|most| {
        let rule = "must be from 1 to 5";
        Revision::new(most).ok_or_else(|| Invalid::new("max_revisions", rule))
    });
    Ok(Declaration {
        stances: table.stances.clone().map(StanceScale::parse).transpose()?,
        max_revisions: max_revisions.transpose()?,
        method: table.method.as_deref().map(Method::parse).transpose()?,
    })
}

fn subjects(table: &ScheduleTable) -> Result<Vec<SubjectId>, Invalid> {
    let parse = |id: &str| {
        let parsed = SubjectId::parse(id);
        parsed.map_err(|invalid| Invalid::new("subject", format!("{:?} {}", id, invalid.rule)))
    };
    match (&table.subject, &table.subjects) {
        (Some(_), Some(_)) => Err(Invalid::new("subject", "must not be given with subjects")),
        (None, None) => Err(Invalid::new("subject", "is missing, and there are no subjects")),
        (Some(subject), None) => Ok(vec![parse(subject)?]),
        (None, Some(subjects)) => subjects.iter().map(|id| parse(id)).collect(),
    }
}

fn skip(days: &[String]) -> Result<BTreeSet<Day>, Invalid> {
    let parse = |day: &String| Day::in_calendar("skip", day);
    days.iter().map(parse).collect()
}

fn closes(table: &ScheduleTable) -> Result<Closes, Invalid> {
    match (&table.closes_after, &table.closes) {
        (Some(_), Some(_)) => Err(Invalid::new("closes", "must not be given with closes_after")),
        (None, None) => Err(Invalid::new("closes_after", "is missing, and there is no closes")),
        (Some(after), None) => Closes::after(after),
        (None, Some(time)) => TimeOfDay::parse("closes", time).map(Closes::At),
    }
}

fn roster(table: &RosterTable) -> Result<ScheduledRoster, Invalid> {
    match table {
        RosterTable::Name(name) if name == "active" => Ok(ScheduledRoster::Active),
        RosterTable::Name(_) => {
            Err(Invalid::new("roster", "must be \"active\" or a list of member ids"))
        }
        RosterTable::Ids(ids) => {
            let ids = each(ids, MemberId::parse);
            let ids = ids.map_err(|invalid| Invalid::new("roster", invalid.to_string()))?;
            Ok(ScheduledRoster::Members(ids))
        }
    }
}

fn each<T>(texts: &[String], parse: fn(String) -> Result<T, Invalid>) -> Result<Vec<T>, Invalid> {
    texts.iter().cloned().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Schedule, (String, String)> {
        #[derive(Deserialize)]
        struct File {
            schedule: Vec<ScheduleTable>,
        }
        schedule(&toml::from_str::<File>(text).unwrap().schedule)
    }

    #[test]
    fn complete_entry_is_read() {
        let complete = read(
            r#"[[schedule]]
            subjects = ["lending", "stables"]
            days = ["mon", "fri"]
            timezone = "America/New_York"
            skip = ["2026-12-25", "2027-01-01"]
            opens = "14:00"
            closes = "19:00"
            roster = ["ada", "grace"]
            quorum = 5
            buckets = ["hold", "add"]
            brief = true
            aggregate = true
            publish = true
            blind = true
            question = "More or less exposed?"
            resolution = "The price of the venue, a week later."
            resolves_after = "7d""#,
        );
        let [entry] = complete.unwrap().entries().to_vec().try_into().unwrap();
        assert_eq!(entry.subjects.len(), 2);
        assert_eq!(entry.days.to_string(), "mon fri");
        assert_eq!(entry.timezone.name(), "America/New_York");
        assert_eq!(entry.skip.len(), 2);
        assert!(matches!(entry.closes, Closes::At(time) if time.to_string() == "19:00"));
        assert!(matches!(entry.roster, Some(ScheduledRoster::Members(ids)) if ids.len() == 2));
        assert!(entry.brief && entry.aggregate && entry.publish && entry.blind);
        assert!(entry.question.is_some() && entry.resolution.is_some());
        assert_eq!(entry.resolves_after, Some(7 * 24 * 60 * 60 * 1_000));
    }

    #[test]
    fn short_entry_has_defaults() {
        let text = "[[schedule]]\nsubject = 'a'\nopens = '00:00'\ncloses_after = '5h'";
        let [entry] = read(text).unwrap().entries().to_vec().try_into().unwrap();
        assert_eq!((entry.timezone, entry.skip.len()), (TimeZone::UTC, 0));
        assert_eq!((entry.days, entry.closes), (Weekdays::ALL, Closes::After(18_000_000)));
        assert_eq!((entry.roster, entry.quorum, entry.buckets), (None, None, None));
        assert!(!(entry.brief || entry.aggregate || entry.publish || entry.blind));
    }

    #[test]
    fn faults_name_their_key_and_entry() {
        let fault = |lines: &str| {
            let good = "[[schedule]]\nsubject = 'good'\nopens = '01:00'\ncloses_after = '1h'\n";
            let (key, rule) = read(&format!("{good}[[schedule]]\n{lines}")).unwrap_err();
            assert!(rule.ends_with("(entry 2)"), "{rule}");
            key
        };
        let base = "subject = 'a'\nopens = '14:00'\n";
        let after = |more: &str| format!("{base}closes_after = '5h'\n{more}");
        for (lines, key) in [
            ("opens = '14:00'\ncloses_after = '5h'".to_owned(), "subject"),
            (after("subjects = ['b']"), "subject"),
            ("subjects = []\nopens = '14:00'\ncloses_after = '5h'".to_owned(), "subjects"),
            (base.to_owned(), "closes_after"),
            (after("closes = '15:00'"), "closes"),
            (format!("{base}closes_after = '32d'"), "closes_after"),
            (format!("{base}closes_after = '5 h'"), "closes_after"),
            (format!("{base}closes = '25:00'"), "closes"),
            ("subject = 'a'\nopens = '2pm'\ncloses_after = '5h'".to_owned(), "opens"),
            (after("days = ['someday']"), "days"),
            (after("days = []"), "days"),
            (after("timezone = 'Springfield'"), "timezone"),
            (after("skip = ['2026-02-30']"), "skip"),
            (after("skip = ['christmas']"), "skip"),
            (after("roster = 'all'"), "roster"),
            (after("roster = ['a', 'a']"), "roster"),
            (after("quorum = 1000001"), "quorum"),
            (after("buckets = []"), "buckets"),
            (after("practice = true\nroster = 'active'"), "roster"),
            (after("question = ''"), "question"),
            (after("resolves_after = 'later'"), "resolves_after"),
            ("subject = 'good'\nopens = '01:00'\ncloses_after = '2h'".to_owned(), "subjects"),
        ] {
            assert_eq!(fault(&lines), format!("schedule.{key}"), "{lines}");
        }
    }
}
