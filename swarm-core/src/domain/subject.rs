//! Subjects: the topics of sessions.

use serde::Serialize;

use super::json::{Json, Object};
use super::{Day, Invalid, SubjectId};

/// A subject (API.md, 6.10).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Its id: any text of 1 to 100 characters.
    pub id: SubjectId,
    /// Its status; `active` when omitted.
    pub status: String,
    /// The name.
    pub name: String,
    /// Who runs it.
    pub operator: Option<String>,
    /// Its web site.
    pub homepage: Option<String>,
    /// Its handle on X.
    pub x_handle: Option<String>,
    /// A short thesis about it.
    pub thesis_blurb: Option<String>,
    /// Its wallets, as the operator describes them.
    pub wallets: Vec<Object>,
    /// Its NFT contracts, as the operator describes them.
    pub nft_contracts: Vec<Object>,
    /// The source of the record.
    pub source: Option<String>,
    /// The kind of recommendation that is asked for.
    pub recommendation_type: Option<String>,
    /// The member that this subject represents, if any.
    pub linked_member_id: Option<String>,
    /// Facts that authors should consider.
    pub structural_notes: Vec<String>,
    /// When an operator last reviewed it.
    pub last_reviewed: Option<Day>,
}

/// The status of a subject for which none is named.
const ACTIVE: &str = "active";

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

    /// Reads a subject.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let id = fields.text("id")?;
        let id = SubjectId::parse(id).map_err(|invalid| Invalid { field: "id", ..invalid })?;
        let last_reviewed = fields.text_if_any("lastReviewed")?;
        Ok(Self {
            id,
            status: fields.text_if_any("status")?.unwrap_or_else(|| ACTIVE.to_owned()),
            name: fields.text("name")?,
            operator: fields.text_if_any("operator")?,
            homepage: fields.text_if_any("homepage")?,
            x_handle: fields.text_if_any("xHandle")?,
            thesis_blurb: fields.text_if_any("thesisBlurb")?,
            wallets: objects(fields, "wallets")?,
            nft_contracts: objects(fields, "nftContracts")?,
            source: fields.text_if_any("source")?,
            recommendation_type: fields.text_if_any("recommendationType")?,
            linked_member_id: fields.text_if_any("linkedMemberId")?,
            structural_notes: fields.texts("structuralNotes")?,
            last_reviewed: last_reviewed
                .map(|text| Day::in_calendar("lastReviewed", &text))
                .transpose()?,
        })
    }
}

fn objects(fields: &mut Object, field: &'static str) -> Result<Vec<Object>, Invalid> {
    let read = |entry: Json| match entry.free(field)? {
        Json::Object(object) => Ok(object),
        _ => Err(Invalid::new(field, "must hold objects")),
    };
    Ok(fields.list_if_any(field, read)?.unwrap_or_default())
}
