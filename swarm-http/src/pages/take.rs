//! `/swarm/takes/<id>`: the permalink of a take.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{SessionSummary, StanceScale, TakeDraft, Weights};
use swarm_core::proof::canonical;
use swarm_core::rules::PublicTake;
use swarm_core::store::TakeContext;
use swarm_core::{Error, Refusal, Resource, Take, TakeId, Tenant, json};

use super::charts::shares_of;
use super::citation::Citation;
use super::differences::Differences;
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{Revised, uncounted_reason, uncounted_text};
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::{Markup, exact, is_allowed};
use super::people::{People, Person};
use super::time_text::TimeFormatter;
use super::{links, lists, stance};
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// Numbers are texts, exactly as they were signed.
#[derive(Template)]
#[template(path = "take.html")]
struct TakePage<'a> {
    frame: Frame,
    filed: Filed,
    draft: &'a TakeDraft,
    stance: Markup,
    body: Markup,
    memo_link: Option<&'a str>,
    weights: Option<WeightsView>,
    /// What changed since the revision before.
    changes: Option<Differences>,
    command: String,
    public_key: String,
    signature: &'a str,
    /// The path of the canonical text as a file.
    canonical_path: String,
    /// The canonical text, unless it is long.
    canonical: Option<Markup>,
    /// Commands that verify the signature with OpenSSL; `None` where the canonical text cannot be shown.
    openssl: Option<Markup>,
    /// The mark of texts that are withheld, in words, and since when.
    withheld: Option<(String, Markup)>,
    /// Whether the page shows the canonical text without replacing any character.
    is_whole: bool,
    /// Nothing where the texts are withheld: the canonical text has them.
    citation: Option<Citation>,
}

/// A sealed take.
#[derive(Template)]
#[template(path = "sealed_take.html")]
struct SealedPage {
    frame: Frame,
    filed: Filed,
    sealed: String,
}

/// What is known of any take, sealed or not.
struct Filed {
    id: TakeId,
    who: Person,
    /// The path and name of the subject.
    subject: (String, String),
    session: String,
    date: Markup,
    when: Markup,
    /// Why the take is not counted. A superseded take has no note: its page links to the newer revision.
    note: Option<&'static str>,
    newer: Option<Revised>,
    revisions: Vec<RevisionRow>,
    /// The paths of the takes of other members before and after it in the session, and who filed them.
    previous: Option<(String, Person)>,
    next: Option<(String, Person)>,
}

/// Maximum number of weights in the chart and in its table.
const MAX_WEIGHTS: usize = 20;

/// Longest canonical text that the page shows, in bytes. A longer one is a file of its own.
const MAX_CANONICAL: usize = 3_000;

struct WeightsView {
    chart: Markup,
    /// The number of weights that are not shown.
    more: usize,
    /// Buckets, their shares, and the weights as signed.
    rows: Vec<(String, String, String)>,
}

struct RevisionRow {
    number: u8,
    href: String,
    here: bool,
    when: Markup,
    stance: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let id = request.take_id()?;
    let TakeContext { revisions, previous, next } = tenant.take_context(id).await?;
    let place = revisions.partition_point(|take| take.id() < id);
    let shown = revisions.get(place).ok_or(Refusal::NotFound(Resource::Take))?;
    let before = place.checked_sub(1).and_then(|place| revisions.get(place));
    let newer = revisions.get(place + 1).map(|_| shown);
    let session = tenant.summary(shown.session_id()).await?;
    let scale = session.declaration.scale();
    let newer = newer.zip(revisions.last());
    let newer = newer.map(|(shown, latest)| Revised::new(scale, shown, latest));
    let note = match (lists::no_result_text(&session), &newer) {
        (Some(text), _) => Some(text),
        (None, Some(_)) => None,
        (None, None) => uncounted(tenant, shown, &session).await?,
    };
    let beside = [&previous, &next].into_iter().flatten().map(PublicTake::member_id);
    let people = People::find(tenant, beside.chain([shown.member_id()])).await?;
    let beside = |take: PublicTake| (links::take(take.id()), people.person(take.member_id()));
    let filed = Filed {
        id,
        who: people.person(shown.member_id()),
        subject: lists::subject(tenant, shown.subject_id()).await?,
        session: links::session(shown.session_id()),
        date: times.day(shown.date()),
        when: times.time(shown.filed_at()),
        note,
        newer,
        revisions: revisions.iter().map(|other| revision((scale, other), id, times)).collect(),
        previous: previous.map(beside),
        next: next.map(beside),
    };
    let on = format!("{} on {}", filed.who.name, filed.subject.1);
    let site = SiteContext::of(&request);
    let day = times.day_text(shown.date());
    let take = match shown {
        PublicTake::Open(take) => take,
        PublicTake::Sealed(stored) => {
            let take = &stored.shown;
            let page = SealedPage {
                sealed: take.sealed.to_string(),
                frame: Frame::new(site, format!("Take {id}: {on}, sealed"), links::take(id))
                    .below("/swarm/sessions", "Sessions")
                    .below(&*filed.session, (&*filed.subject.1, day))
                    .called(&*format!("Take {id}"))
                    .with_description(lists::SEALED)
                    .article(),
                filed,
            };
            return Ok(html(StatusCode::OK, &page));
        }
    };
    let draft = take.draft();
    let signed = canonical(draft);
    let description = match &take.withheld {
        Some(mark) => lists::withheld_text(mark),
        None => first_words(draft.body.as_str(), 200),
    };
    let citation = take.withheld.is_none().then(|| {
        let title = format!("{on}, {}: {}", draft.date, draft.stance);
        let path = links::take(id);
        Citation::of_take(&site, &path, &title, (&filed.who.name, take), times)
    });
    let page = TakePage {
        citation,
        stance: stance::on_scale(scale, &draft.stance, Some(draft.confidence)),
        body: markdown(draft.body.as_str(), HeadingLevel::H1),
        memo_link: links::web(draft.memo_url.as_str()),
        weights: draft.weights.as_ref().map(weights),
        changes: before
            .and_then(PublicTake::open)
            // The text of one of them is not known.
            .filter(|before| before.withheld.is_none() && take.withheld.is_none())
            .map(|before| Differences::between(before.draft(), draft))
            .filter(|changes| !changes.is_empty()),
        command: command(&site, take),
        public_key: take.public_key.to_string(),
        signature: take.signed.signature.as_str(),
        openssl: (is_allowed(&signed) && take.withheld.is_none())
            .then(|| exact(&openssl(&site, take, &signed))),
        withheld: take
            .withheld
            .as_ref()
            .map(|mark| (lists::withheld_text(mark), times.time(mark.at))),
        is_whole: is_allowed(&signed),
        canonical_path: canonical_path(take.id),
        canonical: (signed.len() <= MAX_CANONICAL).then(|| exact(&signed)),
        frame: Frame::new(site, format!("Take {id}: {on}, {}", draft.stance), links::take(id))
            .below("/swarm/sessions", "Sessions")
            .below(&*filed.session, (&*filed.subject.1, day))
            .called(&*format!("Take {id}"))
            .with_description(&description)
            .pictured(take.session_id)
            .article(),
        filed,
        draft,
    };
    Ok(html(StatusCode::OK, &page))
}

/// Why the latest take of a member does not count in its session: in the snapshot, or in the one that there would be now.
async fn uncounted(
    tenant: &Tenant,
    take: &PublicTake,
    session: &SessionSummary,
) -> Result<Option<&'static str>, Error> {
    if session.figures.is_some() || !session.has_roster {
        return Ok(tenant.counting(take).await?.and_then(uncounted_text));
    }
    let session = tenant.session_record(session.id).await?;
    Ok(uncounted_reason(take, &session))
}

fn revision(
    (scale, other): (&StanceScale, &PublicTake),
    shown: TakeId,
    times: TimeFormatter,
) -> RevisionRow {
    RevisionRow {
        number: other.revision().get(),
        href: links::take(other.id()),
        here: other.id() == shown,
        when: times.time(other.filed_at()),
        stance: stance::of_take(scale, other),
    }
}

fn weights(weights: &Weights) -> WeightsView {
    let entries = weights.entries();
    let highest = entries.iter().map(|entry| entry.weight).fold(0.0, f64::max);
    // Dividing first keeps the sum finite.
    let total: f64 = entries.iter().map(|entry| entry.weight / highest).sum();
    let share = |weight: f64| weight / highest / total;
    let named: Vec<_> = entries
        .iter()
        .map(|entry| (entry.bucket.as_str().to_owned(), share(entry.weight)))
        .collect();
    // The figures of the bars, beside the numbers that were signed.
    let rows = entries.iter().take(MAX_WEIGHTS).map(|entry| {
        let percent = format!("{:.1} %", share(entry.weight) * 100.0);
        (entry.bucket.as_str().to_owned(), percent, json::write(&entry.weight))
    });
    WeightsView {
        rows: rows.collect(),
        chart: shares_of(&named, MAX_WEIGHTS, |_| String::new(), "Shares of the buckets").chart,
        more: entries.len().saturating_sub(MAX_WEIGHTS),
    }
}

/// The command that verifies a take.
pub(super) fn command(site: &SiteContext, take: &Take) -> String {
    let SiteContext { origin, .. } = site;
    format!("swarm verify {origin}/api/swarm/takes/{} --key {}", take.id, take.public_key)
}

/// The path of the canonical text of a take.
fn canonical_path(take: TakeId) -> String {
    format!("{}/canonical.txt", links::take(take))
}

/// The canonical text of a take, to the byte: what its signature is over.
pub(crate) async fn canonical_text(request: RequestContext) -> Reply {
    let take = request.tenant().take(request.take_id()?).await?.take;
    let open = take.open().filter(|take| take.withheld.is_none());
    let take = open.ok_or(Refusal::NotFound(Resource::Take))?;
    Ok(Answer::new(StatusCode::OK, "text/plain; charset=utf-8", canonical(take.draft())))
}

/// Commands that verify the signature of a take with OpenSSL alone. A long text is downloaded.
fn openssl(site: &SiteContext, take: &Take, canonical: &str) -> String {
    /// What DER has before an Ed25519 key, as `printf` writes it.
    const DER: &str = r"\060\052\060\005\006\003\053\145\160\003\041\000";
    let (key, signature) = (&take.public_key, take.signed.signature.as_str());
    let text = match canonical.len() <= MAX_CANONICAL {
        true => format!("printf %s '{}'", canonical.replace('\'', r"'\''")),
        false => format!("curl -s {}{}", site.origin, canonical_path(take.id)),
    };
    format!(
        "{text} > take.json\n\
         echo {signature} | openssl base64 -d -A > take.sig\n\
         {{ printf '{DER}'; echo {key} | openssl base64 -d -A; }} > key.der\n\
         openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in take.json -sigfile take.sig"
    )
}
