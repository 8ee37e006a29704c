//! The records of one tenant: sends queries and transactions, and checks the layout on the way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use redis::Value as Reply;
use swarm_core::store::backend::{
    Answer, CommitId, CommitOutcome, Item, Kind, Operation, Query, Reading, Table, Transaction,
};
use swarm_core::store::{BatchCommit, Changes, GroupCommit, Result};
use swarm_core::{Entropy as _, StoreError, SystemEntropy, TenantId};

use crate::changes::{self, LastHeard};
use crate::connection::client::{Client, bounded};
use crate::decode::{Decoder, MADE, Referred};
use crate::encode::{Encoded, EncodedTransaction, LongPart, Scripts};
use crate::keys::Keys;
use crate::layout::TenantLayout;
use crate::schema::Schema;
use crate::script_call::ScriptCall;
use crate::scripts;

/// Maximum transactions in a batch. Larger batches hardly reduce the cost of one.
const MAX_BATCH: usize = 32;

/// Size in bytes of a full batch, that of 32 typical takes. Redis serves no other client while it runs a batch.
const MAX_BATCH_BYTES: usize = 64 * 1024;

/// The reads of facts that a submission is judged by: one that is refused never reaches a write, which a replica would reject.
const JUDGED: [Operation; 2] = ["basis", "committee basis"];

/// How many times records are read while their long parts are replaced.
const MAX_READS: usize = 32;

/// How many times long parts are staged for a commit that finds them gone.
const MAX_COMMITS: usize = 3;

/// The time until the pieces for a commit that was never made expire, in milliseconds.
const STAGED_MILLIS: u64 = 600_000;

/// All tenants, over the same connections. Clones share everything.
#[derive(Clone)]
pub(crate) struct OpenTenants {
    client: Arc<Client>,
    schema: Schema,
    compiled: Arc<Scripts>,
    /// Those opened so far.
    shared: Arc<Mutex<HashMap<TenantId, Arc<Shared>>>>,
    heard: Arc<LastHeard>,
}

/// The state shared by all handles of one tenant.
#[derive(Default)]
pub(crate) struct Shared {
    layout: TenantLayout,
    group_commit: Arc<GroupCommit<Tenant>>,
}

impl OpenTenants {
    pub(crate) fn new(
        op: Operation,
        client: Client,
        tables: &'static [&'static Table],
    ) -> Result<Self> {
        let (compiled, shared, heard) = Default::default();
        let schema = Schema::new(op, tables)?;
        Ok(Self { client: Arc::new(client), schema, compiled, shared, heard })
    }

    pub(crate) fn open(&self, tenant: &TenantId) -> Tenant {
        let mut known = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = Arc::clone(known.entry(tenant.clone()).or_default());
        Tenant {
            id: tenant.clone(),
            client: Arc::clone(&self.client),
            schema: self.schema,
            compiled: Arc::clone(&self.compiled),
            keys: Keys::of(tenant),
            shared,
            heard: Arc::clone(&self.heard),
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The changes since the last call.
    pub(crate) async fn changes(&self) -> Result<Changes> {
        self.heard.exchange(&self.client).await
    }

    /// Whether a tenant has records other than transient ones.
    pub(crate) async fn is_used(&self, op: Operation, tenant: &TenantId) -> Result<bool> {
        let exists = redis::cmd("EXISTS").arg(Keys::of(tenant).records()).to_owned();
        self.client.query(op, &exists).await
    }

    /// Removes all keys of a tenant but the mark of its layout, which processes that have it open count on.
    pub(crate) async fn remove(&self, tenant: &TenantId) -> Result<()> {
        const OP: Operation = "remove";
        const BATCH: usize = 500;
        let keys = Keys::of(tenant);
        // Its id has no character that means something in a pattern.
        let mut names = self.client.scan(OP, &format!("{}*", keys.prefix())).await?;
        names.retain(|name| *name != keys.layout());
        // What lists the tenant goes last, so that a removal that stopped half-way can be repeated.
        names.sort_by_key(|name| *name == keys.records());
        changes::announce(&self.client, tenant).await?;
        for names in names.chunks(BATCH) {
            let unlink = redis::cmd("UNLINK").arg(names).to_owned();
            self.client.query::<()>(OP, &unlink).await?;
        }
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).remove(tenant);
        Ok(())
    }
}

/// The records of one tenant.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub(crate) id: TenantId,
    pub(crate) client: Arc<Client>,
    schema: Schema,
    compiled: Arc<Scripts>,
    pub(crate) keys: Keys,
    pub(crate) shared: Arc<Shared>,
    pub(crate) heard: Arc<LastHeard>,
}

impl Tenant {
    /// Answers queries.
    pub(crate) async fn read(&self, op: Operation, queries: &[Query]) -> Result<Reading> {
        self.read_from(op, &self.keys, queries).await
    }

    /// Answers queries from the tables under these keys, with entries of the log of the tenant up to their end of the log.
    pub(crate) async fn read_from(
        &self,
        op: Operation,
        keys: &Keys,
        queries: &[Query],
    ) -> Result<Reading> {
        self.check(op).await?;
        let encoded = self.compiled.queries(op, queries, JUDGED.contains(&op))?;
        let Encoded { compiled, fields, arguments } = &encoded.call;
        let names = keys.declared(&self.keys, compiled.is_transient_used);
        let mut script = ScriptCall::of(&compiled.script, &names);
        fields.pass(&mut script);
        arguments.pass(&mut script);
        let reads = async {
            for _ in 0..MAX_READS {
                let reply: Reply = match encoded.is_large {
                    true => self.client.run_bulk(op, &script).await?,
                    false => self.client.run(op, &script).await?,
                };
                let decode = |decoder: &mut Decoder<'_>| decoder.reading(queries, &reply).map(Some);
                let Some(reading) = self.completed(op, decode).await? else { continue };
                if self.client.replicas() == 0 || !acknowledges(op, queries, &reading) {
                    return Ok(reading);
                }
                let reply: Reply = self.client.commit(op, &script, &self.keys).await?;
                let decode = |decoder: &mut Decoder<'_>| decoder.reading(queries, &reply).map(Some);
                if let Some(reading) = self.completed(op, decode).await? {
                    return Ok(reading);
                }
            }
            Err(StoreError::contended(op, "records kept changing while they were read"))
        };
        bounded(op, reads).await
    }

    /// Decodes an answer, with the long parts that it refers to. `None` if one of them is gone, so the record has changed.
    async fn completed<T>(
        &self,
        op: Operation,
        decode: impl Fn(&mut Decoder<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut read = HashMap::new();
        loop {
            let mut decoder = Decoder::new(op, self.schema, &self.keys, &read);
            let decoded = decode(&mut decoder)?;
            let missing = decoder.missing;
            if missing.is_empty() {
                return Ok(decoded);
            }
            for part in missing {
                let Some(text) = self.long_part(op, &part).await? else { return Ok(None) };
                read.insert(part.key, text);
            }
        }
    }

    /// Reads a long part; `None` if it is gone.
    ///
    /// No script, since that copies each piece four times while the server is blocked: for 2.7 MB, 4.3 ms instead of 0.4.
    async fn long_part(&self, op: Operation, part: &Referred) -> Result<Option<Box<str>>> {
        let read = redis::cmd("LRANGE").arg(&part.key).arg(0).arg(-1).to_owned();
        let pieces: Vec<String> = self.client.query_bulk(op, &read).await?;
        Ok((pieces.len() == part.pieces).then(|| pieces.concat().into()))
    }

    /// Carries out a transaction.
    pub(crate) async fn commit(
        &self,
        op: Operation,
        transaction: &Transaction,
    ) -> Result<CommitOutcome> {
        let mut encoded = self.compiled.transaction(op, &self.keys, transaction)?;
        for _ in 0..MAX_COMMITS {
            self.stage(op, &encoded.long_parts).await?;
            let staged: Vec<_> =
                encoded.long_parts.iter().map(|part| part.staged.clone()).collect();
            let reply = bounded(op, self.send(op, transaction, encoded)).await;
            if !staged.is_empty() && !reply.as_ref().is_ok_and(is_made) {
                // What stays expires.
                let remove = redis::cmd("UNLINK").arg(staged).to_owned();
                let _ = self.client.query::<u64>(op, &remove).await;
            }
            let reply = reply?;
            let decode = |decoder: &mut Decoder<'_>| decoder.outcome(transaction, &reply);
            if is_missing(&reply) {
                encoded = self.compiled.transaction(op, &self.keys, transaction)?;
                continue;
            }
            let outcome = self.completed(op, decode).await?;
            return outcome.ok_or_else(|| StoreError::contended(op, "a record was replaced"));
        }
        Err(StoreError::unavailable(op, "what was staged for the commit was lost"))
    }

    /// Sends a transaction; returns its outcome. One whose repetition is recognized by its record is sent in a batch with others
    /// that are waiting.
    ///
    /// The change is announced with it, so that other processes learn of it even if this one is killed: the announcement is
    /// sent first, and neither waits for the other's answer. Batches are only announced by the next call of `changes`.
    async fn send(
        &self,
        op: Operation,
        transaction: &Transaction,
        encoded: EncodedTransaction,
    ) -> Result<Reply> {
        let waiting = Waiting { op, encoded };
        if transaction.kind == Kind::Aside {
            return self.commit_alone(&waiting).await;
        }
        let _changing = self.heard.changing(&self.id);
        if transaction.repetition.is_some() {
            let spawn = |calls| drop(tokio::spawn(calls));
            return self.shared.group_commit.commit(self, waiting, spawn).await;
        }
        self.mark(op).await?;
        let announced = changes::announce(&self.client, &self.id);
        let committed = self.commit_alone(&waiting);
        // If the announcement fails, the next call of `changes` makes it.
        let (_announced, committed) = tokio::join!(biased; announced, committed);
        committed
    }

    async fn commit_alone(&self, waiting: &Waiting) -> Result<Reply> {
        let mut outcomes = self.commit_together(&[waiting], &self.keys, None).await?;
        outcomes.pop().unwrap_or_else(|| Err(StoreError::corrupt(waiting.op, "no outcome")))
    }

    /// Sends transactions in one call; returns their outcomes. What they write expires if a time to live is given. Otherwise
    /// replicas have it when this returns, if commits wait for them.
    async fn commit_together(
        &self,
        batch: &[&Waiting],
        keys: &Keys,
        ttl: Option<u64>,
    ) -> Result<Vec<Result<Reply>>> {
        let op = batch.first().map_or("commit", |waiting| waiting.op);
        self.mark(op).await?;
        let Some(first) = batch.first() else { return Ok(Vec::new()) };
        let mut names = keys.declared(keys, first.encoded.call.compiled.is_transient_used);
        for Waiting { encoded, .. } in batch {
            names.extend(encoded.attempt.clone());
            names.extend(encoded.long_parts.iter().flat_map(LongPart::keys).cloned());
        }
        let mut script = ScriptCall::of(&first.encoded.call.compiled.script, &names);
        script.arg(batch.len());
        batch.iter().for_each(|waiting| waiting.encoded.call.fields.pass(&mut script));
        batch.iter().for_each(|waiting| waiting.encoded.call.arguments.pass(&mut script));
        if let Some(ttl) = ttl {
            script.arg(ttl);
        }
        let outcomes: Vec<Reply> = match ttl {
            Some(_) => self.client.run(op, &script).await?,
            None => self.client.commit(op, &script, &self.keys).await?,
        };
        if outcomes.len() != batch.len() {
            return Err(StoreError::corrupt(op, "another number of outcomes"));
        }
        Ok(outcomes.into_iter().zip(batch).map(|(outcome, it)| refused(it.op, outcome)).collect())
    }

    /// Writes long parts for a commit, a piece per call, so that other calls run in between. A part that is there already is not
    /// written again.
    async fn stage(&self, op: Operation, parts: &[LongPart]) -> Result<()> {
        if !parts.is_empty() {
            self.mark(op).await?;
        }
        for LongPart { key, staged, pieces, .. } in parts {
            let length = redis::cmd("LLEN").arg(key).to_owned();
            if self.client.query::<usize>(op, &length).await? == pieces.len() {
                continue;
            }
            for (place, piece) in pieces.iter().enumerate() {
                let mut script = ScriptCall::of(&scripts::STAGE, &[staged]);
                script.arg(place).arg(piece).arg(STAGED_MILLIS);
                self.client.run_bulk::<()>(op, &script).await?;
            }
        }
        Ok(())
    }

    /// Writes records that are loaded, under these keys, where they expire. Returns the keys of their long parts.
    pub(crate) async fn load(
        &self,
        op: Operation,
        keys: &Keys,
        items: Vec<Item>,
        ttl: u64,
    ) -> Result<Vec<String>> {
        let encoded = self.compiled.load(op, keys, new_id(op)?, items)?;
        let long_parts = encoded.long_parts.iter().map(|part| part.key.clone()).collect();
        self.stage(op, &encoded.long_parts).await?;
        let waiting = Waiting { op, encoded };
        let outcomes = self.commit_together(&[&waiting], keys, Some(ttl)).await?;
        let outcome = outcomes.into_iter().next();
        let outcome = outcome.unwrap_or_else(|| Err(StoreError::corrupt(op, "no outcome")))?;
        match is_missing(&outcome) {
            true => Err(StoreError::unavailable(op, "what was staged was lost")),
            false => Ok(long_parts),
        }
    }

    /// Before the tenant's first read: checks that its layout is the one of this release.
    async fn check(&self, op: Operation) -> Result<()> {
        if self.shared.layout.is_checked() {
            return Ok(());
        }
        Box::pin(self.shared.layout.check(op, &self.client, &self.keys)).await
    }

    /// Before the tenant's first write: marks it with the layout of this release.
    pub(crate) async fn mark(&self, op: Operation) -> Result<()> {
        if self.shared.layout.is_marked() {
            return Ok(());
        }
        Box::pin(self.shared.layout.mark(op, &self.client, &self.keys)).await
    }
}

/// A transaction that waits to be sent.
pub(crate) struct Waiting {
    op: Operation,
    encoded: EncodedTransaction,
}

#[async_trait]
impl BatchCommit for Tenant {
    type Transaction = Waiting;
    type Outcome = Reply;

    fn fits(batch: &[&Waiting], next: &Waiting) -> bool {
        let size = |waiting: &Waiting| waiting.encoded.len();
        let compiled = |waiting: &Waiting| Arc::clone(&waiting.encoded.call.compiled);
        let is_of_shape = |it: &&Waiting| {
            Arc::ptr_eq(&compiled(it), &compiled(next)) && compiled(it).takes_several
        };
        batch.iter().all(is_of_shape)
            && batch.len() < MAX_BATCH
            && batch.iter().map(|it| size(it)).sum::<usize>() < MAX_BATCH_BYTES
            && (batch.is_empty() || size(next) < MAX_BATCH_BYTES)
    }

    async fn commit_batch(&self, batch: &[&Waiting]) -> Result<Vec<Result<Reply>>> {
        self.commit_together(batch, &self.keys, None).await
    }
}

/// Whether facts show the only record with some values: the take that spent a nonce. A retried take is acknowledged again by
/// it, but not before it is on the replicas.
fn acknowledges(op: Operation, queries: &[Query], reading: &Reading) -> bool {
    let is_shown = |(query, answer): (&Query, &Answer)| match query {
        Query::Rows(range) => {
            let index = range.index.and_then(|index| range.table.indexes.get(index));
            index.is_some_and(|index| index.is_unique && index.columns.len() == range.prefix.len())
                && !answer.rows().is_empty()
        }
        _ => false,
    };
    JUDGED.contains(&op) && queries.iter().zip(&reading.answers).any(is_shown)
}

/// The outcome of a transaction, or the error for which nothing of it was written.
fn refused(op: Operation, outcome: Reply) -> Result<Reply> {
    let Reply::Array(values) = &outcome else { return Ok(outcome) };
    let [Reply::BulkString(kind), Reply::BulkString(why)] = values.as_slice() else {
        return Ok(outcome);
    };
    if kind != b"error" {
        return Ok(outcome);
    }
    let why = String::from_utf8_lossy(why).into_owned();
    Err(match () {
        () if why.starts_with("BEHIND ") => StoreError::clock_behind(op),
        () if why.starts_with("BACK ") => StoreError::went_back(op),
        () if why.starts_with("LATER ") => StoreError::contended(op, "another log has begun"),
        () => StoreError::corrupt(op, why),
    })
}

fn is_missing(outcome: &Reply) -> bool {
    let Reply::Array(values) = outcome else { return false };
    matches!(values.first(), Some(Reply::BulkString(kind)) if kind == b"missing")
}

fn is_made(outcome: &Reply) -> bool {
    matches!(outcome, Reply::BulkString(made) if made.starts_with(MADE))
}

/// A random identity.
pub(crate) fn new_id(op: Operation) -> Result<CommitId> {
    let mut id = [0; 16];
    SystemEntropy.fill(&mut id).map_err(|error| StoreError::unavailable(op, error))?;
    Ok(CommitId(id))
}
