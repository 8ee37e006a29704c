//! The newest entries of the log, in short.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::domain::{
    Day, LogEntry, LogRow, Logged, MemberAct, MemberId, MemoAct, Outcome, OutcomeValue, Seq,
    SessionAct, SessionId, SessionState, SubjectId, Timestamp,
};
use crate::rules::Refusal;
use crate::service::{Error, Tenant, log_rows};

/// Maximum number of entries of the log that are kept.
pub const MAX_ENTRIES: u64 = 5_000;

/// Number of entries of the log read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// An entry in short, with its number and time.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) what: What,
}

/// What an entry says, as far as it is needed here.
#[derive(Clone, Debug)]
pub(super) enum What {
    Take {
        session: SessionId,
        member: MemberId,
        is_revision: bool,
    },
    Session {
        id: SessionId,
        act: SessionAct,
        state: SessionState,
        /// The outcome, once one is recorded.
        outcome: Option<RecordedOutcome>,
        about: About,
    },
    Member {
        id: MemberId,
        is_new: bool,
    },
    MemoPublished,
    /// A subject, or a snapshot of it.
    Subject(SubjectId),
}

/// An outcome as it was recorded: its value, or `None` where it was annulled.
pub(super) type RecordedOutcome = Option<f64>;

/// What the takes of a session are about.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) subject: SubjectId,
    pub(super) date: Day,
    /// Whether the session counts: not for practice, and not once it was voided.
    pub(super) counts: bool,
}

impl Row {
    /// The row in short; `None` if nothing of it is needed.
    pub(super) fn of(row: &LogRow) -> Option<Self> {
        let what = match &row.logged {
            Logged::Take(take) => What::Take {
                session: take.session_id(),
                member: take.member_id().clone(),
                is_revision: take.revision().get() > 1,
            },
            Logged::Entry(entry) => Self::of_entry(entry)?,
            Logged::CommitteeTake(_) | Logged::TakeMark(..) => return None,
        };
        Some(Self { seq: row.seq, at: row.at, what })
    }

    fn of_entry(entry: &LogEntry) -> Option<What> {
        Some(match entry {
            LogEntry::Session(entry) => {
                let session = &entry.session;
                let about = About {
                    subject: session.subject_id.clone(),
                    date: session.date,
                    counts: !session.practice && session.voided.is_none(),
                };
                let value = |outcome: &Outcome| outcome.value.map(OutcomeValue::get);
                let outcome = session.outcome.as_ref().map(value);
                What::Session {
                    id: session.id,
                    act: entry.act,
                    state: session.state,
                    outcome,
                    about,
                }
            }
            LogEntry::Member(entry) => {
                let is_new = matches!(entry.act, MemberAct::Activated | MemberAct::Enrolled);
                What::Member { id: entry.id.clone(), is_new }
            }
            LogEntry::Memo(entry) if entry.act == MemoAct::Published => What::MemoPublished,
            LogEntry::Subject { id, .. } => What::Subject(id.clone()),
            LogEntry::SubjectSnapshot { subject_id, .. } => What::Subject(subject_id.clone()),
            _ => return None,
        })
    }
}

/// The records that appended entries change.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) subjects: BTreeSet<SubjectId>,
    pub(super) members: BTreeSet<MemberId>,
    pub(super) sessions: BTreeSet<SessionId>,
    /// The sessions that were aggregated.
    pub(super) results: BTreeSet<SessionId>,
    /// Whether a session was voided or withdrawn, so that its result counts no longer.
    pub(super) takes_away: bool,
    /// Members that filed, and the day of the session.
    pub(super) filed: Vec<(MemberId, Day)>,
}

/// The newest entries.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The number after which all entries are kept, as far as they are needed.
    start: Seq,
    /// The number of the last entry.
    end: Seq,
    rows: VecDeque<Row>,
    /// What the sessions in these rows are about.
    sessions: HashMap<SessionId, About>,
}

impl Recent {
    /// Reads the newest of so many entries.
    pub(super) async fn read(tenant: &Tenant, size: Seq) -> Result<Self, Error> {
        let start = Seq(size.0.saturating_sub(MAX_ENTRIES));
        let mut rows = Vec::new();
        let mut next = start;
        while next < size {
            let left = usize::try_from(size.0 - next.0).unwrap_or(usize::MAX);
            let read = log_rows::rows(&tenant.store, next, left.min(ROWS_AT_ONCE)).await?;
            let Some(last) = read.last() else { break };
            next = log_rows::seq(last);
            rows.extend(read.iter().flatten().filter_map(Row::of));
        }
        let mut recent = Self { start, end: start, ..Self::default() };
        recent.add(tenant, rows, size).await?;
        Ok(recent)
    }

    /// Adds rows up to the one with the number `end`. Those that were added before are left out.
    pub(super) async fn add(
        &mut self,
        tenant: &Tenant,
        rows: Vec<Row>,
        end: Seq,
    ) -> Result<Changes, Error> {
        let mut changes = Changes::default();
        for row in &rows {
            match &row.what {
                What::Session { id, act, state, about, .. } => {
                    self.sessions.insert(*id, about.clone());
                    changes.subjects.insert(about.subject.clone());
                    changes.sessions.insert(*id);
                    changes.takes_away |= matches!(act, SessionAct::Void | SessionAct::Withdrawn);
                    let is_result = *act == SessionAct::State && *state == SessionState::Aggregated;
                    changes.results.extend(is_result.then_some(*id));
                }
                What::Member { id, .. } => {
                    changes.members.insert(id.clone());
                }
                What::Subject(id) => {
                    changes.subjects.insert(id.clone());
                }
                What::Take { session, member, .. } => {
                    if let Some(about) = self.about(tenant, *session).await?
                        && about.counts
                    {
                        changes.filed.push((member.clone(), about.date));
                    }
                }
                What::MemoPublished => {}
            }
        }
        let kept = self.end;
        self.rows.extend(rows.into_iter().filter(|row| row.seq > kept));
        self.end = end;
        self.start = self.start.max(Seq(end.0.saturating_sub(MAX_ENTRIES)));
        while self.rows.front().is_some_and(|row| row.seq <= self.start) {
            self.rows.pop_front();
        }
        self.forget_sessions();
        Ok(changes)
    }

    /// What a session is about; `None` if there is none. It is read once.
    async fn about(&mut self, tenant: &Tenant, id: SessionId) -> Result<Option<&About>, Error> {
        let unread = match self.sessions.entry(id) {
            Entry::Occupied(known) => return Ok(Some(known.into_mut())),
            Entry::Vacant(unread) => unread,
        };
        let session = match tenant.summary(id).await {
            Ok(session) => session,
            Err(Error::Refused(Refusal::NotFound(_))) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (subject, date) = (session.subject_id.clone(), session.date);
        Ok(Some(unread.insert(About { subject, date, counts: session.counts() })))
    }

    /// Forgets the sessions that no row is about, once they are many.
    fn forget_sessions(&mut self) {
        if self.sessions.len() <= 2 * self.rows.len() + ROWS_AT_ONCE {
            return;
        }
        let of_row = |row: &Row| match row.what {
            What::Take { session: id, .. } | What::Session { id, .. } => Some(id),
            _ => None,
        };
        let used: BTreeSet<_> = self.rows.iter().filter_map(of_row).collect();
        self.sessions.retain(|id, _| used.contains(id));
    }

    /// The number of the last entry.
    pub(super) fn end(&self) -> Seq {
        self.end
    }

    /// The number after which all entries are kept.
    pub(super) fn start(&self) -> Seq {
        self.start
    }

    /// The rows after the entry with this number, oldest first.
    pub(super) fn after(&self, seq: Seq) -> impl Iterator<Item = &Row> {
        self.rows.range(self.rows.partition_point(|row| row.seq <= seq)..)
    }

    /// The outcomes of sessions up to the entry with this number, as far as entries are kept.
    pub(super) fn outcomes_until(&self, seq: Seq) -> HashMap<SessionId, RecordedOutcome> {
        let until = self.rows.iter().take_while(|row| row.seq <= seq);
        let outcomes = until.filter_map(|row| match &row.what {
            What::Session { id, outcome, .. } => Some((*id, (*outcome)?)),
            _ => None,
        });
        outcomes.collect()
    }

    /// What a session in these rows is about.
    pub(super) fn session(&self, id: SessionId) -> Option<&About> {
        self.sessions.get(&id)
    }

    pub(super) fn entry_before(&self, time: Timestamp) -> Seq {
        let at = self.rows.partition_point(|row| row.at < time);
        match self.rows.get(at) {
            Some(row) => Seq(row.seq.0.saturating_sub(1)),
            None => self.end,
        }
    }

    /// The members that filed takes that count, with the days of the sessions.
    pub(super) fn filed(&self) -> impl Iterator<Item = (&MemberId, Day)> {
        self.rows.iter().filter_map(|row| match &row.what {
            What::Take { session, member, .. } => {
                let about = self.sessions.get(session).filter(|about| about.counts)?;
                Some((member, about.date))
            }
            _ => None,
        })
    }
}
