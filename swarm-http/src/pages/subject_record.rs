//! The fields of a subject's record, as rows of its page.

use swarm_core::domain::Subject;
use swarm_core::json::{self, Object};
use swarm_core::{Error, MemberId, Tenant};

use super::links;
use super::markup::{Markup, anchor, clipped, escape, quoted};
use super::people::People;
use super::time_text::TimeFormatter;
use crate::request::portion::Portion;

/// Maximum number of entries of a list, and longest text, in letters.
const MAX_ENTRIES: usize = 12;
const MAX_TEXT: usize = 500;
const MAX_ENTRY: usize = 200;

/// Longest address that is a link, in bytes.
const MAX_ADDRESS: usize = 1_000;

/// Labels and values of the fields that have a value.
pub(super) async fn record(
    tenant: &Tenant,
    subject: &Subject,
    portion: Portion,
    times: TimeFormatter,
) -> Result<Vec<(&'static str, Markup)>, Error> {
    let shown = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(plain);
    let homepage = subject.homepage.as_deref().map(|text| match links::web(text) {
        Some(href) if href.len() <= MAX_ADDRESS => Markup(format!(
            "<a href=\"{0}\" rel=\"nofollow noopener\"><bdi>{0}</bdi></a>",
            escape(href)
        )),
        _ => plain(text),
    });
    let most = portion.of(MAX_ENTRIES);
    let notes = subject.structural_notes.iter().map(|note| plain(note));
    let rows = [
        ("Id", Some(plain(subject.id.as_str()))),
        ("Operator", shown(&subject.operator)),
        ("Homepage", homepage),
        ("X", shown(&subject.x_handle)),
        ("Source", shown(&subject.source)),
        ("Recommendation", shown(&subject.recommendation_type)),
        ("Linked member", linked_member(tenant, subject).await?),
        ("Wallets", lines(subject.wallets.iter().map(entry), most)),
        ("NFT contracts", lines(subject.nft_contracts.iter().map(entry), most)),
        ("Notes", lines(notes, most)),
        ("Last reviewed", subject.last_reviewed.map(|day| times.day(day))),
    ];
    Ok(rows.into_iter().filter_map(|(label, value)| Some((label, value?))).collect())
}

/// The member that the subject represents, by name if there is one with this id.
async fn linked_member(tenant: &Tenant, subject: &Subject) -> Result<Option<Markup>, Error> {
    let Some(text) = subject.linked_member_id.as_deref().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let Ok(id) = MemberId::parse(text) else { return Ok(Some(plain(text))) };
    let person = People::find(tenant, [&id]).await?.person(&id);
    Ok(Some(match &person.href {
        Some(href) => anchor(href, &person.name),
        None => plain(&person.name),
    }))
}

/// Up to `most` of these below each other, and how many more there are; `None` without any.
fn lines(entries: impl ExactSizeIterator<Item = Markup>, most: usize) -> Option<Markup> {
    let more = entries.len().saturating_sub(most);
    let mut shown: Vec<_> = entries.take(most).map(|Markup(entry)| entry).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    (!shown.is_empty()).then(|| Markup(shown.join("<br>")))
}

/// The fields of an object that an operator describes: `address 0xabc…, chain base`.
fn entry(object: &Object) -> Markup {
    let field = |(name, value): (&str, &json::Json)| match value {
        json::Json::Text(text) => format!("{name} {text}"),
        other => format!("{name} {}", json::write(other)),
    };
    let fields: Vec<_> = object.members().map(field).collect();
    quoted(&clipped(&fields.join(", "), MAX_ENTRY))
}

fn plain(text: &str) -> Markup {
    quoted(&clipped(text, MAX_TEXT))
}
