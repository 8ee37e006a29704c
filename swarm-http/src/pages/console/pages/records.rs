//! Regimes and signals, which briefs quote besides subjects; and memos.

use super::super::acts::{PUT_REGIME, PUT_SIGNAL, RETRACT_MEMO};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::Page;

pub(super) fn page(context: &ConsoleContext) -> Page {
    let mut page = Page::new("Records")
        .with_lead("The regime and the signals that briefs quote, one row a day; and memos.");
    let today = context.times.now.day().to_string();
    let regime = vec![
        Field::day("date", "Day").required().with_value(today.as_str()),
        Field::text("composite", "Composite"),
        Field::text("regime", "Regime"),
        Field::text("macro_regime", "Macro regime"),
        Field::text("onchain_regime", "On-chain regime"),
        Field::lines("more", "More fields", 3)
            .with_hint("JSON: an object of percentiles, thresholds and whatever else the row has."),
    ];
    page.forms("Regime", [context.form(&PUT_REGIME, &[], regime)]);
    let signal = vec![
        Field::text("signal_key", "Key").required(),
        Field::day("date", "Day").required().with_value(today.as_str()),
        Field::lines("payload", "Payload", 3).required().with_hint("JSON."),
    ];
    page.forms("Signal", [context.form(&PUT_SIGNAL, &[], signal)]);
    let memo = vec![Field::number("memo", "Number of the memo").required()];
    page.forms("Retract a memo", [context.form(&RETRACT_MEMO, &[], memo)]);
    page
}
