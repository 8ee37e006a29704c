//! `swarm verify`: verifies the signature of a take.

use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::{Client, verify};
use swarm_core::TakeId;
use swarm_core::json::{Json, Object};

use crate::arguments::VerifyOptions;
use crate::{Failure, console};

/// Prints what is proven about a take, in a file or at a URL. Exit status: 0 the signature is valid, 1 it is
/// not, 2 the take could not be read.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    let verdict = read(&options.take)
        .and_then(|(record, asked)| Ok(verify(&record, options.key.as_deref(), asked)?));
    match verdict {
        Ok(verdict) => {
            // If the output is closed, the exit status still has the verdict.
            let _ = console::print(&verdict.sentences.join("\n"));
            ExitCode::from(u8::from(!verdict.holds))
        }
        Err(failure) => {
            console::warn(&format!("cannot be read: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Maximum number of bytes read from a file; larger than any record.
const MAX_FILE: u64 = 16 << 20;

/// The record, and the take id in the URL, if it is one.
fn read(take: &str) -> Result<(Object, Option<TakeId>), Failure> {
    let is_address = take.starts_with("http://") || take.starts_with("https://");
    let (json, asked) = if is_address { fetched(take)? } else { (in_file(take)?, None) };
    Ok((json.into_object(), asked))
}

fn in_file(path: &str) -> Result<Json, Failure> {
    let read = File::open(path).and_then(|file| {
        let mut text = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut text).map(|_| text)
    });
    Ok(Json::read(&read.map_err(|error| format!("{path}: {error}"))?)?)
}

fn fetched(url: &str) -> Result<(Json, Option<TakeId>), Failure> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let json = Client::new(&format!("{scheme}://{host}"))?.without_retries().get(path)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let asked =
        path.rsplit_once("/takes/").map(|(_, id)| percent_decode_str(id).decode_utf8_lossy());
    Ok((json, asked.and_then(|id| id.parse().ok()).map(TakeId)))
}
