//! The committee's members and days.

use swarm_core::domain::committee::CommitteeStatus;

use super::super::acts::{
    ADD_COMMITTEE_MEMBER, GENERATE_BRIEFS, ROTATE_COMMITTEE_KEY, SET_DAY, SET_MEMBER_ACTIVE,
    SET_MEMBER_INACTIVE, SET_SYNTHESIS, UPDATE_COMMITTEE_MEMBER, WITHDRAW_DAY,
};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Block, Page, quoted};
use crate::pages::lists::{Subjects, subject_title};
use crate::pages::{Markup, links};
use crate::response::ApiError;

/// Days on the page.
const DAYS: usize = 14;

/// The most subjects to pick from.
const MAX_SUBJECTS: usize = 500;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let committee = context.request.committee()?;
    let (days, members) = (
        committee.sessions(None, context.request.portion.of(DAYS)).await?,
        committee.members().await?,
    );
    let subjects =
        Subjects::find(context.request.tenant(), days.iter().map(|day| &day.subject_id)).await?;
    let known = context
        .request
        .tenant()
        .subjects(None, context.request.portion.of(MAX_SUBJECTS))
        .await?
        .subjects;
    let picks: Vec<_> =
        known.iter().map(|it| (it.id.as_str().to_owned(), subject_title(it))).collect();
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
    let head = ["Day", "Subject", "Takes", "Synthesis"];
    page.table("Days", head, rows, "No briefs were generated yet.");
    page.heading("Members");
    if members.is_empty() {
        page.text(Markup::text("None yet."));
    } else if context.may(&SET_MEMBER_INACTIVE) {
        page.text(Markup::text(SET_MEMBER_INACTIVE.texts(context.routes).consequence));
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
    let subject = || Field::text("subject_id", "Subject, by id").with_suggestions(picks.clone());
    let briefs = vec![
        subject().with_hint("Empty: that of the day."),
        Field::time("deadline_utc", "Deadline, UTC")
            .with_hint("Empty: that of the day, or else at the hour of the schedule."),
    ];
    page.heading("Acts");
    let lead = "Each active member gets a brief. Those of today are replaced; submissions stay.";
    page.fold("Generate today's briefs", lead, context.form(&GENERATE_BRIEFS, &[], briefs));
    let fields = vec![day(), subject().required()];
    let lead = "The briefs of that day are about it.";
    page.fold("Set the subject of a day", lead, context.form(&SET_DAY, &[], fields));
    let fields = vec![day(), Field::lines("synthesis", "Synthesis", 5).required()];
    let lead = "Later briefs quote it.";
    page.fold("Set the synthesis of a day", lead, context.form(&SET_SYNTHESIS, &[], fields));
    let lead = "It is as if no briefs had been generated; submissions stay on record.";
    page.fold("Withdraw a day", lead, context.form(&WITHDRAW_DAY, &[], vec![day()]));
    if !members.is_empty() {
        let options = members.iter().map(|member| {
            (member.id.as_str(), format!("{} ({})", member.name.as_str(), member.id))
        });
        let changed = vec![
            Field::choice("member", "Member", options, ""),
            Field::text("name", "Name").with_hint("What is empty stays as it is."),
            Field::text("lens", "Lens"),
            Field::lines("voice", "Voice", 3),
        ];
        let lead = "Briefs that are generated later have it.";
        let form = context.form(&UPDATE_COMMITTEE_MEMBER, &[], changed);
        page.fold("Change a member", lead, form);
    }
    let fields = vec![
        Field::text("id", "Id").required().with_hint("Lower-case letters, digits, _ and -."),
        Field::text("name", "Name").required(),
        Field::text("lens", "Lens"),
        Field::lines("voice", "Voice", 3),
    ];
    let lead = "It gets a key, which is shown once, and a brief from the next generation on.";
    page.fold("New member", lead, context.form(&ADD_COMMITTEE_MEMBER, &[], fields));
    Ok(page)
}
