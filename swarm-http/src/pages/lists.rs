//! Views of sessions, takes and members that several pages list, and paging.

use futures_util::future::try_join_all;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::sync::Arc;
use swarm_core::domain::{
    Memo, Quote, SessionSummary, Stance, StanceScale, Subject, SubjectId, Withheld,
};
use swarm_core::rules::{self, Counting, PublicTake, counting};
use swarm_core::{Error, MemberId, Session, SessionId, Take, TakeId, Tenant};

use super::charts::{Counts, Dot, strip};
use super::markdown::{HeadingLevel, excerpt};
use super::markup::{Markup, clipped, escape, named};
use super::people::{People, Person};
use super::result::ResultView;
use super::time_text::{TimeFormatter, span};
use super::{links, outcome, stage_text, stance};
use crate::request::RequestContext;
use crate::request::parameters::{no_position, number};
use crate::response::ApiError;

/// Longest excerpt of a take's body in a list, in characters.
pub(super) const MAX_EXCERPT: usize = 700;

/// The seal of a take, in place of its content (API.md, 5.8).
pub(super) const SEALED: &str = "Sealed until the session is opened.";

/// What stands in place of texts that an operator withheld (API.md, 7.10).
pub(super) fn withheld_text(mark: &Withheld) -> String {
    format!("Withheld by an operator: {}", mark.note)
}

/// The names of subjects, by id.
#[derive(Default)]
pub(super) struct Subjects(HashMap<SubjectId, String>);

impl Subjects {
    /// Looks these subjects up, each once: there may be many more.
    pub(super) async fn find<'a>(
        tenant: &Tenant,
        ids: impl IntoIterator<Item = &'a SubjectId>,
    ) -> Result<Self, Error> {
        let ids: HashSet<_> = ids.into_iter().collect();
        let found = ids.into_iter().map(|id| async move {
            let subject = Error::if_any(tenant.subject(id).await)?;
            Ok::<_, Error>(subject.map(|subject| (id.clone(), subject_title(&subject))))
        });
        Ok(Self(try_join_all(found).await?.into_iter().flatten().collect()))
    }

    /// The path of the subject's page, and its name.
    pub(super) fn link(&self, id: &SubjectId) -> (String, String) {
        (links::subject(id), self.name(id))
    }

    /// The subject's name, or its id if the subject is unknown.
    pub(super) fn name(&self, id: &SubjectId) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| id.as_str().to_owned())
    }
}

/// Longest name of a subject on pages, in letters.
const MAX_SUBJECT: usize = 100;

/// The subject's name, or its id if it has no visible name.
pub(super) fn subject_title(subject: &Subject) -> String {
    clipped(&named(&subject.name, subject.id.as_str()), MAX_SUBJECT)
}

/// The memo's title, or a placeholder if the title is not visible.
pub(super) fn memo_title(memo: &Memo) -> String {
    named(&memo.draft.title, "Untitled")
}

/// The path of a subject's page, and its name, or its id if the subject is unknown.
pub(super) async fn subject(tenant: &Tenant, id: &SubjectId) -> Result<(String, String), Error> {
    Ok(Subjects::find(tenant, [id]).await?.link(id))
}

/// A session in a list.
pub(super) struct SessionRow {
    /// The day, which links to the session.
    pub(super) when: Markup,
    pub(super) href: String,
    /// The path and name of the subject; `None` on the subject's own page.
    pub(super) subject: Option<(String, String)>,
    pub(super) id: String,
    /// Members per stance, as a strip and in figures.
    pub(super) strip: Option<(Markup, String)>,
    /// Whether the strip has a segment of other stances.
    pub(super) has_other: bool,
    pub(super) result: Option<ResultView>,
    /// The outcome, if it has one that counts: `+1.68`.
    pub(super) outcome: Option<String>,
    /// The stage, if there is no result.
    pub(super) stage: String,
    /// The deadline, if it is ahead and there is no result.
    pub(super) until: Option<Markup>,
}

impl SessionRow {
    pub(super) fn new(session: &SessionSummary, subjects: &Subjects, times: TimeFormatter) -> Self {
        let subject = subjects.link(&session.subject_id);
        Self { subject: Some(subject), ..Self::without_subject(session, times) }
    }

    /// A row of the subject's own page.
    pub(super) fn without_subject(session: &SessionSummary, times: TimeFormatter) -> Self {
        let figures = session.figures.as_ref().filter(|_| session.counts());
        let counted = figures.filter(|figures| figures.participation.members > 0);
        let counts = counted.map(|figures| Counts::of(&figures.stances));
        let is_open = session.voided.is_none() && session.figures.is_none();
        let until = session.window_closes_at.filter(|at| is_open && times.is_ahead(Some(*at)));
        Self {
            when: times.day(session.date),
            href: links::session(session.id),
            subject: None,
            id: session.id.to_string(),
            has_other: counts.as_ref().is_some_and(|counts| counts.other() > 0),
            strip: counts.map(|counts| (strip(&counts), counts.figures())),
            result: figures.and_then(ResultView::of),
            outcome: outcome::listed(session),
            stage: match figures.filter(|figures| figures.consensus.is_none()) {
                Some(figures) => {
                    let stage = stage_text::flagged(session, times);
                    format!("{stage}, {}", ResultView::headline(figures))
                }
                None => stage_text::brief(session, times),
            },
            until: until.map(|deadline| times.time(deadline)),
        }
    }
}

/// What a take is about.
pub(super) struct TakeContext {
    /// The path and name of the subject.
    pub(super) subject: (String, String),
    /// The path of the session, and its day.
    pub(super) session: (String, Markup),
}

/// A take in a list.
pub(super) struct TakeView {
    pub(super) id: String,
    pub(super) href: String,
    pub(super) who: Person,
    /// The subject and the session, unless the page is about them.
    pub(super) on: Option<TakeContext>,
    pub(super) when: Markup,
    pub(super) ago: Option<String>,
    pub(super) stance: Markup,
    pub(super) body: Markup,
    /// Whether the body is an excerpt.
    pub(super) cut: bool,
    /// Of a superseded take, what it was revised to.
    pub(super) revised: Option<Revised>,
    /// Paths and labels of earlier revisions.
    pub(super) earlier: Vec<(String, String)>,
    pub(super) remarks: Vec<String>,
}

impl TakeView {
    /// A take of a session with this scale, with an excerpt of at most `room` characters.
    pub(super) fn excerpted(
        (scale, take): (&StanceScale, &PublicTake),
        room: usize,
        people: &People,
        times: TimeFormatter,
    ) -> Self {
        let (body, cut) = match take.open().map(|take| &**take) {
            Some(Take { withheld: Some(mark), .. }) => {
                (Markup(format!("<p class=\"quiet\">{}</p>", escape(&withheld_text(mark)))), false)
            }
            Some(take) => excerpt(take.draft().body.as_str(), room, HeadingLevel::H3),
            None => (Markup(format!("<p class=\"quiet\">{SEALED}</p>")), false),
        };
        Self {
            id: take.id().to_string(),
            href: links::take(take.id()),
            who: people.person(take.member_id()),
            on: None,
            when: times.time(take.filed_at()),
            ago: None,
            stance: stance::of_take(scale, take),
            body,
            cut,
            revised: None,
            earlier: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// With subject, session and age, and why it does not count: for lists of takes of several sessions.
    pub(super) fn in_list(
        take: &PublicTake,
        sessions: &TakeSessions,
        subjects: &Subjects,
        people: &People,
        times: TimeFormatter,
    ) -> Self {
        Self {
            on: Some(TakeContext {
                subject: subjects.link(take.subject_id()),
                session: (links::session(take.session_id()), times.day(take.date())),
            }),
            ago: Some(times.ago(take.filed_at())),
            remarks: sessions.remark(take).map(str::to_owned).into_iter().collect(),
            ..Self::excerpted((sessions.scale(take), take), MAX_EXCERPT, people, times)
        }
    }

    /// Adds links to the member's earlier revisions among these takes.
    pub(super) fn after(mut self, take: &PublicTake, all: &[PublicTake]) -> Self {
        let of_member = |other: &&PublicTake| {
            other.member_id() == take.member_id() && other.revision() < take.revision()
        };
        let earlier = all.iter().filter(of_member);
        let revision = |take: &PublicTake| format!("revision {}", take.revision().get());
        self.earlier = earlier.map(|take| (links::take(take.id()), revision(take))).collect();
        if !self.earlier.is_empty() {
            self.remarks.push(format!("this is {}", revision(take)));
        }
        self
    }

    /// Adds a remark.
    pub(super) fn with_remark(mut self, remark: Option<String>) -> Self {
        self.remarks.extend(remark);
        self
    }

    /// Adds a remark if the take does not count in its session.
    pub(super) fn counted_in(mut self, take: &PublicTake, session: &Session) -> Self {
        self.remarks.extend(uncounted_reason(take, session).map(str::to_owned));
        self
    }
}

/// What a superseded take was revised to.
pub(super) struct Revised {
    /// The path of the latest revision.
    pub(super) href: String,
    /// `3 h later`
    pub(super) later: String,
    pub(super) stance: Markup,
}

impl Revised {
    /// A take of a session with this scale, and its latest revision.
    pub(super) fn new(scale: &StanceScale, take: &PublicTake, latest: &PublicTake) -> Self {
        Self {
            href: links::take(latest.id()),
            later: format!("{} later", span(latest.filed_at().millis() - take.filed_at().millis())),
            stance: stance::of_take(scale, latest),
        }
    }
}

/// What those of the takes that are superseded were revised to.
pub(super) async fn revised_texts(
    tenant: &Tenant,
    takes: &[PublicTake],
    sessions: &TakeSessions,
) -> Result<HashMap<TakeId, Revised>, Error> {
    let found = takes.iter().map(|take| async move {
        if tenant.take(take.id()).await?.superseded_by.is_none() {
            return Ok(None);
        }
        let context = tenant.take_context(take.id()).await?;
        let latest = context.revisions.last().filter(|latest| latest.id() != take.id());
        Ok::<_, Error>(
            latest.map(|latest| (take.id(), Revised::new(sessions.scale(take), take, latest))),
        )
    });
    Ok(try_join_all(found).await?.into_iter().flatten().collect())
}

/// A member's take as a row of a table, and as a dot of a chart.
pub(super) struct StanceRow {
    pub(super) who: Person,
    /// The path of the take, if it has a page.
    pub(super) take: Option<String>,
    pub(super) stance: Stance,
    pub(super) confidence: f64,
    /// The scale of its session.
    pub(super) scale: StanceScale,
}

impl StanceRow {
    pub(super) fn of_take(scale: &StanceScale, take: &Take, people: &People) -> Self {
        let draft = take.draft();
        Self {
            who: people.person(&draft.member_id),
            take: Some(links::take(take.id)),
            stance: draft.stance.clone(),
            confidence: draft.confidence.get(),
            scale: scale.clone(),
        }
    }

    pub(super) fn of_quote(scale: &StanceScale, quote: &Quote, people: &People) -> Self {
        Self {
            who: people.person(&quote.member_id),
            take: Some(links::take(quote.take_id)),
            stance: quote.stance.clone(),
            confidence: quote.confidence.get(),
            scale: scale.clone(),
        }
    }

    /// The place of the stance on the scale; `None` if it has no rank.
    pub(super) fn place(&self) -> Option<usize> {
        self.scale.place(&self.stance)
    }

    /// The stance with its mark.
    pub(super) fn word(&self) -> Markup {
        stance::on_scale(&self.scale, &self.stance, None)
    }

    /// A dot of the stance field; `None` for a stance without a rank.
    pub(super) fn dot(&self) -> Option<Dot> {
        let (name, href) = (self.who.name.clone(), self.take.clone());
        Some(Dot { name, href, place: self.place()?, confidence: self.confidence })
    }
}

/// Why a member's latest take does not count in its session: in the snapshot, or in the one that there would be now. `None` if it
/// counts.
pub(super) fn uncounted_reason(take: &PublicTake, session: &Session) -> Option<&'static str> {
    let member = take.member_id();
    match (&session.snapshot, &session.roster) {
        (Some(snapshot), _) => uncounted_text(counting(take, snapshot)),
        (None, _) if session.expects(member) => None,
        (None, Some(roster)) if roster.entry(member).is_none() => {
            Some("not on the roster: counts for nothing")
        }
        (None, _) => Some("excused: counts for nothing"),
    }
}

/// The takes among these, the latest of each member, that would count in a snapshot now.
pub(super) fn expected_takes(session: &Session, latest: &[PublicTake]) -> Vec<PublicTake> {
    latest.iter().filter(|take| session.expects(take.member_id())).cloned().collect()
}

/// Why no take of a session counts; `None` if its result counts.
pub(super) fn no_result_text(session: &SessionSummary) -> Option<&'static str> {
    match &session.voided {
        Some(_) => Some("not counted: the session is void"),
        None => session.practice.then_some("not counted: a practice session"),
    }
}

/// The sessions of listed takes.
pub(super) struct TakeSessions {
    sessions: HashMap<SessionId, Arc<SessionSummary>>,
    /// Why those of the takes that do not count do not.
    remarks: HashMap<TakeId, &'static str>,
}

impl TakeSessions {
    /// Looks the sessions of these takes up, each once.
    pub(super) async fn find(tenant: &Tenant, takes: &[PublicTake]) -> Result<Self, Error> {
        let found = sessions_of(tenant, takes.iter().map(PublicTake::session_id)).await?;
        let sessions: HashMap<_, _> =
            found.into_iter().map(|session| (session.id, session)).collect();
        let countings = tenant.countings(takes, &sessions).await?;
        let remark = |take: &PublicTake| {
            no_result_text(sessions.get(&take.session_id())?)
                .or_else(|| countings.get(&take.id()).copied().and_then(uncounted_text))
        };
        let remarks = takes.iter().filter_map(|take| Some((take.id(), remark(take)?)));
        let remarks = remarks.collect();
        Ok(Self { sessions, remarks })
    }

    /// The scale of the session of a take.
    pub(super) fn scale(&self, take: &PublicTake) -> &StanceScale {
        let session = self.sessions.get(&take.session_id());
        session.map_or(StanceScale::of_service(), |session| session.declaration.scale())
    }

    /// Why a take does not count; `None` if it does, or there is no result yet.
    pub(super) fn remark(&self, take: &PublicTake) -> Option<&'static str> {
        self.remarks.get(&take.id()).copied()
    }
}

/// The sessions with these ids, without those that were withdrawn meanwhile.
pub(super) async fn sessions_of(
    tenant: &Tenant,
    ids: impl Iterator<Item = SessionId>,
) -> Result<Vec<Arc<SessionSummary>>, Error> {
    let ids: HashSet<_> = ids.collect();
    let found = ids.into_iter().map(|id| async move { Error::if_any(tenant.summary(id).await) });
    Ok(try_join_all(found).await?.into_iter().flatten().collect())
}

/// Why a take is not counted; `None` if it is.
pub(super) fn uncounted_text(counting: Counting) -> Option<&'static str> {
    match counting {
        Counting::Counted => None,
        Counting::Late => Some("late, not counted: filed after the snapshot"),
        Counting::NotExpected => Some("not counted in the snapshot"),
    }
}

/// The listed members that are expected and have not filed.
pub(super) fn missing<'a>(session: &'a Session, takes: &[PublicTake]) -> Vec<&'a MemberId> {
    let filed: HashSet<_> = takes.iter().map(|take| take.member_id()).collect();
    rules::missing(session, |member| filed.contains(member))
}

/// A list of members, cut to a maximum length.
#[derive(Default)]
pub(super) struct Named {
    pub(super) shown: Vec<Person>,
    pub(super) more: usize,
}

impl Named {
    pub(super) fn new(ids: &[&MemberId], limit: usize, people: &People) -> Self {
        let shown: Vec<_> = ids.iter().take(limit).map(|id| people.person(id)).collect();
        Self { more: ids.len() - shown.len(), shown }
    }
}

/// The title of a list: `Sessions`, or `Sessions before 24` on further pages.
pub(super) fn part_title(list: &str, side: &str, of: Option<impl Display>) -> String {
    of.map_or(list.to_owned(), |of| format!("{list} {side} {of}"))
}

/// The number in this query parameter, if there is one.
pub(super) fn number_param(
    request: &RequestContext,
    name: &'static str,
) -> Result<Option<u64>, ApiError> {
    let query = request.query();
    query.get(name).map(|text| number(text).ok_or_else(|| no_position(name))).transpose()
}
