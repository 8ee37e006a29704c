//! Sessions.

use std::sync::{Arc, OnceLock};

use super::rows::{Outcome, flag, number, parsed, small, text, time, time_if_any};
use super::session_row::{Source, body, columns, replacement};
use super::tables::{SESSIONS, documents_sequence, sessions, takes};
use super::{Change, Made, Records, acts};
use crate::domain::{
    Day, Declaration, MemberId, Question, Roster, Session, SessionId, SessionState, SessionSummary,
    SessionTerms, StoredTake, SubjectId, TakeId, Timestamp,
};
use crate::records::SnapshotText;
use crate::rules::Versioned;
use crate::store::backend::{Append, Check, PartSet, Query, Range, Row, Term, Write};
use crate::store::{
    Aggregated, Aggregation, Collection, Convocation, Result, Saved, SessionChange, SessionList,
    SessionQuery, StoreError, SummaryQuery, TakeQuery,
};

/// Maximum number of attempts of an aggregation while the session keeps changing.
const MAX_ATTEMPTS: usize = 32;

/// The parts of which [`SessionTerms`] are made.
const TERMS: PartSet = PartSet::of(&[sessions::BUCKETS, sessions::ROSTER, sessions::DECLARATION]);

/// The parts of which a session without its snapshot is made.
const WITHOUT_SNAPSHOT: PartSet = PartSet::of(&[
    sessions::BUCKETS,
    sessions::ROSTER,
    sessions::QUESTION,
    sessions::OUTCOME,
    sessions::VOIDED,
    sessions::DECLARATION,
]);

/// The parts of which a [`SessionSummary`] is made.
const SUMMARY: PartSet = PartSet::of(&[
    sessions::FIGURES,
    sessions::QUESTION,
    sessions::OUTCOME,
    sessions::VOIDED,
    sessions::DECLARATION,
]);

/// The parts of which a [`SessionSummary`] is made, and the roster.
pub(super) const SUMMARY_AND_ROSTER: PartSet = PartSet::of(&[
    sessions::FIGURES,
    sessions::ROSTER,
    sessions::QUESTION,
    sessions::OUTCOME,
    sessions::VOIDED,
    sessions::DECLARATION,
]);

/// Sessions.
impl Records {
    /// A session.
    pub async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        let mut found = self.read("session", vec![with_id(id)]).await?;
        found.row().as_ref().map(read).transpose().map_err(found.corrupt())
    }

    /// The sessions with these ids, in their order, without their snapshots, in one round trip; `None` for one that does not exist.
    pub async fn sessions_by_id(&self, ids: &[SessionId]) -> Result<Vec<Option<Arc<Session>>>> {
        let with_id = |id: &SessionId| {
            let range = Range::key(&sessions::TABLE, vec![id.0.into()]);
            Query::Rows(Range { parts: WITHOUT_SNAPSHOT, ..range })
        };
        let queries = ids.iter().map(with_id).collect();
        let mut found = self.read("sessions by id", queries).await?;
        let rows: Vec<_> = ids.iter().map(|_| found.row()).collect();
        rows.iter()
            .map(|row| row.as_ref().map(without_snapshot).transpose())
            .collect::<Outcome<_>>()
            .map_err(found.corrupt())
    }

    /// The ids of the newest sessions of these days and subjects, in one round trip; `None` for one without a session.
    pub async fn newest_of_days(
        &self,
        occasions: &[(Day, SubjectId)],
    ) -> Result<Vec<Option<SessionId>>> {
        let newest = |(date, subject): &(Day, SubjectId)| {
            Query::Rows(Range { limit: 1, parts: PartSet::NONE, ..of_day(*date, subject) })
        };
        let mut found = self.read("newest", occasions.iter().map(newest).collect()).await?;
        let rows: Vec<_> = occasions.iter().map(|_| found.row()).collect();
        let id = |row: &Row| number(row, sessions::ID).map(SessionId);
        rows.iter()
            .map(|row| row.as_ref().map(id).transpose())
            .collect::<Outcome<_>>()
            .map_err(found.corrupt())
    }

    /// The sessions that match, by id, the highest first; all at one position of the log.
    pub async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        let SessionQuery { on, state, before, limit, without_snapshots } = query;
        let listed = match (on, state) {
            (Some((date, subject)), _) => of_day(*date, subject),
            (None, Some(state)) => in_state(*state),
            (None, None) => Range::all(&sessions::TABLE),
        };
        // A day and subject has few sessions, so their state is compared here.
        let state = state.filter(|_| on.is_some());
        let range = Range {
            before: before.map(|id| id.0.into()),
            is_descending: true,
            limit: if state.is_some() { usize::MAX } else { *limit },
            parts: if *without_snapshots { WITHOUT_SNAPSHOT } else { PartSet::ALL },
            ..listed
        };
        let mut found = self.read("sessions", vec![Query::Rows(range)]).await?;
        let rows = found.rows();
        let read = |row: &Row| match without_snapshots {
            true => without_snapshot(row),
            false => read(row).map(|session| session.record),
        };
        let listed: Vec<_> =
            rows.iter().map(read).collect::<Outcome<_>>().map_err(found.corrupt())?;
        let matches = |session: &Arc<Session>| state.is_none_or(|state| session.state == state);
        Ok(listed.into_iter().filter(matches).take(*limit).collect())
    }

    /// Summaries of the sessions that match, by id, all at one position of the log: the highest id first, or
    /// the lowest if [`SummaryQuery::after`] is given. Rosters and snapshots are not read.
    pub async fn session_summaries(
        &self,
        query: &SummaryQuery,
    ) -> Result<Vec<Arc<SessionSummary>>> {
        let SummaryQuery { list, before, after, limit } = query;
        let listed = match list {
            SessionList::All => Range::all(&sessions::TABLE),
            SessionList::InState(state) => in_state(*state),
            SessionList::About(subject) => {
                Range::index(&sessions::TABLE, sessions::BY_SUBJECT, vec![subject.as_str().into()])
            }
        };
        let (before, is_descending) = (before.map(|id| id.0.into()), after.is_none());
        let after = after.map(|id| id.0.into());
        self.summaries(
            "session summaries",
            Range { before, after, is_descending, limit: *limit, ..listed },
        )
        .await
    }

    /// Summaries of the `limit` most recently published sessions that [count](Session::counts), latest first; those
    /// published at the same time by id in descending order. The time of publication is written once and never changes.
    pub async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>> {
        let latest = Range::index(&sessions::TABLE, sessions::BY_PUBLICATION, Vec::new());
        self.summaries("published", Range { is_descending: true, limit, ..latest }).await
    }

    /// Commits a new session with the next id, the time by the store's clock, version 1, and
    /// without a snapshot. A convocation has no attempt: a caller that repeats one after an error
    /// may convene another session.
    pub async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        let convened = self.convened("convene", convocation, Change::default()).await?;
        convened
            .ok_or_else(|| StoreError::corrupt("convene", "a commit without checks was refused"))
    }

    /// Convenes a session like [`convene`](Self::convene), but once for an occasion, which is any text that is
    /// not empty. The same commit writes a [document](crate::store::DocumentDraft::of_occasion) that claims the occasion.
    /// `None`, with nothing written, when it is claimed already.
    pub async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        let claim = super::documents::claim(occasion, Term::Assigned(1), Term::Assigned(0));
        let change = Change {
            checks: vec![super::documents::is_absent(Collection::Occasions, occasion)],
            sequences: vec![SESSIONS, documents_sequence(Collection::Occasions)],
            writes: vec![claim],
            ..Change::default()
        };
        self.convened("convene once", convocation, change).await
    }

    /// Writes a session. Returns [`Saved::Stale`] unless its stored version is
    /// `change.expected`, the number of takes filed in it is `change.takes`, if given, and no take
    /// was filed in it after `change.none_filed_after`, if given.
    ///
    /// Appends `change.acts` to the log, in order. If `change.opens`, appends an entry that opens each take of
    /// the session after them, in the order of the ids of the takes. These are all takes that are filed in the session at that moment. The text of such an entry is not kept: it is the [`opening_entry`](crate::proof::opening_entry) of the take.
    ///
    /// If `change.withdrawn`, removes the session instead. Takes of its day and subject go to the newest session that remains. Its
    /// id is not given to another session, and the acts on it stay in the log.
    pub async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        let SessionChange {
            session,
            expected,
            takes,
            takes_refusal: _,
            none_filed_after,
            withdrawn,
            acts,
            opens,
        } = change;
        let key = vec![Term::from(session.id.0)];
        let filed = Range::index(&takes::TABLE, takes::BY_SESSION, key.clone());
        let mut checks = vec![Check::Version {
            table: &sessions::TABLE,
            key: key.clone(),
            expected: Some(*expected),
        }];
        if let Some(takes) = takes {
            let takes = u64::try_from(*takes).unwrap_or(u64::MAX);
            let (range, except) = (filed.clone(), Vec::new());
            checks.push(Check::Count { range, except, least: takes, most: takes });
        }
        if let Some(end) = none_filed_after {
            // Every take is compared: after a clock that was behind was accepted, the last one need not be the latest.
            let (range, most) = (filed.clone(), (*end).into());
            checks.push(Check::AtMost { range, column: takes::FILED_AT, most });
        }
        let write = match withdrawn {
            true => Write::Remove(Range::key(&sessions::TABLE, key)),
            false => replacement(session.clone()),
        };
        let mut entries: Vec<_> = acts.iter().map(|act| acts::entry(act, None)).collect();
        if *opens {
            entries.push(Append::Each { range: filed, body: acts::opening() });
        }
        let change = Change { checks, writes: vec![write], entries, ..Change::default() };
        self.save("save session", change).await
    }

    /// Aggregates a session: reads it and all of its takes, has [`Aggregation::judge`] judge them,
    /// and commits the change; returns the session after the commit, or the refusal of the rules.
    /// The commit is guarded by the version of the session and the number of its takes. Takes may arrive faster than they can be read: after
    /// the first attempt, this process holds its own back until the commit.
    pub async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        let id = aggregation.session;
        // What is sealed is not read for a refusal.
        let found = self.session_takes(&TakeQuery { limit: 1, ..TakeQuery::all(id) }).await?;
        let (session, one) = found.map(|found| (found.session, found.takes)).unzip();
        let has_takes = one.is_some_and(|one| !one.is_empty());
        if let Err(refusal) = aggregation.check(session.as_ref(), has_takes, self.now().await?) {
            return Ok(Err(refusal));
        }
        let (mut takes, mut version, mut hold) = (Vec::new(), None, None);
        for _ in 0..MAX_ATTEMPTS {
            let after = takes.last().map_or(TakeId(0), StoredTake::id);
            // Nor for a dry run, which does not show the snapshot of sealed takes.
            let unsealed = !self.is_dry_run;
            let rest = TakeQuery { after, unsealed, ..TakeQuery::all(id) };
            let rest = self.session_takes(&rest).await?;
            let (session, rest) = rest.map(|found| (found.session, found.takes)).unzip();
            let current = session.as_ref().map(|session| session.version);
            if version.replace(current).is_some_and(|version| version != current) {
                // An operator who marks a take changes the version: the takes that were read before may lack the mark.
                takes.clear();
                continue;
            }
            takes.extend(rest.unwrap_or_default());
            let whole: Vec<_> = takes.iter().filter_map(StoredTake::whole).cloned().collect();
            // Read last, so that no take of the snapshot was filed after it.
            let now = self.now().await?;
            let change = match aggregation.judge(session.as_ref(), &whole, now) {
                Ok(change) => SessionChange { takes: Some(takes.len()), ..change },
                Err(refusal) => return Ok(Err(refusal)),
            };
            if self.save_session(&change).await? == Saved::Saved {
                return Ok(Ok(Arc::new(change.session)));
            }
            hold.get_or_insert_with(|| self.holds.hold(&self.tenant, id));
        }
        Err(StoreError::contended("aggregate", "the session kept changing"))
    }
}

impl Records {
    async fn summaries(&self, op: &'static str, range: Range) -> Result<Vec<Arc<SessionSummary>>> {
        let range = Range { parts: SUMMARY, ..range };
        let mut found = self.read(op, vec![Query::Rows(range)]).await?;
        found.rows().iter().map(summary).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Convenes a session, with the number of the first sequence as its id, in one commit with `change`. `None` if a check of it is
    /// not met.
    async fn convened(
        &self,
        op: &'static str,
        convocation: &Convocation,
        mut change: Change,
    ) -> Result<Option<Arc<Session>>> {
        let Convocation { draft, act } = convocation;
        let session = draft.convened(SessionId(0), Timestamp::EPOCH);
        if change.sequences.is_empty() {
            change.sequences.push(SESSIONS);
        }
        change.writes.push(Write::Insert {
            table: &sessions::TABLE,
            columns: columns(&session, Term::Assigned(0), Term::Now),
            body: body(session),
        });
        change.entries.push(Append::Entry {
            topic: Some(Term::Assigned(0)),
            assigned: Some(0),
            reference: None,
            body: acts::body(act),
        });
        Ok(match self.commit(op, change).await? {
            Made::Now(assigned, _) => {
                let id = SessionId(assigned.numbers.first().copied().unwrap_or(0));
                Some(Arc::new(draft.convened(id, assigned.at)))
            }
            Made::Before(_) | Made::Unmet(..) => None,
        })
    }
}

pub(super) fn with_id(id: SessionId) -> Query {
    Query::Rows(Range::key(&sessions::TABLE, vec![id.0.into()]))
}

/// The sessions of a day and subject, the newest first.
pub(super) fn of_day(date: Day, subject: &SubjectId) -> Range {
    let prefix = vec![date.to_string().into(), subject.as_str().into()];
    let all = Range::index(&sessions::TABLE, sessions::BY_DAY, prefix);
    Range { is_descending: true, ..all }
}

/// The terms of the newest session of a day and subject.
pub(super) fn newest(date: Day, subject: &SubjectId) -> Query {
    Query::Rows(Range { limit: 1, parts: TERMS, ..of_day(date, subject) })
}

fn in_state(state: SessionState) -> Range {
    Range::index(&sessions::TABLE, sessions::BY_STATE, vec![state.as_str().into()])
}

/// A session in the forms in which it is read.
struct Views {
    session: Arc<Session>,
    terms: OnceLock<Arc<SessionTerms>>,
    summary: OnceLock<Arc<SessionSummary>>,
}

/// The forms of a session that is not made of texts.
fn views(row: &Row) -> Outcome<Option<Arc<Views>>> {
    let Some(Source(session)) = row.body.source() else { return Ok(None) };
    let views = row.body.value(|| {
        let (id, convened_at) =
            (SessionId(number(row, sessions::ID)?), time(row, sessions::CONVENED_AT)?);
        let session = if session.id == id {
            Arc::clone(session)
        } else {
            Arc::new(Session { id, convened_at, ..Session::clone(session) })
        };
        Ok::<_, crate::records::Unreadable>(Arc::new(Views {
            session,
            terms: OnceLock::new(),
            summary: OnceLock::new(),
        }))
    });
    views.map(Some)
}

/// Reads a session whose parts were all read.
pub(super) fn read(row: &Row) -> Outcome<Versioned<Session>> {
    let record = match views(row)? {
        Some(views) => Arc::clone(&views.session),
        None => {
            let session = with_terms(row)?;
            let snapshot = parsed::<SnapshotText>(row, sessions::SNAPSHOT)?;
            let snapshot = snapshot.map(|text| text.of(&session.declaration));
            Arc::new(Session { snapshot: snapshot.transpose()?.map(Arc::new), ..session })
        }
    };
    Ok(Versioned { version: row.version, record })
}

/// Reads a session without its snapshot.
fn without_snapshot(row: &Row) -> Outcome<Arc<Session>> {
    match views(row)? {
        Some(views) if views.session.snapshot.is_none() => Ok(Arc::clone(&views.session)),
        Some(views) => Ok(Arc::new(Session { snapshot: None, ..Session::clone(&views.session) })),
        None => with_terms(row).map(Arc::new),
    }
}

/// Reads the [`TERMS`] of a session.
pub(super) fn terms(row: &Row) -> Outcome<Versioned<SessionTerms>> {
    let record = match views(row)? {
        Some(views) => Arc::clone(views.terms.get_or_init(|| Arc::new(views.session.terms()))),
        None => Arc::new(with_terms(row)?.terms()),
    };
    Ok(Versioned { version: row.version, record })
}

/// Reads the [`SUMMARY`] of a session.
fn summary(row: &Row) -> Outcome<Arc<SessionSummary>> {
    if let Some(views) = views(row)? {
        return Ok(Arc::clone(views.summary.get_or_init(|| Arc::new(views.session.summary()))));
    }
    let figures = parsed::<SnapshotText>(row, sessions::FIGURES)?;
    let declaration = declaration(row)?;
    let opened_at = time_if_any(row, sessions::OPENED_AT)?;
    Ok(Arc::new(SessionSummary {
        id: SessionId(number(row, sessions::ID)?),
        version: number(row, sessions::ACTS)?,
        date: Day::parse(text(row, sessions::DATE)?)?,
        subject_id: SubjectId::parse(text(row, sessions::SUBJECT)?)?,
        state: text(row, sessions::STATE)?.parse()?,
        window_closes_at: time_if_any(row, sessions::WINDOW_CLOSES_AT)?,
        convened_at: time(row, sessions::CONVENED_AT)?,
        quorum: small(row, sessions::QUORUM)?,
        has_roster: flag(row, sessions::HAS_ROSTER),
        sealed: flag(row, sessions::BLIND) && opened_at.is_none(),
        opened_at,
        practice: flag(row, sessions::PRACTICE),
        question: question(row)?,
        published_at: time_if_any(row, sessions::PUBLISHED_AT)?,
        outcome: parsed(row, sessions::OUTCOME)?,
        voided: parsed(row, sessions::VOIDED)?,
        figures: figures.map(|text| text.figures(&declaration)).transpose()?,
        declaration,
    }))
}

/// Reads a summary, and whether the roster lists this member and does not excuse it.
pub(super) fn summary_and_expected(
    row: &Row,
    member: &MemberId,
) -> Outcome<(Arc<SessionSummary>, bool)> {
    let expects = |roster: Option<&Roster>| {
        roster.and_then(|roster| roster.entry(member)).is_some_and(|entry| !entry.excused)
    };
    let expected = match views(row)? {
        Some(views) => expects(views.session.roster.as_ref()),
        None => expects(roster(row)?.as_ref()),
    };
    Ok((summary(row)?, expected))
}

/// Reads a session from its columns and its [`TERMS`].
fn with_terms(row: &Row) -> Outcome<Session> {
    Ok(Session {
        id: SessionId(number(row, sessions::ID)?),
        version: number(row, sessions::ACTS)?,
        date: Day::parse(text(row, sessions::DATE)?)?,
        subject_id: SubjectId::parse(text(row, sessions::SUBJECT)?)?,
        state: text(row, sessions::STATE)?.parse()?,
        window_closes_at: time_if_any(row, sessions::WINDOW_CLOSES_AT)?,
        convened_at: time(row, sessions::CONVENED_AT)?,
        quorum: small(row, sessions::QUORUM)?,
        buckets: parsed(row, sessions::BUCKETS)?,
        roster: roster(row)?,
        blind: flag(row, sessions::BLIND),
        practice: flag(row, sessions::PRACTICE),
        finish: flag(row, sessions::FINISH),
        question: question(row)?,
        declaration: declaration(row)?,
        opened_at: time_if_any(row, sessions::OPENED_AT)?,
        published_at: time_if_any(row, sessions::PUBLISHED_AT)?,
        outcome: parsed(row, sessions::OUTCOME)?,
        voided: parsed(row, sessions::VOIDED)?,
        snapshot: None,
    })
}

fn roster(row: &Row) -> Outcome<Option<Roster>> {
    parsed(row, sessions::ROSTER)
}

fn question(row: &Row) -> Outcome<Question> {
    Ok(parsed(row, sessions::QUESTION)?.unwrap_or_default())
}

fn declaration(row: &Row) -> Outcome<Declaration> {
    Ok(parsed(row, sessions::DECLARATION)?.unwrap_or_default())
}
