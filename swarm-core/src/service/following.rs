//! Following the log: its entries with what they are about, and filters of them (API.md, 11.10).

use std::collections::HashMap;

use super::{Error, Tenant};
use crate::domain::{
    LogEntry, LogLine, LogRow, Logged, MemberId, Seq, SessionId, StoredTake, SubjectId, TakeId,
};
use crate::proof::log_line;
use crate::store::TakeQuery;

/// An entry of the log, with the records that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The entry.
    pub line: LogLine,
    /// The session, for an act on it, or one of its takes.
    pub session: Option<SessionId>,
    /// The member, for an act on it, or one of its takes or memos.
    pub member: Option<MemberId>,
    /// The subject of the record, or of its session.
    pub subject: Option<SubjectId>,
}

/// A selection of the entries of the log. The default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Only entries of these kinds, unless it is empty.
    pub kinds: Vec<&'static str>,
    /// Only entries about this session.
    pub session: Option<SessionId>,
    /// Only entries about this member.
    pub member: Option<MemberId>,
    /// Only entries about this subject.
    pub subject: Option<SubjectId>,
}

impl LogFilter {
    /// Reads the names of kinds, with commas between them.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn kinds(text: &str) -> Result<Vec<&'static str>, String> {
        let kind = |name: &str| {
            let known = LogEntry::KINDS.into_iter().find(|known| *known == name);
            known.ok_or_else(|| format!("must be kinds of entries: {}", LogEntry::KINDS.join(", ")))
        };
        text.split(',').map(kind).collect()
    }

    /// Returns whether all entries are selected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether an entry is selected.
    pub fn fits(&self, followed: &Followed) -> bool {
        fn is<T: PartialEq>(wanted: Option<&T>, of: Option<&T>) -> bool {
            wanted.is_none() || wanted == of
        }
        self.has_kind(followed.line.entry.kind())
            && is(self.session.as_ref(), followed.session.as_ref())
            && is(self.member.as_ref(), followed.member.as_ref())
            && is(self.subject.as_ref(), followed.subject.as_ref())
    }

    fn has_kind(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

impl Tenant {
    /// Returns up to `limit` entries of the log after the one numbered `after`, oldest first, with what they are about.
    /// Entries that cannot be read (API.md, 11.4) are left out.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn entries_after(&self, after: Seq, limit: usize) -> Result<Vec<Followed>, Error> {
        let rows = super::log_rows::rows(&self.store, after, limit).await?;
        self.followed(rows.iter().filter_map(|row| row.as_ref().ok())).await
    }

    /// Finds out what these rows are about, which follow each other in the log.
    pub(super) async fn followed(
        &self,
        rows: impl Iterator<Item = &LogRow>,
    ) -> Result<Vec<Followed>, Error> {
        let (mut opened, mut marked) = (HashMap::new(), HashMap::new());
        let mut all = Vec::new();
        for row in rows {
            let line = log_line(row);
            if let LogEntry::Opening(opening) = &line.entry
                && !opened.contains_key(&opening.id)
            {
                // The entries that open the other takes of the session follow.
                opened = self.authors(opening.id).await?;
            }
            if let LogEntry::TakeMark(mark) = &line.entry
                && let Some(found) = self.store.take(mark.id).await?
            {
                marked.insert(mark.id, About::of(&found.take));
            }
            all.push(about(line, &row.logged, (&opened, &marked)));
        }
        Ok(all)
    }

    /// The takes of the session that this take is in.
    async fn authors(&self, take: TakeId) -> Result<HashMap<TakeId, About>, Error> {
        let Some(found) = self.store.take(take).await? else { return Ok(HashMap::new()) };
        let takes = self.store.session_takes(&TakeQuery::all(found.take.session_id())).await?;
        let takes = takes.map(|found| found.takes).unwrap_or_default();
        Ok(takes.iter().map(|take| (take.id(), About::of(take))).collect())
    }
}

/// The records that an entry is about.
#[derive(Clone, Default)]
struct About {
    session: Option<SessionId>,
    member: Option<MemberId>,
    subject: Option<SubjectId>,
}

impl About {
    fn of(take: &StoredTake) -> Self {
        Self {
            session: Some(take.session_id()),
            member: Some(take.member_id().clone()),
            subject: Some(take.subject_id().clone()),
        }
    }
}

/// Takes, and what each is about.
type Takes = HashMap<TakeId, About>;

fn about(line: LogLine, logged: &Logged, (opened, marked): (&Takes, &Takes)) -> Followed {
    let about = match (logged, &line.entry) {
        (Logged::Take(take), _) => About::of(take),
        (_, LogEntry::TakeMark(mark)) => marked.get(&mark.id).cloned().unwrap_or_default(),
        (_, LogEntry::Opening(opening)) => opened.get(&opening.id).cloned().unwrap_or_default(),
        (_, LogEntry::Session(act)) => About {
            session: Some(act.session.id),
            member: act.excuse.as_ref().map(|excuse| excuse.member_id.clone()),
            subject: Some(act.session.subject_id.clone()),
        },
        (_, LogEntry::Member(act)) => About { member: Some(act.id.clone()), ..About::default() },
        (_, LogEntry::Memo(act)) => {
            About { member: Some(act.member_id.clone()), ..About::default() }
        }
        (_, LogEntry::Subject { id: subject, .. })
        | (_, LogEntry::SubjectSnapshot { subject_id: subject, .. }) => {
            About { subject: Some(subject.clone()), ..About::default() }
        }
        (_, LogEntry::CommitteeTake(take)) => {
            About { subject: Some(take.subject_id.clone()), ..About::default() }
        }
        (_, LogEntry::CommitteeDay(day)) => {
            About { subject: day.subject_id.clone(), ..About::default() }
        }
        _ => About::default(),
    };
    let About { session, member, subject } = about;
    Followed { line, session, member, subject }
}
