//! Takes.

use std::borrow::Cow;
use std::sync::Arc;

use super::rows::{Outcome, integer, number, part, small, text, time, time_if_any};
use super::tables::{TAKES, members, sessions, takes};
use super::{Answers, Change, Made, Records, unexpected};
use crate::domain::json::Json;
use crate::domain::{
    AttemptId, Day, Digest, LogEntry, MemberId, Note, PublicKey, Revision, SealedTake, SessionId,
    Signed, StoredSealedTake, StoredTake, SubjectId, Take, TakeDraft, TakeId, TakeOnFile,
    TextDigests, Timestamp, Withheld,
};
use crate::proof::canonical;
use crate::records::{TakeProof, Unreadable, proof_text, read_proof};
use crate::store::backend::{
    Append, Body, Check, CommitId, Join, PartSet, Parts, Query, Range, Repetition, Row, Term,
    Value, Write,
};
use crate::store::{
    Basis, BasisQuery, Filed, Filing, MemberTake, MemberTakeQuery, Result, Revisions,
    SessionAuthors, SessionTakes, TakeContext, TakeMark, TakeMarks, TakeQuery, time_of_read,
};

/// Takes.
impl Records {
    /// The facts that a submission is judged on, read in one round trip. [`Basis::now`] is not
    /// earlier than any commit that the other facts show: see
    /// [`time_of_read`](super::time_of_read). The read fails if the log does not continue from the
    /// position seen.
    pub async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis> {
        const OP: &str = "basis";
        const MEMBER: Term = Term::Found(0, members::ID);
        const SESSION: Term = Term::Found(1, sessions::ID);
        let latest = Range {
            is_descending: true,
            limit: 1,
            parts: PartSet::NONE,
            ..Range::index(&takes::TABLE, takes::BY_REVISION, vec![MEMBER, SESSION])
        };
        let spent = vec![MEMBER, query.nonce.as_str().into()];
        // One more is added, for the position of the log.
        let mut queries = Vec::with_capacity(5);
        queries.push(super::members::calling(query.caller));
        queries.push(super::sessions::newest(query.date, query.subject_id));
        queries.push(Query::Rows(latest));
        let spent = shown(Range::index(&takes::TABLE, takes::BY_NONCE, spent));
        queries.push(Query::Rows(Range { limit: 1, ..spent }));
        let reading = self.facts(OP, queries).await?;
        let now = time_of_read(reading.clock, reading.head.at);
        let mut found = Answers::new(OP, reading.answers, &self.damage);
        let (member, session, latest, spent) = (found.row(), found.row(), found.row(), found.row());
        let corrupt = found.corrupt();
        Ok(Basis {
            now,
            member: member.as_ref().map(super::members::read).transpose().map_err(&corrupt)?,
            session: session.as_ref().map(super::sessions::terms).transpose().map_err(&corrupt)?,
            latest: latest.as_ref().map(revision).transpose().map_err(&corrupt)?,
            spent: spent.as_ref().map(read).transpose().map_err(&corrupt)?,
        })
    }

    /// Files a take, in one round trip. In this order:
    /// 1. if the member's nonce was used by this attempt (a client library may send a commit twice), the result is the same as then,
    ///    [`Filed::Filed`], even if the clock is too far behind;
    /// 2. unless the versions of the member and of the session are those of the filing, and the session is the newest (highest id) of
    ///    [`Filing::newest_of`], it is [`Filed::Stale`];
    /// 3. if the time of the commit is past `commit_deadline`, it is [`Filed::Late`];
    /// 4. if the member has used the nonce, it is [`Filed::NonceUsed`];
    /// 5. unless the filing's revision is the one after the member's latest in the session, it is [`Filed::RevisionTaken`];
    /// 6. otherwise [`Filing::take`] is recorded with the next id and the time of the commit, and the nonce is spent. The versions of the
    ///    member and of the session stay.
    pub async fn file(&self, filing: &Filing) -> Result<Filed> {
        const OP: &str = "file";
        self.holds.pass(&self.tenant, filing.session().0).await;
        let author = Value::from(filing.member().0.as_str());
        let member = Term::from(author.clone());
        let nonce = Term::from(filing.nonce().as_str());
        let spent = with_nonce(member.clone(), nonce.clone());
        let (checks, outcomes): (Vec<_>, Vec<_>) =
            guards(filing, &member, &spent).into_iter().unzip();
        let take = filing.take(TakeId(0), Timestamp::EPOCH);
        let mut writes = Vec::with_capacity(2);
        if let Some(before) = filing.revision().get().checked_sub(1).filter(|it| *it > 0) {
            let superseded =
                vec![member.clone(), take.session_id.0.into(), u64::from(before).into()];
            writes.push(Write::Set {
                range: Range::index(&takes::TABLE, takes::BY_REVISION, superseded),
                column: takes::CURRENT,
                value: Value::Null.into(),
            });
        }
        let authored = Authored { member, nonce, attempt: filing.attempt() };
        writes.push(Write::Insert {
            table: &takes::TABLE,
            columns: authored.columns(&take, Term::Assigned(0), Term::Now),
            body: body(take),
        });
        let change = Change {
            id: Some(CommitId(filing.attempt().0)),
            repetition: Some(Repetition { range: spent, column: takes::ATTEMPT }),
            checks,
            sequences: vec![TAKES],
            writes,
            entries: vec![Append::Entry {
                topic: None,
                assigned: None,
                reference: Some((&takes::TABLE, Term::Assigned(0))),
                body: Body::empty(),
            }],
            filed: Some(LogEntry::TAKE_FILED),
            member: Some(author),
            ..Change::default()
        };
        match self.commit(OP, change).await? {
            Made::Now(assigned, entry) => {
                let id = TakeId(assigned.numbers.first().copied().unwrap_or(0));
                Ok(Filed::Filed(Arc::new(filing.take(id, assigned.at)), entry))
            }
            Made::Before(row) => {
                Ok(Filed::Filed(read_whole(&row).map_err(self.damage.corrupt(OP))?, None))
            }
            Made::Unmet(check, _) => {
                outcomes.into_iter().nth(check).ok_or_else(|| unexpected(OP, check))
            }
        }
    }

    /// A take, and the id of the revision that superseded it.
    ///
    /// Of a take of a sealed session, the reads here and those of the log return a [`StoredTake::Sealed`]. What is sealed is neither read nor parsed, so the time that a read takes does not depend on it.
    pub async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile<StoredTake>>> {
        Ok(self.takes_on_file("take", [id]).await?.pop())
    }

    /// The takes with these ids, in their order, as [`take`](Self::take) returns them; without those that do not exist. They are
    /// read in two round trips, or in one if no other take supersedes one of them.
    pub async fn takes_by_id(
        &self,
        ids: impl IntoIterator<Item = TakeId>,
    ) -> Result<Vec<TakeOnFile<StoredTake>>> {
        self.takes_on_file("takes by id", ids).await
    }

    async fn takes_on_file(
        &self,
        op: &'static str,
        ids: impl IntoIterator<Item = TakeId>,
    ) -> Result<Vec<TakeOnFile<StoredTake>>> {
        let takes = ids.into_iter().map(|id| Query::Rows(shown(with_id(id))));
        let mut found = self.read(op, takes.collect()).await?;
        let rows = found.first_rows();
        let corrupt = found.corrupt();
        let is_superseded = |row: &&Row| row.columns.get(takes::CURRENT).is_none_or(Value::is_null);
        let following = rows.iter().filter(is_superseded).map(next_revision);
        let following = following.collect::<Outcome<Vec<_>>>().map_err(&corrupt)?;
        let mut successors = match following.is_empty() {
            true => None,
            false => Some(self.read(op, following).await?),
        };
        let on_file = |row: &Row| {
            let successor = match &mut successors {
                Some(successors) if is_superseded(&row) => successors.row(),
                _ => None,
            };
            let superseded_by = successor.map(|row| number(&row, takes::ID)).transpose()?;
            Ok(TakeOnFile { take: read(row)?, superseded_by: superseded_by.map(TakeId) })
        };
        rows.iter().map(on_file).collect::<Outcome<_>>().map_err(&corrupt)
    }

    /// The id of the last take that was filed; 0 if there is none. The ids are those from 1 to it.
    pub async fn last_take(&self) -> Result<TakeId> {
        let mut found = self.read("last take", vec![Query::Sequence(TAKES)]).await?;
        Ok(TakeId(found.number()))
    }

    /// A take among those of its session, read at one position of the log.
    pub async fn take_context(&self, id: TakeId) -> Result<Option<TakeContext>> {
        let neighbours = |is_descending| {
            let in_session = vec![Term::Found(0, takes::SESSION)];
            let all = shown(Range::index(&takes::TABLE, takes::BY_SESSION, in_session));
            // One of them may be of the same member.
            let all = Range { is_descending, having: Some(takes::CURRENT), limit: 2, ..all };
            Query::Rows(match is_descending {
                true => Range { before: Some(id.0.into()), ..all },
                false => Range { after: Some(id.0.into()), ..all },
            })
        };
        let queries = vec![
            Query::Rows(shown(with_id(id))),
            Query::Rows(shown(own_revisions())),
            neighbours(true),
            neighbours(false),
        ];
        let mut found = self.read("take context", queries).await?;
        let Some(row) = found.row() else { return Ok(None) };
        let (own, previous, next) = (found.rows(), found.rows(), found.rows());
        let is_other =
            |other: &&Row| other.columns.get(takes::MEMBER) != row.columns.get(takes::MEMBER);
        let previous = previous.iter().find(is_other);
        let context = own.iter().chain(previous).chain(next.iter().find(is_other)).map(read);
        let context = context.collect::<Outcome<_>>().map_err(found.corrupt())?;
        Ok(TakeContext::of(id, context))
    }

    /// A session and the takes in it that match, in the order of their ids; `None` when there is no
    /// such session.
    ///
    /// Both are read at one position of the log: a concurrent commit is visible in the whole answer or not at all.
    pub async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>> {
        let in_session = vec![query.session.0.into()];
        let filed = Range {
            after: Some(query.after.0.into()),
            having: (query.revisions == Revisions::Latest).then_some(takes::CURRENT),
            limit: query.limit,
            ..shown(Range::index(&takes::TABLE, takes::BY_SESSION, in_session))
        };
        let (filed, read): (_, fn(&Row) -> Outcome<StoredTake>) = match query.unsealed {
            true => (Range { parts: PartSet::ALL, ..filed }, |row| read_whole(row).map(Into::into)),
            false => (filed, read),
        };
        let queries = vec![super::sessions::with_id(query.session), Query::Rows(filed)];
        let mut found = self.read("session takes", queries).await?;
        let Some(session) = found.row() else { return Ok(None) };
        let takes = found.rows();
        let corrupt = found.corrupt();
        Ok(Some(SessionTakes {
            session: super::sessions::read(&session).map_err(&corrupt)?,
            takes: takes.iter().map(read).collect::<Outcome<_>>().map_err(&corrupt)?,
        }))
    }

    /// A session and the members that filed in it, in the order of their latest takes; `None` when there is no such session.
    ///
    /// Both are read at one position of the log, without the texts of takes.
    pub async fn session_authors(&self, session: SessionId) -> Result<Option<SessionAuthors>> {
        let latest = Range {
            having: Some(takes::CURRENT),
            parts: PartSet::NONE,
            ..Range::index(&takes::TABLE, takes::BY_SESSION, vec![session.0.into()])
        };
        let queries = vec![super::sessions::with_id(session), Query::Rows(latest)];
        let mut found = self.read("session authors", queries).await?;
        let Some(session) = found.row() else { return Ok(None) };
        let takes = found.rows();
        let corrupt = found.corrupt();
        let author = |take: &Row| Ok(MemberId::parse(text(take, takes::MEMBER)?)?);
        Ok(Some(SessionAuthors {
            session: super::sessions::read(&session).map_err(&corrupt)?,
            authors: takes.iter().map(author).collect::<Outcome<_>>().map_err(&corrupt)?,
        }))
    }

    /// The latest take of a member in each session that it filed in, the session with the highest id first;
    /// all at one position of the log.
    pub async fn member_takes(&self, query: &MemberTakeQuery) -> Result<Vec<MemberTake>> {
        let of_member = vec![query.member.as_str().into()];
        let latest = Range {
            before: query.before.map(|session| session.0.into()),
            is_descending: true,
            having: Some(takes::CURRENT),
            limit: query.limit,
            join: Some(Join {
                table: &sessions::TABLE,
                column: takes::SESSION,
                parts: super::sessions::SUMMARY_AND_ROSTER,
            }),
            ..shown(Range::index(&takes::TABLE, takes::BY_REVISION, of_member))
        };
        let mut found = self.read("member takes", vec![Query::Rows(latest)]).await?;
        let filed = found.joined();
        let take = |(take, session): (Row, Option<Row>)| {
            let session = session?;
            Some(super::sessions::summary_and_expected(&session, &query.member).and_then(
                |(session, expected)| Ok(MemberTake { take: read(&take)?, session, expected }),
            ))
        };
        filed.into_iter().filter_map(take).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Changes the marks of takes, and the snapshot of their session, in one commit. Returns the time of the commit; `None`,
    /// with nothing written, unless the session has the version `marks.expected`, and the author that of `marks.author`.
    /// The takes become [`TakeMarks::marked`] of that time, and the version of the session changes, so that no aggregation misses a mark. A
    /// text that is [erased](crate::rules::TakeMark::Erased) stays readable nowhere in the store. `marks.acts` are appended to the log, in
    /// order, and [`acts_on`](Self::acts_on) the session has them.
    pub async fn mark_takes(&self, marks: &TakeMarks) -> Result<Option<Timestamp>> {
        const OP: &str = "mark takes";
        let TakeMarks { session, expected, author, takes: marked, acts } = marks;
        let mut checks = vec![Check::Version {
            table: &sessions::TABLE,
            key: vec![session.id.0.into()],
            expected: Some(*expected),
        }];
        checks.extend(author.as_ref().map(|(id, version)| Check::Version {
            table: &members::TABLE,
            key: super::members::key(id),
            expected: Some(*version),
        }));
        let mut change = Change { checks, ..Change::default() };
        change.writes.push(super::session_row::replacement(session.clone()));
        for (take, mark) in marked {
            match mark {
                TakeMark::Withheld(note) => {
                    change.writes.extend(set_mark(take.id, Term::Now, note.as_str().into()));
                }
                TakeMark::Restored => {
                    let none = || Value::Null.into();
                    change.writes.extend(set_mark(take.id, none(), none()));
                }
                TakeMark::Erased(note) => {
                    change.erases = true;
                    change.writes.extend(self.erasure(OP, take, note).await?);
                }
            }
        }
        change.entries.extend(acts.iter().map(|act| super::acts::entry_on(act, session.id)));
        Ok(match self.commit(OP, change).await? {
            Made::Now(assigned, _) => Some(assigned.at),
            Made::Before(_) | Made::Unmet(..) => None,
        })
    }
}

impl Records {
    /// Removes the texts of a take. No other commit changes it meanwhile: its marks have the version of the session as their
    /// guard, and its author, which has a guard too, files no further revision.
    async fn erasure(&self, op: &'static str, take: &Take, note: &Note) -> Result<Option<Write>> {
        let mut found = self.read(op, vec![Query::Rows(with_id(take.id))]).await?;
        let Some(row) = found.row() else { return Ok(None) };
        let mut columns: Vec<Term> = row.columns.iter().cloned().map(Term::Value).collect();
        let [at, note] = match &take.withheld {
            Some(_) => mark(take.withheld.as_ref()),
            None => [Term::Now, note.as_str().into()],
        };
        for (column, value) in [(takes::WITHHELD_AT, at), (takes::WITHHELD_NOTE, note)] {
            if let Some(slot) = columns.get_mut(column) {
                *slot = value;
            }
        }
        let without = match &take.withheld {
            Some(withheld) => take.without_texts(withheld),
            // The time is that of the commit, in the column.
            None => take.without_texts(&Withheld {
                at: Timestamp::EPOCH,
                note: Note::none(),
                removed: None,
            }),
        };
        Ok(Some(Write::Put { table: &takes::TABLE, columns, body: body(without) }))
    }
}

/// Sets the columns of a mark.
fn set_mark(take: TakeId, at: Term, note: Term) -> [Write; 2] {
    [(takes::WITHHELD_AT, at), (takes::WITHHELD_NOTE, note)].map(|(column, value)| Write::Set {
        range: Range::key(&takes::TABLE, vec![take.0.into()]),
        column,
        value,
    })
}

/// The conditions under which a take is filed, each with the outcome if it is not met. `spent` is the range of the takes with
/// its nonce.
fn guards(filing: &Filing, member: &Term, spent: &Range) -> Vec<(Check, Filed)> {
    let (session, session_version) = filing.session();
    let (date, subject) = filing.newest_of();
    let author = Check::Version {
        table: &members::TABLE,
        key: vec![member.clone()],
        expected: Some(filing.member().1),
    };
    let newest = Check::First {
        range: super::sessions::of_day(date, subject),
        column: sessions::ID,
        value: session.0.into(),
        version: Some(session_version),
    };
    let filed = vec![member.clone(), session.0.into()];
    let before = u64::from(filing.revision().get().saturating_sub(1));
    let revision = Check::Count {
        range: Range::index(&takes::TABLE, takes::BY_REVISION, filed),
        except: Vec::new(),
        least: before,
        most: before,
    };
    let mut guards = Vec::with_capacity(5);
    guards.push((author, Filed::Stale));
    guards.push((newest, Filed::Stale));
    guards
        .extend(filing.commit_deadline().map(|deadline| (Check::NotAfter(deadline), Filed::Late)));
    guards.push((Check::None { range: spent.clone(), except: Vec::new() }, Filed::NonceUsed));
    guards.push((revision, Filed::RevisionTaken));
    guards
}

/// A range without what is sealed.
fn shown(range: Range) -> Range {
    Range { parts: PartSet::SHOWN, ..range }
}

fn with_id(id: TakeId) -> Range {
    Range::key(&takes::TABLE, vec![id.0.into()])
}

fn with_nonce(member: Term, nonce: Term) -> Range {
    let prefix = vec![member, nonce];
    Range { limit: 1, ..Range::index(&takes::TABLE, takes::BY_NONCE, prefix) }
}

/// All revisions of the member and in the session of the take that the first query found.
fn own_revisions() -> Range {
    let own = vec![Term::Found(0, takes::MEMBER), Term::Found(0, takes::SESSION)];
    Range::index(&takes::TABLE, takes::BY_REVISION, own)
}

/// The query for the revision after that of this take, without its texts.
fn next_revision(take: &Row) -> Outcome<Query> {
    let next = integer(take, takes::REVISION)?.saturating_add(1);
    let of = |column| take.columns.get(column).cloned().unwrap_or(Value::Null).into();
    let prefix = vec![of(takes::MEMBER), of(takes::SESSION), Value::Integer(next).into()];
    let range = Range::index(&takes::TABLE, takes::BY_REVISION, prefix);
    Ok(Query::Rows(Range { parts: PartSet::NONE, ..range }))
}

/// The columns of a take that identify its author and the attempt that filed it.
pub(super) struct Authored {
    pub(super) member: Term,
    pub(super) nonce: Term,
    pub(super) attempt: AttemptId,
}

impl Authored {
    /// The columns of a take that no other supersedes.
    pub(super) fn columns(self, take: &Take, id: Term, filed_at: Term) -> Vec<Term> {
        let Self { member, nonce, attempt } = self;
        let revision = u64::from(take.revision.get()).into();
        let (session, attempt) = (take.session_id.0.into(), attempt.0.as_slice().into());
        let [withheld_at, note] = mark(take.withheld.as_ref());
        let current = Term::from(1_u64);
        let seal = take.seal();
        let seal = seal.as_ref().map(|seal| seal.as_bytes().as_slice()).into();
        vec![
            id,
            session,
            member,
            revision,
            nonce,
            attempt,
            filed_at,
            current,
            withheld_at,
            note,
            seal,
        ]
    }
}

/// The values of [`takes::WITHHELD_AT`] and [`takes::WITHHELD_NOTE`].
fn mark(withheld: Option<&Withheld>) -> [Term; 2] {
    let note = withheld.map(|withheld| withheld.note.as_str());
    [withheld.map(|withheld| withheld.at).into(), note.into()]
}

/// A take without the id and the time that its commit assigned, and without its mark.
struct Filled(Take);

impl Parts for Filled {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        let Self(take) = self;
        match position {
            takes::PUBLIC_KEY => Some(take.public_key.to_string().into()),
            takes::SIGNATURE => Some(proof_text(take).into()),
            takes::PAYLOAD => Some(canonical(take.draft()).into()),
            takes::REMOVED => removed_text(take).map(Cow::Owned),
            takes::ABOUT => take.salt.map(|_| about_text(take).into()),
            _ => None,
        }
    }
}

pub(super) fn body(take: Take) -> Body {
    Body::of(Filled(take))
}

fn removed_text(take: &Take) -> Option<String> {
    if take.has_texts() {
        return None;
    }
    let seal = take.seal().map(|seal| format!(" {seal}")).unwrap_or_default();
    Some(format!("{}{seal}", take.digest()))
}

fn read_removed(text: &str) -> Outcome<TextDigests> {
    let (digest, seal) = text.split_once(' ').unzip();
    let digest = Digest::parse(digest.unwrap_or(text))?;
    Ok(TextDigests { digest, seal: seal.map(Digest::parse).transpose()? })
}

/// The day and the subject of the session of a take.
fn about_text(take: &Take) -> String {
    let TakeDraft { date, subject_id, .. } = take.draft();
    format!("{date} {subject_id}")
}

/// Reads a take: of one that is sealed, what is known meanwhile.
pub(super) fn read(row: &Row) -> Outcome<StoredTake> {
    match row.body.is_veiled() {
        true => Ok(StoredTake::Sealed(Arc::new(sealed(row)?))),
        false => read_whole(row).map(StoredTake::Whole),
    }
}

/// Reads what is known of a sealed take. What it says is not touched.
fn sealed(row: &Row) -> Outcome<StoredSealedTake> {
    let seal = row.columns.get(takes::SEAL).and_then(Value::bytes);
    let seal = seal.and_then(|seal| seal.try_into().ok());
    let seal = seal.ok_or_else(|| Unreadable::new("a seal is no digest"))?;
    let without_seal = || Unreadable::new("a sealed take has no salt");
    let (public_key, session_version, salt, (date, subject_id)) = match row.body.source() {
        Some(Filled(take)) => {
            let TakeDraft { date, subject_id, .. } = take.draft();
            let about = (*date, subject_id.clone());
            (take.public_key.clone(), take.session_version, take.salt, about)
        }
        None => {
            let TakeProof { session_version, salt, .. } =
                read_proof(&part(row, takes::SIGNATURE)?)?;
            let key = PublicKey::of_record(&part(row, takes::PUBLIC_KEY)?)?;
            (key, session_version, salt, read_about(&part(row, takes::ABOUT)?)?)
        }
    };
    Ok(StoredSealedTake {
        shown: SealedTake {
            id: TakeId(number(row, takes::ID)?),
            session_id: SessionId(number(row, takes::SESSION)?),
            member_id: MemberId::parse(text(row, takes::MEMBER)?)?,
            revision: revision(row)?,
            filed_at: time(row, takes::FILED_AT)?,
            sealed: Digest::from_bytes(seal),
        },
        date,
        subject_id,
        session_version,
        public_key,
        salt: salt.ok_or_else(without_seal)?,
    })
}

fn read_about(about: &str) -> Outcome<(Day, SubjectId)> {
    let (date, subject) = about.split_once(' ').unwrap_or((about, ""));
    Ok((Day::parse(date)?, SubjectId::parse(subject)?))
}

/// Reads a take whose parts were all read.
pub(super) fn read_whole(row: &Row) -> Outcome<Arc<Take>> {
    let take = filed(row)?;
    // The mark changes without the body, whose value is kept.
    let Some(at) = time_if_any(row, takes::WITHHELD_AT)? else { return Ok(take) };
    let note = Note::parse(text(row, takes::WITHHELD_NOTE)?)?;
    let removed = match row.body.source() {
        Some(Filled(take)) => take.withheld.as_ref().and_then(|withheld| withheld.removed),
        None => row.body.part(takes::REMOVED).map(|text| read_removed(&text)).transpose()?,
    };
    let withheld = Some(Withheld { at, note, removed });
    Ok(Arc::new(Take { withheld, ..Take::clone(&take) }))
}

/// Reads a take without its mark.
fn filed(row: &Row) -> Outcome<Arc<Take>> {
    row.body.value(|| {
        let (id, filed_at) = (TakeId(number(row, takes::ID)?), time(row, takes::FILED_AT)?);
        if let Some(Filled(take)) = row.body.source() {
            return Ok(Arc::new(Take { id, filed_at, withheld: None, ..take.clone() }));
        }
        let payload = Json::read(part(row, takes::PAYLOAD)?.as_bytes())?;
        let payload = TakeDraft::read(&mut payload.into_object())?;
        let proof = read_proof(&part(row, takes::SIGNATURE)?)?;
        let TakeProof { signature, session_version, salt } = proof;
        Ok(Arc::new(Take {
            id,
            filed_at,
            session_id: SessionId(number(row, takes::SESSION)?),
            session_version,
            revision: revision(row)?,
            public_key: PublicKey::of_record(&part(row, takes::PUBLIC_KEY)?)?,
            signed: Arc::new(Signed { payload, signature }),
            salt,
            withheld: None,
        }))
    })
}

fn revision(row: &Row) -> Outcome<Revision> {
    let revision = small(row, takes::REVISION)?.and_then(Revision::new);
    revision.ok_or_else(|| Unreadable::new("a take has no revision"))
}
