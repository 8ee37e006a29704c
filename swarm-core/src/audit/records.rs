//! The records of a bundle: the session, its takes, and the keys that verified them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::bundle::Bundle;
use super::finding::{Check, Faults, Report, count};
use super::logged_digests::LoggedDigests;
use crate::domain::json::{Json, Object, RawJson, printable, printable_json, write};
use crate::domain::{Declaration, MemberId, Nonce, Revision, Session, SessionId, Take, TakeId};
use crate::proof::verify;
use crate::records::{self, Record};

/// A take of a bundle.
pub(super) struct BundledTake {
    pub(super) take: Arc<Take>,
    superseded_by: Option<Json>,
}

/// Maximum number of unknown fields that are named.
const MAX_UNKNOWN: usize = 100;

/// Reads the session and its takes. A record that cannot be read is reported as a fault, and skipped. A session other than
/// the one that was asked for is reported as a fault, and read.
pub(super) fn read(
    bundle: &Bundle<'_>,
    asked: Option<SessionId>,
    report: &mut Report,
) -> (Option<Session>, Vec<BundledTake>) {
    let (mut faults, mut unknown) = (Faults::default(), BTreeSet::new());
    let fields = bundle.session.to_object();
    let session = exact::<Session>(fields, bundle.session, &[], &mut unknown, &mut |fault| {
        faults.push(format!("the session: {fault}"));
    });
    let got = session.as_ref().map(|session| session.id);
    if let (Some(asked), Some(got)) = (asked, got)
        && asked != got
    {
        faults.push(format!("asked for session {asked}, got session {got}"));
    }
    let mut takes: Vec<BundledTake> = Vec::new();
    let digests = LoggedDigests::of(bundle);
    for raw in bundle.takes() {
        let mut fields = raw.to_object();
        digests.complete(&mut fields);
        let id = fields.get("id").map(write);
        let id = id.map_or_else(|| "null".to_owned(), |id| printable_json(&id));
        let mut fault = |fault| faults.push(format!("take {id}: {fault}"));
        let superseded_by = fields.clone().take("supersededBy");
        let Some(take) = exact_take(fields, &mut unknown, &mut fault) else { continue };
        if let Some(last) = takes.last().filter(|last| last.take.id >= take.id) {
            fault(format!("stands after take {}", last.take.id));
        }
        if let Some(session) = &session {
            misplacement(&take, session).into_iter().for_each(&mut fault);
        }
        takes.push(BundledTake { take: Arc::new(take), superseded_by });
    }
    let mut holds = session.as_ref().map_or_else(|| "the session".to_owned(), named);
    if !takes.is_empty() {
        holds.push_str(&format!(" and {}", count(takes.len(), "take", "takes")));
    }
    report.conclude(Check::Record, faults, holds);
    if !unknown.is_empty() {
        let more = if unknown.len() < MAX_UNKNOWN { "" } else { " and perhaps more" };
        let names = unknown.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", ");
        report.unproven(
            Check::Unknown,
            format!("fields that this version does not know: {names}{more}"),
        );
    }
    (session, takes)
}

/// The id, the day and the subject of a session, for people.
fn named(session: &Session) -> String {
    let Session { id, date, subject_id, .. } = session;
    format!("session {id} of {date} and {}", printable(subject_id.as_str()))
}

/// Reads a take from its fields, like [`exact`].
pub(super) fn exact_take(
    fields: Object,
    unknown: &mut BTreeSet<String>,
    fault: &mut impl FnMut(String),
) -> Option<Take> {
    let text = write(&fields);
    let source = RawJson::read(text.as_bytes()).map_err(|error| fault(error.to_string())).ok()?;
    exact(fields, source, &["supersededBy"], unknown, fault)
}

/// Reads a record from its fields. Each field of the text that they were read from, `source`, must be exactly what the service
/// writes, because texts are signed and hashed. Unknown fields are collected in `unknown`.
fn exact<T: Record>(
    fields: Object,
    source: RawJson<'_>,
    also: &[&str],
    unknown: &mut BTreeSet<String>,
    fault: &mut impl FnMut(String),
) -> Option<T> {
    let record = records::read::<T>(fields);
    let record = record.map_err(|error| fault(printed(&error))).ok()?;
    let text = record.to_text();
    let written = RawJson::read(text.as_bytes()).map_err(|error| fault(error.to_string())).ok()?;
    let written: Vec<_> = written.members().collect();
    let mut same = vec![false; written.len()];
    for (name, value) in source.members() {
        let known = written.iter().position(|(field, _)| *field == name);
        if let Some((_, expected)) = known.and_then(|place| written.get(place)) {
            let is_same = value == *expected || write(&value.to_json()) == expected.as_str();
            if let Some(place) = known.and_then(|place| same.get_mut(place)) {
                *place = is_same;
            }
        } else if value.as_str() != "null" && !also.contains(&&*name) && unknown.len() < MAX_UNKNOWN
        {
            unknown.insert(name.into_owned());
        }
    }
    for ((name, _), is_same) in written.iter().zip(same) {
        if !is_same {
            fault(format!("{name} is not written as the service writes it"));
        }
    }
    Some(record)
}

fn printed(error: &impl std::fmt::Display) -> String {
    let text = printable(&error.to_string());
    text.trim_matches('"').to_owned()
}

/// Why a take does not belong to this session; `None` if it does.
fn misplacement(take: &Take, session: &Session) -> Option<String> {
    let draft = take.draft();
    if take.session_id != session.id {
        return Some(format!("is of session {}, not {}", take.session_id, session.id));
    }
    if draft.date != session.date || draft.subject_id != session.subject_id {
        return Some("is of another day or subject than the session".to_owned());
    }
    None
}

/// The takes that have their texts, and those without, of which nothing that was signed can be checked.
fn whole_and_withheld(takes: &[BundledTake]) -> (Vec<&Take>, Vec<&Take>) {
    takes.iter().map(|it| &*it.take).partition(|take| take.has_texts())
}

/// Concludes a check of a signed field. Of takes without texts it was read, and may not be what was signed.
fn conclude_on_signed(
    check: Check,
    takes: &[BundledTake],
    faults: Faults,
    holds: String,
    report: &mut Report,
) {
    let (whole, withheld) = whole_and_withheld(takes);
    let among = if withheld.is_empty() { "" } else { ", among the takes whose texts are shown" };
    report.conclude(check, faults, (!whole.is_empty()).then(|| format!("{holds}{among}")));
    if !withheld.is_empty() {
        let (field, withheld) = (check.code(), count(withheld.len(), "take has", "takes have"));
        let text = format!("that {withheld} the {field} that was signed: the texts are withheld");
        report.unproven(check, text);
    }
}

/// Checks each signature over the canonical bytes, unless texts are withheld.
pub(super) fn check_signatures(takes: &[BundledTake], report: &mut Report) {
    let (whole, withheld) = whole_and_withheld(takes);
    let forged = whole.iter();
    let forged = forged.filter(|take| verify(&take.signed, &take.public_key).is_none());
    let faults = forged.map(|take| {
        let member = printable(take.draft().member_id.as_str());
        format!(
            "take {}: the key {} of {member} did not sign these fields",
            take.id, take.public_key
        )
    });
    let holds = count(whole.len(), "take is signed", "takes are signed");
    let holds = format!("{holds} by the key in it, to the byte; checked offline");
    let holds = (!whole.is_empty()).then_some(holds);
    report.conclude(Check::Signature, faults.collect::<Faults>(), holds);
    if !withheld.is_empty() {
        let withheld = count(withheld.len(), "take was", "takes were");
        let text = format!(
            "that {withheld} signed by the key in it, as it reads: the texts are withheld, and the digest is that of the log"
        );
        report.unproven(Check::Signature, text);
    }
}

/// Checks that `members` has a row for each key in a take, and no other.
pub(super) fn check_members(bundle: &Bundle<'_>, takes: &[BundledTake], report: &mut Report) {
    let row = |member: &str, key: &str| (member.to_owned(), key.to_owned());
    let used: BTreeSet<_> = takes
        .iter()
        .map(|it| row(it.take.draft().member_id.as_str(), &it.take.public_key.to_string()))
        .collect();
    let (mut rows, mut faults) = (BTreeSet::new(), Faults::default());
    for raw in bundle.members() {
        let mut fields = raw.to_object();
        match (fields.text("id"), fields.text("publicKey")) {
            (Ok(member), Ok(key)) if rows.insert(row(&member, &key)) => {}
            (Ok(member), Ok(_)) => faults.push(format!("two rows for {}", printable(&member))),
            _ => faults.push("a row without id or publicKey".to_owned()),
        }
    }
    let named = |(member, key): &(String, String)| (printable(member), printable(key));
    faults.extend(used.difference(&rows).map(named).map(|(member, key)| {
        format!("no row for {member} with the key {key}, which verified a take")
    }));
    faults.extend(rows.difference(&used).map(named).map(|(member, key)| {
        format!("a row for {member} with the key {key}, which verified no take")
    }));
    let keys = count(rows.len(), "key", "keys");
    let holds = (!rows.is_empty()).then(|| format!("{keys}, those in the takes"));
    report.conclude(Check::Members, faults, holds);
}

/// Checks that each take has one of the stances that the session declares, if it declares any.
pub(super) fn check_stances(takes: &[BundledTake], declaration: &Declaration, report: &mut Report) {
    let Some(scale) = &declaration.stances else { return };
    let undeclared = takes.iter().filter(|it| !declaration.allows(&it.take.draft().stance));
    let faults = undeclared.map(|it| {
        let stance = printable(it.take.draft().stance.as_str());
        format!("take {}: {stance} is none that the session declares", it.take.id)
    });
    let declared = count(scale.stances().len(), "stance", "stances");
    let holds = format!("each take has one of the {declared} that the session declares");
    conclude_on_signed(Check::Stance, takes, faults.collect(), holds, report);
}

/// Checks that the takes of each member are revisions 1 to n, each superseded by the next, and n is no more than the session
/// allows.
pub(super) fn check_revisions(
    takes: &[BundledTake],
    declaration: &Declaration,
    mut faults: Vec<String>,
    report: &mut Report,
) {
    let cap = declaration.cap();
    let mut by_member: BTreeMap<&MemberId, Vec<&BundledTake>> = BTreeMap::new();
    for it in takes {
        by_member.entry(&it.take.draft().member_id).or_default().push(it);
    }
    for (member, takes) in &by_member {
        let mut expected = Some(Revision::FIRST);
        for (place, it) in takes.iter().enumerate() {
            let (id, revision) = (it.take.id, it.take.revision);
            if Some(revision) != expected {
                let member = printable(member.as_str());
                let missing = expected.map_or("none".to_owned(), |it| it.get().to_string());
                let revision = revision.get();
                faults.push(format!(
                    "take {id} of {member} is revision {revision}, expected {missing}"
                ));
            }
            if revision > cap {
                let (revision, cap, member) =
                    (revision.get(), cap.get(), printable(member.as_str()));
                faults.push(format!(
                    "take {id} of {member} is revision {revision}, and the session allows {cap}"
                ));
            }
            expected = Revision::after(Some(revision));
            let next = takes.get(place + 1).map(|next| next.take.id);
            faults.extend(superseding_fault(it, next));
        }
    }
    let members = count(by_member.len(), "member", "members");
    let holds = (!by_member.is_empty()).then(|| format!("of {members}, from 1 on without a gap"));
    report.conclude(Check::Revision, faults, holds);
}

fn superseding_fault(it: &BundledTake, next: Option<TakeId>) -> Option<String> {
    let (id, named) = (it.take.id, it.superseded_by.as_ref().map(write));
    let expected = next.map(|next| next.to_string());
    if named == expected {
        return None;
    }
    let shown = |id: Option<String>| id.map_or("none".to_owned(), |id| printable_json(&id));
    let (named, expected) = (shown(named), shown(expected));
    Some(format!("take {id}: supersededBy is {named}, expected {expected}"))
}

/// Checks that no member used a nonce twice.
pub(super) fn check_nonces(takes: &[BundledTake], report: &mut Report) {
    let mut spent: HashSet<(&MemberId, &Nonce)> = HashSet::new();
    let mut faults = Faults::default();
    for it in takes {
        let draft = it.take.draft();
        if !spent.insert((&draft.member_id, &draft.nonce)) {
            let (member, nonce) =
                (printable(draft.member_id.as_str()), printable(draft.nonce.as_str()));
            faults.push(format!("take {}: {member} used the nonce {nonce} before", it.take.id));
        }
    }
    let holds = "no member used one twice in this session".to_owned();
    conclude_on_signed(Check::Nonce, takes, faults, holds, report);
}
