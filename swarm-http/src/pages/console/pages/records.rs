//! Regimes and signals, which briefs quote besides subjects; and memos.

use swarm_core::domain::{Day, MemoId, Regime, Signal};
use swarm_core::json::{Json, Object, write};
use swarm_core::rules::MemoFilter;

use super::super::acts::{PUT_REGIME, PUT_SIGNAL, RETRACT_MEMO};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, anchor, quoted, two_lines};
use crate::pages::Markup;
use crate::pages::links::{self, part};
use crate::pages::lists::memo_title;
use crate::pages::markup::clipped;
use crate::pages::people::People;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Regimes and memos on the page.
const SHOWN: usize = 14;

/// The letters that are shown of a payload.
const MAX_EXCERPT: usize = 120;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let mut page = Page::new("Records")
        .with_lead("The regime and the signals that briefs quote, one row a day; and memos.");
    regimes(context, &mut page).await?;
    signals(context, &mut page).await?;
    memos(context, &mut page).await?;
    Ok(page)
}

/// The day that the query names, if it is one.
fn day_of(context: &ConsoleContext, name: &str) -> Option<Day> {
    context.query(name).and_then(|day| Day::parse(&day).ok())
}

async fn regimes(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let mut regimes = context.request.tenant().regimes().await?;
    let day = day_of(context, "regime");
    let chosen = day.and_then(|day| regimes.iter().find(|it| it.date == day)).cloned();
    regimes.truncate(SHOWN);
    page.heading("Regime");
    let text = |text: &Option<String>| text.as_deref().map_or_else(Markup::default, quoted);
    let rows = regimes.iter().map(|regime| {
        let composite = regime.composite.map(|it| write(&it)).unwrap_or_default();
        let path = format!("/operate/records?regime={}", regime.date);
        vec![
            context.times.day(regime.date),
            Markup::text(&composite),
            text(&regime.regime),
            text(&regime.macro_regime),
            text(&regime.onchain_regime),
            anchor(&path, "Change"),
        ]
    });
    let head = ["Day", "Composite", "Regime", "Macro", "On-chain", "Act"];
    page.table("Regimes", head, rows, "None is kept yet.");
    let form = context.form(&PUT_REGIME, &[], regime_fields(context, chosen.as_ref()));
    let lead = "Briefs of that day and later quote it. It replaces the row of its day.";
    match chosen {
        Some(regime) => {
            let day = context.times.day_text(regime.date);
            page.section(&format!("Regime of {day}"), lead, form);
        }
        None => page.fold("Add a regime", lead, form),
    }
    Ok(())
}

fn regime_fields(context: &ConsoleContext, of: Option<&Regime>) -> Vec<Field> {
    let today = context.times.now.day();
    let text = |get: fn(&Regime) -> Option<&String>| of.and_then(get).cloned().unwrap_or_default();
    let rest = of.map(|it| &it.rest).filter(|rest| rest.members().next().is_some());
    let composite = of.and_then(|it| it.composite).map(|it| write(&it));
    vec![
        Field::day("date", "Day").required().with_value(of.map_or(today, |it| it.date).to_string()),
        Field::text("composite", "Composite").with_value(composite.unwrap_or_default()),
        Field::text("regime", "Regime").with_value(text(|it| it.regime.as_ref())),
        Field::text("macro_regime", "Macro regime").with_value(text(|it| it.macro_regime.as_ref())),
        Field::text("onchain_regime", "On-chain regime")
            .with_value(text(|it| it.onchain_regime.as_ref())),
        Field::lines("more", "More fields", 3)
            .with_value(rest.map(write::<Object>).unwrap_or_default())
            .with_hint("JSON: an object of percentiles, thresholds and whatever else the row has."),
    ]
}

async fn signals(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let day = day_of(context, "day").unwrap_or_else(|| context.times.now.day());
    let signals = context.request.tenant().signals_on(day).await?;
    let key = context.query("signal");
    let chosen = key.and_then(|key| signals.iter().find(|it| it.signal_key == key)).cloned();
    page.heading("Signals");
    let field = Field::day("day", "Day").with_value(day.to_string());
    page.search("/operate/records", "Show", field);
    let rows = signals.iter().map(|signal| {
        let path = format!("/operate/records?day={day}&signal={}", part(&signal.signal_key));
        vec![
            quoted(&signal.signal_key),
            quoted(&clipped(&write::<Json>(&signal.payload), MAX_EXCERPT)),
            anchor(&path, "Change"),
        ]
    });
    let head = ["Key", "Payload", "Act"];
    page.table("Signals", head, rows, "None of that day.");
    let form = context.form(&PUT_SIGNAL, &[], signal_fields(day, chosen.as_ref()));
    let lead = "Briefs of that day and later quote it. It replaces the row of its key and day.";
    match chosen {
        Some(signal) => page.section(&format!("Signal {}", signal.signal_key), lead, form),
        None => page.fold("Add a signal", lead, form),
    }
    Ok(())
}

fn signal_fields(day: Day, of: Option<&Signal>) -> Vec<Field> {
    let key = of.map(|it| it.signal_key.clone()).unwrap_or_default();
    let payload = of.map(|it| write::<Json>(&it.payload)).unwrap_or_default();
    vec![
        Field::text("signal_key", "Key").required().with_value(key),
        Field::day("date", "Day").required().with_value(day.to_string()),
        Field::lines("payload", "Payload", 3).required().with_value(payload).with_hint("JSON."),
    ]
}

async fn memos(context: &ConsoleContext, page: &mut Page) -> Result<(), ApiError> {
    let tenant = context.request.tenant();
    let before = context.query("before").and_then(|id| number(&id)).map(MemoId);
    let found =
        tenant.memo_page(&MemoFilter::default(), before, context.request.portion.of(SHOWN)).await?;
    let people = People::find(tenant, found.memos.iter().map(|memo| &memo.member_id)).await?;
    page.heading("Memos");
    let rows = found.memos.iter().map(|memo| {
        let title = anchor(&links::memo(memo.id), &memo_title(memo));
        let cells = vec![
            two_lines(&title, &quoted(&people.person(&memo.member_id).name)),
            context.times.time(memo.published_at),
        ];
        let form = context.row_form(&RETRACT_MEMO, "memo", &memo.id.to_string());
        (cells, form.into_iter().collect())
    });
    let head = ["Memo", "Published"];
    page.act_table("Memos", head, rows, "None is published.");
    if let Some(before) = found.next_before {
        page.more(&format!("/operate/records?before={before}"), "Older memos");
    }
    Ok(())
}
