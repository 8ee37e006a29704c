//! Files takes of a member, and checks the answers.

use std::sync::Arc;

use swarm_core::domain::{Revision, StoredTake, TakeOnFile};
use swarm_core::rules::Filing;
use swarm_core::store::{Filed, Records, Result};
use swarm_core::{Session, Take};
use swarm_testing::{Author, takes_of};
use tokio::time::timeout;

use crate::world::{BOUND, draft, facts, joined, try_judge};

/// How many takes a member may file in a session (API.md, 5.4).
const CAP: usize = 5;

/// A member that files all revisions in one session of its own after another. The nonce is the number of
/// the take.
pub(super) struct Filer {
    name: String,
    author: Author,
    /// How many times it tried to convene a session.
    convened: usize,
    sessions: Vec<Arc<Session>>,
    pub(super) acknowledged: Vec<Arc<Take>>,
    /// The filing that ended in an error, whose outcome is unknown.
    unknown: Option<Filing>,
}

impl Filer {
    pub(super) async fn new(store: &Records, name: String) -> Self {
        let author = joined(store, &name).await;
        let (sessions, acknowledged) = (Vec::new(), Vec::new());
        Self { name, author, convened: 0, sessions, acknowledged, unknown: None }
    }

    /// Files the next take, or retries the one that ended in an error. No one else files for this member,
    /// so only one answer is right.
    pub(super) async fn file(&mut self, store: &Records) -> Result<()> {
        let filing = match self.unknown.take() {
            Some(filing) => filing,
            None => self.next(store).await?,
        };
        let filing = self.unknown.insert(filing);
        match timeout(BOUND, store.file(filing)).await.unwrap()? {
            Filed::Filed(take, _) if *take == filing.take(take.id, take.filed_at) => {
                self.acknowledged.push(take);
                self.unknown = None;
                Ok(())
            }
            other => panic!("{other:?} to {filing:?}"),
        }
    }

    async fn next(&mut self, store: &Records) -> Result<Filing> {
        let number = self.acknowledged.len();
        if number == self.sessions.len() * CAP {
            self.convened += 1;
            let subject = format!("{}-{}", self.name, self.convened);
            self.sessions.push(store.convene(&draft(&subject)).await?);
        }
        let session = &self.sessions[number / CAP];
        let filing = try_judge(store, &self.author, session, &number.to_string()).await?;
        assert_eq!(usize::from(filing.revision().get()), number % CAP + 1, "after {number} takes");
        Ok(filing)
    }

    /// The ids of the member's stored takes. Checks that each is complete, and that nonces and revisions agree.
    pub(super) async fn on_file(&self, store: &Records) -> Vec<u64> {
        let mut ids = Vec::new();
        for (index, session) in self.sessions.iter().enumerate() {
            let takes = takes_of(store, session.id).await.unwrap();
            assert!(takes.len() <= CAP);
            for revision in 0..CAP {
                let (number, take) = (index * CAP + revision, takes.get(revision));
                let facts = facts(store, &self.author, session, &number.to_string()).await.unwrap();
                assert_eq!(facts.spent, take.cloned().map(StoredTake::from), "nonce {number}");
                assert_eq!(usize::from(facts.latest.map_or(0, Revision::get)), takes.len());
                let Some(take) = take else { continue };
                assert_eq!(**take, self.expected(number, take));
                let superseded_by = takes.get(revision + 1).map(|next| next.id);
                let expected = TakeOnFile { take: Arc::clone(take).into(), superseded_by };
                assert_eq!(store.take(take.id).await.unwrap(), Some(expected));
                ids.push(take.id.0);
            }
        }
        ids
    }

    /// The take of this number as acknowledged, or as it would have been.
    fn expected(&self, number: usize, on_file: &Take) -> Take {
        let Take { id, filed_at, .. } = *on_file;
        match self.acknowledged.get(number) {
            Some(take) => Take::clone(take),
            None => self.unknown.as_ref().expect("this was not filed").take(id, filed_at),
        }
    }
}
