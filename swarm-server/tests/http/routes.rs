//! All routes. Add a new route here: tests of all routes use these lists.

/// Public reads; `1` is an id, `aurora` a subject, `2026-11-21` a day, `m` a member.
pub const READS: [&str; 37] = [
    "/",
    "/llms.txt",
    "/skill.md",
    "/openapi.json",
    "/docs",
    "/.well-known/swarm.json",
    "/robots.txt",
    "/feed.xml",
    "/swarm/icon.svg",
    "/swarm/sessions",
    "/swarm/sessions/1",
    "/swarm/members",
    "/swarm/members/m",
    "/swarm/subjects",
    "/swarm/subjects/aurora",
    "/swarm/log",
    "/swarm/committee",
    "/swarm/committee/2026-11-21",
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
    "/data/committee/briefs/today/m.json",
    "/api/ic/sessions",
    "/api/ic/sessions/2026-11-21",
];

/// POST routes without credentials.
pub const OPEN_POSTS: [&str; 5] = [
    "/api/swarm/diagnose",
    "/api/swarm/signing-payload",
    "/api/swarm/apply",
    "/api/swarm/token-claim/challenge",
    "/api/swarm/token-claim",
];

pub const MEMBER_POSTS: [&str; 2] = ["/api/swarm/submit", "/api/swarm/memos"];

/// The POST route of committee members.
pub const COMMITTEE_POST: &str = "/api/ic/submit";

pub const OPERATOR_READS: [&str; 2] = ["/api/swarm/admin/applications", "/api/swarm/admin/outbox"];

pub const OPERATOR_WRITES: [(&str, &str); 15] = [
    ("POST", "/api/swarm/admin/accept"),
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

/// An operator's POST route without a body.
pub const OPERATOR_COMMAND: &str = "/api/swarm/admin/memos/1/retract";

/// POST routes of the committee's operators, with refusals in its own form.
pub const CHAIR_POSTS: [&str; 6] = [
    "/api/ic/admin/members",
    "/api/ic/admin/members/m/status",
    "/api/ic/admin/day",
    BRIEFS,
    "/api/ic/admin/synthesis",
    "/api/ic/admin/day/withdraw",
];

/// Accepts any object, since all fields are optional, and can be repeated.
pub const BRIEFS: &str = "/api/ic/admin/briefs";

/// A POST route of the committee's operators without a body.
pub const CHAIR_COMMAND: &str = "/api/ic/admin/members/m/rotate-key";

/// Every request that has a body.
pub fn writes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let posts = OPEN_POSTS.into_iter().chain(MEMBER_POSTS).chain(CHAIR_POSTS);
    let posts = posts.chain([COMMITTEE_POST]).map(|path| ("POST", path));
    posts.chain(OPERATOR_WRITES)
}
