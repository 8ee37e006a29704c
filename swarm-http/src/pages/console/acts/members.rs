//! Acts on members, their mail, and the store.

use swarm_core::json::Json;

use super::super::body::Body;
use super::super::page_id::PageId::{Applications, Member, Outbox, Store, Webhooks};
use super::{Act, Token};

const ACTIVATE_ROUTE: &str = "/api/swarm/admin/activate";
const REJECT_ROUTE: &str = "/api/swarm/admin/reject";

pub(in crate::pages::console) static ACTIVATE_ALL: Act = Act::post(
    "/operate/applications/activate",
    ACTIVATE_ROUTE,
    Applications,
    ("Activate", "Activated"),
)
.for_each("memberId");

pub(in crate::pages::console) static REJECT_ALL: Act =
    Act::post("/operate/applications/reject", REJECT_ROUTE, Applications, ("Reject", "Rejected"))
        .for_each("memberId");

pub(in crate::pages::console) static ACTIVATE: Act = Act::post(
    "/operate/members/{id}/activate",
    ACTIVATE_ROUTE,
    Member,
    ("Activate", "The member is activated"),
);

pub(in crate::pages::console) static REJECT: Act = Act::post(
    "/operate/members/{id}/reject",
    REJECT_ROUTE,
    Member,
    ("Reject", "The application is rejected"),
);

pub(in crate::pages::console) static UPDATE_MEMBER: Act = Act::post(
    "/operate/members/{id}/update",
    "/api/swarm/admin/members/update",
    Member,
    ("Save the record", "The record is saved"),
)
.with_body(|parts, sent| {
    let id = parts.first().map_or("", String::as_str);
    let body = Body::of(sent).set("memberId", Json::from(id)).texts(&["name", "contact"]);
    // An empty one removes it.
    body.set("lens", Json::from(sent.text("lens"))).json()
})
.with_fields(&["name", "contact", "lens"]);

pub(in crate::pages::console) static DEACTIVATE: Act = Act::post(
    "/operate/members/{id}/deactivate",
    "/api/swarm/admin/deactivate",
    Member,
    ("Deactivate", "The member is deactivated"),
);

pub(in crate::pages::console) static RESET_CLAIM: Act = Act::post(
    "/operate/members/{id}/reset-claim",
    "/api/swarm/admin/reset-claim",
    Member,
    ("Reset the claim", "The token is dead, and the member may claim another with its key"),
);

pub(in crate::pages::console) static ROTATE_KEY: Act = Act::post(
    "/operate/members/{id}/rotate-key",
    "/api/swarm/admin/rotate-key",
    Member,
    ("Replace the token", "New token"),
)
.destructive()
.with_token(Token::Always)
.with_secret("token");

pub(in crate::pages::console) static ERASE: Act = Act::post(
    "/operate/members/{id}/erase",
    "/api/swarm/admin/erase",
    Member,
    ("Erase the member", "Erased"),
)
.destructive()
.with_token(Token::Always);

pub(in crate::pages::console) static RETRY_MESSAGE: Act = Act::post(
    "/operate/outbox/retry",
    "/api/swarm/admin/outbox/{id}/retry",
    Outbox,
    ("Queue again", "The message is queued again"),
)
.with_path_field("message");

pub(in crate::pages::console) static CANCEL_MESSAGE: Act = Act::post(
    "/operate/outbox/cancel",
    "/api/swarm/admin/outbox/{id}/cancel",
    Outbox,
    ("Give up", "The message is given up"),
)
.with_path_field("message");

pub(in crate::pages::console) static TEST_MAIL: Act = Act::post(
    "/operate/outbox/test",
    "/api/swarm/admin/mail/test",
    Outbox,
    ("Send a test", "The test is queued"),
);

pub(in crate::pages::console) static TEST_WEBHOOK: Act = Act::post(
    "/operate/webhooks/test",
    "/api/swarm/admin/webhooks/test",
    Webhooks,
    ("Send a test", "The test is queued"),
);

pub(in crate::pages::console) static RETRY_DELIVERY: Act = Act::post(
    "/operate/webhooks/retry",
    "/api/swarm/admin/webhooks/{id}/retry",
    Webhooks,
    ("Deliver again", "The delivery is queued again"),
)
.with_path_field("delivery");

pub(in crate::pages::console) static ACCEPT_CLOCK: Act = Act::post(
    "/operate/store/clock",
    "/api/swarm/admin/accept",
    Store,
    ("Accept the clock", "The clock is accepted"),
)
.with_body(|_, _| Json::from([("what", Json::from("clock"))]))
.with_token(Token::Always);

pub(in crate::pages::console) static ACCEPT_STORE: Act = Act::post(
    "/operate/store/store",
    "/api/swarm/admin/accept",
    Store,
    ("Accept the store", "The store is accepted"),
)
.with_body(|_, _| Json::from([("what", Json::from("store"))]))
.with_token(Token::Always);

pub(in crate::pages::console) static ACCEPT_KEY: Act = Act::post(
    "/operate/store/key",
    "/api/swarm/admin/accept",
    Store,
    ("Accept the key", "The key is accepted"),
)
.with_body(|_, _| Json::from([("what", Json::from("key"))]))
.with_token(Token::Always);

/// All of them.
pub(super) static MEMBER_ACTS: [&Act; 17] = [
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
