//! A take: its mark, and the forms that withhold and restore its texts.

use super::super::acts::{RESTORE_TAKE, WITHHOLD_TAKE};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Block, Page, anchor, quoted};
use crate::pages::people::People;
use crate::pages::{Markup, links};
use crate::response::ApiError;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let take = tenant.take(context.request.take_id()?).await?.take;
    let people = People::find(tenant, [take.member_id()]).await?;
    let session = take.session_id();
    let mut page = Page::new(format!("Take {}", take.id()))
        .below("/operate/sessions", "Sessions")
        .below(format!("/operate/sessions/{session}"), format!("Session {session}"));
    let mut record = vec![
        ("Take", anchor(&links::take(take.id()), &format!("{} (public page)", take.id()))),
        ("Member", quoted(&people.person(take.member_id()).name)),
        ("Revision", Markup::text(&take.revision().get().to_string())),
        ("Filed", context.times.time(take.filed_at())),
    ];
    if let Some(mark) = take.withheld() {
        record.push(("Withheld", context.times.time(mark.at)));
        record.push(("Note", quoted(mark.note.as_str())));
    }
    page.blocks.push(Block::Record(record));
    if take.is_sealed() {
        page.text(Markup::text("The take is sealed: its texts can be withheld once it is opened."));
    } else if tenant.are_texts_erased(take.id()).await? {
        page.text(Markup::text("Its texts were erased, and cannot be restored."));
    } else if take.withheld().is_some() {
        let form = context.form(&RESTORE_TAKE, &[context.part(0)], vec![Field::note()]);
        let lead = "Write-up and memo address are shown again.";
        page.section("Restore", lead, form);
    } else {
        let note = Field::note().required();
        let form = context.form(&WITHHOLD_TAKE, &[context.part(0)], vec![note]);
        let lead = WITHHOLD_TAKE.texts(context.routes).consequence;
        page.section("Withhold", lead, form);
    }
    Ok(page)
}
