//! `swarm verify`: whether a take holds, and what that says.

use std::process::ExitCode;

use percent_encoding::percent_decode_str;
use swarm_client::{Client, verify};
use swarm_core::TakeId;
use swarm_core::json::{Json, Object};

use crate::Failure;
use crate::arguments::VerifyOptions;

/// Says of a take, in a file or at an address, who signed what. 0: it holds; 1: it does not; 2: there is
/// none to read.
pub(crate) fn run(options: &VerifyOptions) -> ExitCode {
    let verdict = read(&options.take)
        .and_then(|(record, asked)| Ok(verify(&record, options.key.as_deref(), asked)?));
    match verdict {
        Ok(verdict) => {
            println!("{}", verdict.sentences.join("\n"));
            ExitCode::from(u8::from(!verdict.holds))
        }
        Err(failure) => {
            eprintln!("cannot be read: {failure}");
            ExitCode::from(2)
        }
    }
}

/// The record, and the id that the address asks for.
fn read(take: &str) -> Result<(Object, Option<TakeId>), Failure> {
    let is_address = take.starts_with("http://") || take.starts_with("https://");
    let (json, asked) =
        if is_address { fetched(take)? } else { (Json::read(&std::fs::read(take)?)?, None) };
    Ok((json.into_object(), asked))
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
