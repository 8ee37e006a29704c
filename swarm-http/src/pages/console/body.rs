//! Request bodies of the API, built from forms.

use swarm_core::json::{Json, Object, write};

use super::form::{FormData, ascii, sent_in_line};

/// A time as browsers send it, without seconds or zone, is in UTC; any other text is left to the API.
pub(super) fn utc(text: &str) -> String {
    match text.len() {
        16 if text.is_ascii() => format!("{text}:00Z"),
        19 | 23 if text.is_ascii() && !text.ends_with('Z') => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

/// A request body of the API, built from a form. An empty field is left out.
pub(super) struct Body<'a> {
    sent: &'a FormData,
    fields: Object,
}

impl<'a> Body<'a> {
    pub(super) fn of(sent: &'a FormData) -> Self {
        Self { sent, fields: Object::default() }
    }

    /// Like [`of`](Self::of), for a change of a session, which has a note.
    pub(super) fn noted(sent: &'a FormData) -> Self {
        Self::of(sent).text("note")
    }

    pub(super) fn json(self) -> Json {
        Json::Object(self.fields)
    }

    pub(super) fn set(mut self, name: &str, value: Json) -> Self {
        self.fields.set(name, value);
        self
    }

    fn typed(self, name: &str, value: impl FnOnce(&str) -> Json) -> Self {
        match self.sent.text(name) {
            "" => self,
            text => {
                let value = value(text);
                self.set(name, value)
            }
        }
    }

    pub(super) fn text(self, name: &str) -> Self {
        self.typed(name, |text| Json::from(text))
    }

    pub(super) fn texts(self, names: &[&str]) -> Self {
        names.iter().fold(self, |body, name| body.text(name))
    }

    pub(super) fn time(self, name: &str) -> Self {
        self.typed(name, |text| Json::Text(utc(text)))
    }

    /// A field of JSON. Text that is not JSON is passed on as a text: the API refuses it where it takes no text, else the check
    /// of the act.
    pub(super) fn value(self, name: &str) -> Self {
        self.typed(name, |text| Json::read(text.as_bytes()).unwrap_or_else(|_| Json::from(text)))
    }

    fn list(self, name: &str, item: impl Fn(String) -> Json) -> Self {
        match self.sent.list(name) {
            list if list.is_empty() => self,
            list => self.set(name, list.into_iter().map(item).collect()),
        }
    }

    /// The lines that are not blank.
    pub(super) fn lines(self, name: &str) -> Self {
        self.list(name, Json::Text)
    }

    /// The lines that are not blank, each a rank and the name of a stance. A rank that is no number is passed on, and refused by
    /// the API.
    pub(super) fn ranked(self, name: &str) -> Self {
        let is_typed = !self.sent.is_unchanged(name);
        self.list(name, |line| {
            let (rank, name) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            let name = if is_typed { name.trim() } else { name };
            let rank = Json::read(rank.trim_start_matches('+').as_bytes());
            let rank = rank.unwrap_or_else(|_| Json::from(&*line));
            Json::from([("name", Json::from(name)), ("rank", rank)])
        })
    }

    /// The objects of a field of rows, whose columns are called `<field>-<member>[]`. The column `more` has further members
    /// as JSON, and `was` the object that the row was made of, which stays as it is where nothing was changed.
    pub(super) fn objects(self, field: &str, columns: &[(&'static str, &'static str)]) -> Self {
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let rows = self.sent.rows(&names);
        match rows.is_empty() {
            true => self,
            false => self.set(field, rows.iter().map(|row| object_of(&names, row)).collect()),
        }
    }

    pub(super) fn flag(self, name: &str) -> Self {
        let is_set = !self.sent.text(name).is_empty();
        self.set(name, Json::Bool(is_set))
    }
}

/// The members of wallets and contracts that have a column of their own.
const SHOWN_MEMBERS: [&str; 2] = ["chain", "address"];

/// The cells of a row for an object with any members: those with a column, the others, and all.
pub(super) fn cells_of(object: &Object) -> Vec<String> {
    let mut rest = object.clone();
    let mut cells = SHOWN_MEMBERS
        .map(|name| match rest.take(name) {
            Some(Json::Text(text)) => text,
            Some(value) => write(&value),
            None => String::new(),
        })
        .to_vec();
    let is_empty = rest.members().next().is_none();
    cells.push(if is_empty { String::new() } else { write(&rest) });
    cells.push(ascii(&write(object)));
    cells
}

/// Whether a browser sends this row of the cells of an object, if nobody changes it.
fn is_unchanged(object: &Object, row: &[String]) -> bool {
    let sent = cells_of(object).into_iter().map(|cell| sent_in_line(&cell).trim().to_owned());
    sent.eq(row.iter().cloned())
}

/// The object of a row.
fn object_of(names: &[&str], row: &[String]) -> Json {
    let member =
        |name: &str| name.trim_end_matches("[]").rsplit('-').next().unwrap_or_default().to_owned();
    let mut object = Object::default();
    let mut more = Object::default();
    for (name, cell) in names.iter().map(|name| member(name)).zip(row) {
        match name.as_str() {
            "was" => {
                let was = Json::read(cell.as_bytes()).map(Json::into_object).unwrap_or_default();
                if !cell.is_empty() && is_unchanged(&was, row) {
                    return Json::Object(was);
                }
            }
            _ if cell.is_empty() => {}
            "more" => match Json::read(cell.as_bytes()) {
                Ok(Json::Object(members)) => more = members,
                // The API refuses a text in place of an object.
                _ => return Json::from(cell.as_str()),
            },
            "valueUsd" | "pct" => {
                let value = Json::read(cell.as_bytes());
                object.set(&name, value.unwrap_or_else(|_| Json::from(cell.as_str())));
            }
            _ => object.set(&name, Json::from(cell.as_str())),
        }
    }
    for (name, value) in more.members() {
        object.set(name, value.clone());
    }
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(&str, &str); 4] =
        [("w-chain[]", "Chain"), ("w-address[]", "Address"), ("w-more[]", "More"), ("w-was[]", "")];

    fn body(rows: &[[&str; 4]]) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for row in rows {
            for ((name, _), cell) in COLUMNS.iter().zip(row) {
                form.append_pair(name, cell);
            }
        }
        let sent = FormData::read(form.finish().as_bytes());
        write(&Body::of(&sent).objects("w", &COLUMNS).json())
    }

    #[test]
    fn object_of_an_unchanged_row_stays_digit_for_digit() {
        let was = r#"{"label":"a","address":"0x1","weight":1.50,"chain":5}"#;
        let strange = r#"{"chain":" a\nb","address":"\u202e0x1"}"#;
        assert_eq!(
            body(&[["ab", "0x1", "", strange]]),
            "{\"w\":[{\"chain\":\" a\\nb\",\"address\":\"\u{202e}0x1\"}]}"
        );
        let object = Json::read(was.as_bytes()).unwrap().into_object();
        let cells = cells_of(&object);
        assert_eq!(cells, ["5", "0x1", r#"{"label":"a","weight":1.50}"#, was]);
        let row: Vec<_> = cells.iter().map(String::as_str).collect();
        let [chain, address, more, was] = row[..] else { panic!("four cells") };
        assert_eq!(
            body(&[[chain, address, more, was], ["", "", "", ""]]),
            format!("{{\"w\":[{was}]}}")
        );
        let changed = body(&[["base", address, more, was]]);
        assert_eq!(
            changed,
            r#"{"w":[{"chain":"base","address":"0x1","label":"a","weight":1.50}]}"#
        );
        assert_eq!(body(&[["", "", "", was]]), "{}", "a row that was emptied is removed");
        assert_eq!(body(&[["base", "", "no json", ""]]), r#"{"w":["no json"]}"#);
    }
}
