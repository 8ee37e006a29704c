//! Files submissions of a member of the committee, and checks the answers.

use std::sync::Arc;

use swarm_core::domain::Day;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::store::{CommitteeFiled, CommitteeFiling, CommitteeTakesQuery, Records, Result};
use swarm_testing::committee::id;
use tokio::time::timeout;

use crate::world::BOUND;
use crate::world::committee::try_judge;

/// A member that submits one take after another for the same day, each marked with its number.
pub(super) struct Submitter {
    name: String,
    pub(super) acknowledged: Vec<Arc<CommitteeTake>>,
    /// The filing that ended in an error, whose outcome is unknown.
    unknown: Option<CommitteeFiling>,
}

impl Submitter {
    pub(super) fn new(name: String) -> Self {
        Self { name, acknowledged: Vec::new(), unknown: None }
    }

    /// Files the next submission, or retries the one that ended in an error.
    pub(super) async fn submit(&mut self, committee: &Records) -> Result<()> {
        let filing = match self.unknown.take() {
            Some(filing) => filing,
            None => try_judge(committee, &self.name, &self.acknowledged.len().to_string()).await?,
        };
        let filing = self.unknown.insert(filing);
        match timeout(BOUND, committee.file_committee(filing)).await.unwrap()? {
            CommitteeFiled::Filed(take) if *take == filing.take(take.received_at) => {
                self.acknowledged.push(take);
                self.unknown = None;
                Ok(())
            }
            other => panic!("{other:?} to {filing:?}"),
        }
    }

    /// The number of the member's submissions of the day. Checks that they are the acknowledged ones, in the
    /// order of filing, and that the last one is the latest.
    pub(super) async fn on_file(&self, committee: &Records, day: &[Arc<CommitteeTake>]) -> usize {
        let member = &id(&self.name);
        let own: Vec<_> = day.iter().filter(|take| take.member_id == *member).collect();
        for (number, take) in own.iter().enumerate() {
            assert_eq!(***take, self.expected(number, take));
        }
        let before = Day::parse("2026-11-22").unwrap();
        let counts = CommitteeTakesQuery::Latest { member, before, limit: 10 };
        let counts = committee.committee_takes(&counts).await.unwrap();
        assert!(counts.iter().eq(own.last().copied()), "{counts:?}");
        own.len()
    }

    /// The submission of this number as acknowledged, or as it would have been.
    fn expected(&self, number: usize, on_file: &CommitteeTake) -> CommitteeTake {
        match self.acknowledged.get(number) {
            Some(take) => CommitteeTake::clone(take),
            None => {
                let filing = self.unknown.as_ref().filter(|_| number == self.acknowledged.len());
                filing.expect("this was not submitted").take(on_file.received_at)
            }
        }
    }
}
