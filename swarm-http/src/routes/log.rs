//! The log of what was done.

use swarm_core::domain::Seq;
use swarm_core::{Invalid, wire};

use crate::number::number;
use crate::request::RequestContext;
use crate::request::page::Page;
use crate::response::Reply;

/// From now on, commits that were refused because the store's clock is behind its log, or the log is
/// not the one that was seen before, are accepted again (API.md, 7.6).
pub(crate) async fn accept(mut request: RequestContext) -> Reply {
    enum Accepted {
        Clock,
        Store,
    }
    let what = request.operator_fields(|fields| match fields.text("what")?.as_str() {
        "clock" => Ok(Accepted::Clock),
        "store" => Ok(Accepted::Store),
        _ => Err(Invalid::new("what", "must be clock or store")),
    })?;
    let (tenant, by) = (request.tenant(), request.by()?);
    match what {
        Accepted::Clock => tenant.accept_clock(by).await?,
        Accepted::Store => tenant.accept_store(by).await?,
    }
    Ok(wire::log::accepted().into())
}

/// The entries after `after`, 0 unless given; at most `limit`, 1 to 1,000, 100 unless given.
pub(crate) async fn entries(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(1_000, "after", |seq| number(seq).map(Seq))?;
    let page = request.tenant().log(position.unwrap_or_default(), limit).await?;
    Ok(wire::log::page(&page).into())
}
