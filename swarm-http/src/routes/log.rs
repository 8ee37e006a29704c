//! Routes of the log.

use swarm_core::domain::Seq;
use swarm_core::rules::Refusal;
use swarm_core::wire::Problem::InvalidRequest;
use swarm_core::{Invalid, wire};

use crate::request::RequestContext;
use crate::request::credential::Access::Operator;
use crate::request::parameters::{Page, number};
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
                    "Accept what the server refuses to go on with: a clock that is behind the log, a store that \
                 went back, or this server's key where another signed the log",
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

/// Accepts the store's clock, the store, or this server's key (API.md, 7.6). Commits that were refused because
/// the clock is behind the log, or because the log went back, are then accepted; or the key signs the log.
pub(crate) async fn accept(mut request: RequestContext) -> Reply {
    enum Accepted {
        Clock,
        Store,
        Key,
    }
    let what = request.operator_fields(|fields| match fields.text("what")?.as_str() {
        "clock" => Ok(Accepted::Clock),
        "store" => Ok(Accepted::Store),
        "key" => Ok(Accepted::Key),
        _ => Err(Invalid::new("what", "must be clock, store or key")),
    })?;
    let (tenant, by) = (request.tenant(), request.by()?);
    match (what, request.signed_log()) {
        (Accepted::Clock, _) => tenant.accept_clock(by).await?,
        (Accepted::Store, Some(log)) => log.accept_store(by).await?,
        (Accepted::Store, None) => tenant.accept_store(by).await?,
        (Accepted::Key, Some(log)) => log.accept_key(by).await?,
        (Accepted::Key, None) => {
            let error = Invalid::new("what", "no key: this server signs no log");
            return Err(Refusal::InvalidRequest(error).into());
        }
    }
    Ok(wire::log::accepted().into())
}

/// The entries after `after`, 0 unless given; at most `limit`, 1 to 1,000, 100 unless given.
pub(crate) async fn entries(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(1_000, "after", |seq| number(seq).map(Seq))?;
    let page = request.tenant().log(position.unwrap_or_default(), limit).await?;
    Ok(request.linked(wire::log::page(&page), "after", page.next))
}
