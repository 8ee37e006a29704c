//! The JSON schemas of all bodies. Requests have an example; all signed examples are signed with one key. The schemas of most
//! requests are declared with the types that are read from them ([`Form`]); all others are written by hand.

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

/// The name of a schema, and the function that makes it.
type Declared = (&'static str, fn() -> Json);

/// The schemas by topic, in the order of the reference: those that are declared where their fields are read, and the text of
/// the others.
const TOPICS: [(&str, &[Declared], &str); 9] = [
    ("takes", &[of::<Withholding>()], include_str!("takes.json")),
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
        include_str!("sessions.json"),
    ),
    ("scores", &[of::<Noted<OutcomeDraft>>()], include_str!("scores.json")),
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
        include_str!("members.json"),
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
        include_str!("documents.json"),
    ),
    ("log", &[of::<Acceptance>()], include_str!("log.json")),
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
        include_str!("committee.json"),
    ),
    ("server", &[], include_str!("server.json")),
    ("common", &[], include_str!("common.json")),
];

/// The schema of a form.
const fn of<T: Form>() -> Declared {
    (T::NAME, T::schema)
}

/// All schemas (JSON Schema, 2020-12) by name.
pub(super) fn all() -> Vec<(String, Json)> {
    by_topic().into_iter().flat_map(|(_, schemas)| schemas).collect()
}

/// The schemas of each topic, by name.
pub(super) fn by_topic() -> Vec<(&'static str, Vec<(String, Json)>)> {
    let of = |(topic, declared, others): (_, &[Declared], &str)| {
        let declared = declared.iter().map(|(name, schema)| ((*name).to_owned(), schema()));
        (topic, declared.chain(of_file(others)).collect())
    };
    TOPICS.into_iter().map(of).collect()
}

/// All schemas, as one object.
pub(crate) fn by_name() -> Object {
    all().into_iter().collect()
}

fn of_file(file: &str) -> Vec<(String, Json)> {
    let schemas = Json::read(file.as_bytes()).unwrap_or(Json::Null).into_object();
    schemas.members().map(|(name, schema)| (name.to_owned(), schema.clone())).collect()
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Json {
    FormSchema::reference(name)
}
