//! The log of what was done.

use swarm_core::domain::Seq;
use swarm_core::{Invalid, wire};

use crate::number::number;
use crate::request::context::{INVALID_QUERY, RequestContext};
use crate::response::Reply;

/// What was refused because the store is behind its log is taken again (contract, section 10).
pub(crate) async fn accept(mut request: RequestContext) -> Reply {
    request.operator_fields(|fields| match fields.text("what")?.as_str() {
        "clock" => Ok(()),
        _ => Err(Invalid::new("what", "must be clock")),
    })?;
    request.tenant().accept_clock(request.by()?).await?;
    Ok(wire::log::accepted().into())
}

/// The entries after `after`, 0 unless given; at most `limit`, 1 to 1,000, 100 unless given.
pub(crate) async fn entries(request: RequestContext) -> Reply {
    let query = request.query();
    let given = |name| query.get(name).map(|text| number(text).ok_or(INVALID_QUERY)).transpose();
    let limit = given("limit")?.unwrap_or(100);
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=1_000).contains(limit));
    let after = Seq(given("after")?.unwrap_or(0));
    let page = request.tenant().log(after, limit.ok_or(INVALID_QUERY)?).await?;
    Ok(wire::log::page(&page).into())
}
