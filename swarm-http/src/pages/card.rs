//! `/swarm/sessions/<id>/card`: a session in a few lines, for frames on other sites; and `/oembed`, by which they find it
//! (oembed.com).

use askama::Template;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use swarm_core::SessionId;
use swarm_core::domain::SessionSummary;
use swarm_core::json::Json;
use swarm_core::{Error, Refusal, Resource};

use super::citation::{self, CARD};
use super::frame::{SiteContext, embeddable, time_formatter};
use super::lists::{self, SessionRow};
use super::markup::Markup;
use super::result::ResultView;
use super::{links, stage_text};
use crate::request::RequestContext;
use crate::request::parameters::number;
use crate::response::{ApiError, Reply, ok};
use crate::schema::{SchemaRef, schema};
use crate::tenants::Host;

#[derive(Template)]
#[template(path = "card.html")]
struct CardPage {
    site: SiteContext,
    title: String,
    subject: String,
    href: String,
    /// The address of the page of the session, of which the card is a part.
    canonical: String,
    stage: String,
    date: Markup,
    deadline: Markup,
    row: SessionRow,
}

/// The card. It is the only page that other sites may show in a frame.
pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let session = tenant.summary(request.session_id()?).await?;
    let (_, subject) = lists::subject(tenant, &session.subject_id).await?;
    let site = SiteContext::of(&request);
    let path = links::session(session.id);
    let page = CardPage {
        title: title(&session, &subject),
        href: format!("{}{path}", site.origin),
        canonical: format!("{}{path}", site.id_origin),
        stage: stage_text::flagged(&session, times),
        date: times.day(session.date),
        deadline: stage_text::deadline(&session, times),
        row: SessionRow::without_subject(&session, times),
        site,
        subject,
    };
    Ok(embeddable(StatusCode::OK, &page))
}

/// `Aurora, 2026-11-20: +0.70 constructive`
pub(super) fn title(session: &SessionSummary, subject: &str) -> String {
    let figures = session.figures.as_ref().filter(|_| session.counts());
    let result = figures.map(|figures| format!(": {}", ResultView::headline(figures)));
    format!("{subject}, {}{}", session.date, result.unwrap_or_default())
}

/// The address at which oEmbed describes a session.
pub(super) fn oembed_address(site: &SiteContext, session: SessionId) -> String {
    let page = format!("{}{}", site.origin, links::session(session));
    format!("{}/oembed?url={}", site.origin, links::part(&page))
}

/// Of the address of a page.
pub(crate) const PAGE_ADDRESS: SchemaRef = schema!("server", "PageAddress", {
    "type": "string", "maxLength": 2000, "description": "The address of the page of a session."
});

/// Of the only format.
pub(crate) const OEMBED_FORMAT: SchemaRef = schema!("server", "OEmbedFormat", {"enum": ["json"]});

/// Of the most pixels that there is room for.
pub(crate) const OEMBED_ROOM: SchemaRef =
    schema!("server", "OEmbedRoom", {"type": "integer", "minimum": 1});

pub(crate) const OEMBED: SchemaRef = schema!("server", "OEmbed", of OEmbed<'_>);

/// A session for other sites (oembed.com).
#[derive(JsonSchema, Serialize)]
struct OEmbed<'a> {
    #[schemars(with = "Json", extend("const" = "1.0"))]
    version: &'static str,
    #[serde(rename = "type")]
    #[schemars(with = "Json", extend("const" = "rich"))]
    kind: &'static str,
    provider_name: &'a str,
    provider_url: &'a str,
    title: String,
    /// A frame with the card of the session.
    html: String,
    #[schemars(with = "i64")]
    width: u32,
    #[schemars(with = "i64")]
    height: u32,
}

/// The card of the session whose page has the address `url`, as oEmbed.
pub(crate) async fn oembed(request: RequestContext) -> Reply {
    request.filter("format", |text| match text {
        "json" => Ok(()),
        _ => Err("must be json".to_owned()),
    })?;
    let room = |name: &'static str, least: u32| {
        let most = request.filter(name, |text| {
            let most = number(text).filter(|most| *most > 0);
            most.ok_or_else(|| "must be a number of pixels".to_owned())
        })?;
        let most = most.and_then(|most| u32::try_from(most).ok());
        Ok::<_, ApiError>(most.map_or(least, |most| most.min(least)))
    };
    let (width, height) = (room("maxwidth", CARD.0)?, room("maxheight", CARD.1)?);
    let site = SiteContext::of(&request);
    let url = request.query().remove("url").unwrap_or_default();
    // Neither a query nor a fragment makes another page of it.
    let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let absent = || Error::Refused(Refusal::NotFound(Resource::Session));
    let path = path_of(url, &request).unwrap_or_default();
    let path = path.strip_suffix("/card").unwrap_or(path);
    let id = path.strip_prefix("/swarm/sessions/").and_then(number).map(SessionId);
    let tenant = request.tenant();
    let session = tenant.summary(id.ok_or_else(absent)?).await?;
    let (_, subject) = lists::subject(tenant, &session.subject_id).await?;
    let title = title(&session, &subject);
    let card = format!("{}/card", links::session(session.id));
    let frame = citation::frame(&site, &card, &title, (width, height));
    ok(&OEmbed {
        version: "1.0",
        kind: "rich",
        provider_name: &site.name,
        provider_url: &site.origin,
        title,
        html: frame,
        width,
        height,
    })
}

/// The path below the tenant that an address leads to, at any host of the tenant and by either protocol; `None` if it leads elsewhere.
fn path_of<'a>(url: &'a str, request: &RequestContext) -> Option<&'a str> {
    let config = request.served.config();
    let (host, path) = host_and_path(url)?;
    let is_at = |origin: String| host_and_path(&origin).is_some_and(|(own, _)| own == host);
    let is_own = is_at(request.origin())
        || config.public_url().is_some_and(is_at)
        || config.hosts.iter().any(|own| own.eq_ignore_ascii_case(host.name()));
    config.base_path().rest(path).filter(|_| is_own)
}

/// The host of an `http` or `https` URL, without the port that its scheme implies, and its path.
fn host_and_path(url: &str) -> Option<(Host, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let implied = match &*scheme.to_ascii_lowercase() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some((Host::parse(host)?.without_port(implied), path))
}
