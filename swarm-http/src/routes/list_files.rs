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
use swarm_core::json::{self, Json, Object};
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

/// The most columns of a streamed CSV. The weights of further buckets are JSON, in one column.
const MAX_COLUMNS: usize = 2_000;

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
        text: Text { form, columns: None, gzip: gzip.then(new_encoder) },
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
                    columns.add(rows);
                }
                return self.text.header(columns.names);
            }
        }
        match self.pages.next().await? {
            Some(rows) => self.text.page(rows),
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
    names: Vec<String>,
    known: HashSet<String>,
}

impl Columns {
    fn add(&mut self, rows: Vec<Json>) {
        for (name, _) in rows.into_iter().flat_map(|row| cells(String::new(), row)) {
            let is_further = self.names.len() >= MAX_COLUMNS && name.starts_with(WEIGHT);
            let name = if is_further { WEIGHTS.to_owned() } else { name };
            if self.known.insert(name.clone()) {
                self.names.push(name);
            }
        }
    }
}

/// The column of the weights that have none of their own, and how those of their own begin.
const WEIGHTS: &str = "weights";
const WEIGHT: &str = "weights.";

/// The text of a file.
struct Text {
    form: Form,
    /// The columns of a CSV with their places, once they are known.
    columns: Option<HashMap<String, usize>>,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

fn new_encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::fast())
}

impl Text {
    fn header(&mut self, columns: Vec<String>) -> Result<Bytes, Interrupted> {
        let text = line(columns.iter().map(|name| csv_text(name)));
        self.columns = Some(columns.into_iter().enumerate().map(|(at, name)| (name, at)).collect());
        self.encoded(text)
    }

    fn page(&mut self, rows: Vec<Json>) -> Result<Bytes, Interrupted> {
        let text = match &self.columns {
            None => ndjson(&rows),
            Some(columns) => {
                let lines = rows.into_iter().map(|row| csv_line(columns, row));
                lines.collect::<Result<String, _>>()?
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

/// A row of a streamed CSV. One with a column that came after the header was made cannot be written.
fn csv_line(columns: &HashMap<String, usize>, row: Json) -> Result<String, Interrupted> {
    let mut line_cells = vec![String::new(); columns.len()];
    let mut weights = Object::default();
    let mut set = |name: &str, cell: String| match columns.get(name) {
        Some(at) => {
            if let Some(place) = line_cells.get_mut(*at) {
                *place = cell;
            }
            Ok(())
        }
        None => Err(Interrupted),
    };
    for (name, cell) in cells(String::new(), row) {
        match name.strip_prefix(WEIGHT).filter(|_| !columns.contains_key(&name)) {
            Some(bucket) => {
                weights.set(bucket, Json::read(cell.as_bytes()).unwrap_or(Json::Null));
            }
            None => set(&name, cell)?,
        }
    }
    if weights.members().next().is_some() {
        set(WEIGHTS, csv_text(&json::write(&weights)))?;
    }
    Ok(line(line_cells.into_iter()))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

/// The rows of a list's answer.
fn rows(body: &[u8], field: &str) -> Vec<Json> {
    Json::read(body).map(Json::into_object).unwrap_or_default().items(field)
}

/// The rows of a list's answer as a file, with its headers: `Link` names the next page.
fn file(page: Answer, list: List, form: Form) -> Answer {
    let rows = rows(&page.body, list.field);
    let (kind, suffix, text) = match form {
        Form::Csv => ("text/csv; charset=utf-8; header=present", "csv", csv(rows)),
        Form::Ndjson => ("application/x-ndjson", "ndjson", ndjson(&rows)),
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
    fn streamed_rows_fit_their_columns_and_further_weights_are_json() {
        let row = |names: std::ops::Range<usize>| {
            let weights = names.map(|name| format!("{{\"bucket\":\"b{name}\",\"weight\":1.50}}"));
            let weights = weights.collect::<Vec<_>>().join(",");
            Json::read(format!("{{\"id\":1,\"weights\":[{weights}]}}").as_bytes()).unwrap()
        };
        let mut columns = Columns::default();
        columns.add(vec![row(0..MAX_COLUMNS - 1), row(MAX_COLUMNS..MAX_COLUMNS + 9)]);
        assert_eq!(columns.names.len(), MAX_COLUMNS + 1);
        assert_eq!(columns.names.last().map(String::as_str), Some(WEIGHTS));
        let places: HashMap<_, _> =
            columns.names.into_iter().enumerate().map(|(at, it)| (it, at)).collect();
        let line = csv_line(&places, row(MAX_COLUMNS..MAX_COLUMNS + 2)).unwrap();
        let empty = ",".repeat(MAX_COLUMNS);
        assert_eq!(line, format!("1{empty}\"{{\"\"b2000\"\":1.50,\"\"b2001\"\":1.50}}\"\r\n"));
        let late = Json::read(br#"{"id":2,"supersededBy":3}"#).unwrap();
        assert_eq!(csv_line(&places, late), Err(Interrupted));
    }

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
