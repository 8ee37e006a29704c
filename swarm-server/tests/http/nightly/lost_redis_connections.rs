//! Connections to Redis that break between a call and its answer.

use serde_json::json;
use swarm_redis_testing::Proxy;

use crate::backend::{Backend, connect, now};
use crate::fixture::Fixture;
use crate::harness::signed_text;
use crate::load::Load;

const DATE: &str = "2026-11-21";

/// A fixture whose server reaches Redis through a proxy.
fn fixture() -> (Fixture, Proxy) {
    let backend = Backend::redis();
    let proxy = now(Proxy::in_front_of(backend.redis.as_ref().unwrap().port));
    let store = connect(&proxy.url("redis"));
    (Fixture::behind(store, &backend), proxy)
}

/// A submission makes two calls, one for the basis and one to file. The store retries each once, so only two
/// losses in a row make it fail.
#[test]
fn replay_after_an_error_returns_the_outcome() {
    let (fixture, proxy) = fixture();
    fixture.convene(DATE, "aurora");
    for (looks, calls, answers, status, filed) in [
        (0, 1, 0, 201, true),
        (0, 0, 1, 201, true),
        (1, 1, 0, 201, true),
        (1, 0, 1, 201, true),
        (0, 2, 0, 503, false),
        (0, 1, 1, 503, false),
        (0, 0, 2, 503, false),
        (1, 2, 0, 503, false),
        (1, 1, 1, 503, true),
        (1, 0, 2, 503, true),
    ] {
        let case = (looks, calls, answers);
        let author = fixture.author();
        let text = signed_text(&author.key.sign(author.draft(DATE, "aurora")));
        let before = fixture.takes().len();
        proxy.let_pass(looks);
        proxy.drop_next(calls, answers);
        let answer = fixture.client.submit_text(&author, &text);
        assert_eq!(answer.status, status, "{case:?}: {answer:?}");
        let takes = fixture.takes();
        assert_eq!(takes.len(), before + usize::from(filed), "{case:?}");

        let again = fixture.client.submit_text(&author, &text);
        assert_eq!(again.status, if filed { 409 } else { 201 }, "{case:?}: {again:?}");
        let takes = fixture.takes();
        assert_eq!(takes.len(), before + 1, "{case:?}");
        assert_eq!(again.json()["recommendationId"], json!(takes[before].id.0), "{case:?}");
        assert_eq!(takes[before].draft().member_id, author.id, "{case:?}");
    }
}

#[test]
fn takes_are_filed_at_most_once_with_broken_connections() {
    let (fixture, proxy) = fixture();
    let load = Load::start(&fixture, fixture.server.address);
    let losses = [(0, 1), (0, 2), (1, 0), (0, 3), (2, 0), (1, 1), (0, 4)];
    for (cut, (calls, answers)) in losses.into_iter().cycle().enumerate() {
        if load.unavailable() >= 500 && load.found() >= 100 {
            println!("{cut} cuts: {} unavailable, {} found", load.unavailable(), load.found());
            break;
        }
        proxy.let_pass(cut % 5);
        proxy.drop_next(calls, answers);
        load.wait_for(3);
    }
    load.end(&fixture);
}
