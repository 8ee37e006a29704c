//! `swarm export`: writes all that a service shows the public into a folder, as files of a line for each record, with a
//! manifest.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use swarm_client::{Client, Error};
use swarm_core::domain::RunningDigest;
use swarm_core::json::{self, Json, Object};

use crate::arguments::ExportOptions;
use crate::command::{Progress, note, now, shown, text_of};
use crate::failure::CommandError;

/// A list of the service, and the file of its records.
struct List {
    file: &'static str,
    path: &'static str,
    /// The field with the records.
    field: &'static str,
    /// The parameter that names a position, and the field with the next one. `None`: the list has one page.
    position: Option<(&'static str, &'static str)>,
    /// What is read of each of its records.
    part: Option<Part>,
}

/// What the service has of a record at a path of its own.
struct Part {
    file: &'static str,
    /// The path, from the id of the record.
    path: fn(&str) -> String,
    /// The field with a list; `None`: the answer is what is written, unless it is null.
    field: Option<&'static str>,
}

const LISTS: [List; 7] = [
    List {
        file: "takes.ndjson",
        path: "/api/swarm/takes?superseded=true&limit=500",
        field: "takes",
        position: Some(("before", "nextBefore")),
        part: None,
    },
    List {
        file: "sessions.ndjson",
        path: "/api/swarm/sessions?limit=100",
        field: "sessions",
        position: Some(("before", "nextBefore")),
        part: Some(Part {
            file: "briefs.ndjson",
            path: |session| format!("/api/swarm/brief?session={session}"),
            field: None,
        }),
    },
    List {
        file: "memos.ndjson",
        path: "/api/swarm/memos?limit=100",
        field: "memos",
        position: Some(("before", "nextBefore")),
        part: None,
    },
    List {
        file: "members.ndjson",
        path: "/api/swarm/members?",
        field: "members",
        position: None,
        part: None,
    },
    List {
        file: "subjects.ndjson",
        path: "/api/swarm/subjects?limit=500",
        field: "subjects",
        position: Some(("after", "nextAfter")),
        part: Some(Part {
            file: "snapshots.ndjson",
            path: |subject| format!("/api/swarm/subjects/{subject}/snapshots"),
            field: Some("snapshots"),
        }),
    },
    List {
        file: "log.ndjson",
        path: "/api/swarm/log?limit=1000",
        field: "entries",
        position: Some(("after", "next")),
        part: None,
    },
    List {
        file: "committee.ndjson",
        path: "/api/ic/sessions?limit=500",
        field: "sessions",
        position: Some(("before", "nextBefore")),
        part: Some(Part {
            file: "committee-days.ndjson",
            path: |day| format!("/api/ic/sessions/{day}"),
            field: None,
        }),
    },
];

/// Writes the export to a folder, which must be empty, or is made.
pub(crate) fn run(options: &ExportOptions) -> Result<(), CommandError> {
    let client = options.trust.named_client(&options.url)?;
    let folder = &options.out;
    let unwritable =
        |error: std::io::Error| CommandError::Usage(format!("{}: {error}", shown(folder)));
    fs::create_dir_all(folder).map_err(unwritable)?;
    // Held until the export ends, whatever ends it.
    let lock = File::open(folder).map_err(unwritable)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let what = format!("another export is writing to {}", shown(folder));
            return Err(CommandError::Refused(what));
        }
        Err(TryLockError::Error(error)) => return Err(unwritable(error)),
    }
    for entry in fs::read_dir(folder).map_err(unwritable)? {
        // An export that was stopped leaves unfinished files, which this one replaces.
        if !entry
            .map_err(unwritable)?
            .file_name()
            .as_encoded_bytes()
            .ends_with(UNFINISHED.as_bytes())
        {
            return Err(CommandError::Usage(format!("{} is not empty", shown(folder))));
        }
    }
    let export = Export { client, folder, progress: Progress::of_requests() };
    export.write().inspect_err(|_| export.remove())
}

const MANIFEST: &str = "manifest.json";

/// The ending of a file until the whole export is written.
const UNFINISHED: &str = ".unfinished";

fn unfinished(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{UNFINISHED}"))
}

/// The names of all files, the manifest last.
fn names() -> impl Iterator<Item = &'static str> {
    let of_list = |list: &'static List| [Some(list.file), list.part.as_ref().map(|part| part.file)];
    LISTS.iter().flat_map(of_list).flatten().chain([MANIFEST])
}

/// The most pages of a list: a service whose pages never end is left.
const MAX_PAGES: usize = 100_000;

/// An export in progress.
struct Export<'a> {
    client: Client,
    folder: &'a Path,
    progress: Progress,
}

impl Export<'_> {
    /// Writes the files, and the manifest last.
    fn write(&self) -> Result<(), CommandError> {
        let (mut files, mut authors) = (Vec::new(), BTreeSet::new());
        for list in &LISTS {
            let mut file = RecordFile::new(self.folder, list.file)?;
            let ids = self.write_list(list, &mut file, &mut authors)?;
            if list.field == "members" {
                // The list has those that are active.
                for author in std::mem::take(&mut authors) {
                    file.write(&self.get(&format!("/api/swarm/members/{}", encoded(&author)))?)?;
                }
            }
            files.push(file.end()?);
            if let Some(part) = &list.part {
                files.push(self.write_parts(part, &ids)?);
            }
        }
        let manifest = Json::from([
            ("format", Json::from("swarm-export/1")),
            ("service", Json::from(self.client.service())),
            ("at", Json::Text(now().to_string())),
            ("files", Json::List(files)),
        ]);
        let written = fs::write(unfinished(self.folder, MANIFEST), json::write(&manifest) + "\n");
        written.map_err(|error| unwritable(MANIFEST, &error))?;
        for name in names() {
            fs::rename(unfinished(self.folder, name), self.folder.join(name))
                .map_err(|error| unwritable(name, &error))?;
        }
        Ok(())
    }

    /// Removes the files that were written.
    fn remove(&self) {
        for name in names() {
            // Those that were not begun do not exist.
            let _ = fs::remove_file(unfinished(self.folder, name));
        }
    }

    /// Writes the records of a list. Returns their ids, if something is read of each. Of takes and memos, `authors` gets the members; of members,
    /// it loses those that are listed.
    fn write_list(
        &self,
        list: &List,
        file: &mut RecordFile,
        authors: &mut BTreeSet<String>,
    ) -> Result<Vec<String>, CommandError> {
        let (mut at, mut ids) = (String::new(), Vec::new());
        for _ in 0..MAX_PAGES {
            let mut answer = self.get(&format!("{}{at}", list.path))?.into_object();
            let next = list.position.and_then(|position| following(position, &mut answer));
            let page = records(&mut answer, list.path, list.field)?;
            for record in &page {
                file.write(record)?;
                match list.field {
                    "takes" | "memos" => authors.extend(Some(text_of(record, "memberId"))),
                    "members" => drop(authors.remove(&text_of(record, "id"))),
                    _ => {}
                }
                ids.extend(list.part.as_ref().and_then(|_| id_of(record)));
            }
            match next {
                // A page can be empty where what it would have is not shown, and others follow.
                Some(next) if next != at => at = next,
                _ => return Ok(ids),
            }
        }
        Err(CommandError::Unreached(format!("{} does not end", list.path)))
    }

    /// Writes what the service has of each of these records.
    fn write_parts(&self, part: &Part, ids: &[String]) -> Result<Json, CommandError> {
        let mut file = RecordFile::new(self.folder, part.file)?;
        for id in ids {
            let path = (part.path)(&encoded(id));
            let answer = match self.client.get(&path) {
                // It was withdrawn since the list was read.
                Err(Error::Refused(refused)) if refused.status == 404 => continue,
                answer => answer?,
            };
            self.progress.add(1);
            let found = match part.field {
                Some(field) => records(&mut answer.into_object(), &path, field)?,
                None => Vec::from_iter(Some(answer).filter(|answer| *answer != Json::Null)),
            };
            found.iter().try_for_each(|record| file.write(record))?;
        }
        file.end()
    }

    fn get(&self, path: &str) -> Result<Json, CommandError> {
        let answer = self.client.get(path)?;
        self.progress.add(1);
        Ok(answer)
    }
}

/// The records of an answer.
fn records(answer: &mut Object, path: &str, field: &str) -> Result<Vec<Json>, CommandError> {
    match answer.take(field) {
        Some(Json::List(records)) => Ok(records),
        _ => Err(CommandError::Unreached(format!("{path} has no {field}"))),
    }
}

/// The id of a record, or the day of one of the committee, as text.
fn id_of(record: &Json) -> Option<String> {
    let Json::Object(fields) = record else { return None };
    match fields.get("id").or_else(|| fields.get("date"))? {
        Json::Text(id) => Some(id.clone()),
        id => Some(json::write(id)),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A file of a line for each record.
struct RecordFile {
    name: &'static str,
    file: BufWriter<File>,
    digest: RunningDigest,
    records: usize,
}

impl RecordFile {
    fn new(folder: &Path, name: &'static str) -> Result<Self, CommandError> {
        let file = File::create(unfinished(folder, name));
        let file = file.map_err(|error| unwritable(name, &error))?;
        let (file, digest) = (BufWriter::new(file), RunningDigest::default());
        Ok(Self { name, file, digest, records: 0 })
    }

    fn write(&mut self, record: &Json) -> Result<(), CommandError> {
        let line = match self.name {
            // The exact texts of the entries.
            "log.ndjson" => json::write(record) + "\n",
            _ => json::write_line(record),
        };
        self.digest.update(line.as_bytes());
        self.records += 1;
        self.file.write_all(line.as_bytes()).map_err(|error| unwritable(self.name, &error))
    }

    /// Ends the file, and returns what the manifest says of it.
    fn end(mut self) -> Result<Json, CommandError> {
        self.file.flush().map_err(|error| unwritable(self.name, &error))?;
        note(&format!("{}: {} records", self.name, self.records));
        Ok(Json::from([
            ("file", Json::from(self.name)),
            ("records", Json::from(self.records as f64)),
            ("digest", Json::Text(self.digest.digest().to_string())),
        ]))
    }
}

fn unwritable(name: &str, error: &std::io::Error) -> CommandError {
    CommandError::Refused(format!("{name}: {error}"))
}

/// The parameter for the next page, if there is one.
fn following((parameter, field): (&str, &str), answer: &mut Object) -> Option<String> {
    // The log always says where it goes on.
    if answer.take("more") == Some(Json::Bool(false)) {
        return None;
    }
    let next = match answer.take(field)? {
        Json::Text(text) => text,
        value => json::write(&value),
    };
    Some(format!("&{parameter}={}", encoded(&next)))
}
