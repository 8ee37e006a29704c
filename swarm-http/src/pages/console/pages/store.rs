//! The warnings of the store; and accepting a clock, a store or a key.

use super::super::acts::{ACCEPT_CLOCK, ACCEPT_KEY, ACCEPT_STORE};
use super::super::context::ConsoleContext;
use super::super::layout::Page;
use crate::desk::not_ready;
use crate::pages::Markup;
use crate::response::ApiError;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let mut page = Page::new("Store").below("/operate", "To do");
    let warnings = match context.request.site.ready().await {
        Ok(ready) => ready.warnings,
        Err(error) => vec![not_ready(&error)],
    };
    let rows = warnings.iter().map(|warning| vec![Markup::text(warning)]);
    let empty = "It answers, without a warning.";
    page.table("Warnings", ["The store says"], rows, empty);
    let with_lead = |act, lead: &str| {
        let form = context.form(act, &[], Vec::new());
        form.map(|form| form.with_lead(lead))
    };
    let clock = "Commits are refused while the store's clock is more than an hour behind the last entry \
                 of the log. Accept it only if the clock is right now.";
    let store = "Commits are refused where the log is not the one that was seen before: the store was \
                 wiped, restored, or failed over. Accept it only if what it holds is to count. A new log begins.";
    let key = "Nothing is signed while another key than this server's signed the last checkpoint of the log. Accept \
               this one only if it was changed on purpose.";
    let key = context.request.served.signed_log().and_then(|_| with_lead(&ACCEPT_KEY, key));
    page.forms("Accept", [with_lead(&ACCEPT_CLOCK, clock), with_lead(&ACCEPT_STORE, store), key]);
    Ok(page)
}
