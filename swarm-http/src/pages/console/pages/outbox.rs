//! Messages to members, and their delivery state.

use swarm_core::domain::{MailState, MessageId};

use super::super::acts::{CANCEL_MESSAGE, RETRY_MESSAGE, TEST_MAIL};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, quoted, two_lines};
use crate::pages::Markup;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Messages on a page.
const PER_PAGE: usize = 50;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let per_page = context.request.portion.of(PER_PAGE);
    let state = context.query("state").and_then(|text| MailState::parse(&text));
    let after = context.query("after").and_then(|id| number(&id)).map(MessageId);
    let (messages, next) = match state {
        Some(state) => (tenant.messages_in(state, per_page).await?, None),
        None => {
            let found = tenant.outbox(after, per_page).await?;
            (found.messages, found.next_after)
        }
    };
    let mut page = Page::new("Outbox").with_lead("Messages to members, the oldest first.");
    let states = MailState::ALL.map(|it| (it.as_str(), it.as_str()));
    let options = [("", "all")].into_iter().chain(states);
    let chosen = state.map_or("", MailState::as_str);
    page.search("/operate/outbox", "Show", Field::choice("state", "State", options, chosen));
    let rows = messages.iter().map(|message| {
        let cells = vec![
            Markup::text(&message.id.to_string()),
            two_lines(&quoted(message.mail.to.as_str()), &quoted(&message.mail.subject)),
            two_lines(
                &Markup::text(message.state.as_str()),
                &context.times.time(message.sent_at.unwrap_or(message.queued_at)),
            ),
            Markup::text(message.last_error.as_deref().unwrap_or_default()),
        ];
        let acts: &[_] = match message.state {
            MailState::Sent => &[],
            MailState::Cancelled => &[&RETRY_MESSAGE],
            _ => &[&RETRY_MESSAGE, &CANCEL_MESSAGE],
        };
        let id = message.id.to_string();
        (cells, acts.iter().filter_map(|act| context.row_form(act, "message", &id)).collect())
    });
    let head = ["Number", "Message", "State", "Last error"];
    page.act_table("Messages", head, rows, "No messages.");
    let address = Field::text("address", "Address").required();
    let test = context.form(&TEST_MAIL, &[], vec![address]);
    let lead = "A message to this address shows whether mail goes out.";
    page.fold("Test the mail", lead, test);
    if let Some(next) = next {
        page.more(&format!("/operate/outbox?after={next}"), "More messages");
    }
    Ok(page)
}
