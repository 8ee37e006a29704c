//! The log of what was done.

use swarm_core::domain::Seq;
use swarm_core::wire::Problem::InvalidRequest;
use swarm_core::{Invalid, wire};

use crate::number::number;
use crate::request::RequestContext;
use crate::request::credential::Access::Operator;
use crate::request::page::Page;
use crate::request::route::{Route, Section, cached, post};
use crate::response::Reply;
use crate::tenants::Role;

/// The log, and accepting a store that went back.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Log.rows(vec![
            cached("/api/swarm/log", entries)
                .about("What was done, the oldest first")
                .query(&[("after", "Seq"), ("limit", "LogLimit")])
                .answers(200, &["Log"]),
        ]),
        Section::Operating.rows(vec![
            post(Operator(Role::Admin), "/api/swarm/admin/accept", accept)
                .about(
                    "Accept the store as it is: a clock that is behind the log counts again, \
                 or a log that went back is gone on with",
                )
                .body("Acceptance")
                .answers(200, &["Written"])
                .refuses(&[InvalidRequest]),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

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
    match (what, request.served.signed_log()) {
        (Accepted::Clock, _) => tenant.accept_clock(by).await?,
        (Accepted::Store, Some(log)) => log.accept_store(by).await?,
        (Accepted::Store, None) => tenant.accept_store(by).await?,
    }
    Ok(wire::log::accepted().into())
}

/// The entries after `after`, 0 unless given; at most `limit`, 1 to 1,000, 100 unless given.
pub(crate) async fn entries(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(1_000, "after", |seq| number(seq).map(Seq))?;
    let page = request.tenant().log(position.unwrap_or_default(), limit).await?;
    Ok(wire::log::page(&page).into())
}
