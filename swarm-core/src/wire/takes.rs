//! Takes.

use serde::Serialize;

use super::Answer;
use crate::domain::{Take, TakeDraft, TakeId};
use crate::proof::canonical;

/// The receipt of a take that is committed: 201 `{ok, status, recommendationId, verified}`.
pub fn filed(take: &Take) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Receipt {
        recommendation_id: TakeId,
        verified: bool,
    }
    Answer::done(201, &Receipt { recommendation_id: take.id, verified: true })
}

/// What a member has to sign: `{canonical}`.
pub fn signing_payload(draft: &TakeDraft) -> Answer {
    #[derive(Serialize)]
    struct Payload {
        canonical: String,
    }
    Answer::ok(&Payload { canonical: canonical(draft) })
}
