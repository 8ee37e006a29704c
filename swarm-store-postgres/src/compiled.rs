//! What this process has compiled, by shape.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use swarm_core::store::backend::shape::WriteShape;

use crate::commits::{CommitKey, CommitScript, LoadScript};
use crate::reads::{Group, ReadScript};
use crate::schema::Schema;

/// What this process has compiled.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    reads: Compiled<Vec<Group>, ReadScript>,
    commits: Compiled<CommitKey, CommitScript>,
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

    pub(crate) fn commit(&self, key: CommitKey, schema: &Schema) -> Arc<CommitScript> {
        self.commits.get(key, |(shape, kinds)| CommitScript::compile(shape, kinds, schema))
    }

    pub(crate) fn load(&self, kinds: Vec<WriteShape>, schema: &Schema) -> Arc<LoadScript> {
        self.loads.get(kinds, |kinds| LoadScript::compile(kinds, schema))
    }
}
