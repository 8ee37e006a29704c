//! `swarm verify`: whether a take holds, and what that says.

use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::{Client, verify};
use swarm_core::TakeId;
use swarm_core::json::{Json, Object};

use crate::arguments::VerifyOptions;
use crate::{Failure, console};

/// Says of a take, in a file or at an address, who signed what. 0: it holds; 1: it does not; 2: there is
/// none to read.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    let verdict = read(&options.take)
        .and_then(|(record, asked)| Ok(verify(&record, options.key.as_deref(), asked)?));
    match verdict {
        Ok(verdict) => {
            // Whoever has stopped reading still gets the verdict.
            let _ = console::print(&verdict.sentences.join("\n"));
            ExitCode::from(u8::from(!verdict.holds))
        }
        Err(failure) => {
            console::warn(&format!("cannot be read: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// The most bytes of a file that are read: more than any record has.
const LARGEST: u64 = 16 << 20;

/// The record, and the id that the address asks for.
fn read(take: &str) -> Result<(Object, Option<TakeId>), Failure> {
    let is_address = take.starts_with("http://") || take.starts_with("https://");
    let (json, asked) = if is_address { fetched(take)? } else { (in_file(take)?, None) };
    Ok((json.into_object(), asked))
}

fn in_file(path: &str) -> Result<Json, Failure> {
    let read = File::open(path).and_then(|file| {
        let mut text = Vec::new();
        file.take(LARGEST).read_to_end(&mut text).map(|_| text)
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
