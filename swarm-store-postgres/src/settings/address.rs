//! Parses an address into its parameters, as libpq does: user, hosts and database of the address are parameters too,
//! and one after the `?` replaces them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use crate::failure::{Failure, Outcome};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The parameters of an address by name. None is empty, except those after the `?`.
pub(super) fn parameters(url: &str) -> Outcome<BTreeMap<String, String>> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or_else(|| Failure::misconfigured("no address of a database"))?;
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (credentials, rest) = address.split_once('@').unwrap_or(("", address));
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    if hosts.contains('@') {
        return Err(Failure::misconfigured(
            "an @ in the user or the password must be percent-encoded, as %40",
        ));
    }
    let (hosts, ports) = hosts_and_ports(hosts)?;
    let mut parameters = BTreeMap::new();
    for (name, value) in [
        ("user", decoded("user", user)?),
        ("password", decoded("password", password)?),
        ("host", decoded("host", &hosts)?),
        ("port", decoded("port", &ports)?),
        ("dbname", decoded("dbname", database)?),
    ] {
        if !value.is_empty() {
            parameters.insert(name.to_owned(), value.into_owned());
        }
    }
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let (name, value) = (decoded("parameters", name)?, decoded(name, value)?);
        // As JDBC writes it.
        let (name, value) = match (&*name, &*value) {
            ("ssl", "true") => ("sslmode".into(), "require".into()),
            _ => (name, value),
        };
        parameters.insert(name.into_owned(), value.into_owned());
    }
    Ok(parameters)
}

/// The hosts, and their ports, each with commas between them. The ports are empty if no host has one.
fn hosts_and_ports(hosts: &str) -> Outcome<(String, String)> {
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        let (name, port) = match host.strip_prefix('[').map(|host| host.split_once(']')) {
            Some(Some((name, ""))) => (name, ""),
            Some(Some((name, rest))) if rest.starts_with(':') => (name, &rest[1..]),
            Some(_) => {
                return Err(Failure::invalid(
                    "host",
                    "a name, an address, or an IPv6 address in []",
                ));
            }
            None => host.split_once(':').unwrap_or((host, "")),
        };
        names.push(name);
        ports.push(port);
    }
    let ports =
        if ports.iter().all(|port| port.is_empty()) { String::new() } else { ports.join(",") };
    Ok((names.join(","), ports))
}

fn decoded<'a>(name: &str, value: &'a str) -> Outcome<Cow<'a, str>> {
    percent_decode_str(value).decode_utf8().map_err(|_| Failure::invalid(name, "UTF-8"))
}
