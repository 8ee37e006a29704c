//! `/swarm/members/<id>`: a member and its takes over time.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::domain::{Body, Confidence, MemberState, Quote, Stance};
use swarm_core::{Error, Member, MemberId, Session, SessionId, TakeId, Tenant};

use super::charts::{Point, member_line};
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{Subjects, memo_title, number_param, part_title, uncounted};
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::{Markup, clipped};
use super::people::member_name;
use super::time_text::Reading;
use super::{links, stance};
use crate::request::RequestContext;
use crate::response::Reply;

/// Number of sessions that a page looks through.
const SESSIONS: usize = 60;

/// Maximum number of sessions whose takes are loaded because their snapshot does not quote the member.
const MAX_LOADED: usize = 12;

/// Longest excerpt of a take's body, in letters.
const MAX_EXCERPT: usize = 110;

/// Maximum number of memos on the page.
const MAX_MEMOS: usize = 50;

#[derive(Template)]
#[template(path = "member.html")]
struct MemberPage {
    frame: Frame,
    path: String,
    active: bool,
    joined: Option<Markup>,
    lens: Option<Markup>,
    line: Option<Markup>,
    filed: Option<String>,
    rows: Vec<Row>,
    takes: Vec<Line>,
    later: bool,
    next: Option<String>,
    memos: Vec<(Markup, String, String)>,
    key: Option<String>,
}

struct Row {
    when: Markup,
    subject: String,
    stance: String,
    confidence: String,
}

struct Line {
    when: Markup,
    href: String,
    subject: String,
    words: String,
    /// Why the take is not counted, if it is not.
    remark: Option<&'static str>,
    stance: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let member = tenant.member(&request.member_id(swarm_core::Resource::Member)?).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let found = tenant.sessions(SESSIONS, before).await?;
    let takes = takes(tenant, &member.id, &found.sessions).await?;
    let ids = takes.iter().map(|take| &take.session.subject_id);
    let subjects = Subjects::find(tenant, ids).await?;
    let mut memos = tenant.memos_of(&member.id).await?;
    memos.sort_unstable_by_key(|memo| std::cmp::Reverse(memo.id));
    let base = links::member(&member.id);
    let address = |before: SessionId| format!("{base}?before={before}");
    let frame = Frame::new(
        SiteContext::of(&request),
        member_name(&member),
        before.map_or_else(|| base.clone(), address),
    )
    .showing(part_title(&kind(tenant, &member).await?, "before", before));
    let memo = |memo: &swarm_core::domain::Memo| {
        (reading.day(memo.published_at.day()), links::memo(memo.id), memo_title(memo))
    };
    let page = MemberPage {
        frame: frame.below("/swarm/members", "Members").article(),
        active: member.state.is_active(),
        joined: member.joined_at.map(|joined| reading.day(joined.day())),
        lens: (!member.lens.as_str().trim().is_empty())
            .then(|| markdown(member.lens.as_str(), HeadingLevel::H1)),
        line: line(&takes, &subjects, reading),
        filed: filed(&found.sessions, &takes, &member.id),
        rows: takes.iter().map(|take| take.row(&subjects, reading)).collect(),
        takes: takes.iter().map(|take| take.line(&subjects, reading)).collect(),
        later: before.is_some(),
        next: found.next_before.map(address),
        memos: memos.iter().take(MAX_MEMOS).map(memo).collect(),
        key: member
            .public_key
            .as_ref()
            .filter(|_| member.state != MemberState::Rejected)
            .map(ToString::to_string),
        path: base.clone(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// `Member` or `Former member`, with the id if another member has the same name.
async fn kind(tenant: &Tenant, member: &Member) -> Result<String, Error> {
    const MAX_ID: usize = 9;
    let members = tenant.members().await?;
    let name = member_name(member);
    let is_twin = |other: &&Arc<Member>| other.id != member.id && member_name(other) == name;
    let active = if member.state.is_active() { "Member" } else { "Former member" };
    Ok(match members.iter().find(is_twin) {
        Some(_) => format!("{active} {}", clipped(member.id.as_str(), MAX_ID)),
        None => active.to_owned(),
    })
}

/// The member's latest take in a session.
struct MemberTake {
    session: Arc<Session>,
    take: TakeId,
    stance: Stance,
    confidence: Confidence,
    body: Body,
    remark: Option<&'static str>,
}

/// The member's takes in these sessions: as quoted in the snapshot, else loaded from the session.
async fn takes(
    tenant: &Tenant,
    member: &MemberId,
    sessions: &[Arc<Session>],
) -> Result<Vec<MemberTake>, Error> {
    let unquoted = sessions.iter().filter(|session| quote(session, member).is_none());
    let loaded = unquoted.take(MAX_LOADED).map(|session| tenant.session(session.id));
    let loaded = try_join_all(loaded).await?;
    let on_file = loaded.iter().flat_map(|(session, takes)| {
        let own = takes.iter().find(|take| take.draft().member_id == *member);
        own.map(|take| MemberTake {
            session: Arc::clone(session),
            take: take.id,
            stance: take.draft().stance.clone(),
            confidence: take.draft().confidence,
            body: take.draft().body.clone(),
            remark: uncounted(take, session.snapshot.as_deref()),
        })
    });
    let quoted = sessions.iter().filter_map(|session| {
        let own = quote(session, member)?;
        Some(MemberTake {
            session: Arc::clone(session),
            take: own.take_id,
            stance: own.stance.clone(),
            confidence: own.confidence,
            body: own.body.clone(),
            remark: None,
        })
    });
    let mut takes: Vec<_> = on_file.chain(quoted).collect();
    takes.sort_by_key(|take| std::cmp::Reverse((take.session.date, take.session.id)));
    Ok(takes)
}

/// The quote of a member in the snapshot of a session.
fn quote<'a>(session: &'a Session, member: &MemberId) -> Option<&'a Quote> {
    session.snapshot.as_deref()?.quotes.iter().find(|quote| quote.member_id == *member)
}

impl MemberTake {
    fn row(&self, subjects: &Subjects, reading: Reading) -> Row {
        Row {
            when: reading.day(self.session.date),
            subject: subjects.name(&self.session.subject_id),
            stance: self.stance.as_str().to_owned(),
            confidence: format!("{:.2}", self.confidence.get()),
        }
    }

    fn line(&self, subjects: &Subjects, reading: Reading) -> Line {
        Line {
            when: reading.day(self.session.date),
            href: links::take(self.take),
            subject: subjects.name(&self.session.subject_id),
            words: first_words(self.body.as_str(), MAX_EXCERPT),
            remark: self.remark,
            stance: stance::stance(&self.stance, self.confidence),
        }
    }
}

fn line(takes: &[MemberTake], subjects: &Subjects, reading: Reading) -> Option<Markup> {
    let known: Vec<_> = takes
        .iter()
        .rev()
        .filter_map(|take| Some((take, stance::rank(take.stance.as_str())?)))
        .collect();
    let point = |(take, rank): &(&MemberTake, i8)| {
        let subject = subjects.name(&take.session.subject_id);
        let day = reading.day_text(take.session.date);
        let confidence = take.confidence.get();
        let title = format!("{day}, {subject}: {} {confidence:.2}", take.stance);
        Point { rank: *rank, confidence, day, title }
    };
    let points: Vec<_> = known.iter().map(point).collect();
    let (from, to) = (&points.first()?.day, &points.last()?.day);
    let label = format!("Stances in {} sessions, from {from} to {to}", points.len());
    Some(member_line(&points, &label))
}

/// How many of the aggregated sessions that expected the member have a counted take of it.
fn filed(sessions: &[Arc<Session>], takes: &[MemberTake], member: &MemberId) -> Option<String> {
    let expects = |session: &&Arc<Session>| {
        let entry = session.roster.as_ref().and_then(|roster| roster.entry(member));
        session.snapshot.is_some() && entry.is_some_and(|entry| !entry.excused)
    };
    let expected: Vec<_> = sessions.iter().filter(expects).map(|session| session.id).collect();
    let counted = takes.iter().filter(|take| take.remark.is_none());
    let filed = counted.filter(|take| expected.contains(&take.session.id)).count();
    let total = expected.len();
    (total > 0).then(|| {
        format!("Filed in {filed} of {total} finished sessions on this page that expected a take.")
    })
}
