//! The lines of a dump as text, and the totals in its last line.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::check;
use crate::domain::committee::{CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeTake};
use crate::domain::json::{self, ErrorPosition, Json, Object};
use crate::domain::{
    Day, Digest, Invalid, LogEntry, LogLine, LogRow, Logged, Member, Message, MessageId, PublicKey,
    Seq, Session, SessionId, Signature, Snapshot, StoredTake, Take, TenantId, Timestamp,
};
use crate::proof::{DumpSignature, log_line};
use crate::records::{self, Record};
use crate::store::{Collection, Document, Stored, StoredDocument, TenantHead};

/// The name and version of the format. A change of the format changes the version.
const FORMAT: &str = "swarm-dump/1";

/// How the line of a session begins.
const SESSION: &[u8] = b"{\"session\":";

/// The longest line of a session, in bytes. Its snapshot is as long as its takes are many.
const MAX_SESSION: usize = 512 << 20;

/// The longest other line. What the record is made of came in bodies of requests, which are shorter.
const MAX_OTHER: usize = 16 << 20;

/// The most values in the JSON of a line. While it is read, each takes some hundred bytes of memory, which is as much as
/// the longest lines do.
const MAX_VALUES: usize = 5_000_000;

/// The number of bytes that a line which begins like this may have.
pub fn longest_line(begin: &[u8]) -> usize {
    if begin.starts_with(SESSION) { MAX_SESSION } else { MAX_OTHER }
}

/// A line of a dump.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// The first line: the program that wrote the dump.
    Format(String),
    /// The records of this tenant follow.
    Tenant(TenantId, TenantHead),
    /// A record.
    Record(Stored, Option<LogLine>),
    /// The last line.
    End(Totals),
}

/// What a dump consists of, without its last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The number of lines.
    pub lines: u64,
    /// The number of records of each kind that there is.
    pub counts: BTreeMap<String, u64>,
    /// The SHA-256 of all bytes.
    pub sha256: Digest,
    /// The signature of the server that wrote the dump, over all of the above; `None` if it had no key.
    pub signature: Option<DumpSignature>,
}

impl Line {
    /// The line of a record.
    pub(super) fn of(tenant: &TenantId, record: Stored) -> Self {
        match record {
            Stored::Head(head) => Self::Tenant(tenant.clone(), head),
            Stored::Log(row) => {
                let line = log_line(&row);
                Self::Record(Stored::Log(row), Some(line))
            }
            other => Self::Record(other, None),
        }
    }

    /// The text without its line feed: a JSON object whose first key names the kind.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Format(program) => json::write(&Json::from([
                ("format", Json::from(FORMAT)),
                ("program", Json::from(program.as_str())),
            ])),
            Self::Tenant(id, head) => json::write(&Json::from([("tenant", tenant(id, head))])),
            Self::End(totals) => json::write(&Json::from([("end", totals.json())])),
            Self::Record(record, log) => record_text(record, log.as_ref()),
        }
    }

    /// Reads the text of a line.
    ///
    /// # Errors
    /// What is wrong with it. It must be exactly what this version writes, so that reading loses nothing.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let longest = longest_line(text);
        check(text.len() <= longest, || format!("is longer than {longest} bytes"))?;
        let json = Json::read_bounded(text, MAX_VALUES).map_err(|error| match error.position {
            ErrorPosition::TooManyValues => format!("has more than {MAX_VALUES} values"),
            position => format!("is not JSON: {position}"),
        })?;
        let line = read(json.into_object())?;
        if line.text().as_bytes() == text {
            return Ok(line);
        }
        if text.ends_with(b"\r") {
            return Err("ends with a carriage return, which Swarm does not write".to_owned());
        }
        Err("is not written as this version of Swarm writes it".to_owned())
    }

    /// The kinds under which the totals count it.
    pub(super) fn kinds(&self) -> &'static [&'static str] {
        match self {
            Self::Format(_) | Self::End(_) => &[],
            Self::Tenant(..) => &["tenant"],
            Self::Record(record, _) => match record {
                Stored::Head(_) => &[],
                Stored::Member(_) => &["member"],
                Stored::Message(_) => &["message"],
                Stored::Document(_) => &["document"],
                Stored::Session(_) => &["session"],
                Stored::CommitteeMember(_) => &["committeeMember"],
                Stored::CommitteeDay(_) => &["committeeDay"],
                Stored::CommitteeBrief(..) => &["committeeBrief"],
                Stored::Log(row) => match row.logged {
                    Logged::Take(_) => &["log", "take"],
                    Logged::CommitteeTake(_) => &["log", "committeeTake"],
                    Logged::TakeMark(..) | Logged::Entry(_) => &["log"],
                },
            },
        }
    }
}

impl Totals {
    /// Returns the number of records of this kind.
    pub fn count(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// The text that is signed.
    pub(super) fn signed_text(&self) -> String {
        json::write(&Json::from(self.figures()))
    }

    fn figures(&self) -> [(&'static str, Json); 3] {
        let counts = self.counts.iter().map(|(kind, count)| (kind.as_str(), number(*count)));
        [
            ("lines", number(self.lines)),
            ("counts", counts.collect()),
            ("sha256", Json::Text(self.sha256.to_string())),
        ]
    }

    fn json(&self) -> Json {
        let signature = self.signature.as_ref().map(|signature| {
            let json = Json::from([
                ("key", Json::Text(signature.key.to_string())),
                ("signature", Json::from(signature.signature.as_str())),
            ]);
            ("signature", json)
        });
        self.figures().into_iter().chain(signature).collect()
    }

    pub(super) fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let counts = fields.take("counts").ok_or_else(|| Invalid::missing("counts"))?;
        let counts = counts.into_object();
        let count = |(kind, count): (&str, &Json)| Ok((kind.to_owned(), read_number(count)?));
        Ok(Self {
            lines: whole(fields, "lines")?,
            counts: counts.members().map(count).collect::<Result<_, _>>()?,
            sha256: Digest::parse(fields.text("sha256")?)?,
            signature: fields.take("signature").map(read_signature).transpose()?,
        })
    }
}

fn read_signature(json: Json) -> Result<DumpSignature, Invalid> {
    let mut fields = json.into_object();
    Ok(DumpSignature {
        key: PublicKey::parse(&fields.text("key")?)?,
        signature: Signature::parse(fields.text("signature")?)?,
    })
}

fn tenant(id: &TenantId, head: &TenantHead) -> Json {
    let documents = head.documents.iter().map(|(kind, last)| (kind.as_str(), number(*last)));
    Json::from([
        ("id", Json::from(id.as_str())),
        ("log", number(head.log.0)),
        ("messages", number(head.messages.0)),
        ("sessions", number(head.sessions.0)),
        ("documents", documents.collect()),
    ])
}

fn record_text(record: &Stored, log: Option<&LogLine>) -> String {
    let of = |kind: &str, text: String| format!("{{\"{kind}\":{text}}}");
    match record {
        // Written as a line of its own.
        Stored::Head(_) => String::new(),
        Stored::Member(member) => of("member", member.to_text()),
        Stored::Message(message) => of("message", message.to_text()),
        Stored::Document(document) => of("document", json::write(&document_json(document))),
        Stored::Session(session) => {
            let digest = session.snapshot.as_ref().and_then(|snapshot| snapshot.original);
            let digest = digest.map(|digest| format!(",\"snapshotDigest\":\"{digest}\""));
            let (text, version) = (session.to_text(), session.version);
            let digest = digest.unwrap_or_default();
            format!("{{\"session\":{text},\"version\":{version}{digest}}}")
        }
        Stored::CommitteeMember(member) => of("committeeMember", member.to_text()),
        Stored::CommitteeDay(day) => of("committeeDay", day.to_text()),
        Stored::CommitteeBrief(date, brief) => {
            format!("{{\"committeeBrief\":{},\"date\":\"{date}\"}}", brief.to_text())
        }
        Stored::Log(row) => {
            let line = log.map_or_else(|| log_line(row).text(), LogLine::text);
            match &row.logged {
                Logged::Take(StoredTake::Whole(take)) => {
                    format!("{{\"log\":{line},\"take\":{}}}", take.to_text())
                }
                Logged::CommitteeTake(take) => {
                    format!("{{\"log\":{line},\"committeeTake\":{}}}", take.to_text())
                }
                Logged::TakeMark(session, _) => {
                    format!("{{\"log\":{line},\"sessionId\":{session}}}")
                }
                Logged::Take(StoredTake::Sealed(_)) | Logged::Entry(_) => of("log", line),
            }
        }
    }
}

fn document_json(stored: &StoredDocument) -> Json {
    let StoredDocument { collection, group, held_until, document } = stored;
    let mut fields = vec![
        ("collection", Json::from(collection.as_str())),
        ("id", number(document.id)),
        ("key", Json::from(document.key.as_str())),
        ("group", Json::from(group.as_str())),
        ("createdAt", Json::Text(document.created_at.to_string())),
        ("text", Json::from(document.json.as_str())),
    ];
    fields.extend(held_until.map(|session| ("heldUntil", number(session.0))));
    fields.into_iter().collect()
}

fn read(mut fields: Object) -> Result<Line, String> {
    let kind = fields.members().next().map(|(kind, _)| kind.to_owned()).unwrap_or_default();
    if kind == "format" {
        return format(&mut fields);
    }
    let mut inner = fields.take(&kind).unwrap_or(Json::Null).into_object();
    let record = match kind.as_str() {
        "tenant" => return read_tenant(&mut inner).map_err(text),
        "end" => return Ok(Line::End(Totals::read(&mut inner).map_err(text)?)),
        "log" => return log(inner, fields),
        "member" => Stored::Member(Arc::new(record::<Member>(inner)?)),
        "message" => Stored::Message(Arc::new(record::<Message>(inner)?)),
        "document" => Stored::Document(read_document(&mut inner).map_err(text)?),
        "session" => {
            let version = whole(&mut fields, "version").map_err(text)?;
            let mut session = record::<Session>(inner)?;
            if let Some(digest) = fields.text_if_any("snapshotDigest").map_err(text)? {
                let original = Some(Digest::parse(digest).map_err(text)?);
                let snapshot = session.snapshot.as_deref().cloned();
                session.snapshot =
                    snapshot.map(|snapshot| Arc::new(Snapshot { original, ..snapshot }));
            }
            Stored::Session(Arc::new(Session { version, ..session }))
        }
        "committeeMember" => Stored::CommitteeMember(Arc::new(record::<CommitteeMember>(inner)?)),
        "committeeDay" => Stored::CommitteeDay(Arc::new(record::<CommitteeDay>(inner)?)),
        "committeeBrief" => {
            let date = fields.text("date").and_then(|date| Day::parse(&date)).map_err(text)?;
            Stored::CommitteeBrief(date, Arc::new(record::<CommitteeBrief>(inner)?))
        }
        _ => return Err(format!("{kind:?} is no kind of line")),
    };
    Ok(Line::Record(record, None))
}

fn text(invalid: Invalid) -> String {
    invalid.to_string()
}

fn record<T: DeserializeOwned>(fields: Object) -> Result<T, String> {
    records::read(fields).map_err(|unreadable| unreadable.to_string())
}

fn format(fields: &mut Object) -> Result<Line, String> {
    let format = fields.text("format").map_err(text)?;
    if format != FORMAT {
        return Err(format!(
            "the format is {format:?}, and this version of Swarm reads {FORMAT:?} alone"
        ));
    }
    Ok(Line::Format(fields.text("program").map_err(text)?))
}

fn read_tenant(fields: &mut Object) -> Result<Line, Invalid> {
    let id = TenantId::parse(fields.text("id")?)?;
    let last = fields.take("documents").unwrap_or(Json::Null).into_object();
    let mut documents = BTreeMap::new();
    for (collection, last) in last.members() {
        documents.insert(collection.parse()?, read_number(last)?);
    }
    let head = TenantHead {
        log: Seq(whole(fields, "log")?),
        messages: MessageId(whole(fields, "messages")?),
        sessions: SessionId(whole(fields, "sessions")?),
        documents,
    };
    Ok(Line::Tenant(id, head))
}

fn read_document(fields: &mut Object) -> Result<StoredDocument, Invalid> {
    Ok(StoredDocument {
        collection: fields.text("collection")?.parse::<Collection>()?,
        group: fields.text("group")?,
        held_until: match fields.has("heldUntil") {
            true => Some(SessionId(whole(fields, "heldUntil")?)),
            false => None,
        },
        document: Document {
            id: whole(fields, "id")?,
            key: fields.text("key")?,
            json: fields.text("text")?,
            created_at: Timestamp::parse("createdAt", &fields.text("createdAt")?)?,
            held: None,
        },
    })
}

/// A row of the log: its entry, and the take that it is of, whose record does not have the version of the session.
fn log(entry: Object, mut fields: Object) -> Result<Line, String> {
    let line = LogLine::read(&json::write(&entry)).map_err(text)?;
    let logged = if let Some(take) = fields.take("take") {
        let take = record::<Take>(take.into_object())?;
        let session_version = match &line.entry {
            LogEntry::Take(entry) => entry.session_version,
            _ => return Err("the entry is not that of the take beside it".to_owned()),
        };
        Logged::Take(Arc::new(Take { session_version, ..take }).into())
    } else if let Some(take) = fields.take("committeeTake") {
        Logged::CommitteeTake(Arc::new(record::<CommitteeTake>(take.into_object())?))
    } else if matches!(line.entry, LogEntry::TakeMark(_)) {
        let session = SessionId(whole(&mut fields, "sessionId").map_err(text)?);
        Logged::TakeMark(session, Arc::new(line.entry.clone()))
    } else {
        Logged::Entry(Arc::new(line.entry.clone()))
    };
    let row = LogRow { seq: line.seq, at: line.at, logged };
    Ok(Line::Record(Stored::Log(row), Some(line)))
}

/// A number as JSON.
fn number(number: u64) -> Json {
    #[expect(clippy::cast_precision_loss, reason = "counters do not get that far")]
    Json::from(number as f64)
}

/// Reads what [`number`] made.
fn read_number(json: &Json) -> Result<u64, Invalid> {
    let mut fields = Object::default();
    fields.set("number", json.clone());
    whole(&mut fields, "number")
}

/// A required integer.
fn whole(fields: &mut Object, field: &'static str) -> Result<u64, Invalid> {
    fields.whole_if_any(field)?.ok_or_else(|| Invalid::missing(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_that_would_take_much_memory_is_refused() {
        let list =
            |begin: &str, count: usize| format!("{begin}{}", "0,".repeat(count)).into_bytes();
        for (line, fault) in [
            (list("{\"session\":[", MAX_VALUES), "values"),
            (list("{\"member\":[", MAX_VALUES), "values"),
            (vec![b'-'; MAX_OTHER + 1], "longer than 16777216 bytes"),
        ] {
            let refused = Line::read(&line).unwrap_err();
            assert!(refused.contains(fault), "{refused}");
        }
        let session = list("{\"session\":\"", MAX_OTHER);
        assert!(Line::read(&session).unwrap_err().contains("is not JSON"));
    }
}
