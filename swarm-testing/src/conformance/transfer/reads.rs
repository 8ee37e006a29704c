//! The results of all reads of a tenant.

use std::fmt::Debug;
use std::sync::Arc;

use super::filled_tenant::FilledTenant;
use crate::TestTenant;
use crate::committee::TestCommittee;
use swarm_core::domain::{MailState, Member, MemberState, Seq, SessionId, SessionState};
use swarm_core::store::{
    Collection, CommitteeSessionQuery, CommitteeTakesQuery, Countable, DocumentQuery, LogPosition,
    MemberBasis, MemberTakeQuery, Revisions, SessionList, SessionQuery, Store, SummaryQuery,
    TakeQuery, Versioned,
};

const STATES: [SessionState; 5] = [
    SessionState::Scheduled,
    SessionState::Collecting,
    SessionState::WindowClosed,
    SessionState::Aggregated,
    SessionState::Published,
];

/// The results as text, without versions, the time and the mark of the log.
pub(super) async fn of(store: &Store, tenant: &TestTenant, filled: &FilledTenant) -> Vec<String> {
    let mut found = Found(Vec::new());
    members(tenant, filled, &mut found).await;
    sessions(tenant, filled, &mut found).await;
    documents(tenant, &mut found).await;
    committee(&TestCommittee::open(store.clone(), tenant.id.clone()), filled, &mut found).await;
    let LogPosition { log, size, .. } = tenant.log_position().await;
    found.add("log position", (log, size));
    found.add("log", tenant.log(Seq(0), usize::MAX).await);
    found.0
}

struct Found(Vec<String>);

impl Found {
    fn add(&mut self, what: &str, found: impl Debug) {
        self.0.push(format!("{what}: {found:?}"));
    }
}

fn records<T>(found: impl IntoIterator<Item = Versioned<T>>) -> Vec<Arc<T>> {
    found.into_iter().map(|found| found.record).collect()
}

async fn members(tenant: &TestTenant, filled: &FilledTenant, found: &mut Found) {
    let all = tenant.all_members().await;
    for member in &all {
        let MemberBasis { member, .. } = tenant.member(&member.id).await;
        found.add("member", records(member));
    }
    for Member { id, .. } in all.iter().map(AsRef::as_ref) {
        let query = MemberTakeQuery { member: id.clone(), before: None, limit: usize::MAX };
        found.add("takes", tenant.member_takes(&query).await);
    }
    let tokens: Vec<_> = all.iter().filter_map(|member: &Arc<Member>| member.token).collect();
    for token in &tokens {
        found.add("bearer", tenant.bearer(token).await);
    }
    for state in MemberState::ALL {
        found.add(state.as_str(), tenant.members(&[state]).await);
        found.add("members", tenant.store().count(Countable::Members(state)).await.unwrap());
    }
    for state in MailState::ALL {
        found.add(state.as_str(), records(tenant.messages(Some(state), None).await));
        found.add("messages", tenant.count(Countable::Messages(state)).await);
    }
    found.add("outbox", records(tenant.messages(None, None).await));
    let FilledTenant { author, session, .. } = filled;
    let facts = tenant.facts(author, &author.submission(session, "2")).await;
    found.add("basis", (records(facts.member), records(facts.session), facts.latest, facts.spent));
}

async fn sessions(tenant: &TestTenant, filled: &FilledTenant, found: &mut Found) {
    let all = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    let listed = tenant.sessions(&all).await;
    for session in &listed {
        found.add("session", records(tenant.session(session.id).await));
        found.add("acts", tenant.acts_on(session.id).await);
        for revisions in [Revisions::All, Revisions::Latest] {
            let query = TakeQuery { revisions, ..TakeQuery::all(session.id) };
            let takes = tenant.session_takes(&query).await.map(|it| it.takes).unwrap_or_default();
            for take in &takes {
                found.add("take", tenant.take(take.id()).await);
            }
            found.add("takes", takes);
        }
        let on = Some((session.date, session.subject_id.clone()));
        found.add("on", tenant.found(&SessionQuery { on, ..all.clone() }).await);
        let list = SessionList::About(session.subject_id.clone());
        let about = SummaryQuery { list, limit: usize::MAX, ..SummaryQuery::default() };
        found.add("about", tenant.session_summaries(&about).await);
    }
    found.add("sessions", listed);
    for state in STATES {
        let query = SessionQuery { state: Some(state), ..all.clone() };
        found.add(state.as_str(), tenant.found(&query).await);
        found.add("count", tenant.count(Countable::Sessions(state)).await);
    }
    found.add("published", tenant.published(usize::MAX).await);
    found.add("unknown", tenant.session(SessionId(filled.session.id.0 + 1)).await);
}

async fn documents(tenant: &TestTenant, found: &mut Found) {
    for collection in Collection::ALL {
        let all = tenant.documents(collection, None).await;
        for document in &all {
            found.add("document", tenant.document(collection, &document.key).await);
            found.add("whole", tenant.whole_document(collection, &document.key).await);
            found.add("group", tenant.documents(collection, Some(&document.key)).await);
        }
        found.add("documents", all);
        let query =
            DocumentQuery { after: None, limit: 500, bytes: usize::MAX, without_texts: false };
        found.add("page", tenant.document_page(collection, &query).await);
        found.add("group", tenant.documents(collection, Some("group")).await);
    }
}

async fn committee(tenant: &TestCommittee, filled: &FilledTenant, found: &mut Found) {
    let members = records(tenant.members().await);
    for member in &members {
        let facts = tenant.basis(&member.key).await;
        found.add("basis", (records(facts.member), records(facts.session)));
        found.add("member", records(tenant.member(&member.id).await));
        let briefs = tenant.briefs(filled.day, Some(&member.id)).await;
        found.add("brief", briefs);
        let before = crate::day("9999-12-31");
        let latest = CommitteeTakesQuery::Latest { member: &member.id, before, limit: usize::MAX };
        found.add("latest", tenant.takes(&latest).await);
    }
    found.add("committee", members);
    found.add("briefs", tenant.briefs(filled.day, None).await);
    found.add("takes", tenant.takes_on(filled.day).await);
    let all = CommitteeSessionQuery { limit: usize::MAX, ..CommitteeSessionQuery::default() };
    let days = records(tenant.sessions(&all).await);
    for subject in days.iter().filter_map(|day| day.generation.as_ref()).map(|it| &it.subject_id) {
        let about = CommitteeSessionQuery { subject: Some(subject.clone()), ..all.clone() };
        found.add("about", records(tenant.sessions(&about).await));
    }
    found.add("days", days);
    let blank = crate::day("2030-01-01");
    found.add("blank day", records(tenant.day(blank).await));
}
