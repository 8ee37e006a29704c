//! Applications, and their review, many at once.

use swarm_core::MemberId;
use swarm_core::domain::MemberState;

use super::super::acts::{ACTIVATE_ALL, REJECT_ALL};
use super::super::context::ConsoleContext;
use super::super::form::{Button, Field};
use super::super::layout::{Block, Page, anchor, quoted, two_lines};
use super::super::table::Table;
use crate::pages::Markup;
use crate::pages::links::part;
use crate::pages::markup::escape;
use crate::request::command::FormTexts;
use crate::response::ApiError;

/// Applications on a page.
const PER_PAGE: usize = 100;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let state = context.query("state").and_then(|text| MemberState::parse(&text));
    let state = state.unwrap_or(MemberState::Applied);
    let after = context.query("after").and_then(|id| MemberId::parse(id).ok());
    let per_page = context.request.portion.of(PER_PAGE);
    let found = context.request.tenant().applications(Some(state), after, per_page).await?;
    let mut page = Page::new("Applications").with_lead("Who asked to become a member.");
    let states = [MemberState::Applied, MemberState::Rejected];
    let options = states.map(|it| (it.as_str(), it.as_str()));
    let choice = Field::choice("state", "State", options, state.as_str());
    page.search("/operate/applications", "Show", choice);
    let form = context.form(&ACTIVATE_ALL, &[], Vec::new());
    let can_choose = form.is_some();
    let rows = found.applications.iter().map(|member| {
        let (id, name) = (escape(member.id.as_str()), escape(member.name.as_str()));
        let chosen = context.refused.as_ref().is_some_and(|refused| {
            refused.sent.all("memberId").any(|sent| sent == member.id.as_str())
        });
        let checked = if chosen { " checked" } else { "" };
        let choose = format!(
            "<input type=\"checkbox\" name=\"memberId\" value=\"{id}\" aria-label=\"{name}\"{checked}>"
        );
        let path = format!("/operate/members/{}", part(member.id.as_str()));
        let row = vec![
            two_lines(&anchor(&path, member.name.as_str()), &quoted(member.contact.as_str())),
            quoted(member.lens.as_str()),
            context.times.time(member.applied_at),
        ];
        can_choose.then_some(Markup(choose)).into_iter().chain(row).collect()
    });
    let mut head = vec!["Applicant", "Lens", "Applied"];
    if can_choose {
        head.insert(0, "Choose");
    }
    let rows: Vec<Vec<Markup>> = rows.collect();
    let is_empty = rows.is_empty();
    let table = Table { label: "Applications", head, rows, empty: "None in this state." };
    match form.filter(|_| !is_empty) {
        Some(mut form) => {
            form.table = Some(table);
            form.is_inline = false;
            form.buttons = vec![Button::new(ACTIVATE_ALL.texts(context.routes).button).primary()];
            if state == MemberState::Applied {
                let FormTexts { button, consequence, .. } = REJECT_ALL.texts(context.routes);
                form.buttons.push(Button::new(button).at(REJECT_ALL.path.to_owned()));
                form.remark = Some(Markup::text(&format!("{button}: {consequence}")));
            }
            page.form(Some(form));
        }
        None => page.blocks.push(Block::Table(table)),
    }
    if let Some(next) = found.next_after {
        let (state, next) = (state.as_str(), part(next.as_str()));
        let path = format!("/operate/applications?state={state}&after={next}");
        page.more(&path, "More applications");
    }
    Ok(page)
}
