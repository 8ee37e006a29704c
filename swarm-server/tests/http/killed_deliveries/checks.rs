//! What arrived, and what should have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::mail_sink::{Letter, MailSink};
use super::workload::{Done, SEALED_CONFIDENCE, TEXT};
use crate::harness::{ADMIN, Client};
use crate::webhooks::{Delivery, Receiver};

/// What the service says that it did, and what arrived at the receivers.
pub struct Arrived {
    /// The log, by number.
    entries: BTreeMap<u64, Value>,
    /// The records of deliveries to the webhook.
    deliveries: Vec<Value>,
    /// The outbox.
    messages: Vec<Value>,
    /// Each open session with a deadline, and its missing members.
    missing: Vec<(u64, Vec<String>)>,
    /// The address of each member.
    addresses: BTreeMap<String, String>,
    told: Vec<Delivery>,
    letters: Vec<Letter>,
}

impl Arrived {
    pub fn read(client: &Client, receiver: &Receiver, sink: &MailSink) -> Self {
        let entries = pages(client, "/api/swarm/log?limit=1000", "entries", "after");
        let entries = entries.into_iter().map(|entry| (entry["seq"].as_u64().unwrap(), entry));
        let sessions = pages(client, "/api/swarm/sessions?limit=500", "sessions", "before");
        let open = sessions.iter().filter(|session| {
            session["state"] == "collecting" && session["windowClosesAt"].is_string()
        });
        let path = "/api/swarm/admin/applications?limit=500";
        let members = pages(client, path, "applications", "after");
        let address = |member: &Value| (text(&member["id"]), text(&member["contact"]));
        Self {
            entries: entries.collect(),
            deliveries: pages(
                client,
                "/api/swarm/admin/webhooks?limit=500",
                "deliveries",
                "before",
            ),
            messages: pages(client, "/api/swarm/admin/outbox?limit=500", "messages", "after"),
            missing: open.map(|session| missing(client, session)).collect(),
            addresses: members.iter().map(address).collect(),
            told: receiver.seen(),
            letters: sink.seen(),
        }
    }

    /// The entries of the log that arrived, with their events' ids.
    fn told_entries(&self) -> BTreeMap<u64, BTreeSet<&str>> {
        let mut told = BTreeMap::<_, BTreeSet<_>>::new();
        for delivery in &self.told {
            if let Some(seq) = delivery.json()["data"]["seq"].as_u64() {
                told.entry(seq).or_default().insert(delivery.id());
            }
        }
        told
    }

    /// The reminders of this member about this session.
    fn reminders(&self, session: u64, member: &str) -> usize {
        let about = format!("you are expected in session {session} of ");
        let is_one = |message: &&Value| {
            message["to"] == *self.addresses[member] && text(&message["body"]).contains(&about)
        };
        self.messages.iter().filter(is_one).count()
    }

    /// Whether nothing waits any more.
    pub fn is_everything(&self) -> bool {
        let waits = |record: &Value| record["state"] == "queued";
        let told = self.told_entries();
        let reminded = |(session, members): &(u64, Vec<String>)| {
            members.iter().all(|member| self.reminders(*session, member) > 0)
        };
        !self.deliveries.iter().chain(&self.messages).any(waits)
            && self.entries.keys().all(|seq| told.contains_key(seq))
            && self.missing.iter().all(reminded)
    }

    pub fn check(&self, done: &Done) {
        assert!(self.is_everything());
        self.check_events(done);
        self.check_mail();
        self.check_secrets(done);
        // The kills were where they should be: something was delivered a second time, after its lease.
        let attempts = self.deliveries.iter().chain(&self.messages);
        let again = attempts.filter(|record| record["attempts"].as_u64() > Some(1)).count();
        let twice =
            self.told.len() - self.deliveries.len() + self.letters.len() - self.messages.len();
        println!(
            "{} entries, {} deliveries, {} mails; {again} leased again, {twice} arrived again",
            self.entries.len(),
            self.deliveries.len(),
            self.messages.len()
        );
        assert!(again > 0 && twice > 0);
    }

    /// Each event arrived, under one id, and at most once a lease.
    fn check_events(&self, done: &Done) {
        let told = self.told_entries();
        assert!(told.values().all(|ids| ids.len() == 1), "{told:?}");
        let mut times = BTreeSet::new();
        for delivery in &self.told {
            let data = &delivery.json()["data"];
            if let Some(seq) = data["seq"].as_u64() {
                assert_eq!(*data, self.entries[&seq]);
            }
            let leased = (delivery.id(), delivery.headers["webhook-timestamp"].as_str());
            assert!(times.insert(leased), "twice in one lease: {delivery:?}");
        }
        let arrived = |id: &str| self.told.iter().filter(|delivery| delivery.id() == id).count();
        for record in &self.deliveries {
            assert_eq!(record["state"], "delivered");
            let count = arrived(record["webhookId"].as_str().unwrap());
            let attempts = record["attempts"].as_u64().unwrap() as usize;
            assert!((1..=attempts).contains(&count), "{count}: {record}");
        }
        let ids: BTreeSet<_> = self.told.iter().map(Delivery::id).collect();
        assert_eq!(ids.len(), self.deliveries.len());
        for member in &*done.applied.lock().unwrap() {
            assert_eq!(self.told_of("application.received", &["memberId"], member), 1);
        }
        for (session, _) in &self.missing {
            let id = session.to_string();
            assert_eq!(self.told_of("session.closing", &["session", "id"], &id), 1);
        }
    }

    /// The number of events of this type, by their ids, whose data has this text or number at the path.
    fn told_of(&self, event: &str, path: &[&str], value: &str) -> usize {
        let of = |delivery: &&Delivery| {
            let body = delivery.json();
            let found = path.iter().fold(&body["data"], |data, field| &data[field]);
            delivery.event() == event && found.to_string().trim_matches('"') == value
        };
        self.told.iter().filter(of).map(Delivery::id).collect::<BTreeSet<_>>().len()
    }

    /// Each mail was queued once, and arrived, at most once a lease.
    fn check_mail(&self) {
        let mail = |message: &Value| (text(&message["to"]), text(&message["body"]));
        let queued: BTreeSet<_> = self.messages.iter().map(mail).collect();
        assert_eq!(queued.len(), self.messages.len());
        let mut times = BTreeSet::new();
        for letter in &self.letters {
            let leased = (letter.header("Message-ID"), letter.header("Date"));
            assert!(times.insert(leased), "twice in one lease: {letter:?}");
        }
        let mut all = 0;
        for message in &self.messages {
            assert_eq!(message["state"], "sent");
            let (to, body) = mail(message);
            let is_it =
                |letter: &&Letter| letter.to == to && letter.body.trim_end() == body.trim_end();
            let count = self.letters.iter().filter(is_it).count();
            let attempts = message["attempts"].as_u64().unwrap() as usize;
            assert!((1..=attempts).contains(&count), "{count}: {message}");
            all += count;
        }
        assert_eq!(all, self.letters.len());
        let subject = |start: &str| {
            let is_it = |message: &&Value| text(&message["subject"]).starts_with(start);
            self.messages.iter().filter(is_it).count()
        };
        assert!(subject("Your application was approved") > 0 && subject("Your take on ") > 0);
    }

    /// The deliveries in which this stands.
    fn telling<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a Delivery> {
        self.told.iter().filter(move |delivery| delivery.body.contains(text))
    }

    /// Texts of takes are in nothing, what was sealed in openings alone, and what is sealed in nothing.
    fn check_secrets(&self, done: &Done) {
        let [shown, opened, sealed] =
            [&done.shown, &done.opened, &done.sealed].map(|all| all.lock().unwrap());
        assert!(!sealed.is_empty() && !done.withheld.lock().unwrap().is_empty());
        assert!(shown.iter().all(|signature| self.telling(signature).next().is_some()));
        let mut openings = opened.iter().flat_map(|secret| self.telling(secret)).peekable();
        assert!(openings.peek().is_some());
        assert!(openings.all(|delivery| delivery.event() == "opening"));
        let confidence = SEALED_CONFIDENCE.to_string();
        let never = sealed.iter().map(String::as_str).chain([TEXT, &confidence]);
        for secret in never {
            assert!(self.telling(secret).next().is_none(), "{secret}");
            assert!(!self.letters.iter().any(|letter| letter.contains(secret)), "{secret}");
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The id of a session, and its expected members that have not filed.
fn missing(client: &Client, session: &Value) -> (u64, Vec<String>) {
    let id = session["id"].as_u64().unwrap();
    let read = client.get(&format!("/api/swarm/sessions/{id}")).expect(200).json();
    let listed = read["session"]["roster"].as_array().unwrap().iter();
    let mut missing: Vec<_> = listed.map(|entry| text(&entry["memberId"])).collect();
    let takes = read["takes"].as_array().unwrap();
    missing.retain(|member| !takes.iter().any(|take| take["memberId"] == **member));
    (id, missing)
}

/// All pages of a list; `cursor` is the parameter that names the next one.
fn pages(client: &Client, path: &str, list: &str, cursor: &str) -> Vec<Value> {
    let (mut all, mut from) = (Vec::new(), String::new());
    let next = format!("next{}{}", cursor[..1].to_uppercase(), &cursor[1..]);
    loop {
        let headers = [("x-admin-token", ADMIN)];
        let page = client.send("GET", &format!("{path}{from}"), &headers, b"").expect(200).json();
        all.extend(page[list].as_array().unwrap().iter().cloned());
        let last = all.last().map(|last| last["seq"].clone());
        match (&page[&next], last) {
            (Value::Null, Some(last)) if page["more"] == true => {
                from = format!("&{cursor}={last}");
            }
            (Value::Null, _) => return all,
            (next, _) => from = format!("&{cursor}={}", next.to_string().trim_matches('"')),
        }
    }
}
