//! Member names by id, with links to their pages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use swarm_core::{Error, Member, MemberId, Tenant};

use super::links;
use super::markup::named;

/// A member's name and link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) name: String,
    /// The path of the member's page; `None` for an unknown member.
    pub(crate) href: Option<String>,
}

/// The member's name, or its id if the name has no visible character.
pub(crate) fn member_name(member: &Member) -> String {
    named(member.name.as_str(), member.id.as_str())
}

/// The members named on a page, by id.
#[derive(Default)]
pub(crate) struct People(HashMap<MemberId, Person>);

impl People {
    /// Looks these members up.
    pub(crate) async fn find<'a>(
        tenant: &Tenant,
        ids: impl IntoIterator<Item = &'a MemberId>,
    ) -> Result<Self, Error> {
        let ids: HashSet<_> = ids.into_iter().cloned().collect();
        let found = tenant.members_among(ids.into_iter().collect()).await?;
        let person = |member: &Arc<Member>| {
            let href = Some(links::member(&member.id));
            (member.id.clone(), Person { name: member_name(member), href })
        };
        Ok(Self(found.iter().map(person).collect()))
    }

    /// The member with this id; an unknown one is named by its id.
    pub(crate) fn person(&self, id: &MemberId) -> Person {
        let unknown = || Person { name: id.as_str().to_owned(), href: None };
        self.0.get(id).cloned().unwrap_or_else(unknown)
    }
}
