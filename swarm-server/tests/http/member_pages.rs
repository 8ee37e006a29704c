//! The page of a member.

use serde_json::json;

use crate::harness::{Author, Client, Server};

fn page(client: &Client, author: &Author) -> String {
    client.get(&format!("/swarm/members/{}", author.id)).expect(200).text
}

fn title(page: &str) -> &str {
    page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0
}

#[test]
fn members_with_the_same_name_have_distinct_titles() {
    let server = Server::start();
    let client = server.client();
    let [ada, other, grace] = ["Ada", "Ada", "Grace"].map(|name| Author::join(&client, name));
    let pages = [&ada, &other, &grace].map(|author| page(&client, author));
    let [ada, other, grace] = pages.each_ref().map(|page| title(page));
    assert_ne!(ada, other);
    assert!(ada.starts_with("Ada · Member "), "{ada}");
    assert!(grace.starts_with("Grace · Member "), "{grace}");
}

#[test]
fn take_filed_after_the_snapshot_is_listed_too() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(&client, name));
    client.submit(&ada, ada.draft("2026-11-21", "aurora")).expect(201);
    for state in ["window_closed", "aggregated"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    client.submit(&grace, grace.draft("2026-11-21", "aurora")).expect(201);
    let (counted, late) = (page(&client, &ada), page(&client, &grace));
    let remark = "late, not counted";
    assert!(counted.contains("/swarm/takes/1\"") && !counted.contains(remark), "{counted}");
    assert!(late.contains("/swarm/takes/2\"") && late.contains(remark), "{late}");
    let takes = client.get("/swarm/takes").expect(200).text;
    assert_eq!(takes.matches(remark).count(), 1, "{takes}");
    let (late, _) = takes.split_once("/swarm/takes/1\"").unwrap();
    assert!(late.contains("/swarm/takes/2\"") && late.contains(remark), "{takes}");
}

#[test]
fn members_are_listed_fifty_at_a_time_and_each_once() {
    let server = Server::start();
    let client = server.client();
    let join = |nth| Author::apply(&client, &format!("Ada {nth}")).0;
    let mut joined: Vec<_> = (0..103).map(join).collect();
    for id in &joined {
        client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    }
    let (mut listed, mut pages) = (Vec::new(), Vec::new());
    let mut path = "/swarm/members".to_owned();
    loop {
        let page = client.send("GET", &path, &[("accept", "text/html")], b"").expect(200).text;
        let links = page.split("href=\"/swarm/members/").skip(1);
        let ids: Vec<_> = links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        pages.push(ids.len());
        listed.extend(ids);
        let Some((_, next)) = page.split_once("rel=\"next\" href=\"") else { break };
        path = next.split('"').next().unwrap().to_owned();
    }
    listed.sort();
    joined.sort();
    assert_eq!(listed, joined.iter().map(|id| id.as_str()).collect::<Vec<_>>());
    assert_eq!(pages, [50, 50, 3]);
    let found = client.get("/swarm/members?q=ada%2010").text;
    assert_eq!(found.matches("href=\"/swarm/members/").count(), 4, "{found}");
}
