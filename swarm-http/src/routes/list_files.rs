//! `/swarm/takes.csv`, `/swarm/takes.ndjson` and so on: pages of the lists of the API as files (API.md, 10.6).

use std::collections::HashSet;

use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use swarm_core::json::{self, Json};

use super::{committee, log, members, sessions, takes};
use crate::pages::files::csv_text;
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// A form of a file.
#[derive(Clone, Copy)]
enum Form {
    /// RFC 4180, with a header.
    Csv,
    /// A line of JSON for each row.
    Ndjson,
}

macro_rules! files {
    ($($csv:ident $ndjson:ident = $list:path, $field:literal, $name:literal;)*) => {
        $(
            pub(super) async fn $csv(request: RequestContext) -> Reply {
                Ok(file($list(request).await?, $field, $name, Form::Csv))
            }

            pub(super) async fn $ndjson(request: RequestContext) -> Reply {
                Ok(file($list(request).await?, $field, $name, Form::Ndjson))
            }
        )*
    };
}

files! {
    takes_csv takes_ndjson = takes::list, "takes", "takes";
    members_csv members_ndjson = members::list, "members", "members";
    sessions_csv sessions_ndjson = sessions::list, "sessions", "sessions";
    log_csv log_ndjson = log::entries, "entries", "log";
    committee_csv committee_ndjson = committee::sessions, "sessions", "committee";
}

/// The rows of a list's answer as a file, with its headers: `Link` names the next page.
fn file(list: Answer, field: &str, name: &str, form: Form) -> Answer {
    let rows = Json::read(&list.body).map(Json::into_object).unwrap_or_default().take(field);
    let rows = match rows {
        Some(Json::List(rows)) => rows,
        _ => Vec::new(),
    };
    let (kind, suffix, text) = match form {
        Form::Csv => ("text/csv; charset=utf-8; header=present", "csv", csv(rows)),
        Form::Ndjson => ("application/x-ndjson", "ndjson", ndjson(&rows)),
    };
    let mut answer = Answer { body: text.into(), ..list };
    answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(name) = HeaderValue::try_from(format!("attachment; filename=\"{name}.{suffix}\"")) {
        answer.headers.insert(CONTENT_DISPOSITION, name);
    }
    answer
}

fn ndjson(rows: &[Json]) -> String {
    rows.iter().map(|row| json::write(row) + "\n").collect()
}

/// The columns are the fields of all rows, in the order in which they first occur.
fn csv(rows: Vec<Json>) -> String {
    let rows: Vec<_> = rows.into_iter().map(|row| cells(String::new(), row)).collect();
    let mut known = HashSet::new();
    let mut columns = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if known.insert(name.as_str()) {
            columns.push(name.as_str());
        }
    }
    let line = |cells: Vec<String>| cells.join(",") + "\r\n";
    let mut text = line(columns.iter().map(|name| csv_text(name)).collect());
    for row in &rows {
        let cell = |column: &&str| {
            let found = row.iter().find(|(name, _)| name == *column);
            found.map(|(_, cell)| cell.clone()).unwrap_or_default()
        };
        text += &line(columns.iter().map(cell).collect());
    }
    text
}

/// The fields of a row by their names. A field of an object in it is called `<object>.<field>`, the weight of a bucket
/// `weights.<bucket>`; other lists are JSON.
fn cells(name: String, value: Json) -> Vec<(String, String)> {
    let inner = |field: &str| match name.is_empty() {
        true => field.to_owned(),
        false => format!("{name}.{field}"),
    };
    match value {
        Json::Object(fields) => {
            fields.members().flat_map(|(field, value)| cells(inner(field), value.clone())).collect()
        }
        Json::List(weights) if name == "weights" => {
            let weight = |weight: Json| {
                let mut weight = weight.into_object();
                let bucket = weight.text("bucket").unwrap_or_default();
                (
                    inner(&bucket),
                    weight.take("weight").as_ref().map(json::write).unwrap_or_default(),
                )
            };
            weights.into_iter().map(weight).collect()
        }
        Json::Text(text) => vec![(name, csv_text(&text))],
        Json::Null => vec![(name, String::new())],
        list @ Json::List(_) => vec![(name, csv_text(&json::write(&list)))],
        plain => vec![(name, json::write(&plain))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_weights_as_columns_and_hold_no_formulas() {
        let rows = br#"[{"id":1,"body":"=1+1","weights":[{"bucket":"-a","weight":1e-7}],"of":{"x":null,"y":[1]}},
            {"id":2,"body":"two \"lines\"\n","weights":[{"bucket":"b","weight":2}],"blind":true}]"#;
        let Ok(Json::List(rows)) = Json::read(rows) else { panic!("a list") };
        assert_eq!(
            csv(rows.clone()),
            "\"id\",\"body\",\"weights.-a\",\"of.x\",\"of.y\",\"weights.b\",\"blind\"\r\n\
             1,\"'=1+1\",1e-7,,\"[1]\",,\r\n\
             2,\"two \"\"lines\"\"\n\",,,,2,true\r\n"
        );
        assert_eq!(ndjson(&rows).lines().count(), 2);
        assert_eq!(csv(Vec::new()), "\r\n");
    }
}
