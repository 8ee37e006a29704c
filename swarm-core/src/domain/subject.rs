//! Subjects: the topics of sessions.

use serde::Serialize;

use super::form::{form, list_of, of_type, value};
use super::json::{Json, Object};
use super::{Day, Invalid, SubjectId};

/// The status of a subject for which none is named.
const ACTIVE: &str = "active";

form! {
    /// A subject (API.md, 6.10).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct Subject "SubjectDraft" in "documents" {
        /// Its id: any text of 1 to 100 characters.
        pub id: SubjectId = "id",
        /// Its status; `active` when omitted.
        pub status: String = "status" default(ACTIVE.to_owned()),
        /// The name.
        pub name: String = "name",
        /// Who runs it.
        pub operator: Option<String> = "operator",
        /// Its web site.
        pub homepage: Option<String> = "homepage",
        /// Its handle on X.
        pub x_handle: Option<String> = "xHandle",
        /// A short thesis about it.
        pub thesis_blurb: Option<String> = "thesisBlurb",
        /// Its wallets, as the operator describes them.
        pub wallets: Vec<Object> = "wallets" default(Vec::new()),
        /// Its NFT contracts, as the operator describes them.
        pub nft_contracts: Vec<Object> = "nftContracts" default(Vec::new()),
        /// The source of the record.
        pub source: Option<String> = "source",
        /// The kind of recommendation that is asked for.
        pub recommendation_type: Option<String> = "recommendationType",
        /// The member that this subject represents, if any.
        pub linked_member_id: Option<String> = "linkedMemberId",
        /// Facts that authors should consider.
        pub structural_notes: Vec<String> = "structuralNotes" default(Vec::new()),
        /// When an operator last reviewed it.
        pub last_reviewed: Option<Day> = "lastReviewed",
    }
    checks_first "id": SubjectId, "lastReviewed": Option<String>;
    example r#"{
        "id": "aurora", "name": "Aurora", "status": "active", "thesisBlurb": "A lending market with a fixed fee.",
        "homepage": "https://aurora.example", "structuralNotes": ["Fees are voted on each quarter."]
    }"#;
}

impl Subject {
    /// An active subject of which no more is known.
    pub fn new(id: SubjectId, name: impl Into<String>) -> Self {
        Self {
            id,
            status: ACTIVE.to_owned(),
            name: name.into(),
            operator: None,
            homepage: None,
            x_handle: None,
            thesis_blurb: None,
            wallets: Vec::new(),
            nft_contracts: Vec::new(),
            source: None,
            recommendation_type: None,
            linked_member_id: None,
            structural_notes: Vec::new(),
            last_reviewed: None,
        }
    }
}

value!(
    Vec<Object>,
    |fields, name| fields.list_if_any(name, |entry| match entry.free(name)? {
        Json::Object(object) => Ok(object),
        _ => Err(Invalid::new(name, "must hold objects")),
    }),
    list_of(of_type("object"))
);
