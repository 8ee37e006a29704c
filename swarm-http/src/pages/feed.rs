//! `/feed.xml`: an Atom feed of published sessions.

use std::sync::Arc;

use atom_syndication::{Entry, Feed, FixedDateTime, Generator, Link, Person, Text};
use http::StatusCode;
use swarm_core::{Session, Timestamp};

use super::charts::signed;
use super::frame::{SiteContext, reading};
use super::links;
use super::lists::{Subjects, counts};
use super::markup::printable;
use super::time_text::Reading;
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// Maximum number of sessions in the feed.
const MAX_ENTRIES: usize = 50;

pub(crate) async fn feed(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let sessions = request.tenant().published(MAX_ENTRIES).await?;
    let ids = sessions.iter().map(|session| &session.subject_id);
    let subjects = Subjects::find(request.tenant(), ids).await?;
    let site = SiteContext::of(&request);
    let updated = sessions.iter().filter_map(|session| session.published_at).max();
    let feed = Feed {
        title: Text::plain(format!("{}: published sessions", site.name)),
        id: format!("{}/feed.xml", site.origin),
        updated: date(updated.unwrap_or(Timestamp::EPOCH)),
        authors: vec![Person { name: site.name.clone(), ..Person::default() }],
        links: vec![link("self", &site, "/feed.xml"), link("alternate", &site, "/")],
        generator: Some(Generator { value: "Swarm".to_owned(), ..Generator::default() }),
        entries: sessions.iter().map(|one| entry(one, &site, &subjects, reading)).collect(),
        ..Feed::default()
    };
    let text = printable(feed.to_string());
    Ok(Answer::new(StatusCode::OK, "application/atom+xml; charset=utf-8", text))
}

fn entry(
    session: &Arc<Session>,
    site: &SiteContext,
    subjects: &Subjects,
    reading: Reading,
) -> Entry {
    let path = links::session(session.id);
    let title = format!("{}, {}", subjects.name(&session.subject_id), session.date);
    Entry {
        title: Text::plain(title),
        id: format!("{}{path}", site.origin),
        updated: date(session.published_at.unwrap_or(session.convened_at)),
        published: session.published_at.map(date),
        links: vec![link("alternate", site, &path)],
        summary: Some(Text::plain(summary(session, reading))),
        ..Entry::default()
    }
}

/// The result in one or two sentences.
fn summary(session: &Session, reading: Reading) -> String {
    let Some(snapshot) = session.snapshot.as_deref() else {
        return format!("The session of {}.", reading.day_text(session.date));
    };
    let filed = counts(&snapshot.stances).words();
    match &snapshot.consensus {
        Some(consensus) => format!(
            "Consensus {} ({}), mean confidence {:.2}: {filed}.",
            consensus.stance,
            signed(consensus.score),
            consensus.confidence
        ),
        None => format!("No consensus: {filed}."),
    }
}

fn link(rel: &str, site: &SiteContext, path: &str) -> Link {
    Link { rel: rel.to_owned(), href: format!("{}{path}", site.origin), ..Link::default() }
}

fn date(moment: Timestamp) -> FixedDateTime {
    FixedDateTime::parse_from_rfc3339(&moment.to_string()).unwrap_or_default()
}
