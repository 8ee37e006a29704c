//! Member names by id, with links to their pages.

use std::collections::{HashMap, HashSet};

use futures_util::future::try_join_all;
use swarm_core::{Error, Member, MemberId, Refusal, Tenant};

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
    /// Looks these members up, each once.
    pub(crate) async fn find<'a>(
        tenant: &Tenant,
        ids: impl IntoIterator<Item = &'a MemberId>,
    ) -> Result<Self, Error> {
        let ids: HashSet<_> = ids.into_iter().collect();
        let found = ids.into_iter().map(|id| async move {
            match tenant.member(id).await {
                Ok(member) => Ok(Some((id.clone(), member_name(&member)))),
                Err(Error::Refused(Refusal::NotFound(_))) => Ok(None),
                Err(error) => Err(error),
            }
        });
        let found = try_join_all(found).await?.into_iter().flatten();
        let person = |(id, name)| {
            let href = Some(links::member(&id));
            (id, Person { name, href })
        };
        Ok(Self(found.map(person).collect()))
    }

    /// The member with this id; an unknown one is named by its id.
    pub(crate) fn person(&self, id: &MemberId) -> Person {
        let unknown = || Person { name: id.as_str().to_owned(), href: None };
        self.0.get(id).cloned().unwrap_or_else(unknown)
    }
}
