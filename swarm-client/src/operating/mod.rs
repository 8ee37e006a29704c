//! Requests of operators (API.md, 7, 8.8 and 15).

mod committee;

use std::fmt;

use serde::Serialize;
use swarm_core::answers::{
    Applications, OperatorActs, Outbox, QueuedMessage, Status, WebhookDelivery, Webhooks,
};
use swarm_core::domain::{
    Acceptance, Actor, Brief, BriefOrder, DeliveryId, DeliveryState, Erasure, ExcuseOrder,
    KeyRotation, MailAddress, MemberName, MemberState, MemberUpdate, MemoId, MessageId, Note,
    NoteAlone, Noted, OutcomeDraft, Regime, RosterFreeze, SessionDraft, SessionPatch, Signal,
    StateChange, Subject, SubjectId, SubjectSnapshotDraft, SubjectSnapshotId, WebhookName,
    Withholding,
};
use swarm_core::json::{Json, Object};
use swarm_core::{MemberId, Session, SessionId, TakeId, Timestamp};

use crate::connection::{Client, Credential};
use crate::error::{Error, unreadable};
use crate::reading::{path_segment, read_brief};
use crate::served::{ServedTake, answer, served_take};

/// A client with the token of an operator.
///
/// A change is sent once, without retries: after [`Error::NoAnswer`], read whether it was made. A request that takes a note
/// is given as [`Noted`], or alone if there is none.
///
/// ```no_run
/// use swarm_client::Client;
/// use swarm_core::Timestamp;
/// use swarm_core::domain::{BriefOrder, Day, SessionDraft, SessionState, StateChange, SubjectId};
///
/// fn run(client: &Client, token: &str, closes: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
///     let operator = client.operator(token);
///     let mut draft = SessionDraft::new(Day::parse("2026-11-21")?, SubjectId::parse("aurora")?);
///     draft.window_closes_at = Some(closes);
///     let session = operator.convene(draft)?;
///     operator.publish_brief(session.id, BriefOrder::default())?;
///     // When its window has closed:
///     operator.advance(session.id, StateChange { state: SessionState::Aggregated, end_window: false })?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy)]
pub struct OperatorClient<'a> {
    client: &'a Client,
    token: &'a str,
}

impl Client {
    /// Returns a client for requests of the operator with this token.
    pub fn operator<'a>(&'a self, token: &'a str) -> OperatorClient<'a> {
        OperatorClient { client: self, token }
    }
}

/// Any request.
impl OperatorClient<'_> {
    /// Sends a GET, with retries while there is no answer.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn get(&self, path: &str) -> Result<Json, Error> {
        self.client.get_as(path, Credential::Operator(self.token))
    }

    /// Sends a change: `POST` or `PATCH`, a path, the body.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn send(&self, method: &str, path: &str, body: &impl Serialize) -> Result<Object, Error> {
        self.client.send(method, path, Credential::Operator(self.token), body)
    }

    fn post(&self, path: &str, body: &impl Serialize) -> Result<Object, Error> {
        self.send("POST", &format!("/api/swarm/admin{path}"), body)
    }
}

/// Members and their applications.
impl OperatorClient<'_> {
    /// Returns a page of at most 500 members with their applications, by id: those after the id `after`, in this state if one
    /// is given.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn applications(
        &self,
        state: Option<MemberState>,
        after: Option<&MemberId>,
    ) -> Result<Applications, Error> {
        let state = state.map_or_else(String::new, |state| format!("&state={state}"));
        let after =
            after.map_or_else(String::new, |id| format!("&after={}", path_segment(id.as_str())));
        answer(self.get(&format!("/api/swarm/admin/applications?limit=500{state}{after}"))?)
    }

    /// Lets an applicant in, or a member in again. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn activate(&self, member: &MemberId) -> Result<MemberState, Error> {
        self.review("activate", &named(member))
    }

    /// Turns an applicant down. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn reject(&self, member: &MemberId) -> Result<MemberState, Error> {
        self.review("reject", &named(member))
    }

    /// Shuts a member out: its token resolves no more. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn deactivate(&self, member: &MemberId) -> Result<MemberState, Error> {
        self.review("deactivate", &named(member))
    }

    /// Lets a member that lost its token claim a new one with its key. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn reset_claim(&self, member: &MemberId) -> Result<MemberState, Error> {
        self.review("reset-claim", &named(member))
    }

    /// Changes the name, the contact or the lens of a member. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn update_member(&self, update: &MemberUpdate) -> Result<MemberState, Error> {
        self.review("members/update", update)
    }

    /// Erases what a member that is not active said of itself, for good. Returns its state.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn erase(&self, erasure: &Erasure) -> Result<MemberState, Error> {
        self.review("erase", erasure)
    }

    /// Gives a member a new token, and a new key where one is given. Returns the token, which is shown this once.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn rotate_key(&self, rotation: &KeyRotation) -> Result<String, Error> {
        self.post("/rotate-key", rotation)?.text("token").map_err(unreadable)
    }

    fn review(&self, act: &str, body: &impl Serialize) -> Result<MemberState, Error> {
        Ok(self.post(&format!("/{act}"), body)?.take_as("state")?)
    }
}

/// Subjects and the material of briefs.
impl OperatorClient<'_> {
    /// Adds a subject, or replaces the one with its id. Returns it as it is kept.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn save_subject(&self, subject: &Subject) -> Result<Subject, Error> {
        let saved = self.post("/subjects", subject)?.take("subject").unwrap_or(Json::Null);
        Subject::read(&mut saved.into_object()).map_err(unreadable)
    }

    /// Adds a snapshot of a subject. Returns its id.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn add_snapshot(
        &self,
        subject: &SubjectId,
        snapshot: &SubjectSnapshotDraft,
    ) -> Result<SubjectSnapshotId, Error> {
        let path = format!("/subjects/{}/snapshots", path_segment(subject.as_str()));
        let added = self.post(&path, snapshot)?.take("snapshot").unwrap_or(Json::Null);
        Ok(added.into_object().take_as("id")?)
    }

    /// Writes the regime of a day, or replaces it.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn save_regime(&self, regime: &Regime) -> Result<(), Error> {
        self.post("/regime", regime).map(drop)
    }

    /// Writes a research signal of a day, or replaces it.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn save_signal(&self, signal: &Signal) -> Result<(), Error> {
        self.post("/signals", signal).map(drop)
    }

    /// Retracts a memo.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn retract_memo(&self, memo: MemoId) -> Result<(), Error> {
        self.post(&format!("/memos/{memo}/retract"), &NoFields {}).map(drop)
    }
}

/// Sessions.
impl OperatorClient<'_> {
    /// Convenes a session.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn convene(&self, session: impl Into<Noted<SessionDraft>>) -> Result<Session, Error> {
        Ok(self.post("/sessions", &session.into())?.take_as("session")?)
    }

    /// Changes the deadline, the quorum or the question of a session.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn amend_session(
        &self,
        session: SessionId,
        patch: impl Into<Noted<SessionPatch>>,
    ) -> Result<Session, Error> {
        let path = format!("/api/swarm/admin/sessions/{session}");
        Ok(self.send("PATCH", &path, &patch.into())?.take_as("session")?)
    }

    /// Advances the state of a session.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn advance(
        &self,
        session: SessionId,
        change: impl Into<Noted<StateChange>>,
    ) -> Result<Session, Error> {
        self.change_session(session, "state", &change.into())
    }

    /// Freezes the roster of a session, once.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn freeze_roster(
        &self,
        session: SessionId,
        roster: impl Into<Noted<RosterFreeze>>,
    ) -> Result<Session, Error> {
        self.change_session(session, "roster", &roster.into())
    }

    /// Excuses a member of the roster of a session, or undoes that.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn excuse(
        &self,
        session: SessionId,
        order: impl Into<Noted<ExcuseOrder>>,
    ) -> Result<Session, Error> {
        self.change_session(session, "roster/excuse", &order.into())
    }

    /// Publishes the brief of a session, or replaces it while no take is on file.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn publish_brief(
        &self,
        session: SessionId,
        order: impl Into<Noted<BriefOrder>>,
    ) -> Result<Brief, Error> {
        let mut published = self.post(&format!("/sessions/{session}/brief"), &order.into())?;
        read_brief(published.take("brief").unwrap_or(Json::Null).into_object())
    }

    /// Records the outcome of a session, or annuls it.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn record_outcome(
        &self,
        session: SessionId,
        outcome: impl Into<Noted<OutcomeDraft>>,
    ) -> Result<Session, Error> {
        self.change_session(session, "outcome", &outcome.into())
    }

    /// Withdraws a session without takes: it is as if it had never been convened.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn withdraw_session(
        &self,
        session: SessionId,
        note: Option<Note>,
    ) -> Result<Session, Error> {
        self.change_session(session, "withdraw", &NoteAlone { note })
    }

    /// Voids an aggregated session: it counts for nothing from now on.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn void_session(&self, session: SessionId, note: Note) -> Result<Session, Error> {
        self.change_session(session, "void", &NoteAlone { note: Some(note) })
    }

    /// Withholds the write-up and the memo address of a take from the public.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn withhold(&self, take: TakeId, note: Note) -> Result<ServedTake, Error> {
        served_take(self.post(&format!("/takes/{take}/withhold"), &Withholding { note })?)
    }

    /// Shows the texts of a take that was withheld again.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn restore(&self, take: TakeId, note: Option<Note>) -> Result<ServedTake, Error> {
        served_take(self.post(&format!("/takes/{take}/restore"), &NoteAlone { note })?)
    }

    fn change_session(
        &self,
        session: SessionId,
        act: &str,
        body: &impl Serialize,
    ) -> Result<Session, Error> {
        Ok(self.post(&format!("/sessions/{session}/{act}"), body)?.take_as("session")?)
    }
}

/// Messages to members.
impl OperatorClient<'_> {
    /// Returns a page of at most 500 messages, by id: those after the id `after`.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn outbox(&self, after: Option<MessageId>) -> Result<Outbox, Error> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        answer(self.get(&format!("/api/swarm/admin/outbox?limit=500{after}"))?)
    }

    /// Queues a message again that is not sent.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn retry_message(&self, message: MessageId) -> Result<QueuedMessage, Error> {
        Ok(self.post(&format!("/outbox/{message}/retry"), &NoFields {})?.take_as("message")?)
    }

    /// Gives up a message that is not sent.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn cancel_message(&self, message: MessageId) -> Result<QueuedMessage, Error> {
        Ok(self.post(&format!("/outbox/{message}/cancel"), &NoFields {})?.take_as("message")?)
    }

    /// Queues a message that tests the delivery to an address.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn test_mail(&self, address: impl Into<String>) -> Result<QueuedMessage, Error> {
        let address = MailAddress { address: address.into() };
        Ok(self.post("/mail/test", &address)?.take_as("message")?)
    }
}

/// Webhooks.
impl OperatorClient<'_> {
    /// Returns the webhooks, and a page of at most 500 deliveries to them, the newest first: those with ids below `before`,
    /// in this state if one is given.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn webhooks(
        &self,
        state: Option<DeliveryState>,
        before: Option<DeliveryId>,
    ) -> Result<Webhooks, Error> {
        let state = state.map_or_else(String::new, |state| format!("&state={}", state.as_str()));
        let before = before.map_or_else(String::new, |id| format!("&before={id}"));
        answer(self.get(&format!("/api/swarm/admin/webhooks?limit=500{state}{before}"))?)
    }

    /// Queues an event that tests a webhook, by its URL.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn test_webhook(&self, url: impl Into<String>) -> Result<WebhookDelivery, Error> {
        Ok(self.post("/webhooks/test", &WebhookName { url: url.into() })?.take_as("delivery")?)
    }

    /// Queues a delivery again.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn retry_delivery(&self, delivery: DeliveryId) -> Result<WebhookDelivery, Error> {
        Ok(self.post(&format!("/webhooks/{delivery}/retry"), &NoFields {})?.take_as("delivery")?)
    }
}

/// The state of the service.
impl OperatorClient<'_> {
    /// Accepts what the server refuses to go on with: its clock, its store, or its key.
    ///
    /// # Errors
    /// [`Error`], as of every call; refused with the code `nothing-to-accept` where nothing is wrong.
    pub fn accept(&self, acceptance: &Acceptance) -> Result<(), Error> {
        self.post("/accept", acceptance).map(drop)
    }

    /// Returns what waits for an operator, and how the server is.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn status(&self) -> Result<Status, Error> {
        answer(self.get("/api/swarm/admin/status")?)
    }

    /// Returns a page of at most 500 acts of operators in the last 400 days, the latest first: those before the time `before`,
    /// of this operator if one is given.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn acts(
        &self,
        by: Option<&Actor>,
        before: Option<Timestamp>,
    ) -> Result<OperatorActs, Error> {
        let by = by.map_or_else(String::new, |by| format!("&by={}", path_segment(by.as_str())));
        let before = before.map_or_else(String::new, |at| format!("&before={at}"));
        answer(self.get(&format!("/api/swarm/admin/acts?limit=500{by}{before}"))?)
    }
}

impl fmt::Debug for OperatorClient<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorClient").field("client", self.client).finish_non_exhaustive()
    }
}

/// The body of a request without fields.
#[derive(Serialize)]
struct NoFields {}

fn named(member: &MemberId) -> MemberName {
    MemberName { member_id: member.clone() }
}
