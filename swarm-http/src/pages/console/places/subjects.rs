//! Subjects, and one of them.

use swarm_core::domain::{Subject, SubjectId};
use swarm_core::json::write;
use swarm_core::{Refusal, Resource};

use super::super::acts::{ADD_SNAPSHOT, CREATE_SUBJECT, REPLACE_SUBJECT};
use super::super::form::{Field, FormView};
use super::super::layout::{Page, Table, anchor, quoted};
use super::super::visit::Visit;
use crate::pages::Markup;
use crate::pages::links::{self, part};
use crate::pages::lists::subject_title;
use crate::pages::markup::escape;
use crate::response::ApiError;

/// Subjects on a page.
const PER_PAGE: usize = 200;

pub(super) async fn list(visit: &Visit) -> Result<Page, ApiError> {
    let after = visit.query("after").and_then(|id| SubjectId::parse(id).ok());
    let found = visit.request.tenant().subjects(PER_PAGE, after.as_ref()).await?;
    let mut page = Page::new("Subjects").leading("What sessions are about.");
    let rows = found.subjects.iter().map(|subject| {
        let path = format!("/operate/subjects/{}", part(subject.id.as_str()));
        vec![
            anchor(&path, &subject_title(subject)),
            quoted(subject.id.as_str()),
            quoted(&subject.status),
            subject.last_reviewed.map_or(Markup::default(), |day| visit.reading.day(day)),
        ]
    });
    let (label, head) = ("Subjects", vec!["Name", "Id", "Status", "Reviewed"]);
    page.table(Table { label, head, rows: rows.collect(), empty: "No subjects yet." });
    if let Some(next) = found.next_after {
        let next = escape(&part(next.as_str()));
        page.text(Markup(format!(
            "<a rel=\"next\" href=\"/operate/subjects?after={next}\">More subjects</a>"
        )));
    }
    let id = Field::text("id", "Id").required().hinted("1 to 100 characters. It stays.");
    let fields = [id].into_iter().chain(fields(None)).collect();
    page.forms("New subject", [visit.form(&CREATE_SUBJECT, &[], fields)]);
    Ok(page)
}

pub(super) async fn page(visit: &Visit) -> Result<Page, ApiError> {
    let absent = Refusal::NotFound(Resource::Subject);
    let id = SubjectId::parse(visit.part(0).to_owned()).map_err(|_| absent)?;
    let subject = visit.request.tenant().subject(&id).await?;
    let public = links::subject(&id);
    let mut page = Page::new(subject_title(&subject)).below("/operate/subjects", "Subjects");
    let convene = format!("/operate/convene?subject={}", part(id.as_str()));
    page.text(Markup(format!(
        "<a href=\"{}\">Public page</a> · <a href=\"{}\">Convene a session on it</a>",
        escape(&public),
        escape(&convene)
    )));
    let form = visit.form(&REPLACE_SUBJECT, &[id.as_str()], fields(Some(&subject)));
    page.forms("Record", [form]);
    let snapshot = vec![
        Field::day("date", "Day").required().valued(visit.reading.now.day().to_string()),
        Field::text("totalValueUsd", "Total value in US dollars"),
        Field::lines("notable", "Remarks", 3).hinted("One a line."),
        Field::lines("positions", "Positions", 4).hinted(
            "JSON: [{\"token\": \"ETH\", \"chain\": \"base\", \"valueUsd\": 1200, \"pct\": 12}]",
        ),
    ];
    let snapshot = visit.form(&ADD_SNAPSHOT, &[id.as_str()], snapshot);
    let lead = "What the subject holds on a day. Briefs of that day and later show it.";
    let snapshot = snapshot.map(|form| FormView { lead: Some(Markup::text(lead)), ..form });
    page.forms("New snapshot", [snapshot]);
    Ok(page)
}

fn fields(of: Option<&Subject>) -> Vec<Field> {
    let text = |get: fn(&Subject) -> Option<&String>| of.and_then(get).cloned().unwrap_or_default();
    let objects = |get: fn(&Subject) -> &Vec<swarm_core::json::Object>| {
        of.map(get).filter(|it| !it.is_empty()).map(write).unwrap_or_default()
    };
    let reviewed = of.and_then(|it| it.last_reviewed).map(|day| day.to_string());
    vec![
        Field::text("name", "Name")
            .required()
            .valued(of.map(|it| it.name.clone()).unwrap_or_default()),
        Field::text("status", "Status")
            .valued(of.map_or("active".to_owned(), |it| it.status.clone()))
            .hinted("Active ones take their turn in the committee."),
        Field::lines("thesisBlurb", "Thesis", 4).valued(text(|it| it.thesis_blurb.as_ref())),
        Field::text("operator", "Operator").valued(text(|it| it.operator.as_ref())),
        Field::text("homepage", "Home page").valued(text(|it| it.homepage.as_ref())),
        Field::text("xHandle", "X handle").valued(text(|it| it.x_handle.as_ref())),
        Field::text("source", "Source").valued(text(|it| it.source.as_ref())),
        Field::text("recommendationType", "Kind of recommendation")
            .valued(text(|it| it.recommendation_type.as_ref())),
        Field::text("linkedMemberId", "Linked member")
            .valued(text(|it| it.linked_member_id.as_ref())),
        Field::lines("structuralNotes", "Structural notes", 3)
            .valued(of.map(|it| it.structural_notes.join("\n")).unwrap_or_default())
            .hinted("One a line."),
        Field::day("lastReviewed", "Last reviewed").valued(reviewed.unwrap_or_default()),
        Field::lines("wallets", "Wallets", 3)
            .valued(objects(|it| &it.wallets))
            .hinted("JSON: a list of objects."),
        Field::lines("nftContracts", "NFT contracts", 3)
            .valued(objects(|it| &it.nft_contracts))
            .hinted("JSON: a list of objects."),
    ]
}
