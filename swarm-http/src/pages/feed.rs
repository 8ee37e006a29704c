//! Atom feeds: `/feed.xml` of published sessions; of a subject its sessions and takes; of a member its
//! takes and memos.
//!
//! A take's entry keeps its id when the take is amended: it is the id of the member's take in the session. Ids
//! begin with the configured public origin, so that they are the same whatever host and protocol a reader uses.
//!
//! What was sealed is new for readers when its session is opened, so it is updated then.

use std::collections::HashSet;
use std::sync::Arc;

use atom_syndication::extension::Extension;
use atom_syndication::{Entry, Feed, FixedDateTime, Generator, Link, Person, Text};
use http::StatusCode;
use swarm_core::domain::{Memo, SessionSummary};
use swarm_core::rules::PublicTake;
use swarm_core::store::SessionList;
use swarm_core::{Error, MemberId, Take, Tenant, Timestamp};

use super::frame::{SiteContext, time_formatter};
use super::links;
use super::lists::{Subjects, memo_title, sessions_of, subject_title};
use super::markdown::first_words;
use super::markup::printable;
use super::people::{People, member_name};
use super::result::ResultView;
use super::stage_text;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

/// Maximum number of sessions, of takes and of memos in a feed.
const MAX_SESSIONS: usize = 50;
const MAX_OF_SUBJECT: usize = 20;
const MAX_TAKES: usize = 40;
const MAX_MEMOS: usize = 20;

/// The prefix and the namespace of the element with the checkpoint.
const PREFIX: &str = "tlog";
const NAMESPACE: &str = "https://c2sp.org/tlog-checkpoint";

/// Longest excerpt of a text, in letters.
const MAX_EXCERPT: usize = 500;

/// `/feed.xml`
pub(crate) async fn feed(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let sessions = request.tenant().published(MAX_SESSIONS).await?;
    let ids = sessions.iter().map(|session| &session.subject_id);
    let subjects = Subjects::find(request.tenant(), ids).await?;
    let site = SiteContext::of(&request);
    let entries = sessions.iter().map(|one| of_session(one, &site, &subjects, times)).collect();
    let title = format!("{}: published sessions", site.name);
    let feed = of_entries(&site, title, ("/feed.xml", "/"), entries);
    Ok(answer(with_checkpoint(feed, published_under(&request).await?)))
}

/// The checkpoint of the log that has what is published, if it is signed. It stays the same until that changes, and so
/// does the feed.
async fn published_under(request: &RequestContext) -> Result<Option<String>, ApiError> {
    let Some(log) = request.signed_log() else { return Ok(None) };
    let signed = log.checkpoint().await?;
    Ok(signed.and_then(|signed| signed.published).map(|note| note.to_string()))
}

/// Adds a checkpoint, so that whoever archives the feed keeps it too.
fn with_checkpoint(mut feed: Feed, note: Option<String>) -> Feed {
    let Some(note) = note else { return feed };
    let name = format!("{PREFIX}:checkpoint");
    let checkpoint = Extension { name, value: Some(note), ..Extension::default() };
    feed.namespaces.insert(PREFIX.to_owned(), NAMESPACE.to_owned());
    let elements = [("checkpoint".to_owned(), vec![checkpoint])].into();
    feed.extensions.insert(PREFIX.to_owned(), elements);
    feed
}

/// `/swarm/subjects/<id>/feed.xml`
pub(crate) async fn subject(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let subject = tenant.subject(&request.subject_id()?).await?;
    let list = SessionList::About(subject.id.clone());
    let keeps = |session: &SessionSummary| !session.practice;
    let sessions = tenant.summaries_where(list, None, MAX_OF_SUBJECT, keeps).await?.sessions;
    let is_about = |take: &PublicTake| !take.is_sealed() && *take.subject_id() == subject.id;
    let filed = tenant.newest_takes(None, MAX_TAKES, is_about).await?.takes;
    let takes = shown(tenant, filed.iter()).await?;
    let subjects = Subjects::find(tenant, [&subject.id]).await?;
    let authors = takes.iter().map(|(take, _)| &take.draft().member_id);
    let people = People::find(tenant, authors).await?;
    let site = SiteContext::of(&request);
    let mut entries: Vec<_> =
        sessions.iter().map(|one| of_session(one, &site, &subjects, times)).collect();
    entries.extend(of_takes(&takes, &site, &subjects, &people));
    let page = links::subject_path(&subject.id);
    let title = format!("{}: {}", site.name, subject_title(&subject));
    let shown = links::subject(&subject.id);
    Ok(answer(of_entries(&site, title, (&format!("{page}/feed.xml"), &shown), entries)))
}

/// `/swarm/members/<id>/feed.xml`
pub(crate) async fn member(request: RequestContext) -> Reply {
    let tenant = request.tenant();
    let member = tenant.member(&request.member_id(swarm_core::Resource::Member)?).await?;
    let filed = tenant.member_takes(&member.id, None, MAX_TAKES).await?.takes;
    let takes = shown(tenant, filed.iter().map(|filed| &filed.take)).await?;
    let mut memos = tenant.memos_of(&member.id).await?;
    memos.reverse();
    memos.truncate(MAX_MEMOS);
    let named = sessions_of(tenant, memos.iter().filter_map(|memo| memo.draft.session_id)).await?;
    let subjects =
        Subjects::find(tenant, takes.iter().map(|(take, _)| &take.draft().subject_id)).await?;
    let people = People::find(tenant, [&member.id]).await?;
    let site = SiteContext::of(&request);
    let mut entries: Vec<_> = of_takes(&takes, &site, &subjects, &people).collect();
    entries.extend(memos.iter().map(|memo| of_memo(memo, &named, &site, &people)));
    let page = links::member(&member.id);
    let title = format!("{}: {}", site.name, member_name(&member));
    Ok(answer(of_entries(&site, title, (&format!("{page}/feed.xml"), &page), entries)))
}

/// The takes that are not sealed, without those for practice, each with the time since when others can read it.
async fn shown(
    tenant: &Tenant,
    takes: impl Iterator<Item = &PublicTake>,
) -> Result<Vec<(Arc<Take>, Timestamp)>, Error> {
    let open: Vec<_> = takes.filter_map(PublicTake::open).map(Arc::clone).collect();
    let sessions = sessions_of(tenant, open.iter().map(|take| take.session_id)).await?;
    let dated = |take: Arc<Take>| {
        let session = sessions.iter().find(|session| session.id == take.session_id);
        let since = readable_since(take.filed_at, session);
        session.is_none_or(|session| !session.practice).then_some((take, since))
    };
    Ok(open.into_iter().filter_map(dated).collect())
}

/// Since when others can read what was filed at this time for this session.
fn readable_since(filed_at: Timestamp, session: Option<&Arc<SessionSummary>>) -> Timestamp {
    let opened_at = session.and_then(|session| session.opened_at);
    opened_at.map_or(filed_at, |opened_at| opened_at.max(filed_at))
}

/// A feed at this path, about this page, latest change first.
fn of_entries(
    site: &SiteContext,
    title: String,
    (path, page): (&str, &str),
    mut entries: Vec<Entry>,
) -> Feed {
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.updated));
    Feed {
        title: Text::plain(title),
        id: format!("{}{path}", site.id_origin),
        updated: entries.first().map_or_else(|| date(Timestamp::EPOCH), |entry| entry.updated),
        authors: vec![person(&site.name)],
        links: vec![link("self", site, path), link("alternate", site, page)],
        generator: Some(Generator { value: "Swarm".to_owned(), ..Generator::default() }),
        entries,
        ..Feed::default()
    }
}

fn answer(feed: Feed) -> Answer {
    let text = printable(feed.to_string());
    Answer::new(StatusCode::OK, "application/atom+xml; charset=utf-8", text)
}

fn of_session(
    session: &SessionSummary,
    site: &SiteContext,
    subjects: &Subjects,
    times: TimeFormatter,
) -> Entry {
    let path = links::session(session.id);
    let subject = subjects.name(&session.subject_id);
    let figures = session.figures.as_ref().filter(|_| session.voided.is_none());
    let result = figures.map(ResultView::headline);
    let result = result.map(|result| format!(": {result}")).unwrap_or_default();
    let title = format!("{subject}, {}{result}", session.date);
    Entry {
        title: Text::plain(title),
        id: format!("{}{path}", site.id_origin),
        updated: date(changed_at(session)),
        published: session.published_at.map(date),
        links: vec![link("alternate", site, &path)],
        summary: Some(Text::plain(summary(session, times))),
        ..Entry::default()
    }
}

/// When a session last changed, as far as its record tells, which has no time of a deadline that was moved, nor of a session that
/// was closed. A deadline that passed is no change: it may be moved on, and the time would go back.
pub(super) fn changed_at(session: &SessionSummary) -> Timestamp {
    let aggregated = session.figures.as_ref().map(|figures| figures.aggregated_at);
    let voided = session.voided.as_ref().map(|voided| voided.at);
    let changes = [session.opened_at, aggregated, session.published_at, voided];
    changes.into_iter().flatten().fold(session.convened_at, Timestamp::max)
}

/// The result in words, or the stage.
pub(super) fn summary(session: &SessionSummary, times: TimeFormatter) -> String {
    let Some(figures) = session.figures.as_ref().filter(|_| session.voided.is_none()) else {
        // The time left would be wrong when it is read.
        let is_ahead = |at: &Timestamp| session.voided.is_none() && *at >= times.now;
        let until = session.window_closes_at.filter(is_ahead);
        let until = until.map(|at| format!(", until {}", times.time_text(at))).unwrap_or_default();
        return format!("{}{until}.", stage_text::flagged(session, times));
    };
    let filed = super::charts::Counts::of(&figures.stances).words();
    let practice = if session.practice { "Practice: " } else { "" };
    match ResultView::words(figures) {
        Some(words) => format!("{practice}{words}: {filed}."),
        None => format!("{practice}No consensus: {filed}."),
    }
}

/// An entry for each member and session, of the latest of these takes; they are newest first, each with the time since when it can
/// be read.
fn of_takes<'a>(
    takes: &'a [(Arc<Take>, Timestamp)],
    site: &'a SiteContext,
    subjects: &'a Subjects,
    people: &'a People,
) -> impl Iterator<Item = Entry> + use<'a> {
    let mut seen: HashSet<(u64, &MemberId)> = HashSet::new();
    takes.iter().filter_map(move |(take, since)| {
        let draft = take.draft();
        if !seen.insert((take.session_id.0, &draft.member_id)) {
            return None;
        }
        let who = people.person(&draft.member_id).name;
        let subject = subjects.name(&draft.subject_id);
        let (stance, confidence) = (&draft.stance, draft.confidence.get());
        let session = links::session(take.session_id);
        let member = links::part(draft.member_id.as_str());
        Some(Entry {
            title: Text::plain(format!(
                "{who} on {subject}, {}: {stance} {confidence:.2}",
                draft.date
            )),
            id: format!("{}{session}#{member}", site.id_origin),
            updated: date(take.withheld.as_ref().map_or(*since, |mark| mark.at.max(*since))),
            authors: vec![person(&who)],
            links: vec![link("alternate", site, &links::take(take.id))],
            summary: Some(Text::plain(match &take.withheld {
                Some(mark) => super::lists::withheld_text(mark),
                None => first_words(draft.body.as_str(), MAX_EXCERPT),
            })),
            ..Entry::default()
        })
    })
}

fn of_memo(
    memo: &Memo,
    named: &[Arc<SessionSummary>],
    site: &SiteContext,
    people: &People,
) -> Entry {
    let path = links::memo(memo.id);
    let session = named.iter().find(|session| Some(session.id) == memo.draft.session_id);
    Entry {
        title: Text::plain(format!("Memo: {}", memo_title(memo))),
        id: format!("{}{path}", site.id_origin),
        updated: date(readable_since(memo.published_at, session)),
        published: Some(date(memo.published_at)),
        authors: vec![person(&people.person(&memo.member_id).name)],
        links: vec![link("alternate", site, &path)],
        summary: Some(Text::plain(first_words(&memo.draft.body, MAX_EXCERPT))),
        ..Entry::default()
    }
}

fn person(name: &str) -> Person {
    Person { name: name.to_owned(), ..Person::default() }
}

fn link(rel: &str, site: &SiteContext, path: &str) -> Link {
    Link { rel: rel.to_owned(), href: format!("{}{path}", site.origin), ..Link::default() }
}

fn date(moment: Timestamp) -> FixedDateTime {
    FixedDateTime::parse_from_rfc3339(&moment.to_string()).unwrap_or_default()
}
