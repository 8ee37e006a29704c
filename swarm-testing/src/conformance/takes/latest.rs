//! Reads of the takes that are not superseded.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{TestTenant, odd_texts};
use swarm_core::domain::{Roster, RosterEntry, SessionId, StoredTake, Take, TakeId};
use swarm_core::store::{MemberTake, MemberTakeQuery, Store, TakeContext, TakeQuery};

pub async fn latest_takes_are_one_per_member(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = [tenant.author("ada").await, tenant.author("grace").await];
    let sessions = [tenant.convened("subject").await, tenant.convened("other").await];
    for revision in 1..=3 {
        for session in &sessions {
            let mut last = Vec::new();
            for author in &authors {
                let nonce = format!("{}-{revision}", session.id);
                last.push(tenant.filed(author, session, &nonce).await);
            }
            expect_eq!(page(&tenant, session.id, 0, usize::MAX).await, last);
        }
    }
    for unknown in [0, 3, u64::MAX] {
        expect_eq!(page(&tenant, SessionId(unknown), 0, usize::MAX).await, []);
    }
}

pub async fn session_authors_are_listed_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let [ada, grace] = [tenant.author("ada").await, tenant.author("grace").await];
    let session = tenant.convened("subject").await;
    let other = tenant.convened("other").await;
    for (nonce, author, expected) in [
        ("1", &ada, vec![&ada]),
        ("2", &grace, vec![&ada, &grace]),
        ("3", &ada, vec![&grace, &ada]),
    ] {
        tenant.filed(author, &session, nonce).await;
        tenant.filed(&grace, &other, &format!("other {nonce}")).await;
        let found = tenant.session_authors(session.id).await.unwrap();
        let expected: Vec<_> = expected.into_iter().map(|author| author.id.clone()).collect();
        expect_eq!(found.authors, expected);
        expect_eq!(Some(found.session), tenant.session(session.id).await);
    }
    expect_eq!(tenant.session_authors(SessionId(3)).await, None);
}

pub async fn latest_take_pages_are_complete(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut latest = Vec::new();
    for member in 0..11 {
        let author = tenant.author(&member.to_string()).await;
        for revision in 0..member % 3 {
            tenant.filed(&author, &session, &revision.to_string()).await;
        }
        latest.push(tenant.filed(&author, &session, "last").await);
    }
    let mut after = 0;
    for expected in latest.chunks(4) {
        let takes = page(&tenant, session.id, after, 4).await;
        expect_eq!(takes, expected);
        after = takes.last().map(|take| take.id.0).unwrap_or_default();
    }
    expect_eq!(page(&tenant, session.id, after, 4).await, []);
    // Start after an id that no take has, or that of a superseded take.
    for (after, first) in [(1, 3), (2, 3), (4, 6), (u64::MAX, 0)] {
        let takes = page(&tenant, session.id, after, 1).await;
        expect_eq!(takes.first().map_or(0, |take| take.id.0), first);
    }
}

pub async fn take_context_has_revisions_and_neighbours(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let [ada, grace, hedy] =
        [tenant.author("ada").await, tenant.author("grace").await, tenant.author("a:b").await];
    let (session, other) = (tenant.convened("subject").await, tenant.convened("other").await);
    expect_eq!(tenant.take_context(TakeId(1)).await, None);
    let mut takes = Vec::new();
    // Takes 1 to 7; the fifth is in another session.
    for (author, session) in [
        (&grace, &session),
        (&ada, &session),
        (&hedy, &session),
        (&ada, &session),
        (&hedy, &other),
        (&grace, &session),
        (&ada, &session),
    ] {
        let nonce = format!("nonce {}", takes.len());
        takes.push(tenant.filed(author, session, &nonce).await);
    }
    for (id, revisions, previous, next) in [
        (1, &[1, 6][..], None, Some(3)),
        (2, &[2, 4, 7], None, Some(3)),
        (3, &[3], None, Some(6)),
        (4, &[2, 4, 7], Some(3), Some(6)),
        (5, &[5], None, None),
        (6, &[1, 6], Some(3), Some(7)),
        (7, &[2, 4, 7], Some(6), None),
    ] {
        let take = |id: &usize| StoredTake::from(Arc::clone(&takes[id - 1]));
        let (previous, next) = (previous.as_ref().map(take), next.as_ref().map(take));
        let context =
            TakeContext { revisions: revisions.iter().map(take).collect(), previous, next };
        expect_eq!(tenant.take_context(TakeId(id)).await, Some(context), "of take {id}");
    }
    expect_eq!(tenant.take_context(TakeId(8)).await, None);
}

pub async fn member_takes_are_the_latest_of_each_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let [ada, grace] = [tenant.author("ada").await, tenant.author("grace").await];
    let mut sessions = Vec::new();
    for subject in ["one", "two", "three"] {
        sessions.push(tenant.convened(subject).await);
    }
    // The newest session is filed in first.
    let mut own = Vec::new();
    for (place, revisions) in [(2, 2), (0, 3)] {
        for revision in 1..=revisions {
            tenant.filed(&grace, &sessions[place], &format!("{place} {revision}")).await;
            let take = tenant.filed(&ada, &sessions[place], &format!("{place} {revision}")).await;
            own.retain(|(there, _)| *there != place);
            own.push((place, take));
        }
    }
    tenant.filed(&grace, &sessions[1], "nonce").await;
    let mut expected: Vec<MemberTake> = Vec::new();
    for (place, take) in own {
        let session = Arc::new(sessions[place].summary());
        expected.push(MemberTake { take: take.into(), session, expected: false });
    }
    let query = MemberTakeQuery { member: ada.id.clone(), before: None, limit: usize::MAX };
    expect_eq!(tenant.member_takes(&query).await, expected);
    for (before, limit, shown) in [
        (None, 1, &expected[..1]),
        (Some(3), 9, &expected[1..]),
        (Some(2), 9, &expected[1..]),
        (Some(1), 9, &[]),
        (Some(u64::MAX), 9, &expected),
    ] {
        let query = MemberTakeQuery { before: before.map(SessionId), limit, ..query.clone() };
        expect_eq!(tenant.member_takes(&query).await, shown, "{query:?}");
    }
    let nobody = MemberTakeQuery { member: tenant.author("hedy").await.id.clone(), ..query };
    expect_eq!(tenant.member_takes(&nobody).await, []);
}

pub async fn member_takes_say_whether_they_were_expected(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut entries = Vec::new();
    for (number, name) in odd_texts().into_iter().enumerate() {
        let author = tenant.author(&name).await;
        tenant.filed(&author, &session, "nonce").await;
        let entry = RosterEntry { member_id: author.id.clone(), excused: number % 3 == 1 };
        entries.push((entry, number % 3 != 2));
    }
    let listed = entries.iter().filter(|(_, is_listed)| *is_listed);
    let roster = Roster::parse(listed.map(|(entry, _)| entry.clone()).collect()).unwrap();
    tenant.amend(session.id, |session| session.roster = Some(roster)).await;
    for (RosterEntry { member_id, excused }, is_listed) in entries {
        let query = MemberTakeQuery { member: member_id, before: None, limit: 9 };
        let takes = tenant.member_takes(&query).await;
        let expected: Vec<_> = takes.iter().map(|take| take.expected).collect();
        expect_eq!(expected, [is_listed && !excused], "{query:?}");
    }
}

async fn page(tenant: &TestTenant, session: SessionId, after: u64, limit: usize) -> Vec<Arc<Take>> {
    let query = TakeQuery { after: TakeId(after), limit, ..TakeQuery::latest(session) };
    let found = tenant.session_takes(&query).await;
    expect_eq!(found.is_some(), tenant.session(session).await.is_some());
    let takes = found.map(|found| found.takes).unwrap_or_default();
    takes.iter().filter_map(StoredTake::whole).cloned().collect()
}
