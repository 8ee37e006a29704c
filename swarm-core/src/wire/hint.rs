//! The header `Swarm-Hint`: one line that says what to correct (API.md, 1.2).

use std::fmt::Write as _;

use crate::domain::json::{self, ErrorPosition, Json, NotJson};
use crate::domain::{Day, Invalid, PublicKey, Stance, SubjectId};
use crate::rules::{
    ClaimFault, MAX_SESSIONS_NAMED, QuotaReached, Refusal, RosterNotice, shape_fault,
};

/// Maximum number of characters of the request that a hint quotes.
const MAX_QUOTED: usize = 40;

/// Maximum number of parameters that a hint names.
const MAX_PARAMETERS_NAMED: usize = 4;

/// The hint for a body that is not JSON.
pub(super) const NOT_JSON: &str = "body: must be one JSON text in UTF-8";

/// The hint for a wrong signature.
const DIAGNOSE: &str = "POST the same body to /api/swarm/diagnose";

/// Returns the hint for a refusal, if it has one: a line of printable ASCII.
pub fn hint(refusal: &Refusal) -> Option<String> {
    hint_quoting(refusal, b"")
}

/// Like [`hint`], with what the refused field was in this body, or why the body lacks all fields. The line is printable
/// ASCII, whatever was sent.
pub fn hint_quoting(refusal: &Refusal, body: &[u8]) -> Option<String> {
    match refusal {
        Refusal::InvalidSubmission(invalid)
        | Refusal::InvalidApplication(invalid)
        | Refusal::InvalidChallengeRequest(invalid)
        | Refusal::InvalidTokenClaim(invalid)
        | Refusal::InvalidMemo(invalid) => Some(field_hint(invalid, body)),
        Refusal::UndeclaredStance { declared } => Some(stance_hint(declared, body)),
        Refusal::BadSignature => Some(DIAGNOSE.to_owned()),
        Refusal::BadApplication { .. } => Some(signature_hint(body, DIAGNOSE)),
        Refusal::BadKeyReplacement { .. } => Some(signature_hint(body, SIGN_REPLACEMENT)),
        Refusal::QuotaReached(reached) => Some(quota_hint(reached)),
        Refusal::NoSession { open } => Some(open_hint(open)),
        Refusal::ClaimRefused(fault) => Some(claim_hint(fault)),
        _ => None,
    }
}

/// The hint for a key that is replaced without one of both signatures.
const SIGN_REPLACEMENT: &str = "endorsement by the key that the member has, and proof by the new one: each must sign \
                                expectedPayload";

/// The signed text contains the key as it was sent. If that is not a valid key, no signature can be valid; else `remedy` is
/// what to do.
fn signature_hint(body: &[u8], remedy: &str) -> String {
    let sent = Json::read(body).ok().and_then(|json| json.into_object().take("publicKey"));
    let fault = match sent {
        Some(Json::Text(key)) => PublicKey::parse(&key).err(),
        _ => None,
    };
    match fault {
        Some(invalid) => {
            let hint = field_hint(&invalid, body);
            format!(
                "{hint}: no signature can be verified with it, and expectedPayload only repeats it; {remedy}"
            )
        }
        None => remedy.to_owned(),
    }
}

/// Names the stances that a session declares, because that of the take is none of them.
fn stance_hint(declared: &[Stance], body: &[u8]) -> String {
    let name = |stance: &Stance| quote(&Json::from(stance.as_str()));
    let declared: Vec<_> = declared.iter().map(name).collect();
    let rule = format!("must be one of {}", declared.join(", "));
    field_hint(&Invalid { field: "stance", rule }, body)
}

/// Names the sessions that accept takes, because the one that the take is for does not exist.
fn open_hint(open: &[(Day, SubjectId)]) -> String {
    if open.is_empty() {
        return "no session is open now: see /api/swarm/open-sessions".to_owned();
    }
    let name = |(date, subject): &(Day, SubjectId)| format!("{date}/{subject}");
    let named: Vec<_> = open.iter().take(MAX_SESSIONS_NAMED).map(name).collect();
    let more = match open.len() > MAX_SESSIONS_NAMED {
        true => ", and more: see /api/swarm/open-sessions",
        false => "",
    };
    printable(&format!("open now: {}{more}", named.join(", ")))
}

/// Says since when the roster of a session stands, and where a member that is not on it can file.
pub(super) fn roster_hint(notice: &RosterNotice) -> String {
    let RosterNotice { since, open } = notice;
    let open = match open.is_empty() {
        true => "no session without a roster is open now".to_owned(),
        false => open_hint(open).replacen("open now:", "open now without a roster:", 1),
    };
    printable(&format!("the roster stands since {since}; {open}"))
}

fn claim_hint(fault: &ClaimFault) -> String {
    let text = match fault {
        ClaimFault::OtherService { service } => {
            return printable(&format!(
                "challenge: must begin with {service}, the origin of this service"
            ));
        }
        ClaimFault::NotAnExpiry => "expiresAt: must be the text that came with the challenge",
        ClaimFault::Expired => "expiresAt: has passed, ask for a new challenge",
        ClaimFault::Encoding => "signature: must be standard base64 of 64 bytes",
        ClaimFault::Unproven => {
            "memberId is not approved (GET /api/swarm/apply/<memberId>), or challenge was replaced (ask \
             again), or expiresAt is not the text that came with it, or signature does not hold (POST the same \
             body to /api/swarm/diagnose)"
        }
    };
    text.to_owned()
}

pub(super) fn quota_hint(QuotaReached { quota, retry_after }: &QuotaReached) -> String {
    format!("{quota}: quota reached, try again in {retry_after} s")
}

/// The hint for a body that is not JSON: where the fault is.
pub(super) fn json_hint(fault: &NotJson) -> String {
    let position = match &fault.position {
        ErrorPosition::DuplicateKey(key) => {
            format!("the key {} occurs twice", quote(&Json::Text(key.clone())))
        }
        ErrorPosition::ByteOrderMark => "begins with a byte order mark: send it without".to_owned(),
        ErrorPosition::Utf16 => "is in UTF-16".to_owned(),
        ErrorPosition::Gzip => "is compressed with gzip: send it without that".to_owned(),
        ErrorPosition::Invisible { character, .. } => format!(
            "see {}: there is an invisible character, U+{:04X}",
            fault.position,
            u32::from(*character)
        ),
        position => format!("see {position}"),
    };
    format!("{NOT_JSON}, {position}")
}

/// The field, its rule, and the value that was sent; or why the body lacks all fields.
pub(super) fn field_hint(invalid: &Invalid, body: &[u8]) -> String {
    let Invalid { field, rule } = invalid;
    let json = Json::read(body).ok();
    if let Some(fault) = json.as_ref().and_then(|json| shape_fault(json, field)) {
        return printable(&format!("{}: {}", fault.field, fault.rule));
    }
    let sent = json.and_then(|json| json.into_object().take(field));
    let quoted = sent.filter(|_| rule != "is missing").map(|value| quote(&value));
    let quoted = quoted.map_or_else(String::new, |text| format!(", is {text}"));
    printable(&format!("{field}: {rule}")) + &quoted
}

/// Returns the hint for parameters of a query that mean nothing, if there are any: their names, and the parameters that
/// there are.
pub fn parameters_hint<'a>(
    unknown: impl IntoIterator<Item = &'a str>,
    known: &[&str],
) -> Option<String> {
    let shorten = |name: &str| printable(&name.chars().take(MAX_QUOTED).collect::<String>());
    let mut names: Vec<_> = unknown.into_iter().map(shorten).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_PARAMETERS_NAMED);
    let (first, is) = (names.first()?, if names.len() > 1 { "mean" } else { "means" });
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let named = if names.len() > 1 { names.join(", ") } else { first.clone() };
    Some(format!("{named}: {is} nothing here, the parameters of this path are {known}"))
}

pub(super) fn quote(value: &Json) -> String {
    let text = json::write(value);
    let more = if text.chars().count() > MAX_QUOTED { "..." } else { "" };
    printable(&text.chars().take(MAX_QUOTED).collect::<String>()) + more
}

/// Everything that is not printable ASCII, escaped as JSON escapes it.
pub(super) fn printable(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if matches!(character, ' '..='~') {
            line.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_names_field_rule_and_sent_value() {
        let invalid = Invalid::new("confidence", "must be a number from 0 to 1");
        let refusal = Refusal::InvalidSubmission(invalid);
        let hint_of = |body: &str| hint_quoting(&refusal, body.as_bytes()).unwrap();
        let rule = "confidence: must be a number from 0 to 1";
        assert_eq!(hint_of(r#"{"confidence":70}"#), format!("{rule}, is 70"));
        assert_eq!(hint_of(r#"{"confidence":null}"#), rule);
        assert_eq!(hint_of("no json"), rule);
        assert_eq!(hint(&refusal).as_deref(), Some(rule));
        assert_eq!(hint(&Refusal::BadSignature).as_deref(), Some(DIAGNOSE));
        assert_eq!(hint(&Refusal::WindowClosed), None);
    }

    #[test]
    fn parameters_without_meaning_are_named_once() {
        let hint = |unknown: &[&str]| parameters_hint(unknown.iter().copied(), &["limit", "q"]);
        assert_eq!(hint(&[]), None);
        let rest = "nothing here, the parameters of this path are";
        assert_eq!(hint(&["x", "x"]).unwrap(), format!("x: means {rest} limit, q"));
        assert_eq!(hint(&["b", "a"]).unwrap(), format!("a, b: mean {rest} limit, q"));
        let hostile = "\r\n\u{9b}".repeat(99);
        let hint = parameters_hint([&*hostile], &[]).unwrap();
        assert!(hint.ends_with(&format!("means {rest} none")), "{hint}");
        assert!(hint.len() < 400 && hint.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{hint}");
    }

    #[test]
    fn hostile_text_is_escaped_in_hints() {
        let invalid = Invalid::new("stance", "must have 1 to 100 characters");
        let hostile = "\r\nSet-Cookie: a=b\u{0}\u{7f}\u{9b}\u{2028}\u{1f680}\"\\".repeat(9);
        let body = json::write(&Json::from([("stance", Json::from(hostile.as_str()))]));
        let line = field_hint(&invalid, body.as_bytes());
        assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{line}");
        assert!(line.len() < 50 + 6 * 2 * MAX_QUOTED, "{line}");
        assert!(line.ends_with("..."), "{line}");
    }
}
