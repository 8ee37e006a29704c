//! Acts on members, their mail, and the store.

use swarm_core::json::Json;

use super::super::body::Body;
use super::super::page_id::PageId::{Applications, Member, Outbox, Store, Webhooks};
use super::Act;

const ACTIVATE_ROUTE: &str = "/api/swarm/admin/activate";
const REJECT_ROUTE: &str = "/api/swarm/admin/reject";

pub(in crate::pages::console) static ACTIVATE_ALL: Act =
    Act::post("/operate/applications/activate", ACTIVATE_ROUTE, Applications)
        .saying("Activate", "Activated")
        .for_each("memberId");

pub(in crate::pages::console) static REJECT_ALL: Act =
    Act::post("/operate/applications/reject", REJECT_ROUTE, Applications)
        .saying("Reject", "Rejected")
        .for_each("memberId");

pub(in crate::pages::console) static ACTIVATE: Act =
    Act::post("/operate/members/{id}/activate", ACTIVATE_ROUTE, Member);

pub(in crate::pages::console) static REJECT: Act =
    Act::post("/operate/members/{id}/reject", REJECT_ROUTE, Member);

pub(in crate::pages::console) static UPDATE_MEMBER: Act =
    Act::post("/operate/members/{id}/update", "/api/swarm/admin/members/update", Member)
        .with_body(|parts, sent| {
            let id = parts.first().map_or("", String::as_str);
            let body = Body::of(sent).set("memberId", Json::from(id));
            let body = body.texts(&["name", "contact"]);
            // An empty one removes it.
            body.set("lens", Json::from(sent.text("lens"))).json()
        })
        .with_fields(&["name", "contact", "lens"]);

pub(in crate::pages::console) static DEACTIVATE: Act =
    Act::post("/operate/members/{id}/deactivate", "/api/swarm/admin/deactivate", Member);

pub(in crate::pages::console) static RESET_CLAIM: Act =
    Act::post("/operate/members/{id}/reset-claim", "/api/swarm/admin/reset-claim", Member);

pub(in crate::pages::console) static ROTATE_KEY: Act =
    Act::post("/operate/members/{id}/rotate-key", "/api/swarm/admin/rotate-key", Member)
        .with_secret("token");

pub(in crate::pages::console) static ERASE: Act =
    Act::post("/operate/members/{id}/erase", "/api/swarm/admin/erase", Member);

pub(in crate::pages::console) static RETRY_MESSAGE: Act =
    Act::post("/operate/outbox/retry", "/api/swarm/admin/outbox/{id}/retry", Outbox)
        .with_path_field("message");

pub(in crate::pages::console) static CANCEL_MESSAGE: Act =
    Act::post("/operate/outbox/cancel", "/api/swarm/admin/outbox/{id}/cancel", Outbox)
        .with_path_field("message");

pub(in crate::pages::console) static TEST_MAIL: Act =
    Act::post("/operate/outbox/test", "/api/swarm/admin/mail/test", Outbox);

pub(in crate::pages::console) static TEST_WEBHOOK: Act =
    Act::post("/operate/webhooks/test", "/api/swarm/admin/webhooks/test", Webhooks);

pub(in crate::pages::console) static RETRY_DELIVERY: Act =
    Act::post("/operate/webhooks/retry", "/api/swarm/admin/webhooks/{id}/retry", Webhooks)
        .with_path_field("delivery");

pub(in crate::pages::console) static ACCEPT_CLOCK: Act =
    Act::post("/operate/store/clock", "/api/swarm/admin/accept", Store)
        .saying("Accept the clock", "The clock is accepted")
        .with_body(|_, _| Json::from([("what", Json::from("clock"))]));

pub(in crate::pages::console) static ACCEPT_STORE: Act =
    Act::post("/operate/store/store", "/api/swarm/admin/accept", Store)
        .saying("Accept the store", "The store is accepted")
        .with_body(|_, _| Json::from([("what", Json::from("store"))]));

pub(in crate::pages::console) static ACCEPT_KEY: Act =
    Act::post("/operate/store/key", "/api/swarm/admin/accept", Store)
        .saying("Accept the key", "The key is accepted")
        .with_body(|_, _| Json::from([("what", Json::from("key"))]));

pub(super) static MEMBER_ACTS: &[&Act] = &[
    &ACTIVATE_ALL,
    &REJECT_ALL,
    &ACTIVATE,
    &REJECT,
    &UPDATE_MEMBER,
    &DEACTIVATE,
    &RESET_CLAIM,
    &ROTATE_KEY,
    &ERASE,
    &RETRY_MESSAGE,
    &CANCEL_MESSAGE,
    &TEST_MAIL,
    &TEST_WEBHOOK,
    &RETRY_DELIVERY,
    &ACCEPT_CLOCK,
    &ACCEPT_STORE,
    &ACCEPT_KEY,
];
