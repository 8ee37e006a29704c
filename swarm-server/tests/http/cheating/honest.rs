//! Honest histories, in which nothing fails and nothing is notable.

use serde_json::json;
use swarm_redis_testing::wait_until;

use super::desk::{DAY, Desk};
use crate::harness::{Author, fresh_key};
use crate::own_keys;

/// Sessions of each kind to their end, by the schedule: with a roster and a question, blind, for practice, and with stances of its
/// own. Meanwhile a member replaces its key.
#[test]
fn sessions_of_each_kind_have_nothing_to_notice() {
    let desk = Desk::convened(&json!({}));
    let client = desk.client();
    let (ada, grace) = (&desk.ada, &desk.grace);
    let end = desk.read().entries.last().unwrap().at.plus_millis(10_000).to_string();
    let roster = [ada, grace].map(|it| json!({ "memberId": it.id.as_str() }));
    let stances = json!([{ "name": "no", "rank": 0 }, { "name": "yes", "rank": 1 }]);
    for (subject, fields) in [
        (
            "gold",
            json!({ "finish": true, "roster": roster, "quorum": 2, "question": "Higher in a week?" }),
        ),
        ("iron", json!({ "finish": true, "blind": true })),
        ("lead", json!({ "practice": true })),
        (
            "zinc",
            json!({ "finish": true, "stances": stances, "maxRevisions": 2, "method": "weighted_median" }),
        ),
    ] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
        let mut session = json!({ "date": DAY, "subjectId": subject, "windowClosesAt": end });
        session.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.operate("/sessions", &session).expect(201);
    }
    let file = |author: &Author| {
        for (subject, stance) in
            [("aurora", "neutral"), ("gold", "bullish"), ("iron", "cautious"), ("zinc", "yes")]
        {
            let fields = json!({ "date": DAY, "subjectId": subject, "stance": stance });
            client.submit(author, author.draft_of(fields)).expect(201);
        }
    };
    file(ada);
    file(grace);
    let key = fresh_key();
    let replacement = own_keys::request(ada, &key).to_string();
    client.post("/api/swarm/key", &[("authorization", &ada.bearer())], &replacement).expect(200);
    file(&Author { id: ada.id.clone(), key, token: ada.token.clone() });
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let state = |session: u64| {
        let session = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
        session["session"]["state"].clone()
    };
    wait_until("the schedule has finished", || {
        [2, 3, 5].into_iter().all(|session| state(session) == "published")
            && state(4) == "window_closed"
    });
    let outcome = json!({ "value": 1, "source": "prices.example" });
    client.operate("/sessions/2/outcome", &outcome).expect(200);

    for session in 1..=5 {
        let honest = desk.read_session(session);
        let said = honest.verified_with_log(&["--strict"], 0);
        assert!(said.contains("holds: completeness: "), "{session}: {said}");
        // The one for practice has no takes, so no keys of members.
        assert_eq!(said.contains("holds: keys: "), session != 4, "{session}: {said}");
        assert_eq!(said.contains("it is for practice, and counts for nothing"), session == 4);
    }
    let said = desk.read().watched(0);
    assert!(said.contains("the member replaced the key") && !said.contains("notable: "), "{said}");
}
