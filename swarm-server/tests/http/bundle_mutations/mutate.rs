//! Random changes of a bundle, reproducible by a seed.

use swarm_core::json::{Json, Object, write};

use super::forge::{Forger, items};

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// JSON texts of values on which readers may differ.
const VALUES: [&str; 47] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "2",
    "3",
    "5",
    "6",
    "7",
    "1.0",
    "1e0",
    "0.5",
    "-1",
    "1e-7",
    "1e21",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "1000001",
    "\"\"",
    "\"1\"",
    "\"ada\"",
    "\"grace\"",
    "\"bullish\"",
    "\"bearish\"",
    "\"\u{200b}\"",
    "\"a\\u00adb\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"state\"",
    "\"aggregated\"",
    "\"published\"",
    "\"deadline\"",
    "\"excuse\"",
    "\"2026-11-21T18:59:59.999Z\"",
    "\"2026-11-21T20:00:00+01:00\"",
    "\"2026-11-21T23:59:60Z\"",
    "\"2026-02-30T00:00:00.000Z\"",
    "\"0000-01-01T00:00:00.000Z\"",
    "[]",
    "{}",
    "[{}]",
    "{\"a\":[1,{}]}",
];

/// Keys that objects of a bundle have, or that no program knows.
const KEYS: [&str; 14] = [
    "id",
    "snapshot",
    "roster",
    "quorum",
    "buckets",
    "blind",
    "openedAt",
    "sealed",
    "salt",
    "supersededBy",
    "takes",
    "excused",
    "memberId",
    "more",
];

/// Returns a bundle that was changed in one to three places, and perhaps signed again.
pub(super) fn bundle(text: &str, forger: &Forger, random: &mut Random) -> String {
    let mut bundle = Json::read(text.as_bytes()).unwrap().into_object();
    for _ in 0..=random.below(3) {
        change_a_part(&mut bundle, random);
    }
    if random.chance(30) {
        Forger::sign_takes(&mut bundle);
    }
    if random.chance(30) {
        Forger::log_session(&mut bundle);
    }
    if random.chance(75) {
        forger.sign_log(&mut bundle);
    }
    let text = write(&Json::Object(bundle));
    if random.chance(8) { garbled(&text, random) } else { text }
}

fn change_a_part(bundle: &mut Object, random: &mut Random) {
    match random.below(20) {
        0 => change(bundle, random),
        1..=6 => change_in(bundle, "session", random),
        7..=11 => change_item(bundle, "takes", random),
        12 => change_item(bundle, "members", random),
        13 => change_item(bundle, "entries", random),
        14..=18 => change_entry(bundle, random),
        _ => {
            let text = bundle.clone().text("checkpoint").unwrap_or_default();
            bundle.set("checkpoint", edited(&text, random).as_str().into());
        }
    }
}

fn change_in(bundle: &mut Object, field: &str, random: &mut Random) {
    if let Some(Json::Object(fields)) = bundle.get_mut(field) {
        change(fields, random);
    }
}

/// Changes a list, or one of its items.
fn change_item(bundle: &mut Object, list: &str, random: &mut Random) {
    if random.chance(30) {
        if let Some(Json::List(items)) = bundle.get_mut(list) {
            change_list(items, random);
        }
        return;
    }
    let items = items(bundle, list);
    let at = random.below(items.len());
    match items.get_mut(at) {
        Some(Json::Object(fields)) => change(fields, random),
        Some(item) => *item = value(random),
        None => {}
    }
}

/// Changes the text of an entry, within the JSON that it is.
fn change_entry(bundle: &mut Object, random: &mut Random) {
    let entries = items(bundle, "entries");
    let at = random.below(entries.len());
    let Some(Json::Object(row)) = entries.get_mut(at) else { return };
    let Ok(text) = row.clone().text("entry") else { return };
    let text = match Json::read(text.as_bytes()) {
        Ok(Json::Object(mut fields)) if random.chance(90) => {
            change(&mut fields, random);
            write(&Json::Object(fields))
        }
        _ => edited(&text, random),
    };
    row.set("entry", text.as_str().into());
}

fn change_list(items: &mut Vec<Json>, random: &mut Random) {
    let (one, other) = (random.below(items.len()), random.below(items.len()));
    match random.below(5) {
        0 if !items.is_empty() => drop(items.remove(one)),
        1 if !items.is_empty() => items.swap(one, other),
        2 if !items.is_empty() => items.insert(other, items[one].clone()),
        3 => items.clear(),
        _ => items.push(value(random)),
    }
}

/// Changes a field, or what is in it.
fn change(fields: &mut Object, random: &mut Random) {
    let names: Vec<String> = fields.members().map(|(name, _)| name.to_owned()).collect();
    if names.is_empty() || random.chance(6) {
        let key = *random.pick(&KEYS);
        fields.set(key, value(random));
        return;
    }
    let name = random.pick(&names).clone();
    if random.chance(8) {
        drop(fields.take(&name));
        return;
    }
    if random.chance(5) {
        let reversed: Vec<(String, Json)> =
            fields.members().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let reversed = reversed.into_iter().rev().collect::<Vec<_>>();
        let reversed: Json =
            reversed.iter().map(|(name, value)| (&**name, value.clone())).collect();
        *fields = reversed.into_object();
        return;
    }
    let Some(field) = fields.get_mut(&name) else { return };
    match field {
        Json::Object(inner) if random.chance(85) => change(inner, random),
        Json::List(items) if random.chance(50) => change_list(items, random),
        Json::List(items) if !items.is_empty() => {
            let at = random.below(items.len());
            match &mut items[at] {
                Json::Object(inner) => change(inner, random),
                item => *item = value(random),
            }
        }
        Json::Text(text) if random.chance(50) => *text = edited(text, random),
        Json::Number(number) if random.chance(50) => {
            let by = *random.pick(&[-1.0, 1.0, 0.5, 1e-12]);
            *field = (number.get() + by).into();
        }
        field => *field = value(random),
    }
}

fn value(random: &mut Random) -> Json {
    let text = *random.pick(&VALUES);
    Json::read(text.as_bytes()).unwrap()
}

/// A text in which a character was changed, removed or added.
fn edited(text: &str, random: &mut Random) -> String {
    const LETTERS: [char; 14] = [
        '0',
        '9',
        'a',
        'Z',
        ' ',
        '"',
        '\\',
        '\n',
        '+',
        '=',
        '\u{ad}',
        '\u{200b}',
        '\u{2028}',
        '\u{1f600}',
    ];
    let mut letters: Vec<char> = text.chars().collect();
    let at = random.below(letters.len());
    match random.below(4) {
        0 if !letters.is_empty() => drop(letters.remove(at)),
        1 if !letters.is_empty() => letters[at] = *random.pick(&LETTERS),
        2 if letters.len() > 1 => letters.swap(at, at / 2),
        _ => letters.insert(at, *random.pick(&LETTERS)),
    }
    letters.into_iter().collect()
}

/// A text that is perhaps no JSON, or JSON that few programs read.
fn garbled(text: &str, random: &mut Random) -> String {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let with = |more: &str| format!("{{\"more\":{more},{}", &text[1..]);
    match random.below(8) {
        0 => edited(text, random),
        1 => text.chars().take(random.below(text.chars().count())).collect(),
        2 => with(&nested(100 + random.below(50))),
        3 => with(&nested(120 + random.below(400))),
        4 => {
            let more = *random.pick(&[
                "1e400",
                "-1e400",
                "1e-400",
                "NaN",
                "Infinity",
                "01",
                "1.",
                "+1",
                ".5",
                "\"\\ud800\"",
                "\"\\udc00\\ud800\"",
                "\"\\x\"",
                "\"\t\"",
                "tru",
                "\"\u{7f}\"",
                "{\"a\":1,\"a\":2}",
                "[1,]",
                "1 ",
            ]);
            with(more)
        }
        5 => format!("\u{feff}{text}"),
        6 => format!("{text}{}", random.pick(&[" ", "\n", "\u{a0}", "{}", "\u{0}"])),
        _ => with(&random.pick(&VALUES).replace("null", "[null]")),
    }
}
