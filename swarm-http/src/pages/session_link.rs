//! A session as the pages below its own name it.

use swarm_core::domain::{Day, SubjectId};
use swarm_core::{Error, SessionId, Tenant};

use super::frame::{Frame, SiteContext};
use super::markup::Markup;
use super::time_text::TimeFormatter;
use super::{links, lists, stage_text};

/// A session: its path, subject, day and stage.
pub(super) struct SessionLink {
    pub(super) id: String,
    pub(super) href: String,
    pub(super) subject: String,
    pub(super) day: Markup,
    /// The stage and the flags: `published, void`.
    pub(super) stage: String,
    /// The day in words: `20 Nov`.
    day_text: String,
}

impl SessionLink {
    pub(super) async fn of(
        tenant: &Tenant,
        id: SessionId,
        (subject, date): (&SubjectId, Day),
        times: TimeFormatter,
    ) -> Result<Self, Error> {
        let (_, subject) = lists::subject(tenant, subject).await?;
        let stage = match Error::if_any(tenant.summary(id).await)? {
            Some(session) => stage_text::flagged(&session, times),
            None => "withdrawn".to_owned(),
        };
        Ok(Self {
            id: id.to_string(),
            href: links::session(id),
            day_text: times.day_text(date),
            day: times.day(date),
            stage,
            subject,
        })
    }

    /// The frame of a page below that of the session. Its title says which session it is of.
    pub(super) fn frame(&self, site: SiteContext, title: &str, path: String) -> Frame {
        let Self { subject, day_text, .. } = self;
        let whole = format!("{title} of session {}: {subject}, {day_text}", self.id);
        Frame::new(site, whole, path)
            .below("/swarm/sessions", "Sessions")
            .below(self.href.as_str(), (subject.as_str(), day_text.clone()))
            .called(title)
    }
}
