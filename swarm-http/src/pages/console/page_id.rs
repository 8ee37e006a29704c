//! The identities of the pages: acts and links name a page without the code that makes it.

/// Declares the pages: the path and the name of each.
macro_rules! pages {
    ($($page:ident: $path:literal, $name:literal;)+) => {
        /// The identity of a page: its path, its name and its section.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum PageId {
            $($page),+
        }

        impl PageId {
            /// All pages.
            pub(crate) const ALL: &[Self] = &[$(Self::$page),+];

            pub(crate) fn path(self) -> &'static str {
                match self {
                    $(Self::$page => $path),+
                }
            }

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$page => $name),+
                }
            }
        }
    };
}

pages! {
    Overview: "/operate", "To do";
    Sessions: "/operate/sessions", "Sessions";
    Session: "/operate/sessions/{id}", "Session";
    Take: "/operate/takes/{id}", "Take";
    Convene: "/operate/convene", "Convene";
    Applications: "/operate/applications", "Applications";
    Members: "/operate/members", "Members";
    Member: "/operate/members/{id}", "Member";
    Subjects: "/operate/subjects", "Subjects";
    Subject: "/operate/subjects/{id}", "Subject";
    Records: "/operate/records", "Records";
    Committee: "/operate/committee", "Committee";
    Outbox: "/operate/outbox", "Outbox";
    Webhooks: "/operate/webhooks", "Webhooks";
    Acts: "/operate/acts", "Acts";
    AllActs: "/operate/acts/all", "All acts";
    Store: "/operate/store", "Store";
}

impl PageId {
    /// The sections, which each page links to.
    pub(super) fn sections() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|page| page.section() == *page)
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
