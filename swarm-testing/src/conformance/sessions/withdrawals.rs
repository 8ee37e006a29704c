//! Sessions that are withdrawn.

use super::{ALL, NONE, on};
use crate::assertions::{ensure, expect_eq};
use crate::{TestTenant, race};
use swarm_core::domain::SessionState::{Collecting, Published};
use swarm_core::domain::{Attribution, SessionId};
use swarm_core::rules::withdraw;
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{
    Countable, Filed, Saved as Outcome, SessionChange, SessionList, SessionQuery, Store,
    SummaryQuery, TakeQuery,
};

/// No read finds it, and its id is not used again, whether or not it was the highest.
pub async fn withdrawn_session_is_found_by_no_read(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let first = tenant.convened("subject").await;
    let second = tenant.convened("subject").await;
    let stale = tenant.judged(&author, &author.submission(&second, "stale")).await;
    let published = tenant.now().await;
    tenant
        .amend(second.id, |session| {
            session.state = Published;
            session.published_at = Some(published);
        })
        .await;
    let change = withdrawal(&tenant, second.id).await;
    expect_eq!(tenant.save_session(&change).await, Saved);

    expect_eq!(tenant.session(second.id).await, None);
    expect_eq!(tenant.session_takes(&TakeQuery::all(second.id)).await, None);
    expect_eq!(tenant.found(&ALL).await, [1]);
    expect_eq!(tenant.found(&on("subject")).await, [1]);
    expect_eq!(tenant.found(&SessionQuery { state: Some(Published), ..ALL }).await, NONE);
    let all = SummaryQuery { limit: 9, ..SummaryQuery::default() };
    expect_eq!(tenant.session_summaries(&all).await.len(), 1);
    let about = SummaryQuery { list: SessionList::About(second.subject_id.clone()), ..all };
    expect_eq!(tenant.session_summaries(&about).await.len(), 1);
    expect_eq!(tenant.published(10).await, []);
    expect_eq!(tenant.count(Countable::Sessions(Published)).await, 0);
    expect_eq!(tenant.count(Countable::Sessions(Collecting)).await, 1);
    expect_eq!(tenant.file(&stale).await, Filed::Stale);
    // The one before it is the newest of the day again.
    let take = tenant.filed(&author, &first, "later").await;
    expect_eq!(take.session_id, first.id);

    expect_eq!(tenant.save_session(&change).await, Stale, "withdrawn again");
    let saved = SessionChange { withdrawn: false, takes: None, ..change };
    expect_eq!(tenant.save_session(&saved).await, Stale, "written again");
    expect_eq!(tenant.convened("subject").await.id, SessionId(3));
    expect_eq!(tenant.save_session(&withdrawal(&tenant, SessionId(3)).await).await, Saved);
    expect_eq!(tenant.convened("subject").await.id, SessionId(4));
    expect_eq!(tenant.acts_on(second.id).await.len(), 3);
}

/// The only session of its day and subject leaves nothing behind that takes could be filed in.
pub async fn session_withdrawn_last_leaves_its_day_empty(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let (session, other) = (tenant.convened("subject").await, tenant.convened("other").await);
    expect_eq!(tenant.save_session(&withdrawal(&tenant, session.id).await).await, Saved);
    let facts = tenant.facts(&author, &author.submission(&session, "nonce")).await;
    expect_eq!(facts.session, None);
    expect_eq!(tenant.found(&on("subject")).await, NONE);
    tenant.filed(&author, &other, "nonce").await;
}

pub async fn session_with_takes_is_not_withdrawn(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let change = withdrawal(&tenant, session.id).await;
    tenant.filed(&author, &session, "nonce").await;
    let size = tenant.log_size().await;
    expect_eq!(tenant.save_session(&change).await, Stale);
    ensure!(tenant.session(session.id).await.is_some(), "the session", "none");
    expect_eq!(tenant.log_size().await, size);
}

/// Of a withdrawal and takes that race, either the withdrawal is committed or a take.
pub async fn session_is_withdrawn_or_filed_in(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(8).await;
    for round in 0..16 {
        let session = tenant.convened("subject").await;
        let filings = tenant.judged_of_each(&authors, &session, &round.to_string()).await;
        let change = withdrawal(&tenant, session.id).await;
        let place = round % 8;
        let step = |(at, filing)| {
            let (tenant, change) = (tenant.clone(), change.clone());
            async move {
                let withdrawn = at == place && tenant.save_session(&change).await == Outcome::Saved;
                (withdrawn, tenant.file(&filing).await)
            }
        };
        let outcomes = race(filings.into_iter().enumerate().map(step)).await;
        let withdrawn = outcomes.iter().any(|(withdrawn, _)| *withdrawn);
        let filed = outcomes.iter().filter(|(_, filed)| matches!(filed, Filed::Filed(..))).count();
        expect_eq!(filed, if withdrawn { 0 } else { 8 });
        expect_eq!(tenant.session(session.id).await.is_none(), withdrawn);
    }
}

async fn withdrawal(tenant: &TestTenant, id: SessionId) -> SessionChange {
    withdraw(&tenant.session(id).await.unwrap(), &Attribution::SCHEDULE).unwrap()
}
