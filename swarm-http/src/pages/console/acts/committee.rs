//! Acts on the committee's members and days.

use swarm_core::json::Json;

use super::super::page_id::PageId::Committee;
use super::Act;

const STATUS_ROUTE: &str = "/api/ic/admin/members/{id}/status";

acts! {
    COMMITTEE_ACTS:

    ADD_COMMITTEE_MEMBER =
        Act::post("/operate/committee/members", "/api/ic/admin/members", Committee)
            .with_secret("api_key");

    UPDATE_COMMITTEE_MEMBER =
        Act::post("/operate/committee/change", "/api/ic/admin/members/{id}", Committee)
            .with_path_field("member");

    ROTATE_COMMITTEE_KEY = Act::post(
        "/operate/committee/members/{id}/rotate-key",
        "/api/ic/admin/members/{id}/rotate-key",
        Committee,
    )
    .with_secret("api_key");

    SET_MEMBER_ACTIVE =
        Act::post("/operate/committee/members/{id}/active", STATUS_ROUTE, Committee)
            .saying("Set active", "The member is active")
            .with_body(|_, _| Json::from([("status", Json::from("active"))]));

    SET_MEMBER_INACTIVE =
        Act::post("/operate/committee/members/{id}/inactive", STATUS_ROUTE, Committee)
            .saying("Set inactive", "The member is inactive")
            .with_body(|_, _| Json::from([("status", Json::from("inactive"))]));

    SET_DAY = Act::post("/operate/committee/day", "/api/ic/admin/day", Committee);

    GENERATE_BRIEFS = Act::post("/operate/committee/briefs", "/api/ic/admin/briefs", Committee);

    SET_SYNTHESIS = Act::post("/operate/committee/synthesis", "/api/ic/admin/synthesis", Committee);

    WITHDRAW_DAY = Act {
        changed: Some(("Day", "date")),
        ..Act::post("/operate/committee/withdraw", "/api/ic/admin/day/withdraw", Committee)
    };
}
