//! What a person should hear before a change of a session.

use std::collections::{HashMap, HashSet};

use super::{Error, Tenant};
use crate::domain::{Session, SessionId};
use crate::rules::{self, Caution, ChangedSession};

impl Tenant {
    /// Returns what should be heard before a change that leads to this session: what a [dry run](Self::dry_run) returned.
    ///
    /// # Errors
    /// [`Refusal::NotFound`](crate::Refusal::NotFound) when the session is gone; [`Error::Store`].
    pub async fn cautions(&self, after: &Session) -> Result<Vec<Caution>, Error> {
        let now = self.now().await?;
        let (before, authors) = match after.id {
            // A dry run mints no id.
            SessionId(0) => (None, HashSet::new()),
            id => {
                let (session, authors) = self.session_authors(id).await?;
                (Some(session), authors)
            }
        };
        let mut names = HashMap::new();
        let missing = rules::missing(after, |member| authors.contains(member));
        for member in missing.into_iter().take(rules::MAX_NAMED) {
            let name = self.application(member).await?.name.as_str().to_owned();
            names.insert(member.clone(), name);
        }
        let changed = ChangedSession { before: before.as_deref(), after, authors: &authors, now };
        let name = |id: &_| names.get(id).cloned().unwrap_or_else(|| format!("{id}"));
        Ok(changed.cautions(name))
    }
}
