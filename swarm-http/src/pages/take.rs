//! `/swarm/takes/<id>`: the permalink of a take.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Snapshot, TakeDraft, Weights};
use swarm_core::proof::canonical;
use swarm_core::{Take, json};

use super::differences::Differences;
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::uncounted;
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::{Markup, exact, is_allowed};
use super::people::{People, Person};
use super::shares::{Shares, shares_of};
use super::time_text::Reading;
use super::{links, lists, stance};
use crate::request::RequestContext;
use crate::response::Reply;

/// Numbers are texts, exactly as they were signed.
#[derive(Template)]
#[template(path = "take.html")]
struct TakePage<'a> {
    frame: Frame,
    id: String,
    draft: &'a TakeDraft,
    who: Person,
    stance: Markup,
    /// The path and name of the subject.
    subject: (String, String),
    session: String,
    date: Markup,
    when: Markup,
    notes: Vec<&'static str>,
    newer: Option<String>,
    body: Markup,
    memo_link: Option<&'a str>,
    weights: Option<Shares>,
    revisions: Vec<RevisionRow>,
    /// What changed since the revision before.
    changes: Option<Differences>,
    /// The path of the next take of another member in the session, and who filed it.
    next: Option<(String, Person)>,
    command: String,
    public_key: String,
    signature: &'a str,
    canonical: Markup,
    /// Whether the page shows the canonical text without replacing any character.
    is_whole: bool,
}

struct RevisionRow {
    number: u8,
    href: String,
    here: bool,
    when: Markup,
    stance: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let on_file = tenant.take(request.take_id()?).await?;
    let take = &on_file.take;
    let draft = take.draft();
    let (session, filed) = tenant.session_filed(take.session_id).await?;
    let next = tenant.session_page(take.session_id, take.id, 1).await?.takes.into_iter().next();
    let members = next.iter().map(|next| &next.draft().member_id).chain([&draft.member_id]);
    let people = People::find(tenant, members).await?;
    let subject = lists::subject(tenant, &draft.subject_id).await?;
    let who = people.person(&draft.member_id);
    let of_member = filed.iter().filter(|other| other.draft().member_id == draft.member_id);
    let before = of_member.clone().rfind(|other| other.revision < take.revision);
    let signed = canonical(draft);
    let site = SiteContext::of(&request);
    let title = format!("Take {}: {} on {}, {}", take.id, who.name, subject.1, draft.stance);
    let day = format!("{}, {}", subject.1, reading.day_text(draft.date));
    let page = TakePage {
        id: take.id.to_string(),
        stance: stance::stance(&draft.stance, draft.confidence),
        session: links::session(take.session_id),
        date: reading.day(draft.date),
        when: reading.time(take.filed_at),
        notes: notes(take, session.snapshot.as_deref(), on_file.superseded_by.is_some()),
        newer: on_file.superseded_by.map(links::take),
        body: markdown(draft.body.as_str(), HeadingLevel::H1),
        memo_link: links::web(draft.memo_url.as_str()),
        weights: draft.weights.as_ref().map(weights),
        changes: before
            .map(|before| Differences::between(before.draft(), draft))
            .filter(|changes| !changes.is_empty()),
        revisions: of_member.map(|other| revision(other, take, reading)).collect(),
        next: next.map(|next| (links::take(next.id), people.person(&next.draft().member_id))),
        command: command(&site, take),
        public_key: take.public_key.to_string(),
        signature: take.signed.signature.as_str(),
        is_whole: is_allowed(&signed),
        canonical: exact(&signed),
        frame: Frame::new(site, title, links::take(take.id))
            .below("/swarm/sessions", "Sessions")
            .below(links::session(take.session_id), day)
            .called(&format!("Take {}", take.id))
            .described(&first_words(draft.body.as_str(), 200))
            .pictured(take.session_id)
            .article(),
        draft,
        who,
        subject,
    };
    Ok(html(StatusCode::OK, &page))
}

/// Remarks on whether the take is counted. A superseded take has none: its page links to the newer
/// revision.
fn notes(take: &Take, snapshot: Option<&Snapshot>, superseded: bool) -> Vec<&'static str> {
    let note = uncounted(take, snapshot).filter(|_| !superseded);
    note.into_iter().collect()
}

fn revision(other: &Arc<Take>, shown: &Take, reading: Reading) -> RevisionRow {
    let draft = other.draft();
    RevisionRow {
        number: other.revision.get(),
        href: links::take(other.id),
        here: other.id == shown.id,
        when: reading.time(other.filed_at),
        stance: stance::stance(&draft.stance, draft.confidence),
    }
}

fn weights(weights: &Weights) -> Shares {
    let entries = weights.entries();
    let highest = entries.iter().map(|entry| entry.weight).fold(0.0, f64::max);
    // Dividing first keeps the sum finite.
    let total: f64 = entries.iter().map(|entry| entry.weight / highest).sum();
    let share = |weight: f64| weight / highest / total;
    let named: Vec<_> = entries
        .iter()
        .map(|entry| (entry.bucket.as_str().to_owned(), share(entry.weight)))
        .collect();
    let rows =
        entries.iter().map(|entry| (entry.bucket.as_str().to_owned(), json::write(&entry.weight)));
    Shares { rows: rows.collect(), ..shares_of(&named, |_| String::new(), "Shares of the buckets") }
}

/// The command that verifies a take.
pub(super) fn command(site: &SiteContext, take: &Take) -> String {
    let SiteContext { origin, .. } = site;
    format!("swarm verify {origin}/api/swarm/takes/{} --key {}", take.id, take.public_key)
}
