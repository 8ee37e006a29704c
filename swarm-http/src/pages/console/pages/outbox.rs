//! Messages to members, and their delivery state.

use swarm_core::domain::{MailState, MessageId};

use super::super::acts::{CANCEL_MESSAGE, RETRY_MESSAGE, TEST_MAIL};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, quoted, two_lines};
use super::super::table::Table;
use crate::pages::Markup;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Messages on a page.
const PER_PAGE: usize = 50;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let state = context.query("state").and_then(|text| MailState::parse(&text));
    let after = context.query("after").and_then(|id| number(&id)).map(MessageId);
    let (messages, next) = match state {
        Some(state) => (tenant.messages_in(state, PER_PAGE).await?, None),
        None => {
            let found = tenant.outbox(after, PER_PAGE).await?;
            (found.messages, found.next_after)
        }
    };
    let mut page = Page::new("Outbox").with_lead("Messages to members, the oldest first.");
    let any = ("".to_owned(), "all".to_owned(), state.is_none());
    let options = MailState::ALL
        .map(|it| (it.as_str().to_owned(), it.as_str().to_owned(), state == Some(it)));
    let choice = Field::choice("state", "State", [any].into_iter().chain(options).collect());
    page.form(Some(ConsoleContext::search_form("/operate/outbox", "Show", vec![choice])));
    let rows = messages.iter().map(|message| {
        vec![
            Markup::text(&message.id.to_string()),
            two_lines(&quoted(message.mail.to.as_str()), &quoted(&message.mail.subject)),
            two_lines(
                &Markup::text(message.state.as_str()),
                &context.times.time(message.sent_at.unwrap_or(message.queued_at)),
            ),
            Markup::text(message.last_error.as_deref().unwrap_or_default()),
        ]
    });
    let (label, head) = ("Messages", vec!["Number", "Message", "State", "Last error"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "No messages." });
    let unsent = messages.iter().filter(|message| message.state != MailState::Sent);
    let options: Vec<_> = unsent
        .map(|message| {
            let label = format!("{} to {}", message.id, message.mail.to.as_str());
            (message.id.to_string(), label, false)
        })
        .collect();
    if !options.is_empty() {
        let field = || vec![Field::choice("message", "Message", options.clone())];
        let retry = context.form(&RETRY_MESSAGE, &[], field());
        let cancel = context.form(&CANCEL_MESSAGE, &[], field());
        page.forms("Not sent", [retry, cancel]);
    }
    let address = Field::text("address", "Address").required();
    page.form(context.form(&TEST_MAIL, &[], vec![address]));
    if let Some(next) = next {
        page.text(Markup(format!(
            "<a rel=\"next\" href=\"/operate/outbox?after={next}\">More messages</a>"
        )));
    }
    Ok(page)
}
