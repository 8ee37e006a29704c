//! Time zones against another implementation, Python's `zoneinfo` with the zone files of the system.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::{Command, Stdio};

use swarm_core::Timestamp;
use swarm_core::domain::{TimeOfDay, TimeZone};

use crate::clients::python;

/// Reads `<zone> <day number> <minutes>` from each line. Writes when the clocks of the zone show that time, in seconds
/// since 1970, whether the day exists there, and the time that they show then.
const ORACLE: &str = r#"
import sys
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)

def shown(moment, zone):
    return moment.astimezone(zone).replace(tzinfo=None)

def first(local, zone):
    moment = local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
    if shown(moment, zone) == local:
        return moment
    # Left out: the first minute at which the clocks show a later time.
    moment -= timedelta(hours=26)
    while shown(moment, zone) < local:
        moment += MINUTE
    return moment

for line in sys.stdin:
    name, day, minutes = line.split()
    zone, day = ZoneInfo(name), date(1970, 1, 1) + timedelta(days=int(day))
    midnight = datetime.combine(day, time())
    moment = first(midnight + int(minutes) * MINUTE, zone)
    exists = shown(first(midnight, zone), zone).date() == day
    text = moment.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    print(int(moment.timestamp()), int(exists), text)
"#;

/// Zones with summer time in both hemispheres, of half an hour and of two hours, at midnight, and none; with offsets that
/// are no whole hours; and that left out a day.
const ZONES: [&str; 18] = [
    "UTC",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Havana",
    "Atlantic/Azores",
    "Europe/Berlin",
    "Europe/Dublin",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Asia/Tehran",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "Antarctica/Troll",
];

/// Times at and about which clocks change, in minutes.
const TIMES: [u16; 7] = [0, 30, 59, 120, 150, 165, 1_439];

#[test]
fn local_times_are_those_of_zoneinfo() {
    let day = |year| Timestamp::parse("day", &format!("{year}-01-01T00:00:00Z")).unwrap();
    let mut cases = Vec::new();
    for zone in ZONES {
        for year in [1974, 1996, 2011, 2018, 2023] {
            for day in day(year).day_number()..day(year + 1).day_number() {
                cases.extend(TIMES.map(|minutes| (zone, day, minutes)));
            }
        }
        // Spread over all years by steps without a common factor.
        let (first, days) =
            (day(1971).day_number(), day(2025).day_number() - day(1971).day_number());
        let spread = |step: u16| (zone, first + i64::from(step) * 7_919 % days, step % 1_440);
        cases.extend((0..5_000).map(spread));
    }
    // Rules that have not changed in years.
    for zone in ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Chatham"] {
        for day in day(2026).day_number()..day(2029).day_number() {
            cases.extend(TIMES.map(|minutes| (zone, day, minutes)));
        }
    }
    let told = oracle(&cases);
    assert_eq!(told.lines().count(), cases.len());
    let mut left_out = 0;
    for ((name, day, minutes), told) in cases.into_iter().zip(told.lines()) {
        let zone = TimeZone::parse("timezone", name).unwrap();
        let at = zone.at(day, TimeOfDay::from_minutes(minutes)).unwrap();
        let exists = zone.has_day(day);
        let local = zone.local(at);
        let ours = format!("{} {} {local}", at.millis() / 1_000, u8::from(exists));
        assert_eq!(ours, told, "{name}, day {day}, minute {minutes}");
        let shown = Timestamp::parse("shown", &format!("{}Z", &local[..19])).unwrap();
        assert_eq!(zone.day_number(at), shown.day_number(), "{local}");
        left_out += usize::from(shown.millis() != day * 86_400_000 + i64::from(minutes) * 60_000);
    }
    assert!(left_out > 100, "{left_out} times that summer time leaves out");
}

fn oracle(cases: &[(&str, i64, u16)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases");
    let mut lines = String::new();
    for (zone, day, minutes) in cases {
        writeln!(lines, "{zone} {day} {minutes}").unwrap();
    }
    fs::write(&path, lines).unwrap();
    let output = Command::new(python())
        .args(["-c", ORACLE])
        .stdin(File::open(&path).unwrap())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "zoneinfo needs the zone files of the system, or `tzdata`");
    String::from_utf8(output.stdout).unwrap()
}
