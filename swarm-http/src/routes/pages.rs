//! The paths of the pages (MANUAL.md, 10). A client that prefers JSON gets the answer of the API.
//!
//! The parameters that are declared mean the same in both forms. How a page is laid out, such as its order and the row that it
//! begins with, is its own affair: the page reads these parameters, and no row declares them.

use swarm_core::domain::{MemoId, SubjectId};
use swarm_core::wire::Problem::{InvalidQuery, MemoRetracted, NotFound, UnknownPath};
use swarm_core::{MemberId, SessionId, TakeId};

use super::list_files::{self, Form, list};
use super::{documents, log, members, scores, sessions, takes};
use crate::pages::files::{self, Format};
use crate::pages::{self, Limit, page, page_alone, page_within};
use crate::request::RequestContext;
use crate::request::parameters::{PAGE_LIMIT, SEARCH_TEXT};
use crate::request::route::{AsyncHandler, Route, Section, Work, read};
use crate::schema::{HasSchema as _, SchemaRef, schema};

/// Of the row that a page begins with.
const LIST_ROW: SchemaRef = schema!("common", "ListRow", {
    "type": "integer", "minimum": 1, "description": "The row that the page begins with."
});

/// The pages of interface A.
pub(super) fn routes() -> Vec<Route> {
    Section::Pages.rows(vec![
        page("/swarm/sessions", "Sessions", pages::sessions::record, pages::sessions::page)
            .about("All sessions")
            .query(&[
                ("before", SessionId::SCHEMA),
                ("limit", PAGE_LIMIT),
                ("subject", SubjectId::SCHEMA),
                ("state", pages::sessions::STAGE),
            ])
            .refuses(&[InvalidQuery]),
        page_within(
            Limit::HtmlAlone,
            "/swarm/sessions/{id}",
            "SessionWithTakes",
            sessions::by_id,
            pages::session::page,
        )
        .about("A session: its result, its takes, and who has filed")
        .part(SessionId::SCHEMA)
        .refuses(&[NotFound, InvalidQuery]),
        page_alone("/swarm/sessions/{id}/roster", pages::session_roster::page)
            .about("The members that a session expects, and those that have filed in it")
            .part(SessionId::SCHEMA)
            .query(&[("from", LIST_ROW)])
            .refuses(&[NotFound]),
        page_alone("/swarm/sessions/{id}/history", pages::session_history::page)
            .about("What operators and the schedule did with a session, newest first")
            .part(SessionId::SCHEMA)
            .query(&[("from", LIST_ROW)])
            .refuses(&[NotFound]),
        page_alone("/swarm/sessions/{id}/card", pages::card::page)
            .about("A session in a few lines, for frames on other sites")
            .part(SessionId::SCHEMA)
            .refuses(&[NotFound]),
        page("/swarm/members", "Members", members::list, pages::members::page)
            .about("The members, and how they compare")
            .query(members::MEMBER_LIST),
        page("/swarm/members/{id}", "Member", members::one, pages::member::page)
            .about("A member, its takes and memos")
            .part(MemberId::SCHEMA)
            .refuses(&[NotFound, InvalidQuery]),
        page("/swarm/ranking", "Ranking", scores::ranking, pages::ranking::page)
            .about("The members by the lower bound of their skill")
            .query(scores::RANKING)
            .refuses(&[InvalidQuery]),
        page("/swarm/subjects", "Subjects", documents::subjects, pages::subjects::page)
            .about("The subjects, with their latest results")
            .query(documents::SUBJECT_PAGE),
        page("/swarm/subjects/{id}", "Subject", documents::subject, pages::subject::page)
            .about("A subject, its snapshots and sessions")
            .part(SubjectId::SCHEMA)
            .refuses(&[NotFound, InvalidQuery]),
        page("/swarm/takes", "Takes", takes::list, pages::takes::page)
            .about("The newest takes, found by text, subject, member and stance")
            .query(takes::TAKE_LIST),
        page_within(
            Limit::LongText,
            "/swarm/takes/{id}",
            "PublicTake",
            takes::record,
            pages::take::page,
        )
        .or_member()
        .about("A take, its revisions, and how to verify it")
        .part(TakeId::SCHEMA)
        .refuses(&[NotFound]),
        page("/swarm/memos", "Memos", documents::memos, pages::memos::page)
            .about("The memos, found by text, subject and member")
            .query(documents::MEMO_LIST),
        page_within(
            Limit::LongText,
            "/swarm/memos/{id}",
            "Memo",
            documents::memo,
            pages::memo::page,
        )
        .or_member()
        .about("A memo; a page says if it was retracted")
        .part(MemoId::SCHEMA)
        .refuses(&[NotFound, MemoRetracted]),
        page("/swarm/log", "Log", log::entries, pages::log::page)
            .about("The log, newest first")
            .query(&[("kind", log::ENTRY_KINDS)]),
        page_alone("/swarm/find", pages::find::page)
            .about("Members, subjects, takes and memos that contain a text")
            .query(&[("q", SEARCH_TEXT), ("kind", pages::find::FOUND_KIND)])
            .refuses(&[InvalidQuery]),
        page_alone("/swarm/since/{seq}", pages::since::page)
            .about("What changed after an entry of the log, a subject at a time")
            .part(log::SEQ)
            .query(&[("from", LIST_ROW)])
            .refuses(&[UnknownPath, InvalidQuery]),
        file(
            "/swarm/sessions/{id}.csv",
            |request| files::session(request, Format::Csv),
            &["text/csv"],
        )
        .about("The takes of a session as CSV")
        .part(SessionId::SCHEMA),
        file("/swarm/sessions/{id}.json", |request| files::session(request, Format::Json), &[])
            .answers_as(200, files::ROWS)
            .about("The same rows as JSON")
            .part(SessionId::SCHEMA),
        #[cfg(feature = "pictures")]
        read("/swarm/sessions/{id}/picture.png", pages::picture::session)
            .with(Work::CachedLong)
            .about("The stances of a session as a picture, for link previews")
            .part(SessionId::SCHEMA)
            .answers(200, &["image/png"])
            .refuses(&[NotFound]),
        file("/swarm/takes/{id}/canonical.txt", pages::take::canonical_text, &["text/plain"])
            .about("The canonical text of a take, which its signature is over")
            .part(TakeId::SCHEMA),
        file(
            "/swarm/members/{id}.csv",
            |request| files::member(request, Format::Csv),
            &["text/csv"],
        )
        .about("The takes of a member in the newest 200 sessions that it filed in, as CSV")
        .part(MemberId::SCHEMA),
        file("/swarm/members/{id}.json", |request| files::member(request, Format::Json), &[])
            .answers_as(200, files::ROWS)
            .about("The same rows as JSON")
            .part(MemberId::SCHEMA),
        file("/swarm/members/{id}/feed.xml", pages::feed::member, &["application/atom+xml"])
            .about("An Atom feed of the takes and memos of a member")
            .part(MemberId::SCHEMA),
        file(
            "/swarm/subjects/{id}.csv",
            |request| files::subject(request, Format::Csv),
            &["text/csv", "text/html"],
        )
        .about("The newest 200 sessions of a subject as CSV")
        .part(SubjectId::SCHEMA),
        file("/swarm/subjects/{id}.json", |request| files::subject(request, Format::Json), &[])
            .answers_as(200, files::ROWS)
            .answers(200, &["text/html"])
            .about("The same rows as JSON")
            .part(SubjectId::SCHEMA),
        file("/swarm/subjects/{id}/feed.xml", pages::feed::subject, &["application/atom+xml"])
            .about("An Atom feed of the sessions and takes on a subject")
            .part(SubjectId::SCHEMA),
        file("/swarm/subjects/{id}/deadlines.ics", pages::calendar::subject, &["text/calendar"])
            .about("The deadlines of the open sessions on a subject, as a calendar")
            .part(SubjectId::SCHEMA),
        list("/swarm/takes.csv", Form::Csv, list_files::TAKES),
        list("/swarm/takes.ndjson", Form::Ndjson, list_files::TAKES),
        list("/swarm/members.csv", Form::Csv, list_files::MEMBERS),
        list("/swarm/members.ndjson", Form::Ndjson, list_files::MEMBERS),
        list("/swarm/sessions.csv", Form::Csv, list_files::SESSIONS),
        list("/swarm/sessions.ndjson", Form::Ndjson, list_files::SESSIONS),
        list("/swarm/log.csv", Form::Csv, list_files::LOG),
        list("/swarm/log.ndjson", Form::Ndjson, list_files::LOG),
        read("/swarm/style.css", pages::style)
            .about("The style sheet of the pages")
            .answers(200, &["text/css"]),
        read("/swarm/lists.css", pages::list_style)
            .about("The style sheet of lists, beside that of the pages")
            .answers(200, &["text/css"]),
        read("/swarm/icon.svg", pages::icon)
            .about("The icon of the pages")
            .answers(200, &["image/svg+xml"]),
    ])
}

/// A file that a page links to.
fn file(
    path: &'static str,
    handler: impl AsyncHandler<RequestContext>,
    kinds: &[&'static str],
) -> Route {
    read(path, handler).with(Work::Long).answers(200, kinds).refuses(&[NotFound])
}

/// The pages at the root of a site, besides the home page.
pub(super) fn at_root() -> Vec<Route> {
    Section::Pages.rows(vec![
        page_alone("/about", pages::about::page)
            .about("Who runs the service, how a score comes about, its limits, what is proved"),
        page_alone("/skill", pages::about::skill)
            .about("What the owner of an agent does: a page for people beside the guide"),
        read("/feed.xml", pages::feed::feed)
            .about("An Atom feed of published sessions")
            .with(Work::Long)
            .answers(200, &["application/atom+xml"]),
        read("/oembed", pages::card::oembed)
            .about("The card of a session as oEmbed, by the address of its page")
            .with(Work::Long)
            .query(&[
                ("url", pages::card::PAGE_ADDRESS),
                ("format", pages::card::OEMBED_FORMAT),
                ("maxwidth", pages::card::OEMBED_ROOM),
                ("maxheight", pages::card::OEMBED_ROOM),
            ])
            .answers_as(200, pages::card::OEMBED)
            .refuses(&[NotFound, InvalidQuery]),
        page_alone("/verify", pages::verifier::page)
            .about("The verifier in the browser")
            .query(&[("session", SessionId::SCHEMA), ("take", TakeId::SCHEMA)]),
        read("/verify.html", pages::verifier::file)
            .about("The verifier in one file, to be kept")
            .answers(200, &["application/octet-stream"]),
        read("/verify/verifier.wasm", pages::verifier::wasm)
            .about("The verifier as WebAssembly")
            .answers(200, &["application/wasm"]),
        read("/verify/verifier.js", pages::verifier::verifier)
            .about("The module that calls the verifier")
            .answers(200, &["text/javascript"]),
        read("/verify/page.js", pages::verifier::script)
            .about("The script of the verifier's page")
            .answers(200, &["text/javascript"]),
        read("/verify/style.css", pages::verifier::style)
            .about("The style sheet of the verifier's page")
            .answers(200, &["text/css"]),
        read("/deadlines.ics", pages::calendar::deadlines)
            .about("The deadlines of open sessions, as a calendar")
            .with(Work::Long)
            .answers(200, &["text/calendar"]),
    ])
}
