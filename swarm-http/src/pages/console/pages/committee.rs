//! The committee's members and days.

use swarm_core::domain::committee::CommitteeStatus;

use super::super::acts::{
    ADD_COMMITTEE_MEMBER, GENERATE_BRIEFS, ROTATE_COMMITTEE_KEY, SET_DAY, SET_MEMBER_ACTIVE,
    SET_MEMBER_INACTIVE, SET_SYNTHESIS, UPDATE_COMMITTEE_MEMBER, WITHDRAW_DAY,
};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Block, Page, quoted};
use super::super::table::Table;
use crate::pages::lists::Subjects;
use crate::pages::{Markup, links};
use crate::response::ApiError;

/// Days on the page.
const DAYS: usize = 14;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let committee = context.request.committee()?;
    let (days, members) = (committee.sessions(DAYS, None).await?, committee.members().await?);
    let subjects =
        Subjects::find(context.request.tenant(), days.iter().map(|day| &day.subject_id)).await?;
    let mut page = Page::new("Committee").with_lead("Its days and its members.");
    page.heading("Days");
    let rows = days.iter().map(|day| {
        vec![
            Markup(format!(
                "<a href=\"{}\">{}</a>",
                links::committee(day.date),
                context.times.day(day.date)
            )),
            quoted(&subjects.name(&day.subject_id)),
            Markup::text(&day.takes.to_string()),
            quoted(&crate::pages::markup::clipped(
                day.synthesis.as_deref().unwrap_or_default(),
                120,
            )),
        ]
    });
    let (label, head) = ("Days", vec!["Day", "Subject", "Takes", "Synthesis"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "No briefs were generated yet." });
    page.heading("Members");
    if members.is_empty() {
        page.text(Markup::text("None yet."));
    }
    for member in &members {
        let id = [member.id.as_str()];
        let state = match member.status {
            CommitteeStatus::Active => &SET_MEMBER_INACTIVE,
            CommitteeStatus::Inactive => &SET_MEMBER_ACTIVE,
        };
        let (name, status) = (quoted(member.name.as_str()), member.status.as_str());
        let line = format!("{name} <span class=\"quiet\">{}, {status}</span>", member.id);
        let forms = [state, &ROTATE_COMMITTEE_KEY].map(|act| context.form(act, &id, vec![]));
        page.blocks.push(Block::Row(Markup(line), forms.into_iter().flatten().collect()));
    }
    let today = context.times.now.day().to_string();
    let day = || Field::day("date", "Day, UTC").required().with_value(today.as_str());
    let briefs = vec![
        Field::text("subject_id", "Subject, by id").with_hint("Empty: that of the day."),
        Field::time("deadline_utc", "Deadline, UTC")
            .with_hint("Empty: at the hour of the schedule."),
    ];
    page.forms("Today's briefs", [context.form(&GENERATE_BRIEFS, &[], briefs)]);
    let subject = vec![day(), Field::text("subject_id", "Subject, by id").required()];
    page.forms("Subject of a day", [context.form(&SET_DAY, &[], subject)]);
    let synthesis = vec![day(), Field::lines("synthesis", "Synthesis", 5).required()];
    page.forms("Synthesis of a day", [context.form(&SET_SYNTHESIS, &[], synthesis)]);
    page.forms("Withdraw a day", [context.form(&WITHDRAW_DAY, &[], vec![day()])]);
    let changed = vec![
        Field::text("member", "Member, by id").required(),
        Field::text("name", "Name").with_hint("What is empty stays as it is."),
        Field::text("lens", "Lens"),
        Field::lines("voice", "Voice", 3),
    ];
    page.forms("Change a member", [context.form(&UPDATE_COMMITTEE_MEMBER, &[], changed)]);
    let fields = vec![
        Field::text("id", "Id").required().with_hint("Lower-case letters, digits, _ and -."),
        Field::text("name", "Name").required(),
        Field::text("lens", "Lens"),
        Field::lines("voice", "Voice", 3),
    ];
    page.forms("New member", [context.form(&ADD_COMMITTEE_MEMBER, &[], fields)]);
    Ok(page)
}
