//! `swarm export`: writes all that a service shows the public into a folder, as files of a line for each record, with a
//! manifest.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use swarm_client::Client;
use swarm_core::domain::RunningDigest;
use swarm_core::json::{self, Json, Object};

use crate::arguments::ExportOptions;
use crate::command::{Progress, note, now, shown};
use crate::failure::CommandError;

/// A list of the service, and the file of its records.
struct List {
    file: &'static str,
    path: &'static str,
    /// The field with the records.
    field: &'static str,
    /// The parameter that names a position, and the field with the next one. `None`: the list has one page.
    position: Option<(&'static str, &'static str)>,
}

const LISTS: [List; 7] = [
    List {
        file: "takes.ndjson",
        path: "/api/swarm/takes?superseded=true&limit=500",
        field: "takes",
        position: Some(("before", "nextBefore")),
    },
    List {
        file: "sessions.ndjson",
        path: "/api/swarm/sessions?limit=100",
        field: "sessions",
        position: Some(("before", "nextBefore")),
    },
    List { file: "members.ndjson", path: "/api/swarm/members?", field: "members", position: None },
    List {
        file: "memos.ndjson",
        path: "/api/swarm/memos?limit=100",
        field: "memos",
        position: Some(("before", "nextBefore")),
    },
    List {
        file: "subjects.ndjson",
        path: "/api/swarm/subjects?limit=500",
        field: "subjects",
        position: Some(("after", "nextAfter")),
    },
    List {
        file: "log.ndjson",
        path: "/api/swarm/log?limit=1000",
        field: "entries",
        position: Some(("after", "next")),
    },
    List {
        file: "committee.ndjson",
        path: "/api/ic/sessions?limit=500",
        field: "sessions",
        position: Some(("before", "nextBefore")),
    },
];

/// Writes the files, and the manifest last. The folder must be empty, or is made.
pub(crate) fn run(options: &ExportOptions) -> Result<(), CommandError> {
    let client = options.trust.client(&options.url)?;
    let folder = &options.out;
    let unwritable =
        |error: std::io::Error| CommandError::Usage(format!("{}: {error}", shown(folder)));
    fs::create_dir_all(folder).map_err(unwritable)?;
    if fs::read_dir(folder).map_err(unwritable)?.next().is_some() {
        return Err(CommandError::Usage(format!("{} is not empty", shown(folder))));
    }
    let progress = Progress::of_requests();
    let mut files = Vec::new();
    for list in &LISTS {
        let (records, digest) = list.write(&client, folder, &progress)?;
        note(&format!("{}: {records} records", list.file));
        files.push(Json::from([
            ("file", Json::from(list.file)),
            ("records", Json::from(records as f64)),
            ("digest", Json::Text(digest)),
        ]));
    }
    let manifest = Json::from([
        ("format", Json::from("swarm-export/1")),
        ("service", Json::from(client.service())),
        ("at", Json::Text(now().to_string())),
        ("files", Json::List(files)),
    ]);
    fs::write(folder.join("manifest.json"), json::write(&manifest) + "\n").map_err(unwritable)
}

/// The most pages of a list: a service whose pages never end is left.
const MAX_PAGES: usize = 100_000;

impl List {
    /// Writes the records of the list. Returns their number, and the digest of the file.
    fn write(
        &self,
        client: &Client,
        folder: &Path,
        progress: &Progress,
    ) -> Result<(usize, String), CommandError> {
        let unwritable =
            |error: std::io::Error| CommandError::Refused(format!("{}: {error}", self.file));
        let mut file =
            BufWriter::new(File::create_new(folder.join(self.file)).map_err(unwritable)?);
        let (mut digest, mut records, mut at) = (RunningDigest::default(), 0, String::new());
        for _ in 0..MAX_PAGES {
            let mut answer = client.get(&format!("{}{at}", self.path))?.into_object();
            progress.add(1);
            let next = self.position.and_then(|position| following(position, &mut answer));
            let Some(Json::List(page)) = answer.take(self.field) else {
                return Err(CommandError::Unreached(format!(
                    "{} has no {}",
                    self.path, self.field
                )));
            };
            for record in &page {
                let line = json::write(record) + "\n";
                digest.update(line.as_bytes());
                file.write_all(line.as_bytes()).map_err(unwritable)?;
            }
            records += page.len();
            match next {
                Some(next) if !page.is_empty() => at = next,
                _ => {
                    file.flush().map_err(unwritable)?;
                    return Ok((records, digest.digest().to_string()));
                }
            }
        }
        Err(CommandError::Unreached(format!("{} does not end", self.path)))
    }
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
    Some(format!("&{parameter}={}", utf8_percent_encode(&next, NON_ALPHANUMERIC)))
}
