//! Statements and functions that are made once in each session, and those that this process has compiled.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use swarm_core::store::backend::shape::{TransactionShape, WriteShape};

use crate::commits::{CommitScript, LoadScript};
use crate::reads::{Group, ReadScript, quote};
use crate::schema::Schema;

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

/// What this process has compiled.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    reads: Compiled<Vec<Group>, ReadScript>,
    commits: Compiled<(TransactionShape, Vec<WriteShape>), CommitScript>,
    loads: Compiled<Vec<WriteShape>, LoadScript>,
}

/// What is compiled is forgotten when there is more than this: the record layer has a few dozen shapes.
const MAX_COMPILED: usize = 1000;

#[derive(Debug)]
struct Compiled<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Compiled<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V> Compiled<K, V> {
    fn get(&self, key: K, compile: impl FnOnce(&K) -> V) -> Arc<V> {
        let mut compiled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(script) = compiled.get(&key) {
            return Arc::clone(script);
        }
        if compiled.len() >= MAX_COMPILED {
            compiled.clear();
        }
        let script = Arc::new(compile(&key));
        compiled.insert(key, Arc::clone(&script));
        script
    }
}

impl Scripts {
    pub(crate) fn read(&self, groups: Vec<Group>, schema: &Schema) -> Arc<ReadScript> {
        self.reads.get(groups, |groups| ReadScript::compile(groups, schema))
    }

    pub(crate) fn commit(
        &self,
        key: (TransactionShape, Vec<WriteShape>),
        schema: &Schema,
    ) -> Arc<CommitScript> {
        self.commits.get(key, |(shape, kinds)| CommitScript::compile(shape, kinds, schema))
    }

    pub(crate) fn load(&self, kinds: Vec<WriteShape>, schema: &Schema) -> Arc<LoadScript> {
        self.loads.get(kinds, |kinds| LoadScript::compile(kinds, schema))
    }
}
