//! `/swarm/takes.csv`, `/swarm/takes.ndjson` and so on: the lists of the API as files (MANUAL.md, 10.6).
//!
//! A list that fits a page of the API is answered whole. A longer one is streamed, page after page, so that the memory it
//! takes does not grow with the list.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::BoxFuture;
use futures_util::stream::unfold;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, LINK, VARY,
};
use http::{HeaderMap, HeaderValue};
use swarm_core::json::{self, Json};
use swarm_core::wire::RequestError;
use tokio::time::{Instant, sleep};

use super::{log, members, sessions, takes};
use crate::budget::InFlight;
use crate::fairness::ClientShare;
use crate::following::Place;
use crate::pages::files::csv_text;
use crate::request::RequestContext;
use crate::request::route::{Parameter, Route, Work, read};
use crate::response::caching::{Negotiation, allow_any_origin};
use crate::response::{Answer, BodyStream, Interrupted, Reply};

/// Rows of a page of a stream.
const ROWS: &str = "500";

/// The most columns of a CSV. Beyond them the fields of objects with any number of names are JSON, in one column.
const MAX_COLUMNS: usize = 2_000;

/// The objects that have fields of any number and names: buckets with their weights, and stances with their counts.
const OPEN: [&str; 2] = ["weights", "snapshot.stances"];

/// How long a page waits for its share of the memory.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A form of a file.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// RFC 4180, with a header.
    Csv,
    /// A line of JSON for each row.
    Ndjson,
}

/// A list of the API, and where its rows are in the answer.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) handler: fn(RequestContext) -> BoxFuture<'static, Reply>,
    pub(super) field: &'static str,
    pub(super) name: &'static str,
    pub(super) query: &'static [Parameter],
}

pub(super) const TAKES: List = List {
    handler: |request| Box::pin(takes::list(request)),
    field: "takes",
    name: "takes",
    query: takes::TAKE_LIST,
};

pub(super) const MEMBERS: List = List {
    handler: |request| Box::pin(members::list(request)),
    field: "members",
    name: "members",
    query: members::MEMBER_LIST,
};

pub(super) const SESSIONS: List = List {
    handler: |request| Box::pin(sessions::list(request)),
    field: "sessions",
    name: "sessions",
    query: sessions::SESSION_LIST,
};

/// Without the parameters of a list that waits.
pub(super) const LOG: List = List {
    handler: |request| Box::pin(log::entries(request)),
    field: "entries",
    name: "log",
    query: log::LOG_QUERY.split_at(6).0,
};

/// A list of the API as a file of this form.
pub(super) fn list(path: &'static str, form: Form, list: List) -> Route {
    let (kind, about) = match form {
        Form::Csv => {
            ("text/csv", "This list as CSV; with limit a page, and Link names the next one")
        }
        Form::Ndjson => (
            "application/x-ndjson",
            "This list, a line of JSON for each row; with limit a page, and Link names the next one",
        ),
    };
    read(path, move |request| answer(list, request, form))
        .with(Work::Long)
        .about(about)
        .query(list.query)
        .answers(200, &[kind])
}

/// The file: a page of the list if the query says how long, else the whole list.
async fn answer(list: List, request: RequestContext, form: Form) -> Reply {
    if request.query().contains_key("limit") {
        let page = (list.handler)(request).await?;
        return Ok(file(page, list, form));
    }
    let has_limit = request.parameters.iter().any(|(name, _)| *name == "limit");
    let query = if has_limit { with_rows(&request.query) } else { request.query.clone() };
    let first =
        (list.handler)(RequestContext { query: query.clone(), ..request.clone_read() }).await?;
    let place = match next_query(&first) {
        None => return Ok(file(first, list, form)),
        Some(_) => request.site.followers.place().ok_or(RequestError::Busy)?,
    };
    let gzip = Negotiation::of(&request.headers).takes_gzip();
    let mut answer = file(Answer { body: Bytes::new(), ..first }, list, form);
    answer.headers.remove(LINK);
    answer.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    if gzip {
        answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    allow_any_origin(&mut answer);
    let pages = Pages { request: Arc::new(request), list, query: Some(query) };
    let file = FileStream {
        first: pages.clone(),
        pages,
        text: Text { form, list, columns: None, gzip: gzip.then(new_encoder) },
        client: ClientShare::current(),
        state: State::Begins,
        _place: place,
    };
    Ok(answer.streamed(BodyStream::new(unfold(file, FileStream::step))))
}

/// The query with as many rows as a page may have.
fn with_rows(query: &str) -> String {
    let separator = if query.is_empty() { "" } else { "&" };
    format!("{query}{separator}limit={ROWS}")
}

/// The query of the next page, which the answer links to.
fn next_query(page: &Answer) -> Option<String> {
    let links = page.headers.get_all(LINK).iter().filter_map(|link| link.to_str().ok());
    let next = links.filter_map(|link| link.strip_suffix("; rel=\"next\"")).next()?;
    let (_, query) = next.strip_prefix('<')?.strip_suffix('>')?.split_once('?')?;
    Some(query.to_owned())
}

/// The pages of a list that were not read yet.
#[derive(Clone)]
struct Pages {
    request: Arc<RequestContext>,
    list: List,
    /// The query of the next page; `None` after the last one.
    query: Option<String>,
}

impl Pages {
    /// Reads the rows of the next page; `None` after the last one.
    async fn next(&mut self) -> Result<Option<Vec<Json>>, Interrupted> {
        let Some(query) = self.query.take() else { return Ok(None) };
        let request = RequestContext { query, ..self.request.clone_read() };
        let page = (self.list.handler)(request).await.map_err(|_| Interrupted)?;
        if !page.status.is_success() {
            return Err(Interrupted);
        }
        self.query = next_query(&page);
        Ok(Some(rows(&page.body, self.list.field)))
    }
}

/// A file that is made while it is sent.
struct FileStream {
    /// All pages, for the columns.
    first: Pages,
    pages: Pages,
    text: Text,
    client: Option<Arc<ClientShare>>,
    state: State,
    _place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Begins,
    Goes,
    Ended,
}

impl FileStream {
    /// The next part of the file; `None` after the last one, and after an error.
    async fn step(self) -> Option<(Result<Bytes, Interrupted>, Self)> {
        if self.state == State::Ended {
            return None;
        }
        let request = Arc::clone(&self.pages.request);
        let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
        let client = self.client.clone();
        // Made on the worker pool, as any long answer.
        let made = site.workers.run(served.jobs(), async move {
            let mut file = self;
            let made = file.make().await;
            if made.is_err() {
                file.state = State::Ended;
            }
            (made, file)
        });
        let (made, file) = ClientShare::scope(client.clone(), made).await;
        match made {
            Err(interrupted) => Some((Err(interrupted), file)),
            Ok(part) => Some((held(&request, part, client).await, file)),
        }
    }

    async fn make(&mut self) -> Result<Bytes, Interrupted> {
        if self.state == State::Begins {
            self.state = State::Goes;
            if matches!(self.text.form, Form::Csv) {
                let mut columns = Columns::default();
                while let Some(rows) = self.first.next().await? {
                    columns.add(&rows);
                }
                return self.text.header(columns);
            }
        }
        match self.pages.next().await? {
            Some(rows) => self.text.page(&rows),
            None => {
                self.state = State::Ended;
                self.text.end()
            }
        }
    }
}

/// Counts a part in the memory budget until it is sent.
async fn held(
    request: &RequestContext,
    part: Bytes,
    client: Option<Arc<ClientShare>>,
) -> Result<Bytes, Interrupted> {
    let end = Instant::now() + MAX_WAIT;
    loop {
        let in_flight = InFlight::new(part.len());
        match request.site.budget.hold(part.clone(), &in_flight, client.clone()) {
            Ok(part) => return Ok(part),
            Err(_) if Instant::now() >= end => return Err(Interrupted),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// The columns of a CSV, in the order in which they first occur.
#[derive(Default)]
struct Columns {
    /// The header: a cell for each.
    header: Vec<String>,
    /// The cells of the header, to find them.
    taken: HashSet<String>,
    /// The places of the columns by the names of their fields.
    places: HashMap<String, usize>,
}

impl Columns {
    fn add(&mut self, rows: &[Json]) {
        for field in rows.iter().flat_map(fields_of) {
            if self.places.contains_key(&field.column) {
                continue;
            }
            match field.open {
                // The escape of formulas can make two names the same.
                Some(object)
                    if self.header.len() >= MAX_COLUMNS
                        || self.taken.contains(&csv_text(&field.column)) =>
                {
                    if !self.places.contains_key(object) {
                        self.push(object.to_owned());
                    }
                }
                _ => self.push(field.column),
            }
        }
    }

    fn push(&mut self, name: String) {
        let cell = csv_text(&name);
        self.places.insert(name, self.header.len());
        self.taken.insert(cell.clone());
        self.header.push(cell);
    }

    /// The first line of the file.
    fn header(&self) -> String {
        self.header.join(",") + "\r\n"
    }

    /// The line of a row; `None` if it has a field that came after the header was made.
    fn line(&self, row: &Json) -> Option<String> {
        let mut cells = vec![String::new(); self.header.len()];
        let mut further = OPEN.map(|object| (object, Vec::new()));
        for field in fields_of(row) {
            match self.places.get(&field.column) {
                Some(place) => *cells.get_mut(*place)? = cell(field.value),
                None => {
                    let (_, rest) = further.iter_mut().find(|it| Some(it.0) == field.open)?;
                    rest.push(format!("{}:{}", json::write(field.name), json::write(field.value)));
                }
            }
        }
        for (object, rest) in further.iter().filter(|(_, rest)| !rest.is_empty()) {
            let place = *self.places.get(*object)?;
            *cells.get_mut(place)? = csv_text(&format!("{{{}}}", rest.join(",")));
        }
        Some(cells.join(",") + "\r\n")
    }
}

/// The text of a file.
struct Text {
    form: Form,
    list: List,
    /// The columns of a CSV, once they are known.
    columns: Option<Columns>,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

fn new_encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::fast())
}

impl Text {
    fn header(&mut self, columns: Columns) -> Result<Bytes, Interrupted> {
        let text = columns.header();
        self.columns = Some(columns);
        self.encoded(text)
    }

    fn page(&mut self, rows: &[Json]) -> Result<Bytes, Interrupted> {
        let text = match &self.columns {
            None => ndjson(self.list, rows),
            Some(columns) => {
                let lines = rows.iter().map(|row| columns.line(row));
                lines.collect::<Option<String>>().ok_or(Interrupted)?
            }
        };
        self.encoded(text)
    }

    fn encoded(&mut self, text: String) -> Result<Bytes, Interrupted> {
        let Some(gzip) = &mut self.gzip else { return Ok(text.into()) };
        let written = gzip.write_all(text.as_bytes()).and_then(|()| gzip.flush());
        written.map_err(|_| Interrupted)?;
        Ok(std::mem::take(gzip.get_mut()).into())
    }

    /// What ends the file. Without it a compressed one is not whole.
    fn end(&mut self) -> Result<Bytes, Interrupted> {
        match self.gzip.take() {
            Some(gzip) => Ok(gzip.finish().map_err(|_| Interrupted)?.into()),
            None => Ok(Bytes::new()),
        }
    }
}

/// The rows of a list's answer.
fn rows(body: &[u8], field: &str) -> Vec<Json> {
    Json::read(body).map(Json::into_object).unwrap_or_default().items(field)
}

/// The rows of a list's answer as a file, with its headers: `Link` names the next page.
fn file(page: Answer, list: List, form: Form) -> Answer {
    let rows = rows(&page.body, list.field);
    let (kind, suffix, text) = match form {
        Form::Csv => ("text/csv; charset=utf-8; header=present", "csv", csv(&rows)),
        Form::Ndjson => ("application/x-ndjson", "ndjson", ndjson(list, &rows)),
    };
    let mut answer = Answer { body: text.into(), ..page };
    set_names(&mut answer.headers, kind, &format!("{}.{suffix}", list.name));
    answer
}

fn set_names(headers: &mut HeaderMap, kind: &'static str, name: &str) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(name) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
}

/// A line for each row. Those of the log are the exact texts of its entries.
fn ndjson(list: List, rows: &[Json]) -> String {
    let is_log = list.field == "entries";
    let line = |row: &Json| if is_log { json::write(row) + "\n" } else { json::write_line(row) };
    rows.iter().map(line).collect()
}

/// The columns are the fields of these rows, so each row has its place in them.
fn csv(rows: &[Json]) -> String {
    let mut columns = Columns::default();
    columns.add(rows);
    let lines = rows.iter().filter_map(|row| columns.line(row));
    [columns.header()].into_iter().chain(lines).collect()
}

/// A field of a row, or of an object in it.
struct Field<'r> {
    /// The name of its column. A field of an object is called `<object>.<field>`, the weight of a bucket
    /// `weights.<bucket>`.
    column: String,
    /// The object that it is in, if that has names of any number.
    open: Option<&'static str>,
    /// Its name in the object.
    name: &'r str,
    value: &'r Json,
}

fn fields_of(row: &Json) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    add_fields("", members_of(row), &mut fields);
    fields
}

fn add_fields<'r>(object: &str, members: Vec<(&'r str, &'r Json)>, fields: &mut Vec<Field<'r>>) {
    let open = OPEN.into_iter().find(|open| *open == object);
    for (name, value) in members {
        let column = if object.is_empty() { name.to_owned() } else { format!("{object}.{name}") };
        match value {
            Json::Object(_) => add_fields(&column, members_of(value), fields),
            Json::List(weights) if column == "weights" => {
                add_fields(&column, weights.iter().map(weight).collect(), fields);
            }
            _ => fields.push(Field { column, open, name, value }),
        }
    }
}

fn members_of(object: &Json) -> Vec<(&str, &Json)> {
    match object {
        Json::Object(object) => object.members().collect(),
        _ => Vec::new(),
    }
}

/// A bucket with its weight.
fn weight(entry: &Json) -> (&str, &Json) {
    const NULL: &Json = &Json::Null;
    let Json::Object(entry) = entry else { return ("", NULL) };
    let bucket = match entry.get("bucket") {
        Some(Json::Text(name)) => name,
        _ => "",
    };
    (bucket, entry.get("weight").unwrap_or(NULL))
}

/// A cell. A list is JSON.
fn cell(value: &Json) -> String {
    match value {
        Json::Text(text) => csv_text(text),
        Json::Null => String::new(),
        Json::List(_) => csv_text(&json::write(value)),
        plain => json::write(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Json {
        Json::read(text.as_bytes()).unwrap()
    }

    fn weighing(buckets: impl IntoIterator<Item = String>) -> Json {
        let weight =
            |bucket: String| format!("{{\"bucket\":{},\"weight\":1.50}}", json::write(&bucket));
        let weights = buckets.into_iter().map(weight).collect::<Vec<_>>().join(",");
        row(&format!("{{\"id\":1,\"weights\":[{weights}]}}"))
    }

    #[test]
    fn rows_fit_their_columns_and_further_weights_are_json() {
        let row = |names: std::ops::Range<usize>| weighing(names.map(|name| format!("b{name}")));
        let mut columns = Columns::default();
        columns.add(&[row(0..MAX_COLUMNS - 1), row(MAX_COLUMNS..MAX_COLUMNS + 9)]);
        assert_eq!(columns.header.len(), MAX_COLUMNS + 1);
        assert_eq!(columns.header.last().map(String::as_str), Some("\"weights\""));
        let line = columns.line(&row(MAX_COLUMNS..MAX_COLUMNS + 2)).unwrap();
        let empty = ",".repeat(MAX_COLUMNS);
        assert_eq!(line, format!("1{empty}\"{{\"\"b2000\"\":1.50,\"\"b2001\"\":1.50}}\"\r\n"));
        assert_eq!(columns.line(&self::row(r#"{"id":2,"supersededBy":3}"#)), None);
    }

    /// A search for each cell would take minutes.
    #[test]
    fn file_has_no_more_columns_and_its_time_is_that_of_its_cells() {
        let names = |row: usize| (0..1_000).map(move |name| format!("b{row}_{name}"));
        let rows: Vec<_> = (0..40).map(|row| weighing(names(row))).collect();
        let csv = csv(&rows);
        assert_eq!(csv.lines().next().unwrap().split(',').count(), MAX_COLUMNS + 1);
        assert_eq!(csv.lines().count(), 41);
        assert_eq!(csv.matches("1.50").count(), 40_000, "all weights are there");

        let session = |at: usize| {
            let counts: Vec<_> = names(at).map(|name| format!("\"{name}\":2")).collect();
            row(&format!("{{\"snapshot\":{{\"stances\":{{{}}}}}}}", counts.join(",")))
        };
        let csv = self::csv(&(0..3).map(session).collect::<Vec<_>>());
        let header = csv.lines().next().unwrap();
        assert_eq!(header.split(',').count(), MAX_COLUMNS + 1);
        assert!(header.ends_with(",\"snapshot.stances\""), "{header}");
    }

    #[test]
    fn names_that_are_the_same_after_the_escape_have_one_column_and_the_rest() {
        let buckets = ["a;=b", "a;'=b"].map(str::to_owned);
        assert_eq!(
            csv(&[weighing(buckets)]),
            "\"id\",\"weights.a;'=b\",\"weights\"\r\n1,1.50,\"{\"\"a;'=b\"\":1.50}\"\r\n"
        );
    }

    #[test]
    fn lines_are_divided_by_line_feeds_alone_but_those_of_the_log_are_exact() {
        let rows = [row("{\"body\":\"a\u{2028}b\u{2029}c\u{85}d\"}")];
        let takes = ndjson(TAKES, &rows);
        assert_eq!(takes, "{\"body\":\"a\\u2028b\\u2029c\\u0085d\"}\n");
        assert_eq!(row(&takes), rows[0]);
        let log = ndjson(LOG, &rows);
        assert_eq!(log, json::write(&rows[0]) + "\n");
    }

    #[test]
    fn rows_have_their_weights_as_columns_and_hold_no_formulas() {
        let rows = br#"[{"id":1,"body":"=1+1","weights":[{"bucket":"-a","weight":1e-7}],"of":{"x":null,"y":[1]}},
            {"id":2,"body":"two \"lines\"\n","weights":[{"bucket":"b","weight":2}],"blind":true}]"#;
        let Ok(Json::List(rows)) = Json::read(rows) else { panic!("a list") };
        assert_eq!(
            csv(&rows),
            "\"id\",\"body\",\"weights.-a\",\"of.x\",\"of.y\",\"weights.b\",\"blind\"\r\n\
             1,\"'=1+1\",1e-7,,\"[1]\",,\r\n\
             2,\"two \"\"lines\"\"\n\",,,,2,true\r\n"
        );
        assert_eq!(ndjson(TAKES, &rows).lines().count(), 2);
        assert_eq!(csv(&[]), "\r\n");
    }
}
