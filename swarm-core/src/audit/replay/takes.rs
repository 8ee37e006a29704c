//! Takes, and the openings of sealed ones.

use super::archive::Archive;
use super::found::{Found, Place, or_none};
use super::members::Members;
use super::sessions::{SessionReplay, Sessions};
use crate::domain::json::{Object, printable};
use crate::domain::{Digest, Invalid, Revision, SessionState, Timestamp};

impl Sessions {
    /// Checks that a take was accepted by the rules: in a session that stood, within the deadline in force, judged under the
    /// version in force, by the key that the log registered for its author, and as the author's next revision.
    pub(super) fn take(
        &mut self,
        place: Place,
        mut fields: Object,
        members: &Members,
        archive: &mut Archive,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        let id = fields.id_if_any("id")?.ok_or_else(|| Invalid::missing("id"))?;
        let session_id =
            fields.id_if_any("sessionId")?.ok_or_else(|| Invalid::missing("sessionId"))?;
        let version = fields.whole_if_any("sessionVersion")?;
        let member = fields.text("memberId")?;
        let revision = fields.whole_if_any("revision")?.unwrap_or_default();
        let key = fields.text("publicKey")?;
        let is_sealed = fields.has("sealed");
        let signed = digest(&mut fields)?;
        let by = printable(&member);
        let name = format!("take {id} of session {session_id} by {by}");
        if id <= self.last_take {
            found.fault(place, &format!("{name} has an id that is not the next one"));
        }
        self.last_take = self.last_take.max(id);
        if let Some(fault) = members.fault_of(&member, &key) {
            found.fault(place, &format!("{name}: {fault}"));
        }
        self.recall(session_id, archive, found);
        self.check_signed(place, &name, (session_id, signed), archive, found);
        let Some(session) = self.by_id.get_mut(&session_id) else {
            found.fault(place, &format!("{name}: no entry convened the session"));
            return Ok(());
        };
        for fault in session.take_faults(place.at, version, is_sealed) {
            found.fault(place, &format!("{name} {fault}"));
        }
        if session.filed.excused.contains(&member) {
            found.fault(place, &format!("{name}, who was excused"));
        }
        let last = session.filed.revisions.insert(member, revision).unwrap_or_default();
        if revision != last + 1 {
            let text = format!("{name} is revision {revision}, the one before was {last}");
            found.fault(place, &text);
        }
        let cap = session.max_revisions.unwrap_or(Revision::CAP.get().into());
        if revision > cap {
            let text = format!("{name} is revision {revision}, and the session allows {cap}");
            found.fault(place, &text);
        }
        if revision > 1 && session.state >= SessionState::Aggregated {
            found.fault(place, &format!("{name} amends after the session was aggregated"));
        }
        session.filed.takes += 1;
        session.filed.last_filed = Some(place.at);
        if is_sealed {
            session.filed.sealed.push(id);
        }
        Ok(())
    }

    /// Checks that an opening is that of the next sealed take of the session that is being opened.
    pub(super) fn opening(
        &mut self,
        place: Place,
        mut fields: Object,
        archive: &mut Archive,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        let id = fields.id_if_any("id")?.ok_or_else(|| Invalid::missing("id"))?;
        if let Some(session) = self.opening {
            let signed = digest(&mut fields)?;
            let name = format!("take {id} of session {session}");
            self.check_signed(place, &name, (session, signed), archive, found);
        }
        let session = self.opening.and_then(|session| self.by_id.get_mut(&session));
        let next = session.as_ref().and_then(|session| session.filed.sealed.first().copied());
        if next != Some(id) {
            let next = or_none(next);
            found.fault(place, &format!("opens take {id}; the next one to open is {next}"));
        }
        if let Some(session) = session {
            session.filed.sealed.retain(|sealed| *sealed != id);
            if session.filed.sealed.is_empty() {
                self.opening = None;
            }
        }
        Ok(())
    }

    /// Checks that what the member signed was not filed before, in this session or another one of the day and subject, and
    /// remembers it. Nonces are spent once, so an operator has filed it again.
    fn check_signed(
        &mut self,
        place: Place,
        name: &str,
        (session, signed): (u64, Option<Digest>),
        archive: &mut Archive,
        found: &mut Found,
    ) {
        let Some(signed) = signed else { return };
        if let Some(other) = self.other_with(session, signed, archive, found) {
            found.fault(place, &format!("{name} was filed before, in session {other}"));
        }
        if let Some(session) = self.by_id.get_mut(&session)
            && !session.filed.digests.insert(signed)
        {
            found.fault(place, &format!("{name} was filed before, in this session"));
        }
    }

    /// Called before an entry of another kind: checks that no takes are left to be opened.
    pub(super) fn check_opening(&mut self, place: Place, found: &mut Found) {
        if let Some(session) = self.opening.take() {
            let left = self.by_id.get(&session).map_or(0, |session| session.filed.sealed.len());
            let text = format!("session {session} was opened, and {left} of its takes were not");
            found.fault(place, &text);
        }
    }
}

/// The digest of what was signed, if the entry has one.
fn digest(fields: &mut Object) -> Result<Option<Digest>, Invalid> {
    Ok(fields.text_if_any("digest")?.and_then(|digest| Digest::parse(digest).ok()))
}

impl SessionReplay {
    /// Why the session cannot have accepted a take at this moment.
    fn take_faults(&self, at: Timestamp, version: Option<u64>, is_sealed: bool) -> Vec<String> {
        let mut faults = Vec::new();
        if self.is_withdrawn {
            faults.push("was filed after the session was withdrawn".to_owned());
        }
        if let Some(deadline) = self.deadline.filter(|deadline| at > *deadline) {
            faults.push(format!("was filed after the deadline in force, {deadline}"));
        }
        if version != Some(self.version) {
            let (judged, in_force) = (or_none(version), self.version);
            faults.push(format!(
                "was judged under version {judged} of the session; in force was version {in_force}"
            ));
        }
        let must_be_sealed = self.is_blind && !self.is_opened;
        if is_sealed != must_be_sealed {
            let is = if is_sealed { "is sealed" } else { "is not sealed" };
            faults.push(format!("{is}, against the session"));
        }
        faults
    }
}
