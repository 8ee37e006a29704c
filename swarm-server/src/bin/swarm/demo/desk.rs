//! What filling the demonstration needs: a client, the clock, and the members.

use std::net::SocketAddr;

use serde::Serialize;
use swarm_client::Client;
use swarm_core::json::Object;
use swarm_core::{MemberId, Timestamp};

use super::author::Author;
use super::clock::StoryClock;
use crate::Failure;

/// The demonstration's tenant, as its operator uses it.
pub(super) struct Desk {
    pub(super) client: Client,
    pub(super) server: SocketAddr,
    pub(super) admin_token: String,
    pub(super) clock: StoryClock,
    /// The end of the demonstrated period: the start of the program.
    pub(super) end: Timestamp,
    pub(super) members: Vec<Author>,
}

impl Desk {
    /// Activates a member.
    pub(super) fn activate(&self, member: &MemberId) -> Result<(), Failure> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Activated<'a> {
            member_id: &'a MemberId,
        }
        let activated = Activated { member_id: member };
        self.operate("/api/swarm/admin/activate", &activated).map(drop)
    }

    /// Sends an operator's request.
    pub(super) fn operate(&self, path: &str, body: &impl Serialize) -> Result<Object, Failure> {
        Ok(self.client.operate(&self.admin_token, "POST", path, body)?)
    }

    /// Sets the clock to so many minutes before the end.
    pub(super) fn at(&self, minutes_before: i64) -> Timestamp {
        let moment = self.end.plus_millis(-minutes_before * 60_000);
        self.clock.set(moment);
        moment
    }
}
