//! The daily committee: its queries and its commits.

use std::sync::Arc;

use super::committee_rows::{brief_columns, day_columns, member_columns, read_take, take_columns};
use super::rows::{Outcome, read_whole, versioned, whole};
use super::tables::{
    COMMITTEE_TAKES, committee_briefs, committee_days, committee_members, committee_takes,
};
use super::{Answers, Change, Made, Records, acts, unexpected};
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use crate::domain::{ApiKeyHash, Day, LogEntry, Timestamp};
use crate::rules::Versioned;
use crate::store::backend::{
    Append, Body, Check, CommitId, Query, Range, Repetition, Term, Value, Write,
};
use crate::store::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange,
    CommitteeSessionQuery, CommitteeTakesQuery, Result, Saved, time_of_read,
};

/// The committee.
impl Records {
    /// All members, of either status, by id.
    pub async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>> {
        let all = Range::all(&committee_members::TABLE);
        let mut found = self.read("committee members", vec![Query::Rows(all)]).await?;
        found.rows().iter().map(versioned).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// A member of either status.
    pub async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>> {
        let member = Range::key(&committee_members::TABLE, vec![id.as_str().into()]);
        let mut found = self.read("committee member", vec![Query::Rows(member)]).await?;
        found.row().as_ref().map(versioned).transpose().map_err(found.corrupt())
    }

    /// Writes a member. Returns [`Saved::Stale`] unless the stored version is `change.expected` (`None`: no such member). A replaced key
    /// stops working with the commit.
    pub async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved> {
        let CommitteeMemberChange { member, expected, operator_act } = change;
        let (table, key) = (&committee_members::TABLE, vec![member.id.as_str().into()]);
        let checks = vec![Check::Version { table, key, expected: *expected }];
        let columns = member_columns(member).into_iter().map(Term::Value).collect();
        let writes = vec![Write::Put { table, columns, body: whole(member.clone()) }];
        let operator_act = operator_act.clone();
        let change = Change { checks, writes, operator_act, ..Change::default() };
        self.save("save committee member", change).await
    }

    /// One day.
    pub async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>> {
        let mut found = self.read("committee day", vec![Query::Rows(of_day(date))]).await?;
        found.row().as_ref().map(versioned).transpose().map_err(found.corrupt())
    }

    /// The days with a generation that match, latest first.
    pub async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>> {
        let mut found =
            self.read("committee sessions", vec![Query::Rows(generated(query))]).await?;
        found.rows().iter().map(versioned).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// Writes a day. Returns [`Saved::Stale`] unless the stored version is `change.expected` (`None`: no such day). `change.briefs`, if
    /// given, replace all briefs of that day in the same commit, and those of earlier days are deleted.
    pub async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        let CommitteeDayChange { day, expected, briefs, act } = change;
        let (table, date) = (&committee_days::TABLE, Term::from(day.date.to_string()));
        let checks = vec![Check::Version { table, key: vec![date.clone()], expected: *expected }];
        let columns = day_columns(day).into_iter().map(Term::Value).collect();
        let mut writes = vec![Write::Put { table, columns, body: whole(day.clone()) }];
        if let Some(briefs) = briefs {
            let table = &committee_briefs::TABLE;
            // Briefs of earlier days are never read.
            writes.push(Write::Remove(Range { before: Some(date.clone()), ..Range::all(table) }));
            writes.push(Write::Remove(Range { prefix: vec![date], ..Range::all(table) }));
            writes.extend(briefs.iter().map(|brief| {
                let columns = brief_columns(day.date, brief).into_iter().map(Term::Value).collect();
                Write::Insert { table, columns, body: whole(brief.clone()) }
            }));
        }
        let entries = vec![acts::entry(act, None)];
        self.save("save committee day", Change { checks, writes, entries, ..Change::default() })
            .await
    }

    /// The briefs of a day, by member id; with `member`, only its brief, if any.
    pub async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        let mut prefix = vec![date.to_string().into()];
        prefix.extend(member.map(|member| member.as_str().into()));
        let range = Range { prefix, ..Range::all(&committee_briefs::TABLE) };
        let mut found = self.read("committee briefs", vec![Query::Rows(range)]).await?;
        found.rows().iter().map(read_whole).collect::<Outcome<_>>().map_err(found.corrupt())
    }

    /// The facts that a submission is judged on, read in one round trip: the time, the member whose
    /// record has this key hash, and the latest day with a generation.
    pub async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        const OP: &str = "committee basis";
        let prefix = vec![key.as_bytes().as_slice().into()];
        let (table, index) = (&committee_members::TABLE, committee_members::BY_API_KEY);
        let member = Range { limit: 1, ..Range::index(table, index, prefix) };
        let latest = CommitteeSessionQuery { limit: 1, ..CommitteeSessionQuery::default() };
        let queries = vec![Query::Rows(member), Query::Rows(generated(&latest))];
        let reading = self.facts(OP, queries).await?;
        let now = time_of_read(reading.clock, reading.head.at);
        let mut found = Answers::new(OP, reading.answers, &self.damage);
        let (member, session) = (found.row(), found.row());
        let corrupt = found.corrupt();
        Ok(CommitteeBasis {
            now,
            member: member.as_ref().map(versioned).transpose().map_err(&corrupt)?,
            session: session.as_ref().map(versioned).transpose().map_err(&corrupt)?,
        })
    }

    /// Files a submission, in one round trip. In this order:
    /// 1. if the member filed this attempt on that day already (a client library may send a commit twice), the result is the same as then,
    ///    [`CommitteeFiled::Filed`], even if the clock is too far behind;
    /// 2. unless the versions of the member and of the day are those of the filing, it is [`CommitteeFiled::Stale`];
    /// 3. if the time of the commit is past `commit_deadline`, it is [`CommitteeFiled::Late`];
    /// 4. unless the member has fewer submissions on that day than [`CommitteeFiling::quota`], it is [`CommitteeFiled::Full`];
    /// 5. otherwise [`CommitteeFiling::take`] is recorded with the time of the commit. The versions of the member and of the day stay.
    pub async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        const OP: &str = "file committee";
        let ((member, member_version), (date, day_version)) = (filing.member(), filing.session());
        let by = |index, more: Vec<Term>| {
            let prefix = [member.as_str().into(), date.to_string().into()].into_iter().chain(more);
            Range::index(&committee_takes::TABLE, index, prefix.collect())
        };
        let at = |table, key: Term, version| {
            (
                Check::Version { table, key: vec![key], expected: Some(version) },
                CommitteeFiled::Stale,
            )
        };
        let mut guards = vec![
            at(&committee_members::TABLE, member.as_str().into(), member_version),
            at(&committee_days::TABLE, date.to_string().into(), day_version),
            (Check::NotAfter(filing.commit_deadline()), CommitteeFiled::Late),
        ];
        guards.extend(filing.quota().map(|quota| {
            let own = by(committee_takes::BY_MEMBER, Vec::new());
            (super::members::at_most(own, Vec::new(), quota), CommitteeFiled::Full)
        }));
        let take = filing.take(Timestamp::EPOCH);
        let attempt = filing.attempt();
        // The newest one alone can be current.
        let superseded = Range {
            is_descending: true,
            limit: 1,
            ..by(committee_takes::BY_SUBJECT, vec![take.subject_id.as_str().into()])
        };
        let columns = take_columns(&take, attempt.0, Term::Assigned(0), Term::Now, true);
        let writes = vec![
            Write::Set {
                range: superseded,
                column: committee_takes::CURRENT,
                value: Value::Null.into(),
            },
            Write::Insert {
                table: &committee_takes::TABLE,
                columns,
                body: Body::of(filing.uncommitted().clone()),
            },
        ];
        let (checks, outcomes): (Vec<_>, Vec<_>) = guards.into_iter().unzip();
        let change = Change {
            id: Some(CommitId(attempt.0)),
            repetition: Some(Repetition {
                range: by(committee_takes::BY_ATTEMPT, vec![attempt.0.as_slice().into()]),
                column: committee_takes::ATTEMPT,
            }),
            checks,
            sequences: vec![COMMITTEE_TAKES],
            writes,
            entries: vec![Append::Entry {
                topic: None,
                assigned: None,
                reference: Some((&committee_takes::TABLE, Term::Assigned(0))),
                body: Body::empty(),
            }],
            filed: Some(LogEntry::COMMITTEE_TAKE_FILED),
            member: Some(member.as_str().into()),
            ..Change::default()
        };
        match self.commit(OP, change).await? {
            Made::Now(assigned, _) => Ok(CommitteeFiled::Filed(Arc::new(filing.take(assigned.at)))),
            Made::Before(row) => {
                Ok(CommitteeFiled::Filed(read_take(&row).map_err(self.damage.corrupt(OP))?))
            }
            Made::Unmet(check, _) => {
                outcomes.into_iter().nth(check).ok_or_else(|| unexpected(OP, check))
            }
        }
    }

    /// The submissions that match.
    pub async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        let table = &committee_takes::TABLE;
        let ranges = match *query {
            CommitteeTakesQuery::On(days) => {
                let on = |day: &Day| {
                    Range::index(table, committee_takes::BY_DAY, vec![day.to_string().into()])
                };
                days.iter().map(on).collect::<Vec<_>>()
            }
            CommitteeTakesQuery::Latest { member, before, limit } => {
                let of_member = vec![member.as_str().into()];
                vec![Range {
                    before: Some(before.to_string().into()),
                    is_descending: true,
                    having: Some(committee_takes::CURRENT),
                    limit,
                    ..Range::index(table, committee_takes::BY_MEMBER, of_member)
                }]
            }
        };
        let count = ranges.len();
        let mut found =
            self.read("committee takes", ranges.into_iter().map(Query::Rows).collect()).await?;
        let rows: Vec<_> = (0..count).flat_map(|_| found.rows()).collect();
        rows.iter().map(read_take).collect::<Outcome<_>>().map_err(found.corrupt())
    }
}

fn of_day(date: Day) -> Range {
    Range::key(&committee_days::TABLE, vec![date.to_string().into()])
}

/// The days with a generation that match, the latest first.
fn generated(query: &CommitteeSessionQuery) -> Range {
    let CommitteeSessionQuery { subject, before, limit } = query;
    let (index, prefix) = match subject {
        Some(subject) => (committee_days::BY_SUBJECT, vec![subject.as_str().into()]),
        None => (committee_days::BY_GENERATION, vec![1_u64.into()]),
    };
    Range {
        before: before.map(|day| day.to_string().into()),
        is_descending: true,
        limit: *limit,
        ..Range::index(&committee_days::TABLE, index, prefix)
    }
}
