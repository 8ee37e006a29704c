//! Changes of a dump, each refused in the line that it is in.

use swarm_core::domain::{LogEntry, LogLine, Nonce, TakeEntry};
use swarm_core::records::Record as _;
use swarm_core::{Take, TakeDraft};
use swarm_store_memory::MemoryStore;
use swarm_testing::Author;

use crate::dumps::desk::{Dump, desk, opened, restored};
use crate::dumps::refused;

#[tokio::test]
async fn changed_form_is_refused() {
    let dump = &Dump::of(&desk().await).await;
    let last = dump.lines.len() - 1;
    let member = dump.find(0, &["{\"member\""]);
    refused(
        dump,
        "a changed byte",
        |it| {
            it.replace(member, "ada@example.org", "eve@example.org");
            last
        },
        "the SHA-256 of the lines before is",
    )
    .await;
    refused(dump, "a truncated dump", drop_last, "not complete").await;
    refused(dump, "a truncated line", |it| cut(it, member), "is not JSON").await;
    refused(dump, "a wrong count", |it| edit(it, last, "\"tenant\":2", "\"tenant\":3"), "counts")
        .await;
    let lines = format!("\"lines\":{last}");
    refused(dump, "a wrong number", |it| edit(it, last, &lines, "\"lines\":7"), "there are").await;
    refused(dump, "a wrong hash", |it| edit(it, last, "sha256:", "sha256:0"), "digest").await;
    let more = |it: &mut Dump| {
        it.lines.push(it.lines[member].clone());
        last + 1
    };
    refused(dump, "a line after the end", more, "goes on after its last line").await;
    refused(dump, "two heads", |it| insert(it, 2, 0), "a dump begins within another").await;
    let version = |it: &mut Dump| edit(it, 0, "swarm-dump/1", "swarm-dump/2");
    refused(dump, "another version", version, "reads \"swarm-dump/1\" alone").await;
    let headless = |it: &mut Dump| {
        it.lines.remove(0);
        0
    };
    refused(dump, "no head", headless, "the first line must say the format").await;
    refused(dump, "another kind", |it| edit(it, member, "\"member\"", "\"person\""), "no kind")
        .await;
    refused(dump, "a space", |it| edit(it, member, "\":{\"id\"", "\": {\"id\""), "written").await;
    let field = |it: &mut Dump| edit(it, member, "\"name\":", "\"more\":1,\"name\":");
    refused(dump, "another field", field, "is not written as").await;
}

#[tokio::test]
async fn moved_and_missing_lines_are_refused() {
    let dump = &Dump::of(&desk().await).await;
    let desk = dump.desk();
    let member = dump.find(desk, &["{\"member\""]);
    let entry = dump.find(desk, &["{\"log\":{\"seq\":3,"]);
    let swap = |place: usize| {
        move |it: &mut Dump| {
            it.lines.swap(place, place + 1);
            it.seal();
            place + 1
        }
    };
    refused(dump, "swapped members", swap(member), "is not in its place").await;
    let swapped = |it: &mut Dump| swap(entry)(it) - 1;
    refused(dump, "swapped entries", swapped, "entry 3 of the log is missing").await;
    let missing = |it: &mut Dump| {
        it.lines.remove(entry);
        it.seal();
        entry
    };
    refused(dump, "a missing entry", missing, "entry 3 of the log is missing").await;
    refused(dump, "a doubled line", |it| insert(it, entry + 1, entry), "stands twice").await;
    let last_entry = |it: &mut Dump| {
        let end = it.lines.len() - 2;
        it.lines.remove(end);
        it.seal();
        end - 1
    };
    refused(dump, "no last entry", last_entry, "the log ends with entry").await;
    let stranger = |it: &mut Dump| insert(it, 1, member);
    refused(dump, "a record of no tenant", stranger, "before the line of its tenant").await;
    let again = |it: &mut Dump| edit(it, desk, "\"id\":\"desk\"", "\"id\":\"acme\"");
    refused(dump, "a tenant twice", again, "tenant acme stands twice").await;
    let earlier = |it: &mut Dump| edit(it, desk, "\"id\":\"desk\"", "\"id\":\"abba\"");
    refused(dump, "tenants out of order", earlier, "tenant abba is not in its place").await;
    let counter = |it: &mut Dump| edit(it, desk, "\"sessions\":1", "\"sessions\":0");
    let session = dump.find(desk, &["{\"session\""]);
    let foreign = |it: &mut Dump| {
        let session = it.find(0, &["{\"session\""]);
        insert(it, desk + 1, session) + 1
    };
    refused(dump, "a record of another tenant", foreign, "is not in its place").await;
    let beyond = |it: &mut Dump| counter(it).max(session);
    refused(dump, "an id that was never given", beyond, "not among the 0").await;
}

#[tokio::test]
async fn takes_that_could_not_be_filed_are_refused() {
    let dump = &Dump::of(&desk().await).await;
    let desk = dump.desk();
    let take = |id: u64| dump.find(desk, &[&format!("\"take\":{{\"id\":{id},")]);
    let signature = dump.lines[take(2)].split("\"signature\":\"").nth(1).unwrap();
    let signature = signature.split('"').next().unwrap();
    let forged = format!("A{}", &signature[1..]);
    let forgery = |it: &mut Dump| edit(it, take(2), signature, &forged);
    refused(dump, "a forged signature", forgery, "the signature of take 2 does not hold").await;
    let stance = |it: &mut Dump| edit(it, take(2), "\"bullish\"", "\"bearish\"");
    refused(dump, "another stance", stance, "the signature of take 2 does not hold").await;
    let gap = |it: &mut Dump| edit(it, take(3), "\"revision\":2", "\"revision\":3");
    refused(dump, "a gap of revisions", gap, "revision 3 of take 3 does not follow").await;
    let id = |it: &mut Dump| edit(it, take(3), "\"id\":3,", "\"id\":5,");
    refused(dump, "a gap of ids", id, "take 5 follows take 2").await;
    let nonce = |it: &mut Dump| resigned(it, take(3), |it| it.nonce = Nonce::parse("a").unwrap());
    refused(dump, "a doubled nonce", nonce, "the nonce of take 3 was used before").await;
    let member = |it: &mut Dump| edit(it, take(1), "\"memberId\":\"ada\"", "\"memberId\":\"eve\"");
    refused(dump, "an unknown member", member, "the dump has no member eve").await;
    let session = |it: &mut Dump| edit(it, take(1), "\"sessionId\":1", "\"sessionId\":7");
    refused(dump, "an unknown session", session, "the dump has no session 7").await;
    let filed = |it: &mut Dump| edit(it, take(1), "\"filedAt\":\"2026", "\"filedAt\":\"2025");
    refused(dump, "another time", filed, "filedAt is not the time of the entry").await;
    let at = |it: &mut Dump| edit(it, take(1), "\"at\":\"2026", "\"at\":\"2025");
    refused(dump, "time that runs back", at, "the time is before that of the entry before").await;
    let digest = |it: &mut Dump| edit(it, take(1), "\"digest\":\"sha256:", "\"digest\":\"sha256:0");
    refused(dump, "no digest", digest, "digest").await;
    let key = |it: &mut Dump| {
        edit(it, take(1), "\"kind\":\"take\",\"id\":1", "\"kind\":\"take\",\"id\":2")
    };
    refused(dump, "an entry of another take", key, "the entry is not that of the take").await;
    let version = |it: &mut Dump| edit(it, take(1), "\"sessionVersion\":1", "\"sessionVersion\":2");
    refused(dump, "another version", version, "take 1 was judged under version 2, and 1 was").await;
    let record = |it: &mut Dump| {
        edit(it, take(1), "\"take\":{\"id\":1,", "\"take\":{\"id\":1,\"sessionVersion\":1,")
    };
    refused(dump, "the version in the record", record, "is not written as this version").await;
}

#[tokio::test]
async fn entries_that_disagree_with_their_records_are_refused() {
    let dump = &Dump::of(&desk().await).await;
    let desk = dump.desk();
    let aggregated = dump.find(desk, &["\"state\":\"aggregated\"", "\"act\":\"state\""]);
    let deadline = |it: &mut Dump| {
        edit(it, aggregated, "\"windowClosesAt\":\"2026", "\"windowClosesAt\":\"2027")
    };
    refused(dump, "the last deadline", deadline, "the entry disagrees with session 1").await;
    let convened = dump.find(desk, &["\"act\":\"convened\""]);
    let first_take = dump.find(desk, &["\"take\":{\"id\":1,"]);
    let earlier = |it: &mut Dump| {
        edit(it, convened, "\"windowClosesAt\":\"2026", "\"windowClosesAt\":\"2025");
        first_take
    };
    refused(dump, "an earlier deadline", earlier, "after the deadline that was in force").await;
    let session = dump.find(desk, &["{\"session\""]);
    let snapshot = |it: &mut Dump| {
        edit(it, session, "\"bullish\":2", "\"bullish\":1");
        aggregated
    };
    refused(dump, "another snapshot", snapshot, "the entry disagrees with session 1").await;
    let version = |it: &mut Dump| {
        edit(it, session, "},\"version\":", "},\"version\":1");
        aggregated
    };
    refused(dump, "another version", version, "the entry disagrees with session 1").await;
    let none = |it: &mut Dump| edit(it, session, "},\"version\":", "},\"versions\":");
    refused(dump, "no version", none, "version is missing").await;

    let rotated = dump.find(0, &["\"kind\":\"member\"", "\"act\":\"key-rotated\"", "ada \\\"λ"]);
    let inactive =
        |it: &mut Dump| edit(it, rotated, "\"status\":\"active\"", "\"status\":\"inactive\"");
    refused(dump, "another status", inactive, "the entry disagrees with member").await;
    let memo = dump.find(0, &["{\"document\":{\"collection\":\"memos\"", "\"id\":2"]);
    let entry = dump.find(0, &["\"kind\":\"memo\"", "\"id\":2"]);
    let text = |it: &mut Dump| {
        edit(it, memo, "\\\"title\\\":\\\"B\\\"", "\\\"title\\\":\\\"C\\\"");
        entry
    };
    refused(dump, "another memo", text, "the entry disagrees with document \"2\" of memos").await;
    let held = |it: &mut Dump| edit(it, memo, "\"}}", "\",\"heldUntil\":9}}");
    refused(dump, "a hold", held, "document \"2\" of memos does not name its heldUntil").await;
    let regime = dump.find(0, &["\"collection\":\"regimes\""]);
    let entry = dump.find(0, &["\"kind\":\"regime\""]);
    let calm = |it: &mut Dump| {
        edit(it, regime, "calm", "wild");
        entry
    };
    refused(dump, "another regime", calm, "the entry disagrees with document").await;
    let submission = dump.find(0, &["\"committeeTake\":{"]);
    let body = |it: &mut Dump| edit(it, submission, "REGIME first", "REGIME other");
    refused(dump, "another submission", body, "the entry is not that of the take beside it").await;
    let seat =
        |it: &mut Dump| edit(it, submission, "\"member_id\":\"grace\"", "\"member_id\":\"eve\"");
    refused(dump, "an unknown seat", seat, "the committee has no member eve").await;
    let unknown = dump.find(0, &["\"act\":\"convened\""]);
    let other = |it: &mut Dump| edit(it, unknown, "\"session\":{\"id\":1", "\"session\":{\"id\":9");
    refused(dump, "an entry of no session", other, "the dump has no session 9").await;
}

#[tokio::test]
async fn missing_openings_are_refused() {
    let dump = &Dump::of(&opened().await).await;
    restored(&dump.text(), &MemoryStore::new()).await.unwrap();
    let opening = dump.find(0, &["\"kind\":\"opening\"", "\"id\":2,"]);
    let is_one = |line: &String| line.contains("\"kind\":\"opening\"");
    let seq = |line: usize| {
        let number = dump.lines[line].split("\"seq\":").nth(1).unwrap();
        number.split(',').next().unwrap().parse::<u64>().unwrap()
    };
    let head = |entries: u64| format!("\"log\":{entries},\"messages\"");
    let shorten = |it: &mut Dump, by: u64| {
        let all = seq(opening + 1);
        it.replace(dump.desk(), &head(all), &head(all - by));
        it.seal();
    };
    let middle = |it: &mut Dump| {
        let number = |line: usize| format!("\"seq\":{},", seq(line));
        it.replace(opening + 1, &number(opening + 1), &number(opening));
        it.lines.remove(opening);
        shorten(it, 1);
        opening
    };
    refused(dump, "no opening of take 2", middle, "the entry that opens take 2 must come").await;
    let last = |it: &mut Dump| {
        it.lines.remove(opening + 1);
        shorten(it, 1);
        opening
    };
    refused(dump, "no opening of take 3", last, "before the entry that opens take 3").await;
    let doubled = |it: &mut Dump| {
        let (from, to) = (seq(opening + 1), seq(opening + 1) + 1);
        let again =
            dump.lines[opening + 1].replace(&format!("\"seq\":{from},"), &format!("\"seq\":{to},"));
        it.lines.insert(opening + 2, again);
        it.replace(dump.desk(), &head(from), &head(to));
        it.seal();
        opening + 2
    };
    refused(dump, "an opening twice", doubled, "no act opens take 3").await;
    let none = |it: &mut Dump| {
        it.lines.retain(|line| !is_one(line) && !line.contains("\"act\":\"opened\""));
        let state = opening - 3;
        let record = it.find(0, &["{\"session\""]);
        let opened = it.lines[record].split("\"openedAt\":").nth(1).unwrap();
        let opened = format!("\"openedAt\":{}", opened.split(',').next().unwrap());
        if !it.lines[state].contains("openedAt") {
            let blind = "\"blind\":true";
            it.replace(state, blind, &format!("{blind},{opened}"));
        }
        shorten(it, 4);
        record
    };
    refused(dump, "no opening at all", none, "no entry opens its takes").await;
}

#[tokio::test]
async fn shared_secrets_are_refused() {
    let dump = &Dump::of(&desk().await).await;
    let desk = dump.desk();
    let (ada, grace) =
        (dump.find(desk, &["{\"member\":{\"id\":\"ada\""]), dump.find(desk, &["\"id\":\"grace\""]));
    let field = |line: usize, name: &str| {
        let value = dump.lines[line].split(&format!("\"{name}\":\"")).nth(1).unwrap();
        value.split('"').next().unwrap().to_owned()
    };
    for (name, text) in [("token", "the same token"), ("publicKey", "holds the same key")] {
        let shared = |it: &mut Dump| edit(it, grace, &field(grace, name), &field(ada, name));
        refused(dump, name, shared, text).await;
    }
}

fn edit(dump: &mut Dump, place: usize, from: &str, to: &str) -> usize {
    dump.replace(place, from, to);
    if place + 1 < dump.lines.len() {
        dump.seal();
    }
    place
}

fn insert(dump: &mut Dump, place: usize, copy_of: usize) -> usize {
    dump.lines.insert(place, dump.lines[copy_of].clone());
    dump.seal();
    place
}

fn drop_last(dump: &mut Dump) -> usize {
    dump.lines.pop();
    dump.lines.len() - 1
}

fn cut(dump: &mut Dump, place: usize) -> usize {
    let half = dump.lines[place].len() / 2;
    dump.lines[place].truncate(half);
    place
}

/// Replaces the take of a line by one that its author signed, with its entry.
fn resigned(dump: &mut Dump, place: usize, change: impl FnOnce(&mut TakeDraft)) -> usize {
    let line = dump.lines[place].clone();
    let (entry, take) = line.split_once(",\"take\":").unwrap();
    let take = Take::from_text(take.strip_suffix('}').unwrap()).unwrap();
    let logged = LogLine::read(entry.strip_prefix("{\"log\":").unwrap()).unwrap();
    let LogEntry::Take(TakeEntry { session_version, .. }) = logged.entry else {
        panic!("{logged:?}")
    };
    let mut draft = take.draft().clone();
    change(&mut draft);
    let author = Author::named(draft.member_id.as_str());
    let signed = std::sync::Arc::new(author.keys.sign(draft));
    let take = Take { signed, session_version, ..take };
    let entry_before = entry.split("\"kind\"").next().unwrap();
    let logged = swarm_core::proof::take_entry(&take);
    let logged = swarm_core::json::write(&LogEntry::Take(logged));
    let logged = logged.strip_prefix('{').unwrap();
    dump.lines[place] = format!("{entry_before}{logged},\"take\":{}}}", take.to_text());
    dump.seal();
    place
}
