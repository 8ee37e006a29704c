//! The list of subjects, and the page of a subject.

use std::sync::Arc;

use swarm_core::domain::{Subject, SubjectId};
use swarm_core::{Member, Refusal, Resource};

use super::super::acts::{
    ADD_SNAPSHOT, CONTRACT_COLUMNS, CONVENE, CREATE_SUBJECT, POSITION_COLUMNS, REPLACE_SUBJECT,
    WALLET_COLUMNS,
};
use super::super::body::cells_of;
use super::super::context::ConsoleContext;
use super::super::form::{Field, FormView};
use super::super::layout::{Page, anchor, quoted};
use crate::pages::Markup;
use crate::pages::links::{self, has_path, part};
use crate::pages::lists::subject_title;
use crate::pages::markup::escape;
use crate::pages::people::member_name;
use crate::response::ApiError;

/// Subjects on a page.
const PER_PAGE: usize = 200;

/// The most members to pick from.
const MAX_SUGGESTIONS: usize = 300;

pub(super) async fn list(context: &ConsoleContext) -> Result<Page, ApiError> {
    let after = context.query("after").and_then(|id| SubjectId::parse(id).ok());
    let per_page = context.request.portion.of(PER_PAGE);
    let found = context.request.tenant().subjects(after.as_ref(), per_page).await?;
    let mut page = Page::new("Subjects").with_lead("What sessions are about.");
    let rows = found.subjects.iter().map(|subject| {
        let (id, title) = (subject.id.as_str(), subject_title(subject));
        vec![
            match has_path(id) {
                true => anchor(&format!("/operate/subjects/{}", part(id)), &title),
                false => quoted(&title),
            },
            quoted(subject.id.as_str()),
            quoted(&subject.status),
            subject.last_reviewed.map_or(Markup::default(), |day| context.times.day(day)),
        ]
    });
    let head = ["Name", "Id", "Status", "Reviewed"];
    page.table("Subjects", head, rows, "No subjects yet.");
    if let Some(next) = found.next_after {
        page.more(&format!("/operate/subjects?after={}", part(next.as_str())), "More subjects");
    }
    let id = Field::text("id", "Id").required().with_hint("1 to 100 characters. It stays.");
    let fields = [id].into_iter().chain(fields(None, &[])).collect();
    let form = context.form(&CREATE_SUBJECT, &[], fields);
    let lead = "Sessions are about subjects; the id stays.";
    page.fold("New subject", lead, form.map(FormView::primary));
    Ok(page)
}

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let absent = Refusal::NotFound(Resource::Subject);
    let id = SubjectId::parse(context.part(0).to_owned()).map_err(|_| absent)?;
    let subject = context.request.tenant().subject(&id).await?;
    let public = links::subject(&id);
    let mut page = Page::named(&subject_title(&subject), "").below("/operate/subjects", "Subjects");
    let mut links = format!("<a href=\"{}\">Public page</a>", escape(&public));
    if context.may(&CONVENE) {
        let convene = escape(&format!("/operate/convene?subject={}", part(id.as_str())));
        links += &format!(" · <a href=\"{convene}\">Convene a session on it</a>");
    }
    page.text(Markup(links));
    let members = context.request.tenant().members().await?;
    let most = context.request.portion.of(MAX_SUGGESTIONS);
    let fields = fields(Some(&subject), members.get(..most).unwrap_or(&members));
    let form = context.form(&REPLACE_SUBJECT, &[id.as_str()], fields);
    page.forms("Record", [form.map(FormView::primary)]);
    let snapshot = vec![
        Field::day("date", "Day").required().with_value(context.times.now.day().to_string()),
        Field::text("totalValueUsd", "Total value in US dollars"),
        Field::lines("notable", "Remarks", 3).with_hint("One a line."),
        Field::rows("positions", "Positions", &POSITION_COLUMNS, vec![vec![String::new(); 4]; 2]),
    ];
    let snapshot = context.form(&ADD_SNAPSHOT, &[id.as_str()], snapshot);
    let lead = "What the subject holds on a day. Briefs of that day and later show it.";
    page.fold("New snapshot", lead, snapshot);
    Ok(page)
}

fn fields(of: Option<&Subject>, members: &[Arc<Member>]) -> Vec<Field> {
    let text = |get: fn(&Subject) -> Option<&String>| of.and_then(get).cloned().unwrap_or_default();
    let objects = |get: fn(&Subject) -> &Vec<swarm_core::json::Object>| {
        of.map(get).into_iter().flatten().map(cells_of).collect()
    };
    let member = |member: &Arc<Member>| (member.id.as_str().to_owned(), member_name(member));
    let members = members.iter().map(member).collect();
    let reviewed = of.and_then(|it| it.last_reviewed).map(|day| day.to_string());
    // Active, inactive, and the one of the record where it is another.
    let current = of.map_or("active", |it| it.status.as_str());
    let other = Some(current).filter(|status| !["active", "inactive"].contains(status));
    let statuses = ["active", "inactive"].into_iter().chain(other);
    let statuses = statuses.map(|status| (status, status));
    vec![
        Field::text("name", "Name")
            .required()
            .with_value(of.map(|it| it.name.clone()).unwrap_or_default()),
        Field::choice("status", "Status", statuses, current)
            .with_hint("Active ones take their turn in the committee."),
        Field::lines("thesisBlurb", "Thesis", 4).with_value(text(|it| it.thesis_blurb.as_ref())),
        Field::text("operator", "Operator").with_value(text(|it| it.operator.as_ref())),
        Field::text("homepage", "Home page").with_value(text(|it| it.homepage.as_ref())),
        Field::text("xHandle", "X handle").with_value(text(|it| it.x_handle.as_ref())),
        Field::text("source", "Source").with_value(text(|it| it.source.as_ref())),
        Field::text("recommendationType", "Kind of recommendation")
            .with_value(text(|it| it.recommendation_type.as_ref())),
        Field::text("linkedMemberId", "Linked member")
            .with_value(text(|it| it.linked_member_id.as_ref()))
            .with_suggestions(members),
        Field::lines("structuralNotes", "Structural notes", 3)
            .with_list(of.map(|it| it.structural_notes.clone()).unwrap_or_default())
            .with_hint("One a line."),
        Field::day("lastReviewed", "Last reviewed").with_value(reviewed.unwrap_or_default()),
        Field::rows("wallets", "Wallets", &WALLET_COLUMNS, objects(|it| &it.wallets))
            .with_hint("A row that is emptied is removed; there are empty ones after each save."),
        Field::rows(
            "nftContracts",
            "NFT contracts",
            &CONTRACT_COLUMNS,
            objects(|it| &it.nft_contracts),
        ),
    ]
}
