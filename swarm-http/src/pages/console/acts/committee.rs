//! Acts on the committee's members and days.

use swarm_core::json::Json;

use super::super::body::{Body, nothing};
use super::super::page_id::PageId::Committee;
use super::{Act, Preview, Token};

const STATUS_ROUTE: &str = "/api/ic/admin/members/{id}/status";

pub(in crate::pages::console) static ADD_COMMITTEE_MEMBER: Act = Act::post(
    "/operate/committee/members",
    "/api/ic/admin/members",
    |_, sent| Body::of(sent).texts(&["id", "name", "lens", "voice"]).json(),
    Committee,
    ("Create the member", "Key"),
)
.with_secret("api_key")
.with_fields(&["id", "name", "lens", "voice"]);

pub(in crate::pages::console) static UPDATE_COMMITTEE_MEMBER: Act = Act::post(
    "/operate/committee/change",
    "/api/ic/admin/members/{id}",
    |_, sent| Body::of(sent).texts(&["name", "lens", "voice"]).json(),
    Committee,
    ("Save the record", "The record is saved"),
)
.with_path_field("member")
.with_fields(&["name", "lens", "voice"]);

pub(in crate::pages::console) static ROTATE_COMMITTEE_KEY: Act = Act::post(
    "/operate/committee/members/{id}/rotate-key",
    "/api/ic/admin/members/{id}/rotate-key",
    nothing,
    Committee,
    ("Replace the key", "New key"),
)
.destructive()
.with_token(Token::Always)
.with_secret("api_key");

pub(in crate::pages::console) static SET_MEMBER_ACTIVE: Act = Act::post(
    "/operate/committee/members/{id}/active",
    STATUS_ROUTE,
    |_, _| Json::from([("status", Json::from("active"))]),
    Committee,
    ("Set active", "The member is active"),
);

pub(in crate::pages::console) static SET_MEMBER_INACTIVE: Act = Act::post(
    "/operate/committee/members/{id}/inactive",
    STATUS_ROUTE,
    |_, _| Json::from([("status", Json::from("inactive"))]),
    Committee,
    ("Set inactive", "The member is inactive"),
);

pub(in crate::pages::console) static SET_DAY: Act = Act::post(
    "/operate/committee/day",
    "/api/ic/admin/day",
    |_, sent| Body::of(sent).texts(&["date", "subject_id"]).json(),
    Committee,
    ("Set the subject", "The subject of the day is set"),
)
.with_fields(&["date", "subject_id"]);

pub(in crate::pages::console) static GENERATE_BRIEFS: Act = Act::post(
    "/operate/committee/briefs",
    "/api/ic/admin/briefs",
    |_, sent| Body::of(sent).text("subject_id").time("deadline_utc").json(),
    Committee,
    ("Generate the briefs", "The briefs are generated"),
)
.with_fields(&["subject_id", "deadline_utc"]);

pub(in crate::pages::console) static SET_SYNTHESIS: Act = Act::post(
    "/operate/committee/synthesis",
    "/api/ic/admin/synthesis",
    |_, sent| Body::of(sent).texts(&["date", "synthesis"]).json(),
    Committee,
    ("Set the synthesis", "The synthesis is set"),
)
.with_fields(&["date", "synthesis"]);

pub(in crate::pages::console) static WITHDRAW_DAY: Act = Act::post(
    "/operate/committee/withdraw",
    "/api/ic/admin/day/withdraw",
    |_, sent| Body::of(sent).text("date").json(),
    Committee,
    ("Withdraw the day", "The day is withdrawn"),
)
.destructive()
.shown_first(Preview::Always)
.with_fields(&["date"]);
