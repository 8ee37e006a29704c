//! Sessions: each act must be a valid step from the one before it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::archive::{Archive, SessionAside};
use super::found::{Found, Place, or_none, takes_on_file};
use crate::audit::steps::{QUESTION, Step, changed_fields, convening_faults, step_faults};
use crate::domain::json::{Json, Object, printable, printable_json, write};
use crate::domain::{Declaration, Digest, Invalid, Outcome, SessionState, Timestamp};
use crate::rules::takes_may_come;

/// How long after its deadline a session may be sealed, in milliseconds: a server opens it within 15 s.
const MAX_SEALED: i64 = 60_000;

/// The sessions, as the entries so far leave them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sessions {
    pub(super) by_id: BTreeMap<u64, SessionReplay>,
    /// The sessions that are over and were put aside, with the size that the log then had.
    #[serde(default)]
    aside: BTreeMap<u64, u64>,
    /// The sessions of each day and subject that were not withdrawn.
    occasions: BTreeMap<String, BTreeSet<u64>>,
    /// The session whose takes are being opened, one entry each.
    pub(super) opening: Option<u64>,
    /// The session that the next entry has to open.
    #[serde(default)]
    to_open: Option<u64>,
    /// The highest id of a take.
    pub(super) last_take: u64,
    /// The takes whose texts are withheld; `None` if the log was read before these were kept.
    #[serde(default)]
    withheld: Option<BTreeSet<u64>>,
}

/// The most other sessions of a day and subject that are named.
const MAX_OTHERS: usize = 20;

/// A session, as its acts and takes leave it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionReplay {
    /// The version of the last act.
    pub(super) version: u64,
    /// The record after the last act, as the log has it.
    record: String,
    /// The day and the subject.
    occasion: String,
    #[serde(with = "state")]
    pub(super) state: SessionState,
    pub(super) deadline: Option<Timestamp>,
    pub(super) is_blind: bool,
    pub(super) is_opened: bool,
    pub(super) is_withdrawn: bool,
    /// How many takes a member may file, if the session declares it.
    #[serde(default)]
    pub(super) max_revisions: Option<u64>,
    pub(super) filed: Filed,
}

/// The takes of a session, and the members that an act excused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Filed {
    /// The number of takes, counting all revisions.
    pub(super) takes: u64,
    pub(super) last_filed: Option<Timestamp>,
    /// The last revision of each author.
    pub(super) revisions: BTreeMap<String, u64>,
    /// The members that an act excused.
    pub(super) excused: BTreeSet<String>,
    /// The sealed takes that are not opened yet.
    pub(super) sealed: Vec<u64>,
    /// The digests of what was signed. All of each: a member could make two drafts whose digests begin alike.
    #[serde(default)]
    pub(super) digests: BTreeSet<Digest>,
}

/// An act on a session.
struct Act {
    act: String,
    by: String,
    note: Option<String>,
    /// The number of takes that the aggregation says are on file.
    takes: Option<u64>,
    id: u64,
    after: SessionReplay,
    record: Object,
    excuse: Option<(String, bool)>,
}

impl SessionReplay {
    fn record(&self) -> Object {
        Json::read(self.record.as_bytes()).unwrap_or(Json::Null).into_object()
    }

    fn step<'a>(&self, record: &'a Object) -> Step<'a> {
        Step { record, state: self.state, deadline: self.deadline }
    }
}

impl Act {
    fn read(mut fields: Object) -> Result<Self, Invalid> {
        let act = fields.text("act")?;
        let record = fields.take("session").unwrap_or(Json::Null).into_object();
        let mut session = record.clone();
        let id = session.id_if_any("id")?.ok_or_else(|| Invalid::missing("session.id"))?;
        let state = session.text("state")?;
        let state = SessionState::parse(&state)
            .ok_or_else(|| Invalid::new("state", "must be a state of a session"))?;
        let deadline = session.text_if_any("windowClosesAt")?;
        let deadline =
            deadline.map(|time| Timestamp::parse("windowClosesAt", &time)).transpose()?;
        let after = SessionReplay {
            record: write(&record),
            occasion: occasion(&record),
            state,
            deadline,
            is_blind: session.bool_if_any("blind")?.unwrap_or_default(),
            is_opened: session.text_if_any("openedAt")?.is_some(),
            is_withdrawn: act == "withdrawn",
            version: fields.whole_if_any("version")?.ok_or_else(|| Invalid::missing("version"))?,
            max_revisions: session.whole_if_any("maxRevisions")?,
            filed: Filed::default(),
        };
        let excuse = match fields.text_if_any("memberId")? {
            Some(member) => Some((member, fields.bool_if_any("excused")?.unwrap_or_default())),
            None => None,
        };
        Ok(Self {
            act,
            by: fields.text_if_any("by")?.unwrap_or_default(),
            note: fields.text_if_any("note")?,
            takes: fields.whole_if_any("takes")?,
            id,
            after,
            record,
            excuse,
        })
    }

    /// The act for people: what was done, by whom, and with which note.
    fn line(&self, what: &str) -> String {
        let note = self.note.as_ref().map(|note| format!(", note {}", printable(note)));
        let (id, by) = (self.id, printable(&self.by));
        format!("session {id}: {what}, by {by}{}", note.unwrap_or_default())
    }
}

impl Sessions {
    /// Checks that an act is a valid step from the one before, and says what it did.
    pub(super) fn act(
        &mut self,
        place: Place,
        fields: Object,
        archive: &mut Archive,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        let act = Act::read(fields)?;
        self.check_to_open(place, (act.act == "opened").then_some(act.id), found);
        self.recall(act.id, archive, found);
        let before = self.by_id.remove(&act.id);
        match &before {
            None if act.act != "convened" => {
                found.fault(place, &act.line("an act on a session that no entry convened"));
            }
            Some(_) if act.act == "convened" => {
                found.fault(place, &act.line("convened again"));
            }
            Some(before) if before.is_withdrawn => {
                let what = format!("{} after it was withdrawn", printable(&act.act));
                found.fault(place, &act.line(&what));
            }
            _ => {}
        }
        let version = before.as_ref().map_or(0, |before| before.version);
        if act.after.version != version.saturating_add(1) {
            let what = format!("version {} after version {version}", act.after.version);
            found.fault(place, &act.line(&what));
        }
        match &before {
            None => self.convened(place, &act, archive, found),
            Some(before) => {
                let record = before.record();
                for fault in faults_of(before, &record, &act, place) {
                    found.fault(place, &act.line(&fault));
                }
                let (is_notable, what) = described(before, &record, &act, place);
                found.remark(is_notable, place, &act.line(&what));
            }
        }
        self.keep(act, before);
        Ok(())
    }

    fn convened(&mut self, place: Place, act: &Act, archive: &mut Archive, found: &mut Found) {
        let fault = other_convening(act, place);
        for fault in convening_faults(act.after.step(&act.record)).into_iter().chain(fault) {
            found.fault(place, &act.line(&fault));
        }
        let ids = self.occasions.get(&act.after.occasion);
        let number = ids.map_or(0, BTreeSet::len);
        let newest: Vec<_> = ids.into_iter().flatten().rev().take(MAX_OTHERS).copied().collect();
        let mut others = Vec::new();
        for id in newest {
            self.recall(id, archive, found);
            let Some(other) = self.by_id.get(&id) else { continue };
            others.push(format!("session {id}, {}", takes_on_file(other.filed.takes)));
        }
        if others.is_empty() {
            return found.remark(false, place, &act.line("convened"));
        }
        let more = number.saturating_sub(MAX_OTHERS);
        others.extend((more > 0).then(|| format!("and {more} more")));
        let what = format!(
            "convened, another session of its day and subject, after {}",
            others.join("; ")
        );
        found.remark(true, place, &act.line(&what));
    }

    /// Begins to read a log.
    pub(super) fn begin(&mut self) {
        self.withheld = Some(BTreeSet::new());
    }

    /// Reads a mark, which withholds the texts of a take or shows them again.
    pub(super) fn mark(
        &mut self,
        place: Place,
        mut fields: Object,
        is_withheld: bool,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        let id = fields.id_if_any("id")?.ok_or_else(|| Invalid::missing("id"))?;
        let is_change = match &mut self.withheld {
            None => true,
            Some(withheld) if is_withheld => withheld.insert(id),
            Some(withheld) => withheld.remove(&id),
        };
        if id > self.last_take {
            found.fault(place, &format!("a mark of take {id}, which no entry filed"));
        } else if !is_change {
            let done = if is_withheld { "withholds" } else { "restores" };
            found.fault(place, &format!("{done} the texts of take {id} again"));
        }
        Ok(())
    }

    /// Takes a session back that was put aside, if it was.
    pub(super) fn recall(&mut self, id: u64, archive: &mut Archive, found: &mut Found) {
        let Some(size) = self.aside.get(&id).filter(|_| !self.by_id.contains_key(&id)) else {
            return;
        };
        let kept = archive.read(id, *size).and_then(|text| serde_json::from_str(&text).ok());
        match kept {
            Some(session) => drop(self.by_id.insert(id, session)),
            None => found.faults.push(format!("what is kept of session {id} is damaged")),
        }
    }

    /// Puts the sessions that are over aside, at this size of the log. A take can still be filed in one, first ones after an
    /// aggregation, and acts can come: then it is taken back.
    pub(super) fn put_aside(&mut self, size: u64) -> Vec<SessionAside> {
        let opening = self.opening;
        let over = self.by_id.extract_if(.., |id, session| {
            let is_over = session.is_withdrawn || session.state >= SessionState::Aggregated;
            is_over && session.filed.sealed.is_empty() && opening != Some(*id)
        });
        let over: Vec<_> = over.collect();
        let aside = over.into_iter().map(|(id, session)| SessionAside {
            id,
            size,
            before: self.aside.insert(id, size),
            text: serde_json::to_string(&session).unwrap_or_default(),
        });
        aside.collect()
    }

    /// The sessions in which a take of the member could still be filed, with its number of takes.
    pub(super) fn open_to(&self, place: Place, id: &str) -> Vec<String> {
        let open = self.by_id.iter().filter(|(_, session)| {
            let is_ahead = session.deadline.is_none_or(|deadline| deadline >= place.at);
            is_ahead && !session.is_withdrawn && session.state < SessionState::Aggregated
        });
        open.map(|(number, session)| {
            let filed = session.filed.revisions.get(id).copied().unwrap_or_default();
            format!("session {number}, in which the member had filed {filed}")
        })
        .collect()
    }

    /// Called before an entry, which perhaps opens a session: checks that it opens the one that has to be.
    pub(super) fn check_to_open(&mut self, place: Place, opens: Option<u64>, found: &mut Found) {
        if let Some(id) = self.to_open.take().filter(|id| opens != Some(*id)) {
            let text = format!("session {id} was aggregated, and is not opened");
            found.fault(place, &text);
        }
    }

    /// The sessions whose takes are sealed, though their deadline passed more than a minute before.
    pub(super) fn left_sealed(&self, now: Timestamp) -> impl Iterator<Item = String> + '_ {
        let left = move |session: &SessionReplay| {
            let end = session.deadline?.plus_millis(MAX_SEALED);
            let is_sealed = session.is_blind && !session.is_opened && !session.is_withdrawn;
            session.deadline.filter(|_| is_sealed && end < now)
        };
        self.by_id.iter().filter_map(move |(id, session)| {
            let (deadline, on_file) = (left(session)?, takes_on_file(session.filed.takes));
            Some(format!("session {id} is sealed, though its deadline was {deadline}, {on_file}"))
        })
    }

    /// The session in which the member filed a take with these signed bytes before, other than the one of this id.
    pub(super) fn other_with(
        &mut self,
        id: u64,
        signed: Digest,
        archive: &mut Archive,
        found: &mut Found,
    ) -> Option<u64> {
        let occasion = &self.by_id.get(&id)?.occasion;
        let others = self.occasions.get(occasion)?.iter().copied().filter(|other| *other != id);
        let others: Vec<_> = others.collect();
        others.into_iter().find(|other| {
            self.recall(*other, archive, found);
            self.by_id.get(other).is_some_and(|other| other.filed.digests.contains(&signed))
        })
    }

    /// Remembers the session after the act.
    fn keep(&mut self, act: Act, before: Option<SessionReplay>) {
        let was_withdrawn = before.as_ref().is_some_and(|before| before.is_withdrawn);
        let is_withdrawn = was_withdrawn || act.after.is_withdrawn;
        let occasion = self.occasions.entry(act.after.occasion.clone()).or_default();
        if is_withdrawn {
            occasion.remove(&act.id)
        } else {
            occasion.insert(act.id)
        };
        let mut filed = before.map_or_else(Filed::default, |it| it.filed);
        match act.excuse {
            Some((member, true)) => filed.excused.insert(member),
            Some((member, false)) => filed.excused.remove(&member),
            None => false,
        };
        if act.act == "opened" && !filed.sealed.is_empty() {
            self.opening = Some(act.id);
        }
        let is_sealed = act.after.is_blind && !act.after.is_opened;
        if act.act == "state" && act.after.state == SessionState::Aggregated && is_sealed {
            self.to_open = Some(act.id);
        }
        let kept = SessionReplay { is_withdrawn, filed, ..act.after };
        self.by_id.insert(act.id, kept);
    }
}

/// The day and the subject of a session.
fn occasion(record: &Object) -> String {
    let fields = record.members().filter(|(name, _)| matches!(*name, "date" | "subjectId"));
    fields.map(|(_, value)| write(value)).collect::<Vec<_>>().join(" ")
}

/// Why no outcome may be recorded of a session.
fn early_outcome(before: &SessionReplay, record: &Object, place: Place) -> Option<String> {
    let why = if is_given(record, "practice") {
        "though it is for practice"
    } else if is_given(record, "voided") {
        "though it is void"
    } else if takes_may_come(before.deadline, place.at) {
        "before its window was over"
    } else {
        return None;
    };
    Some(format!("outcome recorded {why}"))
}

/// That the outcome of a session is not on the scale of its stances, or has another time than that of its recording.
fn unlikely_outcome(before: &SessionReplay, record: &Object, place: Place) -> Option<String> {
    let mut record = record.clone();
    let declaration = Declaration::read(&mut record).ok()?;
    let outcome = Outcome::read(&mut record.take("outcome")?.into_object()).ok()?;
    let at = outcome.recorded_at;
    if at > place.at || (before.deadline.is_some() && takes_may_come(before.deadline, at)) {
        return Some(format!("outcome with the time {at}"));
    }
    let value = outcome.value?;
    let is_off = value.check(declaration.scale()).is_err();
    let value = value.get();
    is_off.then(|| format!("outcome {value}, which is not on the scale of its stances"))
}

/// That a session was convened at another time than its record says.
fn other_convening(act: &Act, place: Place) -> Option<String> {
    let convened = time(&act.record, "convenedAt");
    (convened != Some(place.at)).then(|| format!("convenedAt is {}", or_none(convened)))
}

/// That the act sets a time later than its own. It is read before the commit, so it may be earlier.
fn later_time(record: &Object, act: &Act, place: Place) -> Option<String> {
    let set = ["openedAt", "publishedAt"].map(|field| (field, time(&act.record, field)));
    let mut set = set.into_iter().filter(|(field, it)| time(record, field) != *it);
    let (field, at) = set.find(|(_, it)| it.is_some_and(|it| it > place.at))?;
    Some(format!("{field} is {}", or_none(at)))
}

/// A time of a record, if it has it.
fn time(record: &Object, field: &'static str) -> Option<Timestamp> {
    let text = record.clone().text_if_any(field).ok().flatten()?;
    Timestamp::parse(field, &text).ok()
}

/// Why the act is not a valid step from the session before it and the takes in it.
fn faults_of(before: &SessionReplay, record: &Object, act: &Act, place: Place) -> Vec<String> {
    let after = act.after.step(&act.record);
    let mut faults = step_faults(before.step(record), &act.act, place.at, after);
    let changed = changed_fields(record, &act.record);
    let takes = before.filed.takes;
    if changed.iter().any(|field| QUESTION.contains(field)) && takes > 0 {
        faults.push(format!("question changed with {}", takes_on_file(takes)));
    }
    faults.extend(later_time(record, act, place));
    if act.act == "outcome" {
        faults.extend(early_outcome(before, record, place));
        faults.extend(unlikely_outcome(before, &act.record, place));
    }
    let aggregates = act.after.state == SessionState::Aggregated && act.act == "state";
    if aggregates && act.takes != Some(takes) {
        let says = or_none(act.takes);
        faults.push(format!("aggregated over {says} takes, {takes} are on file"));
    }
    if !aggregates && act.takes.is_some() {
        faults.push(format!("{} has a number of takes", printable(&act.act)));
    }
    if !before.filed.sealed.is_empty() && !before.is_opened {
        faults.extend(changed_while_sealed(before, &changed, act, place));
    }
    match (&*act.act, &act.excuse) {
        ("excuse", None) => faults.push("excuse of no member".to_owned()),
        ("excuse", Some(_)) | (_, None) => {}
        (name, Some((member, _))) => {
            faults.push(format!("{} excuses {}", printable(name), printable(member)));
        }
    }
    if act.act == "withdrawn" && takes > 0 {
        faults.push(format!("withdrawn with {}", takes_on_file(takes)));
    }
    if act.act == "deadline"
        && let (Some(deadline), Some(filed)) = (act.after.deadline, before.filed.last_filed)
        && filed > deadline
    {
        faults.push(format!("moved the deadline to {deadline}, before a take of {filed}"));
    }
    faults
}

/// What the act changed although takes are sealed: an operator who reads the store knows what it changes.
fn changed_while_sealed(
    before: &SessionReplay,
    changed: &[&str],
    act: &Act,
    place: Place,
) -> Option<String> {
    let fixed = changed.iter().find(|field| matches!(**field, "quorum" | "rosterDigest"));
    let is_shortened =
        before.deadline.is_some_and(|old| act.after.deadline.is_none_or(|new| new < old));
    let is_early = before.deadline.is_some_and(|deadline| place.at <= deadline)
        && before.state < SessionState::Aggregated
        && act.after.state >= SessionState::Aggregated;
    let what = match fixed {
        Some(field) => format!("{} changed", printable(field)),
        None if is_shortened => "deadline cleared or moved earlier".to_owned(),
        None if is_early => "aggregated before its deadline".to_owned(),
        None => return None,
    };
    Some(format!("{what} while takes are sealed"))
}

/// Whether a record has a field that is not `null`.
fn is_given(record: &Object, name: &str) -> bool {
    record.get(name).is_some_and(|value| *value != Json::Null)
}

/// A field of a record, for people.
fn field(record: &Object, name: &str) -> String {
    match record.get(name) {
        None | Some(Json::Null) => "none".to_owned(),
        Some(value) => printable_json(&write(value)),
    }
}

/// What the act did, and whether it is notable.
fn described(before: &SessionReplay, record: &Object, act: &Act, place: Place) -> (bool, String) {
    let (is_notable, mut text) = described_act(before, record, act, place);
    let (old, new) = (field(record, "quorum"), field(&act.record, "quorum"));
    if act.act == "quorum" || old == new {
        return (is_notable, text);
    }
    text.push_str(&format!(", and quorum from {old} to {new}"));
    (is_notable || before.filed.takes > 0, text)
}

fn described_act(
    before: &SessionReplay,
    record: &Object,
    act: &Act,
    place: Place,
) -> (bool, String) {
    let change = |name: &str| (field(record, name), field(&act.record, name));
    let on_file = takes_on_file(before.filed.takes);
    let has_takes = before.filed.takes > 0;
    match &*act.act {
        "deadline" => {
            let (old, new) = (before.deadline, act.after.deadline);
            let when = match (old, new) {
                _ if before.state >= SessionState::Aggregated => ", after aggregation",
                (Some(old), _) if place.at > old => ", after it had passed",
                (_, Some(new)) if new < place.at => ", to a time that had passed",
                (Some(_), None) => ", so that there is none",
                (Some(old), Some(new)) if new < old => ", earlier",
                _ => "",
            };
            let (old, new) = (or_none(old), or_none(new));
            (true, format!("deadline moved from {old} to {new}{when}, {on_file}"))
        }
        "state" if act.after.state == SessionState::Aggregated => {
            let early = before.deadline.filter(|deadline| place.at <= *deadline);
            let early = early.map(|deadline| format!(", before its deadline {deadline}"));
            (early.is_some(), format!("state aggregated{}, {on_file}", early.unwrap_or_default()))
        }
        "state" => (false, format!("state {}", act.after.state)),
        "quorum" => {
            let (old, new) = change("quorum");
            (has_takes && old != new, format!("quorum from {old} to {new}, {on_file}"))
        }
        "roster" => {
            let (old, new) = change("rosterDigest");
            (has_takes, format!("roster from {old} to {new}, {on_file}"))
        }
        "excuse" => {
            let (member, excused) = act.excuse.clone().unwrap_or_default();
            let filed = before.filed.revisions.get(&member).copied().unwrap_or_default();
            let member = printable(&member);
            let what = if excused { "excused" } else { "expected again" };
            let effect = match (filed, excused) {
                (0, _) => String::new(),
                (_, true) => ", whose take counts no more".to_owned(),
                (_, false) => ", whose take counts again".to_owned(),
            };
            (has_takes, format!("{member} {what}{effect}, {on_file}"))
        }
        "void" => (true, format!("voided, {on_file}")),
        "outcome" => {
            let (old, new) = change("outcome");
            (old != "none", format!("outcome from {old} to {new}"))
        }
        "convened" | "brief" | "withdrawn" | "opened" | "question" => (false, act.act.clone()),
        other => (true, format!("act {}, which this version does not know", printable(other))),
    }
}

/// The state of a session as its name.
mod state {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::SessionState;

    pub(super) fn serialize<S: Serializer>(state: &SessionState, to: S) -> Result<S::Ok, S::Error> {
        state.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<SessionState, D::Error> {
        let name = String::deserialize(from)?;
        SessionState::parse(&name).ok_or_else(|| D::Error::custom("no state of a session"))
    }
}
