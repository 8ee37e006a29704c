//! The JSON schemas of all bodies. Requests have an example; all signed examples are signed with one key. The schemas of most
//! requests are declared with the types that are read from them ([`Form`]), and those of answers are derived from the types that
//! are serialized ([`wire::schema`]); others.json has all others.

use std::sync::LazyLock;

use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberPatch, GenerationOrder, StatusOrder, SubjectOrder,
    SynthesisOrder, WithdrawalOrder,
};
use swarm_core::domain::{
    Acceptance, Application, BriefOrder, Erasure, ExcuseOrder, Form, FormSchema,
    KeyReplacementRequest, KeyRotation, MailAddress, MemberName, MemberUpdate, MemoDraft,
    NoteAlone, Noted, OutcomeDraft, Prompt, Regime, Roster, RosterFreeze, SessionDraft,
    SessionPatch, Signal, Signed, StateChange, Subject, SubjectSnapshotDraft, TokenClaim,
    WebhookName, Withholding,
};
use swarm_core::json::{Json, Object};
use swarm_core::wire;

use crate::discovery::manifest::Manifest;

/// Schemas by topic and name.
type Topics = Vec<(&'static str, Vec<(String, Json)>)>;

/// The name of a schema, and the function that makes it.
type Declared = (&'static str, fn() -> Json);

/// The topics in the order of the reference, each with the schemas that are declared where requests are read.
const TOPICS: [(&str, &[Declared]); 9] = [
    ("takes", &[of::<Withholding>()]),
    (
        "sessions",
        &[
            of::<Noted<SessionDraft>>(),
            of::<Noted<SessionPatch>>(),
            of::<Noted<StateChange>>(),
            of::<NoteAlone>(),
            of::<Noted<RosterFreeze>>(),
            of::<Noted<ExcuseOrder>>(),
            ("RosterDraft", Roster::list_schema),
        ],
    ),
    ("scores", &[of::<Noted<OutcomeDraft>>()]),
    (
        "members",
        &[
            of::<Signed<Application>>(),
            of::<MemberName>(),
            of::<MemberUpdate>(),
            of::<Erasure>(),
            of::<Signed<TokenClaim>>(),
            of::<KeyReplacementRequest>(),
            of::<KeyRotation>(),
            of::<MailAddress>(),
            of::<WebhookName>(),
        ],
    ),
    (
        "documents",
        &[
            of::<Subject>(),
            of::<SubjectSnapshotDraft>(),
            of::<MemoDraft>(),
            of::<Prompt>(),
            of::<Regime>(),
            of::<Signal>(),
            of::<Noted<BriefOrder>>(),
        ],
    ),
    ("log", &[of::<Acceptance>()]),
    (
        "committee",
        &[
            of::<CommitteeMemberDraft>(),
            of::<CommitteeMemberPatch>(),
            of::<StatusOrder>(),
            of::<SubjectOrder>(),
            of::<WithdrawalOrder>(),
            of::<GenerationOrder>(),
            of::<SynthesisOrder>(),
        ],
    ),
    ("server", &[]),
    ("common", &[]),
];

/// The schemas of parameters, of requests that are not declared, and of unions, by topic.
const OTHERS: &str = include_str!("others.json");

/// The schema of a form.
const fn of<T: Form>() -> Declared {
    (T::NAME, T::schema)
}

/// All schemas (JSON Schema, 2020-12) by name.
pub(super) fn all() -> Vec<(String, Json)> {
    by_topic().into_iter().flat_map(|(_, schemas)| schemas).collect()
}

/// The schemas of each topic, by name.
pub(super) fn by_topic() -> Topics {
    static ALL: LazyLock<Topics> = LazyLock::new(|| {
        let mut answers = wire::schema::answers();
        let mut others = Json::read(OTHERS.as_bytes()).unwrap_or(Json::Null).into_object();
        let is_served = |topic: &str| cfg!(feature = "committee") || topic != "committee";
        let topics = TOPICS.into_iter().filter(|(topic, _)| is_served(topic));
        topics.map(|topic| complete(topic, &mut answers, &mut others)).collect()
    });
    ALL.clone()
}

/// The schemas of a topic: those of requests, of answers, and others. An answer may contain a request as it was sent.
fn complete(
    (topic, declared): (&'static str, &[Declared]),
    answers: &mut Topics,
    others: &mut Object,
) -> (&'static str, Vec<(String, Json)>) {
    let mut schemas: Vec<_> =
        declared.iter().map(|(name, schema)| ((*name).to_owned(), schema())).collect();
    let derived = answers.iter_mut().filter(|(other, _)| *other == topic);
    let derived = derived.flat_map(|(_, schemas)| std::mem::take(schemas));
    schemas.extend(derived.filter(|(name, _)| declared.iter().all(|(other, _)| other != name)));
    if topic == "server" {
        schemas.push(wire::schema::of::<Manifest<'_>>());
    }
    let others = others.take(topic).unwrap_or(Json::Null).into_object();
    schemas.extend(others.members().map(|(name, schema)| (name.to_owned(), schema.clone())));
    (topic, schemas)
}

/// All schemas, as one object.
pub(crate) fn by_name() -> Object {
    all().into_iter().collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    FormSchema::reference(name)
}
