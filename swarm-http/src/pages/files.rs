//! `/swarm/sessions/<id>.csv`, `/swarm/members/<id>.csv`, `/swarm/subjects/<id>.csv`, and `.json` in place of `.csv`:
//! the rows of a page as a download (MANUAL.md, 10.6).

use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use std::fmt::Write as _;

use swarm_core::Error;
use swarm_core::domain::{STANCES, SessionSummary, SubjectId};
use swarm_core::json::{self, is_unprintable};
use swarm_core::rules::{Counting, PublicTake, dissent, own_distance_from_others};
use swarm_core::store::SessionList;

use super::lists::uncounted_reason;
use super::member::{OpenTake, open};
use super::people::People;
use super::stage_text;
use super::time_text::TimeFormatter;
use super::{frame, subject};
use crate::request::RequestContext;
use crate::response::{Answer, Reply};
use crate::schema::{SchemaRef, schema};

/// Maximum number of sessions in a file.
const MAX_SESSIONS: usize = 200;

/// Of the rows of a file as JSON.
pub(crate) const ROWS: SchemaRef = schema!("documents", "Rows", {
    "type": "array",
    "description": "The rows of a file: one object each, with the columns of the CSV.",
    "items": {
        "type": "object",
        "additionalProperties": {
            "type": ["string", "number", "boolean", "null", "object"],
            "additionalProperties": {"type": "integer", "minimum": 0}
        }
    }
});

/// A table: the names of its columns, and its rows.
struct Table {
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

enum Cell {
    Text(String),
    Number(f64),
    Count(u64),
    Flag(bool),
    /// A JSON text: in a CSV file the text, in a JSON file the value.
    Json(String),
    Empty,
}

#[derive(Clone, Copy)]
pub(crate) enum Format {
    Csv,
    Json,
}

/// The latest take of each member in a session.
pub(crate) async fn session(request: RequestContext, format: Format) -> Reply {
    let id = request.session_id()?;
    let (session, takes) = request.tenant().session(id).await?;
    let members = takes.iter().map(PublicTake::member_id);
    let people = People::find(request.tenant(), members).await?;
    let row = |take: &PublicTake| {
        let draft = take.open().map(|take| take.draft());
        vec![
            Cell::Count(take.id().0),
            Cell::Text(take.member_id().to_string()),
            Cell::Text(people.person(take.member_id()).name),
            Cell::Count(take.revision().get().into()),
            draft.map_or(Cell::Empty, |draft| Cell::Text(draft.stance.to_string())),
            draft.map_or(Cell::Empty, |draft| Cell::Number(draft.confidence.get())),
            Cell::Text(take.filed_at().to_string()),
            match session.snapshot {
                Some(_) => {
                    let counts = session.counts() && uncounted_reason(take, &session).is_none();
                    Cell::Flag(counts)
                }
                // Until there is a result, none of them is counted.
                None => Cell::Empty,
            },
            match draft.filter(|_| take.withheld().is_none()) {
                Some(draft) => Cell::Text(draft.body.as_str().to_owned()),
                None => Cell::Empty,
            },
        ]
    };
    const COLUMNS: [&str; 9] = [
        "takeId",
        "memberId",
        "memberName",
        "revision",
        "stance",
        "confidence",
        "filedAt",
        "counted",
        "body",
    ];
    let table = Table { columns: &COLUMNS, rows: takes.iter().map(row).collect() };
    Ok(table.answer(&format!("session-{id}"), format))
}

/// The latest take of a member in each of the newest sessions that it filed in.
pub(crate) async fn member(request: RequestContext, format: Format) -> Reply {
    let tenant = request.tenant();
    let member = tenant.member(&request.member_id(swarm_core::Resource::Member)?).await?;
    let takes = open(&tenant.member_takes(&member.id, None, MAX_SESSIONS).await?.takes);
    let row = |filed: &OpenTake| {
        let (session, draft) = (&filed.session, filed.take.draft());
        let figures = session.figures.as_ref().filter(|_| session.counts());
        let consensus = figures.and_then(|figures| figures.consensus.as_ref());
        let distance = filed.counted().zip(figures);
        let distance = distance.and_then(|(own, figures)| own_distance_from_others(own, figures));
        let is_counted = |counting| Cell::Flag(counting == Counting::Counted && session.counts());
        vec![
            Cell::Count(filed.take.id.0),
            Cell::Count(session.id.0),
            Cell::Text(session.date.to_string()),
            Cell::Text(session.subject_id.to_string()),
            Cell::Text(draft.stance.to_string()),
            Cell::Number(draft.confidence.get()),
            filed.counting.map_or(Cell::Empty, is_counted),
            consensus.map_or(Cell::Empty, |consensus| Cell::Number(consensus.score)),
            distance.map_or(Cell::Empty, Cell::Number),
        ]
    };
    const COLUMNS: [&str; 9] = [
        "takeId",
        "sessionId",
        "date",
        "subjectId",
        "stance",
        "confidence",
        "counted",
        "consensusScore",
        "distanceFromOthers",
    ];
    let table = Table { columns: &COLUMNS, rows: takes.iter().map(row).collect() };
    Ok(table.answer(&format!("member-{}", member.id), format))
}

/// The newest sessions of a subject. Ids of subjects are any text: if there is no subject with this id, but
/// one whose id ends like the file, its page is answered.
pub(crate) async fn subject(mut request: RequestContext, format: Format) -> Reply {
    let times = frame::time_formatter(&request).await?;
    let id = request.subject_id()?;
    if Error::if_any(request.tenant().subject(&id).await)?.is_none() {
        if let Some(part) = request.path.first_mut() {
            part.push_str(format.suffix());
        }
        return subject::page(request).await;
    }
    let list = SessionList::About(id.clone());
    let sessions = request.tenant().summaries(list, None, MAX_SESSIONS).await?.sessions;
    let rows = sessions.iter().map(|session| session_row(session, times)).collect();
    const COLUMNS: [&str; 20] = [
        "sessionId",
        "date",
        "stage",
        "closesAt",
        "publishedAt",
        "members",
        "expected",
        "quorum",
        "quorumMet",
        "score",
        "stance",
        "confidence",
        "dissent",
        "bearish",
        "cautious",
        "neutral",
        "constructive",
        "bullish",
        "other",
        "stances",
    ];
    Ok(Table { columns: &COLUMNS, rows }.answer(&format!("subject-{}", file_name(&id)), format))
}

fn session_row(session: &SessionSummary, times: TimeFormatter) -> Vec<Cell> {
    let text = |text: Option<String>| text.map_or(Cell::Empty, Cell::Text);
    let count = |count: Option<usize>| count.map_or(Cell::Empty, |count| Cell::Count(count as u64));
    let number = |number: Option<f64>| number.map_or(Cell::Empty, Cell::Number);
    let figures = session.figures.as_ref().filter(|_| session.counts());
    let consensus = figures.and_then(|figures| figures.consensus.as_ref());
    let score = consensus.map(|consensus| consensus.score);
    let mut row = vec![
        Cell::Count(session.id.0),
        Cell::Text(session.date.to_string()),
        Cell::Text(stage_text::flagged(session, times)),
        text(session.window_closes_at.map(|at| at.to_string())),
        text(session.published_at.map(|at| at.to_string())),
        count(figures.map(|figures| figures.participation.members)),
        count(figures.and_then(|figures| figures.participation.expected)),
        session.quorum.map_or(Cell::Empty, |quorum| Cell::Count(quorum.into())),
        figures
            .and_then(|figures| figures.quorum.as_ref())
            .map_or(Cell::Empty, |quorum| Cell::Flag(quorum.met)),
        number(score),
        text(consensus.map(|consensus| consensus.stance.as_str().to_owned())),
        number(consensus.map(|consensus| consensus.confidence)),
        number(figures.zip(score).and_then(|(it, score)| dissent(&it.stances, score))),
    ];
    let all = figures.map(|figures| &figures.stances);
    // The columns of counts are the stances of the service: of a session with its own they are empty.
    let stances = all.filter(|_| session.declaration.stances.is_none());
    let known = (0..STANCES.len()).map(|at| stances?.counts().nth(at).map(|(_, count)| count));
    let other = stances.map(|stances| stances.other());
    row.extend(known.chain([other]).map(count));
    row.push(all.map_or(Cell::Empty, |stances| Cell::Json(json::write(stances))));
    row
}

/// The letters and digits of an id, for the name of a file.
fn file_name(id: &SubjectId) -> String {
    id.as_str().chars().filter(char::is_ascii_alphanumeric).take(40).collect()
}

impl Format {
    fn suffix(self) -> &'static str {
        match self {
            Self::Csv => ".csv",
            Self::Json => ".json",
        }
    }
}

impl Table {
    fn answer(&self, name: &str, format: Format) -> Answer {
        let (kind, text) = match format {
            Format::Csv => ("text/csv; charset=utf-8; header=present", self.csv()),
            Format::Json => ("application/json", self.json()),
        };
        let mut answer = Answer::new(StatusCode::OK, kind, text);
        let name = format!("attachment; filename=\"{name}{}\"", format.suffix());
        if let Ok(name) = HeaderValue::try_from(name) {
            answer.headers.insert(CONTENT_DISPOSITION, name);
        }
        answer
    }

    /// RFC 4180: a header, and lines that end with CR LF.
    fn csv(&self) -> String {
        let mut csv = self.columns.join(",");
        csv.push_str("\r\n");
        for row in &self.rows {
            let cells: Vec<_> = row.iter().map(Cell::csv).collect();
            csv.push_str(&cells.join(","));
            csv.push_str("\r\n");
        }
        csv
    }

    /// A list of objects.
    fn json(&self) -> String {
        let mut text = String::from("[");
        for (nth, row) in self.rows.iter().enumerate() {
            text.push_str(if nth == 0 { "{" } else { ",{" });
            for (at, (name, cell)) in self.columns.iter().zip(row).enumerate() {
                let comma = if at == 0 { "" } else { "," };
                let _infallible = write!(text, "{comma}\"{name}\":{}", cell.json());
            }
            text.push('}');
        }
        text.push(']');
        text
    }
}

impl Cell {
    fn csv(&self) -> String {
        match self {
            Self::Text(text) => csv_text(text),
            Self::Number(number) => json::write(number),
            Self::Count(count) => count.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Json(text) => csv_text(text),
            Self::Empty => String::new(),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Text(text) => json::write(text),
            Self::Json(text) => text.clone(),
            Self::Empty => "null".to_owned(),
            other => other.csv(),
        }
    }
}

/// A text in quotes. An apostrophe comes before it, and before each later part, that a spreadsheet would take for a formula.
pub(crate) fn csv_text(text: &str) -> String {
    let mut guarded = String::with_capacity(text.len() + 2);
    for (place, part) in text.split_inclusive(ENDS_OF_CELLS).enumerate() {
        let is_guarded = match place {
            // Spreadsheets trim what may end a cell, too.
            0 => may_be_formula(text) || begins_with_tab(text),
            _ => may_be_formula(part),
        };
        guarded.push_str(if is_guarded { "'" } else { "" });
        guarded.push_str(part);
    }
    format!("\"{}\"", guarded.replace('"', "\"\""))
}

/// What ends a cell in a spreadsheet whose list separator is no comma. To it, a text with quotes after a comma is not quoted.
const ENDS_OF_CELLS: [char; 4] = [';', '\t', '\r', '\n'];

/// Whether a text begins with a tab or a return, after what a spreadsheet may drop.
fn begins_with_tab(text: &str) -> bool {
    text.chars().take_while(|it| is_blank(*it)).any(|it| matches!(it, '\t' | '\r'))
}

/// Whether a spreadsheet may take a text for a formula. Some of them drop or trim quotes and what has no width before they
/// look at the first character, and some read the wide, small and raised forms of the signs as the signs.
fn may_be_formula(text: &str) -> bool {
    const SIGNS: &[char] = &[
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{fe66}', '\u{fe62}',
        '\u{fe63}', '\u{fe6b}', '\u{207a}', '\u{207b}', '\u{207c}', '\u{208a}', '\u{208b}',
        '\u{208c}', '\u{2212}',
    ];
    text.trim_start_matches(is_blank).starts_with(SIGNS)
}

/// Whether a character is a control character, white space, a quote, or shown as nothing.
fn is_blank(character: char) -> bool {
    is_unprintable(character)
        || character.is_control()
        || character.is_whitespace()
        || matches!(character, '"' | '\u{2800}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let texts = ["a,\"b\"\n", "=1+1", ""].map(|text| Cell::Text(text.to_owned()));
        let mut row: Vec<_> = texts.into_iter().collect();
        row.extend([Cell::Number(0.5), Cell::Count(3), Cell::Flag(true), Cell::Empty]);
        row.push(Cell::Json("{\"yes\":1}".to_owned()));
        Table { columns: &["a", "b", "c", "d", "e", "f", "g", "h"], rows: vec![row] }
    }

    #[test]
    fn csv_is_quoted_and_holds_no_formulas() {
        let csv = "a,b,c,d,e,f,g,h\r\n\"a,\"\"b\"\"\n\",\"'=1+1\",\"\",0.5,3,true,,\
                   \"{\"\"yes\"\":1}\"\r\n";
        assert_eq!(table().csv(), csv);
    }

    #[test]
    fn no_text_becomes_a_formula_when_a_spreadsheet_drops_its_beginning() {
        for sign in ["=", "+", "-", "@", "\u{ff1d}", "\u{ff0b}", "\u{ff0d}", "\u{ff20}", "\t", "\r"]
        {
            for blank in [
                "",
                "\0",
                "\u{1}",
                "\u{7f}",
                "\u{85}",
                " ",
                "\"",
                "\u{a0}",
                "\u{3000}",
                "\u{2003}",
                "\u{feff}",
                "\u{200b}",
                "\u{2060}",
                "\u{ad}",
                "\u{fe0f}",
                "\u{2800}",
                "\u{1d173}",
                "\u{1bca0}",
                "\u{e0020}",
                "\0\u{feff} \u{200b}",
            ] {
                let text = format!("{blank}{sign}1+1");
                let quoted = text.replace('"', "\"\"");
                assert_eq!(csv_text(&text), format!("\"'{quoted}\""));
            }
        }
        for plain in ["", " ", "1=1", "\0a=1", " a", "\u{200b}(=1)", "'=1", "\u{e9}"] {
            assert_eq!(csv_text(plain), format!("\"{plain}\""));
        }
    }

    #[test]
    fn no_text_becomes_a_formula_where_another_character_ends_cells() {
        for (text, guarded) in [
            ("x;=1+1", "x;'=1+1"),
            ("a;=1+1;b", "a;'=1+1;b"),
            ("x; \u{200b}-1;\"@a\"", "x;' \u{200b}-1;'\"\"@a\"\""),
            ("x\t+1\t\u{ff1d}1", "x\t'+1\t'\u{ff1d}1"),
            ("a\r\n=1\n\n- b\r@c", "a\r\n'=1\n\n'- b\r'@c"),
            ("\n=1", "'\n'=1"),
            ("\t=1", "'\t'=1"),
            (";=1", ";'=1"),
        ] {
            assert_eq!(csv_text(text), format!("\"{guarded}\""));
        }
        for plain in ["a;b", "a;b=1", "a\n\tb\r\n\r\nc", "a,=1", ";"] {
            assert_eq!(csv_text(plain), format!("\"{plain}\""));
        }
    }

    #[test]
    fn json_has_the_same_rows_by_name() {
        let json = r#"[{"a":"a,\"b\"\n","b":"=1+1","c":"","d":0.5,"e":3,"f":true,"g":null,"h":{"yes":1}}]"#;
        assert_eq!(table().json(), json);
    }
}
