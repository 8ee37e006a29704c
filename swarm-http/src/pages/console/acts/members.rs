//! Acts on members, their mail, and the store.

use swarm_core::json::Json;

use super::super::body::Body;
use super::super::page_id::PageId::{Applications, Member, Outbox, Store, Webhooks};
use super::Act;

const ACTIVATE_ROUTE: &str = "/api/swarm/admin/activate";
const REJECT_ROUTE: &str = "/api/swarm/admin/reject";

acts! {
    MEMBER_ACTS:

    ACTIVATE_ALL =
        Act::post("/operate/applications/activate", ACTIVATE_ROUTE, Applications)
            .saying("Activate", "Activated")
            .for_each("memberId");

    REJECT_ALL =
        Act::post("/operate/applications/reject", REJECT_ROUTE, Applications)
            .saying("Reject", "Rejected")
            .for_each("memberId");

    ACTIVATE = Act::post("/operate/members/{id}/activate", ACTIVATE_ROUTE, Member);

    REJECT = Act::post("/operate/members/{id}/reject", REJECT_ROUTE, Member);

    UPDATE_MEMBER =
        Act::post("/operate/members/{id}/update", "/api/swarm/admin/members/update", Member)
            .with_body(|parts, sent| {
                let id = parts.first().map_or("", String::as_str);
                let body = Body::of(sent).set("memberId", Json::from(id));
                let body = body.texts(&["name", "contact"]);
                // An empty one removes it.
                body.set("lens", Json::from(sent.text("lens"))).json()
            })
            .with_fields(&["name", "contact", "lens"]);

    DEACTIVATE =
        Act::post("/operate/members/{id}/deactivate", "/api/swarm/admin/deactivate", Member);

    RESET_CLAIM =
        Act::post("/operate/members/{id}/reset-claim", "/api/swarm/admin/reset-claim", Member);

    ROTATE_KEY =
        Act::post("/operate/members/{id}/rotate-key", "/api/swarm/admin/rotate-key", Member)
            .with_secret("token");

    ERASE = Act::post("/operate/members/{id}/erase", "/api/swarm/admin/erase", Member);

    RETRY_MESSAGE =
        Act::post("/operate/outbox/retry", "/api/swarm/admin/outbox/{id}/retry", Outbox)
            .with_path_field("message");

    CANCEL_MESSAGE =
        Act::post("/operate/outbox/cancel", "/api/swarm/admin/outbox/{id}/cancel", Outbox)
            .with_path_field("message");

    TEST_MAIL = Act::post("/operate/outbox/test", "/api/swarm/admin/mail/test", Outbox);

    TEST_WEBHOOK = Act::post("/operate/webhooks/test", "/api/swarm/admin/webhooks/test", Webhooks);

    RETRY_DELIVERY =
        Act::post("/operate/webhooks/retry", "/api/swarm/admin/webhooks/{id}/retry", Webhooks)
            .with_path_field("delivery");

    ACCEPT_CLOCK =
        Act::post("/operate/store/clock", "/api/swarm/admin/accept", Store)
            .saying("Accept the clock", "The clock is accepted")
            .with_body(|_, _| Json::from([("what", Json::from("clock"))]));

    ACCEPT_STORE =
        Act::post("/operate/store/store", "/api/swarm/admin/accept", Store)
            .saying("Accept the store", "The store is accepted")
            .with_body(|_, _| Json::from([("what", Json::from("store"))]));

    ACCEPT_KEY =
        Act::post("/operate/store/key", "/api/swarm/admin/accept", Store)
            .saying("Accept the key", "The key is accepted")
            .with_body(|_, _| Json::from([("what", Json::from("key"))]));
}
