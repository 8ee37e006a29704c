//! The pages of the console: their paths and names, and a file that makes each.

mod applications;
mod committee;
mod convene;
mod log;
mod members;
mod outbox;
mod overview;
mod records;
mod session;
mod sessions;
mod store;
mod subjects;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use swarm_core::domain::SubjectId;
use swarm_core::json::write;
use swarm_core::{Error, Refusal, Session, SessionId};

use super::layout::Page;
use super::visit::Visit;
use crate::request::parameters::number;
use crate::response::ApiError;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Overview,
    Sessions,
    Session,
    Convene,
    Applications,
    Members,
    Member,
    Subjects,
    Subject,
    Records,
    Committee,
    Outbox,
    Acts,
    Store,
}

impl Place {
    /// All of them.
    pub(crate) const ALL: [Self; 14] = [
        Self::Overview,
        Self::Sessions,
        Self::Session,
        Self::Convene,
        Self::Applications,
        Self::Members,
        Self::Member,
        Self::Subjects,
        Self::Subject,
        Self::Records,
        Self::Committee,
        Self::Outbox,
        Self::Acts,
        Self::Store,
    ];

    /// Those that each page links to.
    pub(super) const SECTIONS: [Self; 9] = [
        Self::Overview,
        Self::Sessions,
        Self::Applications,
        Self::Members,
        Self::Subjects,
        Self::Records,
        Self::Committee,
        Self::Outbox,
        Self::Acts,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Overview => "/operate",
            Self::Sessions => "/operate/sessions",
            Self::Session => "/operate/sessions/{id}",
            Self::Convene => "/operate/convene",
            Self::Applications => "/operate/applications",
            Self::Members => "/operate/members",
            Self::Member => "/operate/members/{id}",
            Self::Subjects => "/operate/subjects",
            Self::Subject => "/operate/subjects/{id}",
            Self::Records => "/operate/records",
            Self::Committee => "/operate/committee",
            Self::Outbox => "/operate/outbox",
            Self::Acts => "/operate/acts",
            Self::Store => "/operate/store",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Overview => "Waiting",
            Self::Sessions => "Sessions",
            Self::Session => "Session",
            Self::Convene => "Convene",
            Self::Applications => "Applications",
            Self::Members => "Members",
            Self::Member => "Member",
            Self::Subjects => "Subjects",
            Self::Subject => "Subject",
            Self::Records => "Records",
            Self::Committee => "Committee",
            Self::Outbox => "Outbox",
            Self::Acts => "Acts",
            Self::Store => "Store",
        }
    }

    /// The section that it is in.
    pub(super) fn section(self) -> Self {
        match self {
            Self::Session | Self::Convene => Self::Sessions,
            Self::Member => Self::Members,
            Self::Subject => Self::Subjects,
            Self::Store => Self::Overview,
            other => other,
        }
    }

    /// Whether only sites with a committee have it.
    pub(crate) fn is_of_committee(self) -> bool {
        self == Self::Committee
    }
}

/// Makes a page.
pub(super) async fn page(place: Place, visit: &mut Visit) -> Result<Page, ApiError> {
    visit.seen = digest(place, visit).await?;
    match place {
        Place::Overview => overview::page(visit).await,
        Place::Sessions => sessions::page(visit).await,
        Place::Session => session::page(visit).await,
        Place::Convene => convene::page(visit).await,
        Place::Applications => applications::page(visit).await,
        Place::Members => members::list(visit).await,
        Place::Member => members::page(visit).await,
        Place::Subjects => subjects::list(visit).await,
        Place::Subject => subjects::page(visit).await,
        Place::Records => Ok(records::page(visit)),
        Place::Committee => committee::page(visit).await,
        Place::Outbox => outbox::page(visit).await,
        Place::Acts => log::page(visit).await,
        Place::Store => store::page(visit).await,
    }
}

/// The session that it is about.
pub(super) async fn session(place: Place, visit: &Visit) -> Result<Option<Arc<Session>>, ApiError> {
    if place != Place::Session {
        return Ok(None);
    }
    let unknown = Refusal::NotFound(swarm_core::Resource::Session);
    let id = number(visit.part(0)).map(SessionId).ok_or(unknown)?;
    Ok(Some(visit.request.tenant().session_record(id).await?))
}

/// A digest of the record that its forms change, so that a form made from an older one is noticed.
pub(super) async fn digest(place: Place, visit: &Visit) -> Result<Option<String>, ApiError> {
    let text = match place {
        Place::Session => session(place, visit).await?.map(|session| write(&*session)),
        Place::Subject => {
            let Ok(id) = SubjectId::parse(visit.part(0).to_owned()) else { return Ok(None) };
            match visit.request.tenant().subject(&id).await {
                Ok(subject) => Some(write(&subject)),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error.into()),
            }
        }
        _ => None,
    };
    Ok(text.map(|text| {
        let digest = Sha256::digest(text);
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }))
}
