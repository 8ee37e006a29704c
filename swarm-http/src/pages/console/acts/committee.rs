//! Acts on the committee's members and days.

use swarm_core::json::Json;

use super::super::page_id::PageId::Committee;
use super::Act;

const STATUS_ROUTE: &str = "/api/ic/admin/members/{id}/status";

pub(in crate::pages::console) static ADD_COMMITTEE_MEMBER: Act =
    Act::post("/operate/committee/members", "/api/ic/admin/members", Committee)
        .with_secret("api_key");

pub(in crate::pages::console) static UPDATE_COMMITTEE_MEMBER: Act =
    Act::post("/operate/committee/change", "/api/ic/admin/members/{id}", Committee)
        .with_path_field("member");

pub(in crate::pages::console) static ROTATE_COMMITTEE_KEY: Act = Act::post(
    "/operate/committee/members/{id}/rotate-key",
    "/api/ic/admin/members/{id}/rotate-key",
    Committee,
)
.with_secret("api_key");

pub(in crate::pages::console) static SET_MEMBER_ACTIVE: Act =
    Act::post("/operate/committee/members/{id}/active", STATUS_ROUTE, Committee)
        .saying("Set active", "The member is active")
        .with_body(|_, _| Json::from([("status", Json::from("active"))]));

pub(in crate::pages::console) static SET_MEMBER_INACTIVE: Act =
    Act::post("/operate/committee/members/{id}/inactive", STATUS_ROUTE, Committee)
        .saying("Set inactive", "The member is inactive")
        .with_body(|_, _| Json::from([("status", Json::from("inactive"))]));

pub(in crate::pages::console) static SET_DAY: Act =
    Act::post("/operate/committee/day", "/api/ic/admin/day", Committee);

pub(in crate::pages::console) static GENERATE_BRIEFS: Act =
    Act::post("/operate/committee/briefs", "/api/ic/admin/briefs", Committee);

pub(in crate::pages::console) static SET_SYNTHESIS: Act =
    Act::post("/operate/committee/synthesis", "/api/ic/admin/synthesis", Committee);

pub(in crate::pages::console) static WITHDRAW_DAY: Act = Act {
    changed: Some(("Day", "date")),
    ..Act::post("/operate/committee/withdraw", "/api/ic/admin/day/withdraw", Committee)
};

pub(super) static COMMITTEE_ACTS: &[&Act] = &[
    &ADD_COMMITTEE_MEMBER,
    &UPDATE_COMMITTEE_MEMBER,
    &ROTATE_COMMITTEE_KEY,
    &SET_MEMBER_ACTIVE,
    &SET_MEMBER_INACTIVE,
    &SET_DAY,
    &GENERATE_BRIEFS,
    &SET_SYNTHESIS,
    &WITHDRAW_DAY,
];
