//! The list of members, and the page of a member.

use std::sync::Arc;

use futures_util::future::try_join_all;
use swarm_core::domain::MemberState;
use swarm_core::rules::Needle;
use swarm_core::{Error, Member, MemberId, Refusal, Resource};

use super::super::acts::{
    ACTIVATE, DEACTIVATE, ERASE, REJECT, RESET_CLAIM, ROTATE_KEY, UPDATE_MEMBER,
};
use super::super::context::ConsoleContext;
use super::super::form::{Field, FormView, Kind};
use super::super::layout::{Block, Page, anchor, quoted, two_lines};
use crate::pages::Markup;
use crate::pages::links::{self, part};
use crate::pages::markup::escape;
use crate::pages::people::member_name;
use crate::request::command::FormTexts;
use crate::response::ApiError;

/// Members on a page.
const PER_PAGE: usize = 100;

pub(super) async fn list(context: &ConsoleContext) -> Result<Page, ApiError> {
    let text = context.query("q").unwrap_or_default();
    let needle = Needle::new(&text);
    let after = context.query("after").and_then(|id| MemberId::parse(id).ok());
    let is_first = after.is_none();
    let tenant = context.request.tenant();
    let per_page = context.request.portion.of(PER_PAGE);
    let mut members = Vec::new();
    let mut next = after;
    // Stop after ten reads of a long list without a match.
    for _ in 0..10 {
        let found = tenant.applications(None, next, per_page).await?;
        let is_shown = |member: &Arc<Member>| {
            let has = |it: &Needle| it.is_in(member.name.as_str()) || it.is_in(member.id.as_str());
            let was_let_in = member.joined_at.is_some();
            was_let_in && needle.as_ref().is_none_or(has)
        };
        members.extend(found.applications.into_iter().filter(is_shown));
        next = found.next_after;
        if next.is_none() || members.len() >= per_page {
            break;
        }
    }
    // Pages go on by id, which says nothing to people: all members on one page are sorted.
    if is_first && next.is_none() {
        members.sort_by_cached_key(|member| member_name(member).to_lowercase());
    }
    let last = try_join_all(members.iter().map(|member| last_take(context, &member.id))).await?;
    let mut page = Page::new("Members")
        .with_lead("Everybody who was let in, with the take in the newest session of each.");
    let search = Field::new(Kind::Input("search"), "q", "Name or id");
    page.search("/operate/members", "Search", search.with_value(text.as_str()));
    let rows = members.iter().zip(last).map(|(member, take)| {
        let path = format!("/operate/members/{}", part(member.id.as_str()));
        let who = anchor(&path, &member_name(member));
        vec![
            two_lines(&who, &quoted(member.contact.as_str())),
            Markup::text(member.state.as_str()),
            take.unwrap_or_else(|| Markup::text("none")),
        ]
    });
    let head = ["Member", "State", "Last take"];
    page.table("Members", head, rows, "No members found.");
    if let Some(next) = next {
        let query = format!("q={}&after={}", part(&text), part(next.as_str()));
        page.more(&format!("/operate/members?{query}"), "More members");
    }
    Ok(page)
}

/// When the member filed in the newest session that it filed in, with a link to the take.
async fn last_take(context: &ConsoleContext, member: &MemberId) -> Result<Option<Markup>, Error> {
    let last = context.request.tenant().member_takes(member, None, 1).await?.takes.pop();
    Ok(last.map(|last| {
        let when = context.times.time(last.take.filed_at());
        Markup(format!("<a href=\"{}\">{when}</a>", links::take(last.take.id())))
    }))
}

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let absent = Refusal::NotFound(Resource::Member);
    let id = MemberId::parse(context.part(0).to_owned()).map_err(|_| absent)?;
    let member = context.request.tenant().application(&id).await?;
    let last = last_take(context, &id).await?;
    let time = |at| context.times.time(at);
    let mut record = vec![
        ("State", Markup::text(member.state.as_str())),
        ("Id", Markup(format!("<code>{}</code>", escape(id.as_str())))),
        ("Contact", quoted(member.contact.as_str())),
        ("Lens", quoted(member.lens.as_str())),
        ("Applied", time(member.applied_at)),
    ];
    record.extend(member.joined_at.map(|at| ("Let in", time(at))));
    record.extend(member.claimed_at.map(|at| ("Token claimed", time(at))));
    record.extend(
        member.public_key.iter().map(|key| {
            ("Public key", Markup(format!("<code>{}</code>", escape(&key.to_string()))))
        }),
    );
    record.extend(last.map(|take| ("Last take", take)));
    if member.joined_at.is_some() {
        record.push(("Public page", anchor(&links::member(&id), &links::member(&id))));
    }
    let mut page = Page::named(&member_name(&member), "").below("/operate/members", "Members");
    page.blocks.push(Block::Record(record));
    let parts = [id.as_str()];
    let is_in = |states: &[MemberState]| states.contains(&member.state);
    use MemberState::{Applied, Approved, Claimed, Inactive, Rejected};
    if is_in(&[Applied, Rejected, Inactive]) && !member.is_erased() {
        page.buttons([context.form(&ACTIVATE, &parts, Vec::new()).map(FormView::primary)]);
    }
    for (act, may) in [
        (&REJECT, is_in(&[Applied])),
        (&DEACTIVATE, is_in(&[Approved, Claimed])),
        (&RESET_CLAIM, is_in(&[Claimed])),
    ] {
        if may {
            let FormTexts { button, consequence, .. } = act.texts(context.routes);
            let form = context.form(act, &parts, Vec::new());
            page.fold(button, consequence, form);
        }
    }
    let key = Field::text("publicKey", "New public key")
        .with_hint("Base64 of 32 bytes. Empty: the key stays, and only the token is replaced.");
    if is_in(&[Claimed]) {
        let form = context.form(&ROTATE_KEY, &parts, vec![key]);
        let lead = "The token in use stops working at once. The new one is shown once.";
        page.fold("Replace the token", lead, form);
    }
    if !member.is_erased() {
        let fields = vec![
            Field::text("name", "Name").required().with_value(member.name.as_str()),
            Field::text("contact", "Contact").required().with_value(member.contact.as_str()),
            Field::lines("lens", "Lens", 3).with_value(member.lens.as_str()),
        ];
        let form = context.form(&UPDATE_MEMBER, &parts, fields);
        let lead = "The log says that it was changed, without the texts.";
        page.fold("Change the record", lead, form);
    }
    if !is_in(&[Approved, Claimed]) && !member.is_erased() {
        let label = "Also the write-ups and memo addresses of its takes; stances stay and count";
        let texts = Field::new(Kind::Flag, "texts", label);
        let form = context.form(&ERASE, &parts, vec![texts]);
        let lead = "Name, contact, lens and memos are gone from every page and later dump. Signed takes stay.";
        page.fold("Erase", lead, form);
    }
    Ok(page)
}
