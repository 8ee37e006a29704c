//! Implements [`Takes`]: filing, and reading takes.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::domain::{
    AttemptId, Revision, SessionId, SessionTerms, Signed, Take, TakeDraft, TakeId, TakeOnFile,
    Version,
};
use swarm_core::json::Json;
use swarm_core::proof::canonical;
use swarm_core::rules::Filing;
use swarm_core::store::records::{
    BEFORE_ROSTER, MAX_SUMMARY_PART, TakeProof, expecting, proof_text, public_key, read_proof,
};
use swarm_core::store::{
    Basis, BasisQuery, Filed, MemberTake, MemberTakeQuery, Result, Revisions, SessionTakes,
    TakeContext, TakeQuery, Takes, Versioned,
};
use tokio_postgres::Row;

use crate::db::{
    Arg, any, bytes, limit, moment_of, number, number_of, owned, signed, text, time_of, unsigned,
    versioned_at,
};
use crate::failure::{Failure, Outcome};
use crate::session_rows;
use crate::tenant::TenantStore;

#[async_trait]
impl Takes for TenantStore {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        const BASIS: &str = "SELECT * FROM swarm.basis_1($1, $2, $3, $4, $5, $6)";
        let seen = self.seen.position();
        let values = [
            number(seen.size.0),
            Arg::Bytes(query.token.as_bytes()),
            owned(query.date.to_string()),
            text(query.subject_id.as_str()),
            text(query.nonce.as_str()),
        ];
        self.facts("basis", BASIS, &seen, &values, basis).await
    }

    async fn file(&self, filing: &Filing) -> Result<Filed> {
        self.learn(self.file_take(filing).await).await
    }

    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>> {
        const ON_FILE: &str = include_str!("queries/take_on_file.sql");
        self.one("take", ON_FILE, &[number(id.0)], |row| {
            let next: Option<i64> = row.try_get(7)?;
            let superseded_by = next.map(unsigned).transpose()?.map(TakeId);
            Ok(TakeOnFile { take: take(row, 0)?, superseded_by })
        })
        .await
    }

    async fn take_context(&self, id: TakeId) -> Result<Option<TakeContext>> {
        const CONTEXT: &str = include_str!("queries/take_context.sql");
        let takes = self.all("take context", CONTEXT, &[number(id.0)], |row| take(row, 0)).await?;
        Ok(TakeContext::of(id, takes))
    }

    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        const OP: &str = "session takes";
        const ALL: &str = include_str!("queries/session_and_takes.sql");
        const LATEST: &str = include_str!("queries/session_and_latest_takes.sql");
        let sql = match query.revisions {
            Revisions::All => ALL,
            Revisions::Latest => LATEST,
        };
        let values = [number(query.session.0), number(query.after.0), limit(query.limit)];
        let rows = self.rows(OP, sql, &values).await?;
        session_takes(&rows).map_err(|failure| failure.of(OP))
    }

    async fn member_takes(&self, query: &MemberTakeQuery) -> Result<Vec<MemberTake>> {
        const OF_MEMBER: &str = include_str!("queries/takes_of_member.sql");
        let values = [
            text(query.member.as_str()),
            Arg::Number(query.before.map_or(i64::MAX, |id| signed(id.0))),
            limit(query.limit),
            limit(MAX_SUMMARY_PART),
            text(BEFORE_ROSTER),
            owned(expecting(&query.member)),
        ];
        let read = |row: &Row| {
            let (take, session) = (take(row, 0)?, session_rows::summary(row, 7)?);
            Ok(MemberTake { take, session, expected: row.try_get(11)? })
        };
        self.all("member takes", OF_MEMBER, &values, read).await
    }
}

/// A session and its takes, of one snapshot. The session comes first, in the columns of a take.
fn session_takes(rows: &[Row]) -> Outcome<Option<SessionTakes>> {
    let Some((first, rest)) = rows.split_first() else { return Ok(None) };
    let session =
        session_rows::versioned(number_of(first, 1)?, first.try_get(6)?, first.try_get(4)?)?;
    let takes = rest.iter().map(|row| take(row, 0)).collect::<Outcome<_>>()?;
    Ok(Some(SessionTakes { session, takes }))
}

/// The row of a take.
pub(crate) fn row(take: &Take, attempt: AttemptId) -> Value {
    let draft = take.draft();
    json!({
        "id": signed(take.id.0),
        "session": signed(take.session_id.0),
        "member": any(draft.member_id.as_str()),
        "revision": take.revision.get(),
        "nonce": any(draft.nonce.as_str()),
        "attempt": bytes(&attempt.0),
        "filed_at": take.filed_at.millis(),
        "public_key": take.public_key.to_string(),
        "signature": proof_text(take),
        "payload": canonical(draft),
    })
}

/// The take of a row, from a column on: `id, filed_at, session, revision, public_key, signature, payload`.
pub(crate) fn take(row: &Row, first: usize) -> Outcome<Arc<Take>> {
    let payload = Json::read(row.try_get::<_, &str>(first + 6)?.as_bytes());
    let payload = TakeDraft::read(&mut payload.map_err(Failure::corrupt)?.into_object())?;
    let proof = read_proof(row.try_get(first + 5)?)?;
    let TakeProof { signature, session_version, salt } = proof;
    Ok(Arc::new(Take {
        id: TakeId(number_of(row, first)?),
        filed_at: moment_of(row, first + 1)?,
        session_id: SessionId(number_of(row, first + 2)?),
        session_version,
        revision: revision(row.try_get(first + 3)?)?,
        public_key: public_key(row.try_get(first + 4)?)?,
        signed: Arc::new(Signed { payload, signature }),
        salt,
    }))
}

fn revision(number: i64) -> Outcome<Revision> {
    let revision = u8::try_from(number).ok().and_then(Revision::new);
    revision.ok_or_else(|| Failure::corrupt("no revision"))
}

/// The facts of a row of `basis_1`.
fn basis(row: &Row) -> Outcome<Basis> {
    let session: Option<&str> = row.try_get(7)?;
    let latest: Option<i64> = row.try_get(8)?;
    let spent: Option<i64> = row.try_get(9)?;
    Ok(Basis {
        now: time_of(row)?,
        member: versioned_at(row, 4)?,
        session: session
            .map(|text| {
                let fields = Json::read(text.as_bytes()).map_err(Failure::corrupt)?;
                let record = Arc::new(SessionTerms::read(&mut fields.into_object())?);
                Ok::<_, Failure>(Versioned { version: Version(number_of(row, 6)?), record })
            })
            .transpose()?,
        latest: latest.map(revision).transpose()?,
        spent: spent.map(|_| take(row, 9)).transpose()?,
    })
}
