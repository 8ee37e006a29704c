//! Deadlines as calendar files (RFC 5545), for whoever subscribes to them: of all sessions, or of those on a subject.
//!
//! An event keeps its `UID` when its deadline moves, so that a calendar moves it too, and on every host, so that it is never there twice.
//! `SEQUENCE` grows meanwhile: without that, clients keep the event that they have.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::StatusCode;
use icalendar::{Calendar, Component as _, Event, EventLike as _, Property};
use swarm_core::domain::{SessionSummary, SubjectId};
use swarm_core::{Error, Timestamp};

use super::frame::SiteContext;
use super::links;
use super::lists::{Subjects, subject_title};
use super::markup::printable;
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// Maximum number of sessions in a file.
const MAX_SESSIONS: usize = 500;

/// How often clients are asked to read a calendar again: once an hour.
const REFRESH: &str = "PT1H";

/// The end of a file.
const END: &str = "END:VCALENDAR\r\n";

/// What a calendar without events has. It must have a component (RFC 5545, 3.6), and clients show no time zone.
const TIME_ZONE: &str = "BEGIN:VTIMEZONE\r\nTZID:UTC\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n\
                         TZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";

/// `/deadlines.ics`
pub(crate) async fn deadlines(request: RequestContext) -> Reply {
    let name = format!("{}: deadlines", SiteContext::of(&request).name);
    Ok(answer(&request, &name, None).await?)
}

/// `/swarm/subjects/<id>/deadlines.ics`
pub(crate) async fn subject(request: RequestContext) -> Reply {
    let subject = request.tenant().subject(&request.subject_id()?).await?;
    let name = format!("{}: {}", SiteContext::of(&request).name, subject_title(&subject));
    Ok(answer(&request, &name, Some(&subject.id)).await?)
}

async fn answer(
    request: &RequestContext,
    name: &str,
    about: Option<&SubjectId>,
) -> Result<Answer, Error> {
    let tenant = request.tenant();
    let has_event = |session: &SessionSummary| {
        session.window_closes_at.is_some() && about.is_none_or(|about| session.subject_id == *about)
    };
    let mut overview = request.served.overview().await;
    let sessions = overview.open_sessions(tenant, has_event, MAX_SESSIONS).await?;
    drop(overview);
    let ids = sessions.iter().map(|session| &session.subject_id);
    let subjects = Subjects::find(tenant, ids).await?;
    let site = SiteContext::of(request);
    let (tenant, subjects) = (tenant.id().as_str(), &subjects);
    let mut calendar = named(name);
    calendar.extend(sessions.iter().filter_map(|session| event(session, tenant, &site, subjects)));
    let mut text = calendar.to_string();
    if calendar.components.is_empty()
        && let Some(start) = text.strip_suffix(END)
    {
        text = [start, TIME_ZONE, END].concat();
    }
    Ok(Answer::new(StatusCode::OK, "text/calendar; charset=utf-8", text))
}

/// An empty calendar with a name.
fn named(name: &str) -> Calendar {
    let name = printable(name.to_owned());
    // The crate escapes texts. It does not know that `NAME` (RFC 7986) is one, unless the property says so.
    let text = Property::new("NAME", &name).add_parameter("VALUE", "TEXT").done();
    let (mut calendar, older) = (Calendar::new(), Property::new("X-WR-CALNAME", name));
    calendar.append_property(text).append_property(older);
    // Without them some clients ask once a day or less. Outlook knows the older one alone.
    let interval =
        Property::new("REFRESH-INTERVAL", REFRESH).add_parameter("VALUE", "DURATION").done();
    calendar.append_property(interval).append_property(Property::new("X-PUBLISHED-TTL", REFRESH));
    calendar
}

/// The deadline of a session; `None` if it has none. It has no end: that would have to come later.
fn event(
    session: &Arc<SessionSummary>,
    tenant: &str,
    site: &SiteContext,
    subjects: &Subjects,
) -> Option<Event> {
    let closes = instant(session.window_closes_at?)?;
    let path = links::session(session.id);
    // No two services convene a session of this tenant with this id at the same time.
    let (id, convened) = (session.id, session.convened_at.millis());
    let mut name = subjects.name(&session.subject_id);
    if session.practice {
        name.push_str(" (practice)");
    }
    let event = Event::new()
        .uid(&format!("session-{id}-{convened}@{tenant}"))
        .timestamp(instant(session.convened_at)?)
        .sequence(u32::try_from(session.version).unwrap_or(u32::MAX))
        .summary(&printable(format!("{name}, {}: takes are due", session.date)))
        .url(&format!("{}{path}", site.origin))
        // Nobody is busy then.
        .add_property("TRANSP", "TRANSPARENT")
        .starts(closes)
        .done();
    Some(event)
}

fn instant(at: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(at.millis())
}
