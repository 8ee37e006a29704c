//! The files that lead from the address to everything else: `/llms.txt` and the manifest (API.md, 9.1).

use crate::harness::Server;

/// The format of llmstxt.org: a title, a quote, free text without headings, then lists of links below headings.
#[test]
fn index_for_language_models_has_its_format() {
    let server = Server::start();
    let client = server.client();
    for subject in ["aurora", "borealis"] {
        let text = client.get("/llms.txt").expect(200).text;
        let (before, lists) = text.split_once("\n## ").unwrap();
        assert!(before.starts_with("# default\n\n> "), "{before}");
        assert!(!before.lines().skip(1).any(|line| line.starts_with('#')), "{before}");
        assert!(before.contains("open"), "{before}");
        for line in lists.lines().skip(1).filter(|line| !line.is_empty()) {
            let is_link = line.starts_with("- [") && line.contains("](http");
            assert!(is_link || line.starts_with("## "), "{line}");
            let Some((_, link)) = line.split_once("](") else { continue };
            let (link, _) = link.split_once(')').unwrap();
            let path = link.strip_prefix(&format!("http://{}", client.address)).unwrap();
            client.get(path).expect(200);
        }
        client.convene("2026-11-21", subject);
    }
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    for (name, link) in manifest["links"].as_object().unwrap() {
        let link = link.as_str().unwrap();
        let path = link.strip_prefix(&format!("http://{}", client.address)).unwrap();
        assert_eq!(client.get(path).status, 200, "{name}: {link}");
    }
}
