//! Statements and functions that are made once in each session.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A statement or a function that is made in a session before it is called. Its name follows from its text, so it means the
/// same in every session, whichever program made it.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) name: Arc<str>,
    /// The statement that makes it, also if it was made already.
    pub(crate) setup: String,
}

impl Script {
    /// A prepared statement: the types of its parameters, and its text.
    pub(crate) fn of_statement(text: &str) -> Self {
        let name = name(text);
        // `PREPARE` fails if it was made already. The name of a schema contains no `$$`.
        let prepare = format!(
            "BEGIN
               IF NOT EXISTS (SELECT FROM pg_prepared_statements WHERE name = '{name}') THEN
                 EXECUTE $${}$$;
               END IF;
             END",
            format_args!("PREPARE {name}{text}")
        );
        let mut setup = "DO ".to_owned();
        quote(&prepare, &mut setup);
        Self { name: name.into(), setup }
    }

    /// A temporary function: its parameters and what it returns, and its body in PL/pgSQL.
    pub(crate) fn of_function(signature: &str, body: &str) -> Self {
        let text = format!("{signature} LANGUAGE plpgsql VOLATILE AS $${body}$$");
        let name = format!("pg_temp.{}", name(&text));
        let setup = format!("CREATE OR REPLACE FUNCTION {name}{text}");
        Self { name: name.into(), setup }
    }
}

fn name(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("swarm_{:016x}", hasher.finish())
}

/// Writes a text as SQL, whatever `standard_conforming_strings` is.
pub(crate) fn quote(text: &str, sql: &mut String) {
    sql.push_str("E'");
    for part in text.split_inclusive(['\'', '\\']) {
        sql.push_str(part);
        match part.as_bytes().last() {
            Some(b'\'') => sql.push('\''),
            Some(b'\\') => sql.push('\\'),
            _ => {}
        }
    }
    sql.push('\'');
}
