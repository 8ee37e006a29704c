//! The committee over several days, with a manual clock.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use swarm_core::domain::committee::{
    CommitteeStatus, GenerationOrder, KeyPrefix, SubjectOrder, SynthesisOrder,
};
use swarm_core::domain::{Actor, Day, Subject, TimeOfDay};
use swarm_core::json::{Object, write};
use swarm_core::proof::ApiKey;
use swarm_core::rules::committee::SessionLine;
use swarm_core::{
    CommitteeError, CommitteeRefusal, CommitteeSettings, CommitteeTenant, Committees, Resource,
    Swarm, SystemEntropy, TenantId,
};
use swarm_store_memory::MemoryStore;
use swarm_testing::committee::{draft, id, posted};
use swarm_testing::{ManualClock, day, moment, object, race};

const ORIGIN: &str = "https://acme.example";

#[tokio::test]
async fn committee_over_several_days() {
    let fixture = Fixture::at("2026-11-21T22:44:59.999Z").await;
    let desk = fixture.desk();
    let ada = desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    let grace = desk.create_member(&draft("grace"), &Actor::OPERATOR).await.unwrap();
    assert_eq!(fixture.refusal(&ada, "early").await, CommitteeRefusal::NoBrief);
    assert_eq!(desk.generate_if_due().await.unwrap(), None);
    assert_eq!(refused(desk.brief(&id("ada")).await), CommitteeRefusal::NotFound(Resource::Brief));

    fixture.set("2026-11-21T22:45:00Z");
    let made = desk.generate_if_due().await.unwrap().unwrap();
    assert_eq!((made.date, made.briefs), (day("2026-11-21"), 2));
    assert_eq!(made.deadline_utc, moment("2026-11-21T23:25:00Z"));
    assert_eq!(desk.generate_if_due().await.unwrap(), None);
    let mut brief = fixture.brief("ada").await;
    assert_eq!(brief.text("date").unwrap(), "2026-11-21");
    assert_eq!(brief.text("subject_id").unwrap(), made.subject_id.as_str());
    assert_eq!(brief.text("submit_to").unwrap(), "https://acme.example/api/ic/submit");
    assert_eq!(brief.text("deadline_utc").unwrap(), "2026-11-21T23:25:00.000Z");

    fixture.set("2026-11-21T22:50:00Z");
    let first = desk.submit(&ada, &posted("first")).await.unwrap();
    assert_eq!((first.member_id.as_str(), first.date), ("ada", made.date));
    assert_eq!(first.subject_id, made.subject_id);
    let second = desk.submit(&ada, &posted("second")).await.unwrap();
    assert_ne!(first.commit, second.commit);
    let receipt = write(&second);
    assert!(receipt.starts_with(r#"{"member_id":"ada","date":"2026-11-21","subject_id":""#));
    desk.submit(&grace, &posted("other")).await.unwrap();
    assert_eq!(desk.session(made.date).await.unwrap().takes, []);

    fixture.set("2026-11-21T23:25:00.000Z");
    let last = desk.submit(&grace, &posted("last")).await.unwrap();
    fixture.set("2026-11-21T23:25:00.001Z");
    assert_eq!(fixture.refusal(&ada, "late").await, CommitteeRefusal::WindowClosed);
    let session = desk.session(made.date).await.unwrap();
    let shown: Vec<_> = session.takes.iter().map(|take| take.commit.as_str()).collect();
    assert_eq!(shown, [second.commit.as_str(), last.commit.as_str()]);

    fixture.set("2026-11-22T00:00:00Z");
    assert_eq!(fixture.refusal(&ada, "midnight").await, CommitteeRefusal::NoBrief);
    assert_eq!(refused(desk.brief(&id("ada")).await), CommitteeRefusal::NotFound(Resource::Brief));

    fixture.set("2026-11-22T23:00:00Z");
    let next = desk.generate_if_due().await.unwrap().unwrap();
    assert_eq!(next.date, day("2026-11-22"));
    assert_ne!(next.subject_id, made.subject_id);
    let text = desk.brief(&id("ada")).await.unwrap().text(ORIGIN);
    let recent = format!(
        r#""your_recent_takes":[{{"date":"2026-11-21","subject_id":"{}","stance":"neutral","confidence":0.5,"body_preview":"REGIME second"#,
        made.subject_id
    );
    assert!(text.contains(&recent) && !text.contains("REGIME first"), "{text}");
    let lines: Vec<(Day, usize)> =
        lines(&desk).await.iter().map(|line| (line.date, line.takes)).collect();
    assert_eq!(lines, [(next.date, 0), (made.date, 2)]);
}

#[tokio::test]
async fn briefs_quote_last_three_sessions() {
    let fixture = Fixture::at("2026-02-25T22:45:00Z").await;
    let desk = fixture.desk();
    desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    for date in ["2026-02-25", "2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01"] {
        fixture.set(&format!("{date}T22:45:00Z"));
        let order = format!(r#"{{"date":"{date}","subject_id":"aurora"}}"#);
        desk.set_subject(&SubjectOrder::read(&mut object(&order)).unwrap(), &Actor::SCHEDULE)
            .await
            .unwrap();
        desk.generate_if_due().await.unwrap().unwrap();
    }
    let order = r#"{"date":"2026-02-27","synthesis":"calm"}"#;
    desk.set_synthesis(&SynthesisOrder::read(&mut object(order)).unwrap(), &Actor::SCHEDULE)
        .await
        .unwrap();
    desk.generate(&GenerationOrder::default(), &Actor::SCHEDULE).await.unwrap();
    let recent = fixture.brief("ada").await.take("recent_sessions").unwrap();
    assert_eq!(
        write(&recent),
        r#"[{"date":"2026-02-28","synthesis":"No takes."},{"date":"2026-02-27","synthesis":"calm"},{"date":"2026-02-26","synthesis":"No takes."}]"#
    );
    let unknown = SynthesisOrder::read(&mut object(r#"{"date":"2026-02-24","synthesis":"x"}"#));
    let outcome = desk.set_synthesis(&unknown.unwrap(), &Actor::SCHEDULE).await;
    assert_eq!(refused(outcome), CommitteeRefusal::NotFound(Resource::Session));
}

#[tokio::test]
async fn inactive_members_and_rotated_keys_are_refused() {
    let fixture = Fixture::at("2026-11-21T22:45:00Z").await;
    let desk = fixture.desk();
    let old = desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    let again = desk.create_member(&draft("ada"), &Actor::OPERATOR).await;
    assert_eq!(refused(again), CommitteeRefusal::MemberExists(id("ada")));
    desk.generate_if_due().await.unwrap().unwrap();

    for malformed in ["", "ic_ada", "ic_ada_xyz"] {
        assert_eq!(ApiKey::parse(malformed), None, "it is refused where it is read");
    }
    let stranger = ApiKey::parse(&format!("ic_ada_{}", "0".repeat(32))).unwrap();
    assert_eq!(fixture.refusal(&stranger, "x").await, CommitteeRefusal::InvalidKey);
    let upper = ApiKey::parse(&format!("ic_ada_{}", old.reveal()[7..].to_uppercase())).unwrap();
    assert_eq!(fixture.refusal(&upper, "x").await, CommitteeRefusal::InvalidKey);

    let new = desk.rotate_member_key(&id("ada"), &Actor::OPERATOR).await.unwrap();
    assert_eq!(fixture.refusal(&old, "x").await, CommitteeRefusal::InvalidKey);
    desk.set_member_status(&id("ada"), CommitteeStatus::Inactive, &Actor::OPERATOR).await.unwrap();
    assert_eq!(fixture.refusal(&new, "x").await, CommitteeRefusal::NotActive);
    assert_eq!(
        desk.generate(&GenerationOrder::default(), &Actor::SCHEDULE).await.unwrap().briefs,
        0
    );
    desk.set_member_status(&id("ada"), CommitteeStatus::Active, &Actor::OPERATOR).await.unwrap();
    desk.submit(&new, &posted("x")).await.unwrap();
    let nobody =
        desk.set_member_status(&id("nobody"), CommitteeStatus::Active, &Actor::OPERATOR).await;
    assert_eq!(refused(nobody), CommitteeRefusal::NotFound(Resource::Member));
    let members = write(&desk.members().await.unwrap());
    assert!(!members.contains("key") && !members.contains("sha256"), "{members}");
}

#[tokio::test]
async fn regeneration_replaces_briefs_keeps_submissions() {
    let fixture = Fixture::at("2026-11-21T22:45:00Z").await;
    let desk = fixture.desk();
    let ada = desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    let order = r#"{"subject_id":"aurora","deadline_utc":"2026-11-22T01:30:00+01:00"}"#;
    let order = GenerationOrder::read(&mut object(order)).unwrap();
    let made = desk.generate(&order, &Actor::SCHEDULE).await.unwrap();
    assert_eq!(
        write(&made),
        r#"{"date":"2026-11-21","subject_id":"aurora","deadline_utc":"2026-11-22T00:30:00.000Z","briefs":1}"#
    );
    desk.submit(&ada, &posted("kept")).await.unwrap();

    // A member that comes later may submit at once, and has a brief from the next generation on.
    let grace = desk.create_member(&draft("grace"), &Actor::OPERATOR).await.unwrap();
    assert_eq!(
        refused(desk.brief(&id("grace")).await),
        CommitteeRefusal::NotFound(Resource::Brief)
    );
    desk.submit(&grace, &posted("new")).await.unwrap();
    let again = desk.generate(&GenerationOrder::default(), &Actor::SCHEDULE).await.unwrap();
    assert_eq!((again.deadline_utc, &again.subject_id), (made.deadline_utc, &made.subject_id));
    assert_eq!(again.briefs, 2);
    fixture.brief("grace").await;

    // The deadline is tomorrow: today's briefs stand until then.
    fixture.set("2026-11-22T00:30:00Z");
    fixture.brief("ada").await;
    let (generation, _) = desk.generation().await.unwrap().unwrap();
    assert_eq!((generation.deadline, generation.briefs), (again.deadline_utc, 2));
    desk.submit(&ada, &posted("over midnight")).await.unwrap();
    let again = desk.generate(&GenerationOrder::default(), &Actor::SCHEDULE).await.unwrap();
    assert_eq!((again.date, again.deadline_utc), (made.date, made.deadline_utc));
    let recent = fixture.brief("ada").await.take("your_recent_takes").unwrap();
    assert_eq!(write(&recent), "[]", "the session is not over");
    fixture.set("2026-11-22T00:30:00.001Z");
    assert_eq!(desk.generation().await.unwrap(), None);
    assert_eq!(fixture.refusal(&ada, "x").await, CommitteeRefusal::NoBrief);
    assert_eq!(desk.session(day("2026-11-21")).await.unwrap().takes.len(), 2);

    let unknown = GenerationOrder::read(&mut object(r#"{"subject_id":"nothing"}"#)).unwrap();
    assert_eq!(
        refused(desk.generate(&unknown, &Actor::SCHEDULE).await),
        CommitteeRefusal::NotFound(Resource::Subject)
    );
}

#[tokio::test]
async fn schedule_regenerates_early_briefs() {
    let fixture = Fixture::at("2026-11-21T08:00:00Z").await;
    let desk = fixture.desk();
    desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    let order = GenerationOrder::read(&mut object(r#"{"subject_id":"corona"}"#)).unwrap();
    desk.generate(&order, &Actor::SCHEDULE).await.unwrap();
    desk.create_member(&draft("grace"), &Actor::OPERATOR).await.unwrap();
    assert_eq!(desk.generate_if_due().await.unwrap(), None);
    fixture.set("2026-11-21T22:45:00Z");
    let made = desk.generate_if_due().await.unwrap().unwrap();
    assert_eq!((made.subject_id.as_str(), made.briefs), ("corona", 2));
    assert_eq!(desk.generate_if_due().await.unwrap(), None);
}

#[tokio::test]
async fn generation_without_subjects_is_refused() {
    let store = MemoryStore::with_clock(|| moment("2026-11-21T22:45:00Z"));
    let desk =
        Committees::new(store, SystemEntropy).tenant(&tenant(), CommitteeSettings::default());
    // A tenant without members has no committee.
    assert_eq!(desk.generate_if_due().await.unwrap(), None);
    desk.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    assert_eq!(refused(desk.generate_if_due().await), CommitteeRefusal::NoSubject);
    assert_eq!(lines(&desk).await, []);
}

#[tokio::test]
async fn committee_settings_per_tenant() {
    let fixture = Fixture::at("2026-11-21T06:00:00Z").await;
    let time = |text| TimeOfDay::parse("time", text).unwrap();
    let prefix = KeyPrefix::parse("desk").unwrap();
    let settings = CommitteeSettings::new(prefix, time("06:00"), time("07:30")).unwrap();
    let early = fixture.committees.tenant(&tenant(), settings);
    let key = early.create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
    assert!(key.reveal().starts_with("desk_ada_"));
    let made = early.generate_if_due().await.unwrap().unwrap();
    assert_eq!(made.deadline_utc, moment("2026-11-21T07:30:00Z"));
    early.submit(&key, &posted("x")).await.unwrap();
    // With another prefix the key is unknown.
    assert_eq!(fixture.refusal(&key, "x").await, CommitteeRefusal::InvalidKey);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_servers_generate_once() {
    for round in 0..50 {
        let fixture = Fixture::at("2026-11-21T22:45:00Z").await;
        fixture.desk().create_member(&draft("ada"), &Actor::OPERATOR).await.unwrap();
        let run = |_| {
            let desk = fixture.desk();
            async move { desk.generate_if_due().await.unwrap() }
        };
        let generated = race((0..8).map(run)).await.into_iter().flatten().count();
        assert_eq!(generated, 1, "round {round}");
    }
}

/// A committee with three subjects, and its clock.
struct Fixture {
    clock: ManualClock,
    committees: Committees,
}

impl Fixture {
    async fn at(now: &str) -> Self {
        let clock = ManualClock::at(moment(now));
        let shown = clock.clone();
        let store = MemoryStore::with_clock(move || shown.now());
        let subjects = Swarm::new(store.clone(), SystemEntropy).tenant(&tenant());
        for subject in ["aurora", "borealis", "corona"] {
            let text = format!(r#"{{"id":"{subject}","name":"{subject}"}}"#);
            subjects
                .put_subject(&Subject::read(&mut object(&text)).unwrap(), &Actor::SCHEDULE)
                .await
                .unwrap();
        }
        Self { clock, committees: Committees::new(store, SystemEntropy) }
    }

    fn set(&self, now: &str) {
        self.clock.set(moment(now));
    }

    fn desk(&self) -> CommitteeTenant {
        self.committees.tenant(&tenant(), CommitteeSettings::default())
    }

    async fn brief(&self, member: &str) -> Object {
        let brief = self.desk().brief(&id(member)).await.unwrap();
        object(&brief.text(ORIGIN))
    }

    async fn refusal(&self, key: &ApiKey, mark: &str) -> CommitteeRefusal {
        refused(self.desk().submit(key, &posted(mark)).await)
    }
}

async fn lines(desk: &CommitteeTenant) -> Vec<SessionLine> {
    desk.sessions(None, 100).await.unwrap()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, CommitteeError>) -> CommitteeRefusal {
    match outcome.unwrap_err() {
        CommitteeError::Refused(refusal) => refusal,
        other => unreachable!("{other:?}"),
    }
}

fn tenant() -> TenantId {
    TenantId::parse("acme").unwrap()
}
