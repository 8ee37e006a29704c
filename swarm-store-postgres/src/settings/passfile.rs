//! The file with passwords, `~/.pgpass`: `host:port:database:user:password` on each line, `*` for any.

use std::path::Path;

use super::servers::Server;
use crate::failure::{Failure, Outcome};

/// Sets the password of each server, of the first line that fits. A file that does not exist has none. One that everybody may read, or that
/// others may write, is left out with a warning, as libpq does, which is returned; that its group may read it is how platforms hand over secrets.
pub(super) fn apply(file: &Path, servers: &mut [Server]) -> Outcome<Option<String>> {
    let Ok(found) = std::fs::metadata(file) else { return Ok(None) };
    #[cfg(unix)]
    if let Some(fault) = fault(std::os::unix::fs::PermissionsExt::mode(&found.permissions())) {
        let left_out = format!("the file with passwords is left out: {fault}: chmod 600");
        tracing::warn!("{left_out}");
        return Ok(Some(left_out));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let lines = std::fs::read_to_string(file);
    let lines = lines
        .map_err(|error| Failure::misconfigured(format!("the file with passwords: {error}")))?;
    for server in servers {
        let user = server.config.get_user().unwrap_or_default().to_owned();
        let database = server.config.get_dbname().unwrap_or(&user).to_owned();
        let wanted =
            |host: &String| [host.clone(), server.port.to_string(), database.clone(), user.clone()];
        let wanted: Vec<_> = server.hosts.iter().map(wanted).collect();
        let of_line = |line| wanted.iter().find_map(|wanted| password(line, wanted));
        if let Some(password) = lines.lines().find_map(of_line) {
            server.config.password(password);
        }
    }
    Ok(None)
}

/// What is wrong with the permissions of the file.
#[cfg(unix)]
fn fault(mode: u32) -> Option<&'static str> {
    match mode {
        _ if mode & 0o007 != 0 => Some("everybody may read or write it"),
        _ if mode & 0o030 != 0 => Some("its group may write it"),
        _ => None,
    }
}

/// The password of a line, if it is about this host, port, database and user.
fn password(line: &str, wanted: &[String; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = fields(line).into_iter();
    for value in wanted {
        let field = fields.next()?;
        if field != "*" && field != *value {
            return None;
        }
    }
    fields.next()
}

/// The fields of a line. A backslash makes the character after it part of the field.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => field.extend(characters.next()),
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_that_fits_has_the_password() {
        let wanted = ["db.example", "5432", "swarm", "desk"].map(str::to_owned);
        assert_eq!(
            password("db.example:5432:swarm:desk:se:cret", &wanted).as_deref(),
            Some("se:cret")
        );
        assert_eq!(password(r"*:*:*:desk:a\:b\\c", &wanted).as_deref(), Some(r"a:b\c"));
        for other in ["# *:*:*:*:x", "db.example:5433:swarm:desk:x", "*:*:*:ada:x", "", "*:*:*"] {
            assert_eq!(password(other, &wanted), None, "{other}");
        }
    }
}
