//! The identities of the pages: acts and links name a page without the code that makes it.

/// The identity of a page: its path, its name and its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageId {
    Overview,
    Sessions,
    Session,
    Take,
    Convene,
    Applications,
    Members,
    Member,
    Subjects,
    Subject,
    Records,
    Committee,
    Outbox,
    Webhooks,
    Acts,
    AllActs,
    Store,
}

impl PageId {
    /// All pages.
    pub(crate) const ALL: [Self; 17] = [
        Self::Overview,
        Self::Sessions,
        Self::Session,
        Self::Take,
        Self::Convene,
        Self::Applications,
        Self::Members,
        Self::Member,
        Self::Subjects,
        Self::Subject,
        Self::Records,
        Self::Committee,
        Self::Outbox,
        Self::Webhooks,
        Self::Acts,
        Self::AllActs,
        Self::Store,
    ];

    /// The sections, which each page links to.
    pub(super) const SECTIONS: [Self; 10] = [
        Self::Overview,
        Self::Sessions,
        Self::Applications,
        Self::Members,
        Self::Subjects,
        Self::Records,
        Self::Committee,
        Self::Outbox,
        Self::Webhooks,
        Self::Acts,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Overview => "/operate",
            Self::Sessions => "/operate/sessions",
            Self::Session => "/operate/sessions/{id}",
            Self::Take => "/operate/takes/{id}",
            Self::Convene => "/operate/convene",
            Self::Applications => "/operate/applications",
            Self::Members => "/operate/members",
            Self::Member => "/operate/members/{id}",
            Self::Subjects => "/operate/subjects",
            Self::Subject => "/operate/subjects/{id}",
            Self::Records => "/operate/records",
            Self::Committee => "/operate/committee",
            Self::Outbox => "/operate/outbox",
            Self::Webhooks => "/operate/webhooks",
            Self::Acts => "/operate/acts",
            Self::AllActs => "/operate/acts/all",
            Self::Store => "/operate/store",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Overview => "To do",
            Self::Sessions => "Sessions",
            Self::Session => "Session",
            Self::Take => "Take",
            Self::Convene => "Convene",
            Self::Applications => "Applications",
            Self::Members => "Members",
            Self::Member => "Member",
            Self::Subjects => "Subjects",
            Self::Subject => "Subject",
            Self::Records => "Records",
            Self::Committee => "Committee",
            Self::Outbox => "Outbox",
            Self::Webhooks => "Webhooks",
            Self::Acts => "Acts",
            Self::AllActs => "All acts",
            Self::Store => "Store",
        }
    }

    /// The section of the page.
    pub(super) fn section(self) -> Self {
        match self {
            Self::Session | Self::Take | Self::Convene => Self::Sessions,
            Self::Member => Self::Members,
            Self::Subject => Self::Subjects,
            Self::AllActs => Self::Acts,
            Self::Store => Self::Overview,
            other => other,
        }
    }

    /// Whether only sites with a committee have the page.
    pub(crate) fn needs_committee(self) -> bool {
        self == Self::Committee
    }
}
