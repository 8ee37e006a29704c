//! The requests of operators of the client crate `swarm-client`, over sockets.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use swarm_client::{
    Client, CommitteeTakeFields, Error, OperatorClient, ServedTake, TakeFields, new_key, sign_take,
};
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberId, CommitteeMemberPatch, CommitteeStatus,
    GenerationOrder, Synthesis, Voice,
};
use swarm_core::domain::{
    Acceptance, Accepted, BriefOrder, Bucket, Day, DeliveryId, DeliveryState, Erasure, ExcuseOrder,
    KeyRotation, MailState, MemberPatch, MemberState, MemberUpdate, MemoId, MessageId, Name, Note,
    Noted, OutcomeDraft, OutcomeValue, Question, QuestionText, Regime, Roster, RosterEntry,
    RosterFreeze, SessionDraft, SessionPatch, SessionState, Signal, StateChange, Subject,
    SubjectId, SubjectSnapshotDraft, Weight, Weights,
};
use swarm_core::json::{Json, Object, write};
use swarm_core::proof::KeyPair;
use swarm_core::rules::StepBy;
use swarm_core::{MemberId, Session, SessionId, TakeId, Timestamp};
use swarm_redis_testing::wait_until;

use crate::harness::{ADMIN, Server};
use crate::program::{Program, configuration};
use crate::tenant_configuration::tenant;
use crate::webhooks::{Receiver, now_in_millis};

const DAY: &str = "2026-11-21";

struct Desk {
    client: Client,
    _server: Server,
}

impl Desk {
    /// With the subject `aurora`.
    fn open() -> Self {
        let server = Server::start();
        let client = Client::new(&format!("http://{}/", server.address)).unwrap();
        let desk = Self { client, _server: server };
        let subject = Subject::new(SubjectId::parse("aurora").unwrap(), "Aurora");
        assert_eq!(desk.operator().save_subject(&subject).unwrap(), subject);
        desk
    }

    fn operator(&self) -> OperatorClient<'_> {
        self.client.operator(ADMIN)
    }

    /// A member with a token.
    fn join(&self, name: &str) -> (MemberId, KeyPair, String) {
        let key = new_key().unwrap();
        let member = self.client.apply(&key, name, "zoe@test.example", "Slow.").unwrap();
        assert_eq!(self.operator().activate(&member).unwrap(), MemberState::Approved);
        let token = self.client.claim(&key, &member).unwrap();
        (member, key, token)
    }

    fn convene(&self) -> Session {
        self.operator().convene(draft()).unwrap()
    }

    fn advance(&self, session: &Session, state: SessionState) -> Session {
        let change = StateChange { state, end_window: state == SessionState::WindowClosed };
        self.operator().advance(session.id, change).unwrap()
    }
}

fn draft() -> SessionDraft {
    SessionDraft::new(Day::parse(DAY).unwrap(), SubjectId::parse("aurora").unwrap())
}

fn note(text: &str) -> Note {
    Note::parse(text).unwrap()
}

fn code(error: Error) -> String {
    match error {
        Error::Refused(refused) => refused.code.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operator_reviews_and_changes_members() {
    let desk = Desk::open();
    let operator = desk.operator();
    let (zoe, key, token) = desk.join("Zoë");
    let mallory = desk.client.apply(&new_key().unwrap(), "Mallory", "m@test.example", "").unwrap();
    assert_eq!(operator.reject(&mallory).unwrap(), MemberState::Rejected);

    let all = operator.applications(None, None).unwrap();
    assert_eq!((all.applications.len(), all.next_after), (2, None));
    let claimed = operator.applications(Some(MemberState::Claimed), None).unwrap().applications;
    let [row] = claimed.as_slice() else { panic!("{claimed:?}") };
    assert_eq!((&row.id, row.name.as_str(), row.state), (&zoe, "Zoë", MemberState::Claimed));
    assert_eq!(row.contact.as_ref().unwrap().as_str(), "zoe@test.example");
    assert_eq!(row.lens.as_ref().unwrap().as_str(), "Slow.");
    assert_eq!(row.public_key.as_ref(), Some(&key.public_key()));
    assert!(row.applied_at <= row.reviewed_at.unwrap() && row.claimed_at.is_some());
    let last = all.applications.iter().map(|row| &row.id).max().unwrap();
    assert_eq!(operator.applications(None, Some(last)).unwrap().applications, []);

    let mut patch = MemberPatch::default();
    patch.name = Some(Name::parse("Zoe").unwrap());
    let update = MemberUpdate { member_id: zoe.clone(), patch };
    assert_eq!(operator.update_member(&update).unwrap(), MemberState::Claimed);
    let rotation = KeyRotation { public_key: None, member_id: zoe.clone() };
    let rotated = operator.rotate_key(&rotation).unwrap();
    assert!(rotated.starts_with("tok_") && rotated != token);
    assert_eq!(operator.reset_claim(&zoe).unwrap(), MemberState::Approved);
    assert_eq!(operator.deactivate(&zoe).unwrap(), MemberState::Inactive);
    let erasure = Erasure { member_id: zoe.clone(), texts: false };
    assert_eq!(operator.erase(&erasure).unwrap(), MemberState::Inactive);
    let all = operator.applications(None, None).unwrap().applications;
    let erased = all.iter().find(|row| row.id == zoe).unwrap();
    assert_eq!((erased.name.as_str(), &erased.contact, &erased.lens), ("erased", &None, &None));

    let unknown = MemberId::parse("nobody").unwrap();
    assert_eq!(code(operator.activate(&unknown).unwrap_err()), "not-found");
    let stranger = desk.client.operator("made-up");
    assert_eq!(code(stranger.activate(&zoe).unwrap_err()), "admin-token-required");
    assert!(!format!("{operator:?}").contains(ADMIN), "a token is not printed");
}

#[test]
fn operator_runs_a_session() {
    let desk = Desk::open();
    let operator = desk.operator();
    let ((ada, ..), (zoe, key, token)) = (desk.join("Ada"), desk.join("Zoë"));
    let session =
        operator.convene(Noted { note: Some(note("Weekly.")), request: draft() }).unwrap();
    assert_eq!(desk.client.session(session.id).unwrap().0, session);

    let closes = Timestamp::parse("windowClosesAt", "2099-01-01T00:00:00Z").unwrap();
    let mut patch = SessionPatch { window_closes_at: Some(Some(closes)), ..Default::default() };
    patch.quorum = Some(Some(1));
    patch.question.text = Some(Some(QuestionText::parse("More?").unwrap()));
    let session = operator.amend_session(session.id, patch).unwrap();
    assert_eq!((session.window_closes_at, session.quorum), (Some(closes), Some(1)));
    assert_ne!(session.question, Question::default());
    let patch = SessionPatch { quorum: Some(None), ..Default::default() };
    assert_eq!(operator.amend_session(session.id, patch).unwrap().quorum, None);

    let entry = |member: &MemberId| RosterEntry { member_id: member.clone(), excused: false };
    let members = Roster::parse(vec![entry(&ada), entry(&zoe)]).unwrap();
    operator.freeze_roster(session.id, RosterFreeze { members }).unwrap();
    let excuse = ExcuseOrder { member_id: ada.clone(), excused: true };
    let session = operator.excuse(session.id, excuse).unwrap();
    assert!(session.roster.as_ref().unwrap().entry(&ada).unwrap().excused);
    let brief = operator.publish_brief(session.id, BriefOrder::default());
    assert_eq!(desk.client.brief(session.id).unwrap(), Some(brief.unwrap()));

    let weight = Weight { bucket: Bucket::parse("eth").unwrap(), weight: 0.7 };
    let weights = Weights::parse(vec![weight]).unwrap();
    let fields = TakeFields::new("cautious", 0.62).with_body("Utilisation is high.");
    let fields = fields.with_weights(weights.clone());
    let take = sign_take(desk.client.service(), &key, &zoe, &session, &fields).unwrap();
    let take = desk.client.submit(&token, &take).unwrap().id;
    let withheld = operator.withhold(take, note("It names a client.")).unwrap();
    let ServedTake::Withheld(withheld) = withheld else { panic!("{withheld:?}") };
    assert_eq!(withheld.mark.note.as_str(), "It names a client.");
    assert_eq!(withheld.weights, Some(weights), "they stay, and count");
    assert!(operator.restore(take, None).unwrap().open().is_some());

    for state in [SessionState::WindowClosed, SessionState::Aggregated, SessionState::Published] {
        assert_eq!(desk.advance(&session, state).state, state);
    }
    let outcome = OutcomeDraft { value: Some(OutcomeValue::parse(-1.0).unwrap()), source: None };
    let session = operator.record_outcome(session.id, outcome).unwrap();
    assert_eq!(session.outcome.unwrap().value, Some(OutcomeValue::parse(-1.0).unwrap()));
    let session = operator.void_session(session.id, note("Other prices.")).unwrap();
    assert_eq!(session.voided.unwrap().note, note("Other prices."));

    let second = desk.convene();
    operator.withdraw_session(second.id, None).unwrap();
    assert_eq!(code(desk.client.session(second.id).unwrap_err()), "not-found");
}

#[test]
fn operator_keeps_documents_and_the_outbox() {
    let desk = Desk::open();
    let operator = desk.operator();
    let (zoe, _, token) = desk.join("Zoë");
    let date = Day::parse(DAY).unwrap();
    let snapshot = SubjectSnapshotDraft {
        date,
        total_value_usd: Some(1_250_000.5),
        positions: Vec::new(),
        notable: vec!["Moved.".to_owned()],
    };
    let aurora = SubjectId::parse("aurora").unwrap();
    assert_eq!(operator.add_snapshot(&aurora, &snapshot).unwrap().0, 1);
    let regime = Regime {
        date,
        composite: Some(0.4),
        regime: Some("risk-on".to_owned()),
        macro_regime: None,
        onchain_regime: None,
        rest: Object::default(),
    };
    operator.save_regime(&regime).unwrap();
    let payload = Json::read(br#"{"change": -0.12}"#).unwrap();
    let signal = Signal { signal_key: "fees.7d".to_owned(), date, payload: payload.clone() };
    operator.save_signal(&signal).unwrap();
    let session = desk.convene();
    let brief = operator.publish_brief(session.id, BriefOrder::default());
    let body = write(&brief.unwrap().body);
    for shown in ["risk-on", "fees.7d", "-0.12", "1250000.5"] {
        assert!(body.contains(shown), "{shown} is not in {body}");
    }

    let memo = desk.client.publish_memo(&token, "On aurora", "Long.", None, None).unwrap();
    operator.retract_memo(memo).unwrap();

    // The welcome of a member that was let in, and the test.
    let test = operator.test_mail("ops@test.example").unwrap();
    assert_eq!((test.to.unwrap().as_str(), test.state), ("ops@test.example", MailState::Queued));
    let queued = operator.outbox(None).unwrap();
    assert_eq!((queued.messages.last().unwrap().id, queued.next_after), (test.id, None));
    assert_eq!(queued.messages[0].to.as_ref().unwrap().as_str(), "zoe@test.example", "{zoe:?}");
    assert_eq!(operator.cancel_message(test.id).unwrap().state, MailState::Cancelled);
    assert_eq!(operator.retry_message(test.id).unwrap().state, MailState::Queued);
    assert_eq!(operator.outbox(Some(test.id)).unwrap().messages, []);
}

#[test]
fn operator_reads_the_status_and_acts() {
    let desk = Desk::open();
    let operator = desk.operator();
    let (zoe, key, token) = desk.join("Zoë");
    let session = desk.convene();
    let members = Roster::parse(vec![RosterEntry { member_id: zoe.clone(), excused: false }]);
    operator.freeze_roster(session.id, RosterFreeze { members: members.unwrap() }).unwrap();

    let status = operator.status().unwrap();
    assert!(status.ready && status.mail_server && status.committee.is_none(), "{status:?}");
    let desk_status = &status.desk;
    assert_eq!((desk_status.applications, desk_status.members, desk_status.mail.queued), (0, 1, 1));
    let [row] = desk_status.sessions.as_slice() else { panic!("{status:?}") };
    assert_eq!((row.id, row.state, row.filed), (session.id, SessionState::Collecting, 0));
    assert_eq!((row.expected, &row.missing[0].member_id), (Some(1), &zoe));
    assert_eq!(row.next.unwrap().by, StepBy::Operator);
    let item = status.agenda.next.iter().chain(&status.agenda.needs);
    assert!(item.into_iter().any(|item| item.session_id == Some(session.id)), "{status:?}");
    assert!(status.agenda.fine.iter().all(|item| !item.message.is_empty()));
    assert!(status.log.size.0 > 3 && status.log.signed.is_none());

    let fields = TakeFields::new("neutral", 0.5);
    let take = sign_take(desk.client.service(), &key, &zoe, &session, &fields).unwrap();
    desk.client.submit(&token, &take).unwrap();
    assert_eq!(operator.status().unwrap().desk.sessions[0].missing, []);

    let acts = operator.acts(None, None).unwrap();
    let first = acts.acts.first().unwrap();
    assert_eq!((&*first.act.act, acts.next_before), ("session.roster", None));
    assert_eq!(first.act.target, Some(session.id.to_string()));
    let by = first.act.by.as_ref().unwrap();
    assert_eq!(operator.acts(Some(by), None).unwrap(), acts);
    let before = operator.acts(None, Some(first.at)).unwrap().acts;
    assert!(before.len() < acts.acts.len(), "{before:?}");
}

#[test]
fn operator_reads_and_tests_webhooks() {
    let receiver = Receiver::start();
    let text = tenant("acme", &receiver.table("")).replace("acme.example", "127.0.0.1");
    let file = configuration("operator-client.toml", &text);
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let arguments = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let program = Program::start_in(folder, &arguments, &[]);
    let client = Client::new(&program.client.url()).unwrap();
    let operator = client.operator(ADMIN);
    let queued = operator.test_webhook(&receiver.url).unwrap();
    assert_eq!((&*queued.event, queued.state), ("webhook.test", DeliveryState::Queued));
    assert_eq!(receiver.wait_for("webhook.test").id(), queued.webhook_id);
    wait_until("the test is delivered", || {
        let all = operator.webhooks(Some(DeliveryState::Delivered), None).unwrap();
        all.deliveries.iter().any(|it| it.id == queued.id && it.delivered_at.is_some())
    });
    let all = operator.webhooks(None, None).unwrap();
    assert_eq!((&all.webhooks[0].url, all.webhooks[0].failing), (&receiver.url, false));
    assert_eq!(operator.webhooks(None, Some(queued.id)).unwrap().deliveries, []);
    assert_eq!(operator.retry_delivery(queued.id).unwrap().state, DeliveryState::Queued);
    assert_eq!(code(operator.test_webhook("https://other.example").unwrap_err()), "not-found");
}

#[test]
fn operator_runs_a_day_of_the_committee() {
    let desk = Desk::open();
    let operator = desk.operator();
    let ada = CommitteeMemberId::parse("ada").unwrap();
    let draft = CommitteeMemberDraft::new(ada.clone(), Name::parse("Ada").unwrap());
    let key = operator.create_committee_member(&draft).unwrap();
    assert_eq!(code(operator.create_committee_member(&draft).unwrap_err()), "member-exists");
    let patch = CommitteeMemberPatch::default();
    assert_eq!(
        code(operator.update_committee_member(&ada, &patch).unwrap_err()),
        "invalid-request"
    );
    let mut patch = CommitteeMemberPatch::default();
    patch.voice = Some(Voice::parse("Short sentences.").unwrap());
    operator.update_committee_member(&ada, &patch).unwrap();
    let [member] = &operator.committee_members().unwrap()[..] else { panic!("no member") };
    assert_eq!((&member.id, member.name.as_str(), member.lens.as_str()), (&ada, "Ada", ""));
    assert_eq!(
        (member.voice.as_str(), member.status),
        ("Short sentences.", CommitteeStatus::Active)
    );

    let now = Timestamp::from_millis(now_in_millis()).unwrap();
    let aurora = SubjectId::parse("aurora").unwrap();
    operator.set_committee_subject(now.day(), aurora.clone()).unwrap();
    let order =
        GenerationOrder { deadline: Some(now.plus_millis(3_600_000)), ..Default::default() };
    let briefs = operator.generate_briefs(&order).unwrap();
    assert_eq!((&briefs.subject_id, briefs.briefs), (&aurora, 1));
    assert_eq!(Some(briefs.deadline_utc), order.deadline);

    let body = format!("{}\nSTANCE: neutral | CONFIDENCE: 0.5", "Nothing moved. ".repeat(8));
    let fields =
        CommitteeTakeFields { stance: "neutral", confidence: 0.5, body: &body, model: None };
    let rotated = operator.rotate_api_key(&ada).unwrap();
    assert_eq!(code(desk.client.committee_submit(&key, &fields).unwrap_err()), "invalid-key");
    assert_eq!(operator.committee_filing(briefs.date).unwrap().missing, vec![ada.clone()]);
    assert_eq!(desk.client.committee_submit(&rotated, &fields).unwrap().date, briefs.date);
    let filing = operator.committee_filing(briefs.date).unwrap();
    assert_eq!((filing.filed, filing.missing), (vec![ada.clone()], vec![]));

    operator.set_synthesis(briefs.date, Synthesis::parse("Calm.").unwrap()).unwrap();
    operator.set_committee_status(&ada, CommitteeStatus::Inactive).unwrap();
    assert_eq!(code(desk.client.committee_submit(&rotated, &fields).unwrap_err()), "not-active");
    operator.withdraw_committee_day(briefs.date).unwrap();
    assert_eq!(code(operator.committee_filing(briefs.date).unwrap_err()), "not-found");
}

/// A server that refuses each request, and keeps its method and path.
struct Recorder {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (mut line, mut length) = (String::new(), 0);
                reader.read_line(&mut line).unwrap();
                kept.lock().unwrap().push(line.rsplit_once(' ').unwrap().0.to_owned());
                while line != "\r\n" {
                    line.clear();
                    reader.read_line(&mut line).unwrap();
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                reader.read_exact(&mut vec![0; length]).unwrap();
                let answer =
                    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
                reader.into_inner().write_all(answer).unwrap();
            }
        });
        Self { address, requests }
    }
}

#[test]
fn client_has_a_call_for_each_command_of_operators() {
    let recorder = Recorder::start();
    let client = Client::new(&format!("http://{}/", recorder.address)).unwrap();
    let operator = client.operator(ADMIN);
    let member = MemberId::parse("zoe").unwrap();
    let subject = SubjectId::parse("aurora").unwrap();
    let chair = CommitteeMemberId::parse("chair").unwrap();
    let day = Day::parse(DAY).unwrap();
    let (session, take) = (SessionId(1), TakeId(1));
    let snapshot = SubjectSnapshotDraft {
        date: day,
        total_value_usd: None,
        positions: Vec::new(),
        notable: Vec::new(),
    };
    let regime = Regime {
        date: day,
        composite: None,
        regime: None,
        macro_regime: None,
        onchain_regime: None,
        rest: Object::default(),
    };
    let signal = Signal { signal_key: "fees".to_owned(), date: day, payload: Json::Null };
    let members = Roster::parse(Vec::new()).unwrap();
    let excuse = ExcuseOrder { member_id: member.clone(), excused: true };
    let change = StateChange { state: SessionState::Published, end_window: false };
    let outcome = OutcomeDraft { value: None, source: None };
    let erasure = Erasure { member_id: member.clone(), texts: false };
    let rotation = KeyRotation { public_key: None, member_id: member.clone() };
    let update = MemberUpdate { member_id: member.clone(), patch: MemberPatch::default() };
    let draft = CommitteeMemberDraft::new(chair.clone(), Name::parse("Chair").unwrap());
    let results = [
        operator.activate(&member).map(drop),
        operator.reject(&member).map(drop),
        operator.deactivate(&member).map(drop),
        operator.reset_claim(&member).map(drop),
        operator.update_member(&update).map(drop),
        operator.erase(&erasure).map(drop),
        operator.rotate_key(&rotation).map(drop),
        operator.save_subject(&Subject::new(subject.clone(), "Aurora")).map(drop),
        operator.add_snapshot(&subject, &snapshot).map(drop),
        operator.save_regime(&regime),
        operator.save_signal(&signal),
        operator.retract_memo(MemoId(1)),
        operator.convene(self::draft()).map(drop),
        operator.amend_session(session, SessionPatch::default()).map(drop),
        operator.advance(session, change).map(drop),
        operator.freeze_roster(session, RosterFreeze { members }).map(drop),
        operator.excuse(session, excuse).map(drop),
        operator.publish_brief(session, BriefOrder::default()).map(drop),
        operator.record_outcome(session, outcome).map(drop),
        operator.withdraw_session(session, None).map(drop),
        operator.void_session(session, note("Other prices.")).map(drop),
        operator.withhold(take, note("It names a client.")).map(drop),
        operator.restore(take, None).map(drop),
        operator.retry_message(MessageId(1)).map(drop),
        operator.cancel_message(MessageId(1)).map(drop),
        operator.test_mail("ops@test.example").map(drop),
        operator.test_webhook("https://hooks.test.example").map(drop),
        operator.retry_delivery(DeliveryId(1)).map(drop),
        operator.accept(&Acceptance { what: Accepted::Clock, force: false }),
        operator.create_committee_member(&draft).map(drop),
        operator.update_committee_member(&chair, &CommitteeMemberPatch::default()),
        operator.rotate_api_key(&chair).map(drop),
        operator.set_committee_status(&chair, CommitteeStatus::Inactive),
        operator.set_committee_subject(day, subject),
        operator.generate_briefs(&GenerationOrder::default()).map(drop),
        operator.withdraw_committee_day(day),
        operator.set_synthesis(day, Synthesis::parse("Calm.").unwrap()),
    ];
    for result in results {
        assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    }
    let requests = recorder.requests.lock().unwrap().clone();
    let is_of = |request: &str, (method, path): (&str, &str)| {
        let (sent, to) = request.split_once(' ').unwrap();
        let (parts, at): (Vec<_>, Vec<_>) = (path.split('/').collect(), to.split('/').collect());
        let is_part = |(part, at): (&&str, &&str)| part == at || part.starts_with('{');
        sent == method && parts.len() == at.len() && parts.iter().zip(&at).all(is_part)
    };
    for (method, path, _) in swarm_http::operator_commands() {
        let route = (method.as_str(), path);
        assert!(requests.iter().any(|request| is_of(request, route)), "no call of {route:?}");
    }
}

#[test]
fn operator_accepts_only_what_is_wrong() {
    let desk = Desk::open();
    let acceptance = |what, force| Acceptance { what, force };
    let refused = desk.operator().accept(&acceptance(Accepted::Store, false));
    assert_eq!(code(refused.unwrap_err()), "nothing-to-accept");
    let refused = desk.operator().accept(&acceptance(Accepted::Key, false));
    assert_eq!(code(refused.unwrap_err()), "invalid-request");
}
