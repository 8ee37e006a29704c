//! Contexts: services and their tokens by name, in the file `contexts.json` (mode 0600) of the user's
//! configuration folder. A flag beats the environment, which beats the context in use. The token of a context goes to
//! the address of that context alone, and that address gets no other token.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use swarm_client::Client;
use swarm_core::json::{self, Json};

use super::arguments::{Access, ContextVerb};
use crate::command::{
    Output, check_name, configuration_folder, note, read_private_json, replace_private,
};
use crate::failure::CommandError;
use crate::secrets::read_secret;
use crate::text_file::trimmed;

/// The contexts, and the name of the one in use.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Contexts {
    in_use: Option<String>,
    contexts: BTreeMap<String, Context>,
}

/// A service, and an operator's token there.
#[derive(Serialize, Deserialize)]
struct Context {
    url: String,
    token: String,
}

impl Contexts {
    fn read() -> Result<Self, CommandError> {
        Ok(read_private_json(&Self::path()?)?.unwrap_or_default())
    }

    fn path() -> Result<PathBuf, CommandError> {
        Ok(configuration_folder()?.join("contexts.json"))
    }

    fn write(&self) -> Result<(), CommandError> {
        let path = Self::path()?;
        note(&format!("writing {} (mode 0600)", path.display()));
        replace_private(&path, &json::write(self))
    }

    fn get(&self, name: &str) -> Result<&Context, CommandError> {
        let known = "swarm admin context list shows those there are";
        let absent = || CommandError::Usage(format!("no context {name:?}; {known}"));
        self.contexts.get(name).ok_or_else(absent)
    }

    /// The context in use, and its name.
    fn used(&self) -> Result<Option<(&str, &Context)>, CommandError> {
        let Some(name) = self.in_use.as_deref() else { return Ok(None) };
        match self.contexts.get(name) {
            Some(context) => Ok(Some((name, context))),
            None => Err(CommandError::Refused(format!(
                "{}: the context in use, {name:?}, is not there",
                Self::path()?.display()
            ))),
        }
    }
}

/// The service and the token of a command. Both come from a context, or both are given by flags or variables: a token
/// of one source is never sent to an address of another.
pub(super) fn resolve(access: &Access) -> Result<(Client, String), CommandError> {
    let named = access.context.as_deref();
    // A named context is a flag, which beats the environment.
    let url = given_url(access).filter(|_| named.is_none() || access.url.is_some());
    let token = match (&access.token_file, named) {
        (None, Some(_)) => None,
        _ => given_token(access)?,
    };
    if let (Some(url), Some(token), None) = (&url, &token, named) {
        return Ok((access.trust.named_client(url)?, token.clone()));
    }
    let contexts = Contexts::read()?;
    let stored = match named {
        Some(name) => Some((name, contexts.get(name)?)),
        None => contexts.used()?,
    };
    let Some((name, Context { url: its_url, token: its_token })) = stored else {
        return Err(match url {
            Some(_) => no_token("no token"),
            None => CommandError::Usage(format!(
                "no service: {BOTH_GIVEN}, or run swarm admin context add NAME"
            )),
        });
    };
    let service = access.trust.named_client(its_url)?;
    if let Some(url) =
        url.filter(|url| !access.trust.named_client(url).is_ok_and(|it| it.url() == service.url()))
    {
        let source = url_source(access);
        return Err(no_token(&format!(
            "no token for {url} of {source}: the token of context {name} is for {its_url} alone"
        )));
    }
    if let Some(source) = token.filter(|token| token != its_token).map(|_| token_source(access)) {
        return Err(CommandError::Usage(format!(
            "no service for the token of {source}: it is not sent to {its_url}, the address of context {name}; \
             {BOTH_GIVEN}, or neither"
        )));
    }
    Ok((service, its_token.clone()))
}

/// How address and token are given without a context.
const BOTH_GIVEN: &str = "give both, --url and --token-file or SWARM_URL and SWARM_ADMIN_TOKEN";

fn no_token(what: &str) -> CommandError {
    CommandError::Credential(format!("{what}; {BOTH_GIVEN}"))
}

fn given_url(access: &Access) -> Option<String> {
    let url = access.url.clone().or_else(|| variable("SWARM_URL"));
    url.map(|url| trimmed(&url).to_owned())
}

fn url_source(access: &Access) -> &'static str {
    if access.url.is_some() { "--url" } else { "SWARM_URL" }
}

fn token_source(access: &Access) -> &'static str {
    if access.token_file.is_some() { "--token-file" } else { "SWARM_ADMIN_TOKEN" }
}

fn given_token(access: &Access) -> Result<Option<String>, CommandError> {
    match &access.token_file {
        Some(file) => match read_secret(file) {
            Ok(token) if token.is_empty() => {
                Err(CommandError::Credential(format!("--token-file: {} is empty", file.display())))
            }
            Ok(token) => Ok(Some(token)),
            Err(failure) => Err(CommandError::Credential(failure.to_string())),
        },
        None => {
            let token = variable("SWARM_ADMIN_TOKEN");
            Ok(token.map(|token| trimmed(&token).to_owned()))
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs `swarm admin context`.
pub(super) fn run(
    access: &Access,
    output: Output,
    dry_run: bool,
    verb: ContextVerb,
) -> Result<(), CommandError> {
    if dry_run && !matches!(verb, ContextVerb::List) {
        let text = "contexts are files of this machine, for which there is no dry run: nothing was changed";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let mut contexts = Contexts::read()?;
    match verb {
        ContextVerb::Add { name } => {
            check_name(&name)?;
            let url = given_url(access);
            let url = url.ok_or_else(|| CommandError::Usage("give --url URL".to_owned()))?;
            let absent = || CommandError::Credential("give --token-file FILE".to_owned());
            let token = given_token(access)?.ok_or_else(absent)?;
            let url = access.trust.named_client(&url)?.url().to_owned();
            contexts.contexts.insert(name.clone(), Context { url, token });
            let is_in_use = *contexts.in_use.get_or_insert_with(|| name.clone()) == name;
            contexts.write()?;
            if is_in_use {
                note(&format!("context {name} is stored, and in use; next: swarm admin status"));
            } else {
                note(&format!("context {name} is stored; next: swarm admin context use {name}"));
            }
            Ok(())
        }
        ContextVerb::Use { name } => {
            contexts.get(&name)?;
            contexts.in_use = Some(name.clone());
            contexts.write()?;
            note(&format!("context {name} is in use; next: swarm admin status"));
            Ok(())
        }
        ContextVerb::List => {
            let row = |(name, context): (&String, &Context)| {
                let in_use = Json::Bool(contexts.in_use.as_ref() == Some(name));
                let (name, url) = (Json::from(&**name), Json::from(&*context.url));
                Json::from([("name", name), ("url", url), ("inUse", in_use)])
            };
            let rows = contexts.contexts.iter().map(row).collect();
            output.rows(&Json::List(rows), "", &["name", "url", "inUse"])
        }
    }
}
