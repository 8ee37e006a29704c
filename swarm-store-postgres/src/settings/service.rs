//! The file with services, `~/.pg_service.conf`: parameters of addresses under names, `[name]` and a `parameter=value` on each
//! line after it.

use std::path::PathBuf;

use crate::failure::{Failure, Outcome};

/// Returns the parameters of a service, of the first file that has it. As libpq: of the file that `PGSERVICEFILE` names, else the
/// user's, and then of `pg_service.conf` in the folder that `PGSYSCONFDIR` names.
pub(super) fn parameters(
    name: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Outcome<Vec<(String, String)>> {
    let path = |name| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let own = || Some(path("HOME")?.join(".pg_service.conf"));
    let files = [
        path("PGSERVICEFILE").or_else(own),
        path("PGSYSCONFDIR").map(|folder| folder.join("pg_service.conf")),
    ];
    let found = files.into_iter().flatten().find_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        section(&text, name)
    });
    found.ok_or_else(|| Failure::invalid("service", "the name of a service in pg_service.conf"))
}

fn section(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| {
        line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(name)
    })?;
    let lines = lines.take_while(|line| !line.starts_with('['));
    let pairs = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    Some(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect())
}
