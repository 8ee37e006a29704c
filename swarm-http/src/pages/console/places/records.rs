//! What briefs take in besides subjects, and memos.

use super::super::acts::{PUT_REGIME, PUT_SIGNAL, RETRACT_MEMO};
use super::super::form::Field;
use super::super::layout::Page;
use super::super::visit::Visit;

pub(super) fn page(visit: &Visit) -> Page {
    let mut page = Page::new("Records")
        .leading("The regime and the signals that briefs quote, one row a day; and memos.");
    let today = visit.reading.now.day().to_string();
    let regime = vec![
        Field::day("date", "Day").required().valued(today.as_str()),
        Field::text("composite", "Composite"),
        Field::text("regime", "Regime"),
        Field::text("macro_regime", "Macro regime"),
        Field::text("onchain_regime", "On-chain regime"),
        Field::lines("more", "More fields", 3)
            .hinted("JSON: an object of percentiles, thresholds and whatever else the row has."),
    ];
    page.forms("Regime", [visit.form(&PUT_REGIME, &[], regime)]);
    let signal = vec![
        Field::text("signal_key", "Key").required(),
        Field::day("date", "Day").required().valued(today.as_str()),
        Field::lines("payload", "Payload", 3).required().hinted("JSON."),
    ];
    page.forms("Signal", [visit.form(&PUT_SIGNAL, &[], signal)]);
    let memo = vec![Field::number("memo", "Number of the memo").required()];
    page.forms("Retract a memo", [visit.form(&RETRACT_MEMO, &[], memo)]);
    page
}
