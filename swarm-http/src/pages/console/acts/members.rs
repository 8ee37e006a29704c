//! Acts on members, their mail, and the store.

use swarm_core::json::Json;

use super::super::body::{Body, nothing};
use super::super::form::FormData;
use super::super::page_id::PageId::{Applications, Member, Outbox, Store, Webhooks};
use super::{Act, Token};

const ACTIVATE_ROUTE: &str = "/api/swarm/admin/activate";
const REJECT_ROUTE: &str = "/api/swarm/admin/reject";

/// The member that the path or the field names.
fn member(parts: &[String], sent: &FormData) -> Json {
    let body = Body::of(sent);
    match parts.first() {
        Some(id) => body.set("memberId", Json::from(id.as_str())).json(),
        None => body.json(),
    }
}

pub(in crate::pages::console) static ACTIVATE_ALL: Act = Act::post(
    "/operate/applications/activate",
    ACTIVATE_ROUTE,
    member,
    Applications,
    ("Activate", "Activated"),
)
.for_each("memberId");

pub(in crate::pages::console) static REJECT_ALL: Act = Act::post(
    "/operate/applications/reject",
    REJECT_ROUTE,
    member,
    Applications,
    ("Reject", "Rejected"),
)
.for_each("memberId");

pub(in crate::pages::console) static ACTIVATE: Act = Act::post(
    "/operate/members/{id}/activate",
    ACTIVATE_ROUTE,
    member,
    Member,
    ("Activate", "The member is activated"),
);

pub(in crate::pages::console) static REJECT: Act = Act::post(
    "/operate/members/{id}/reject",
    REJECT_ROUTE,
    member,
    Member,
    ("Reject", "The application is rejected"),
);

pub(in crate::pages::console) static UPDATE_MEMBER: Act = Act::post(
    "/operate/members/{id}/update",
    "/api/swarm/admin/members/update",
    |parts, sent| {
        let id = parts.first().map_or("", String::as_str);
        let body = Body::of(sent).set("memberId", Json::from(id)).texts(&["name", "contact"]);
        // An empty one removes it.
        body.set("lens", Json::from(sent.text("lens"))).json()
    },
    Member,
    ("Save the record", "The record is saved"),
)
.with_fields(&["name", "contact", "lens"]);

pub(in crate::pages::console) static DEACTIVATE: Act = Act::post(
    "/operate/members/{id}/deactivate",
    "/api/swarm/admin/deactivate",
    member,
    Member,
    ("Deactivate", "The member is deactivated"),
);

pub(in crate::pages::console) static RESET_CLAIM: Act = Act::post(
    "/operate/members/{id}/reset-claim",
    "/api/swarm/admin/reset-claim",
    member,
    Member,
    ("Reset the claim", "The token is dead, and the member may claim another with its key"),
);

pub(in crate::pages::console) static ROTATE_KEY: Act = Act::post(
    "/operate/members/{id}/rotate-key",
    "/api/swarm/admin/rotate-key",
    |parts, sent| {
        let id = parts.first().map_or("", String::as_str);
        Body::of(sent).set("memberId", Json::from(id)).text("publicKey").json()
    },
    Member,
    ("Replace the token", "New token"),
)
.destructive()
.with_token(Token::Always)
.with_secret("token")
.with_fields(&["publicKey"]);

pub(in crate::pages::console) static ERASE: Act = Act::post(
    "/operate/members/{id}/erase",
    "/api/swarm/admin/erase",
    |parts, sent| {
        let id = parts.first().map_or("", String::as_str);
        Body::of(sent).set("memberId", Json::from(id)).flag("texts").json()
    },
    Member,
    ("Erase the member", "Erased"),
)
.destructive()
.with_token(Token::Always)
.with_fields(&["texts"]);

pub(in crate::pages::console) static RETRY_MESSAGE: Act = Act::post(
    "/operate/outbox/retry",
    "/api/swarm/admin/outbox/{id}/retry",
    nothing,
    Outbox,
    ("Queue again", "The message is queued again"),
)
.with_path_field("message");

pub(in crate::pages::console) static CANCEL_MESSAGE: Act = Act::post(
    "/operate/outbox/cancel",
    "/api/swarm/admin/outbox/{id}/cancel",
    nothing,
    Outbox,
    ("Give up", "The message is given up"),
)
.with_path_field("message");

pub(in crate::pages::console) static TEST_MAIL: Act = Act::post(
    "/operate/outbox/test",
    "/api/swarm/admin/mail/test",
    |_, sent| Body::of(sent).text("address").json(),
    Outbox,
    ("Send a test", "The test is queued"),
)
.with_fields(&["address"]);

pub(in crate::pages::console) static TEST_WEBHOOK: Act = Act::post(
    "/operate/webhooks/test",
    "/api/swarm/admin/webhooks/test",
    |_, sent| Body::of(sent).text("url").json(),
    Webhooks,
    ("Send a test", "The test is queued"),
)
.with_fields(&["url"]);

pub(in crate::pages::console) static RETRY_DELIVERY: Act = Act::post(
    "/operate/webhooks/retry",
    "/api/swarm/admin/webhooks/{id}/retry",
    nothing,
    Webhooks,
    ("Deliver again", "The delivery is queued again"),
)
.with_path_field("delivery");

pub(in crate::pages::console) static ACCEPT_CLOCK: Act = Act::post(
    "/operate/store/clock",
    "/api/swarm/admin/accept",
    |_, _| Json::from([("what", Json::from("clock"))]),
    Store,
    ("Accept the clock", "The clock is accepted"),
)
.with_token(Token::Always);

pub(in crate::pages::console) static ACCEPT_STORE: Act = Act::post(
    "/operate/store/store",
    "/api/swarm/admin/accept",
    |_, _| Json::from([("what", Json::from("store"))]),
    Store,
    ("Accept the store", "The store is accepted"),
)
.with_token(Token::Always);

pub(in crate::pages::console) static ACCEPT_KEY: Act = Act::post(
    "/operate/store/key",
    "/api/swarm/admin/accept",
    |_, _| Json::from([("what", Json::from("key"))]),
    Store,
    ("Accept the key", "The key is accepted"),
)
.with_token(Token::Always);
