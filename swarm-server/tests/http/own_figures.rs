//! Figures of the program around the service, beside the result of a session.

use std::sync::Arc;

use swarm_core::Session;
use swarm_core::rules::PublicTake;
use swarm_core::store::async_trait;
use swarm_http::{OwnFigure, OwnFigures, Site};
use swarm_store_memory::MemoryStore;

use crate::harness::{ADMIN, Author, Server, services, tenant};

/// The number of takes that can be read, and more figures than are shown.
struct Counted;

#[async_trait]
impl OwnFigures for Counted {
    async fn of_session(&self, session: &Session, takes: &[PublicTake]) -> Vec<OwnFigure> {
        let open = takes.iter().filter(|take| take.open().is_some()).count();
        let label = format!("<b>Read</b> in {}", session.subject_id);
        let more = (0..20).map(|nth| OwnFigure::new(&format!("Figure {nth}"), "1").unwrap());
        OwnFigure::new(&label, &format!("{open} of {}", takes.len()))
            .into_iter()
            .chain(more)
            .collect()
    }
}

#[test]
fn own_figures_are_shown_as_not_verified() {
    let mut config = tenant("default", ADMIN, &[]);
    config.figures = Some(Arc::new(Counted));
    let server = Server::of(Site::single(services(&MemoryStore::new()), config));
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let page =
        |path: &str| client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text;
    let figure = |count: &str| format!(" in aurora</bdi></dt><dd><bdi>{count}</bdi></dd>");
    assert!(page("/swarm/sessions/1").contains(&figure("0 of 0")));
    let author = Author::join(&client, "Ada");
    client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let shown = page("/swarm/sessions/1");
    assert!(shown.contains(&figure("1 of 1")), "{shown}");
    assert!(shown.contains("nothing verifies them") && !shown.contains("<b>Read"), "{shown}");
    assert!(shown.contains("Figure 10<") && !shown.contains("Figure 11<"), "{shown}");
    // What a third party verifies has none of them.
    for path in ["/api/swarm/sessions/1", "/swarm/sessions/1.json"] {
        assert!(!client.get(path).text.contains("Figure 1"), "{path}");
    }
}

#[test]
fn figures_are_lines() {
    assert!(OwnFigure::new("Median", "+0.5").is_some());
    for (label, value) in [("", "1"), ("a", ""), ("a\nb", "1"), ("a", &*"1".repeat(61))] {
        assert_eq!(OwnFigure::new(label, value), None);
    }
}
