//! The routes of interface A that there are. A new one belongs here: the tests of all routes find
//! it here.

/// Public reads; `1` is an id, `aurora` a subject, `2026-11-21` a day, `m` a member.
pub const READS: [&str; 16] = [
    "/api/swarm/takes/1",
    "/swarm/takes/1",
    "/swarm/style.css",
    "/api/swarm/open-session",
    "/api/swarm/sessions",
    "/api/swarm/sessions/1",
    "/api/swarm/sessions/2026-11-21/aurora",
    "/api/swarm/apply/m",
    "/api/swarm/members",
    "/api/swarm/members/m",
    "/api/swarm/subjects",
    "/api/swarm/subjects/aurora",
    "/api/swarm/subjects/aurora/snapshots",
    "/api/swarm/brief?session=1",
    "/api/swarm/memos/1",
    "/swarm/memos/1",
];

/// What anyone may post.
pub const OPEN_POSTS: [&str; 4] = [
    "/api/swarm/signing-payload",
    "/api/swarm/apply",
    "/api/swarm/token-claim/challenge",
    "/api/swarm/token-claim",
];

pub const MEMBER_POSTS: [&str; 2] = ["/api/swarm/submit", "/api/swarm/memos"];

pub const OPERATOR_READS: [&str; 2] = ["/api/swarm/admin/applications", "/api/swarm/admin/outbox"];

pub const OPERATOR_WRITES: [(&str, &str); 14] = [
    ("POST", "/api/swarm/admin/activate"),
    ("POST", "/api/swarm/admin/reject"),
    ("POST", "/api/swarm/admin/deactivate"),
    ("POST", "/api/swarm/admin/subjects"),
    ("POST", "/api/swarm/admin/sessions"),
    ("PATCH", "/api/swarm/admin/sessions/1"),
    ("POST", "/api/swarm/admin/sessions/1/state"),
    ("POST", "/api/swarm/admin/sessions/1/roster"),
    ("POST", "/api/swarm/admin/sessions/1/roster/excuse"),
    ("POST", "/api/swarm/admin/sessions/1/brief"),
    ("POST", "/api/swarm/admin/rotate-key"),
    ("POST", "/api/swarm/admin/subjects/aurora/snapshots"),
    ("POST", "/api/swarm/admin/regime"),
    ("POST", "/api/swarm/admin/signals"),
];

/// Every request that has a body.
pub fn writes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let posts = OPEN_POSTS.into_iter().chain(MEMBER_POSTS).map(|path| ("POST", path));
    posts.chain(OPERATOR_WRITES)
}
