//! The shape of a request body: an object with its fields at the top level, or what clients send in its place.
//!
//! Such a body lacks every field. One fault says why, where a fault for each field would not.

use crate::domain::Invalid;
use crate::domain::json::{Json, Object};

/// The fields that requests of members have at the top level. A signature or a key may stand beside a
/// wrapped payload.
const FIELDS: [&str; 15] = [
    "memberId",
    "date",
    "subjectId",
    "nonce",
    "stance",
    "confidence",
    "body",
    "memoUrl",
    "name",
    "contact",
    "lens",
    "challenge",
    "expiresAt",
    "title",
    "sessionId",
];

/// Maximum number of characters of a key that a fault quotes.
const MAX_QUOTED: usize = 40;

/// The fault of a body without fields at the top level, which therefore lacks `field`; `None` if only this
/// field is at fault.
pub fn shape_fault(body: &Json, field: &str) -> Option<Invalid> {
    let kind = match body {
        Json::Object(object) => return wrapping_fault(object, field),
        Json::List(_) => "an array",
        Json::Text(text) if is_object(text) => "a string with an object in it: encode it once",
        Json::Text(_) => "a string",
        Json::Null => "null",
        _ => "neither an object nor a text",
    };
    Some(Invalid::new("body", format!("must be one JSON object, is {kind}")))
}

fn wrapping_fault(object: &Object, field: &str) -> Option<Invalid> {
    let wraps = |value: &Json| {
        let read;
        let inner = match value {
            Json::Object(inner) => inner,
            Json::List(items) => match items.as_slice() {
                [Json::Object(inner)] => inner,
                _ => return false,
            },
            Json::Text(text) if is_object(text) => {
                read = Json::read(text.as_bytes()).unwrap_or(Json::Null).into_object();
                &read
            }
            _ => return false,
        };
        inner.has(field) || FIELDS.iter().any(|known| inner.has(known))
    };
    let is_field = |key: &str| key == field || FIELDS.contains(&key);
    if object.members().any(|(key, value)| is_field(key) && !wraps(value)) {
        return None;
    }
    let (key, _) = object.members().find(|(_, value)| wraps(value))?;
    let key: String = key.chars().take(MAX_QUOTED).collect();
    let rule = format!("must have the fields at the top level, has them inside {key:?}");
    Some(Invalid::new("body", rule))
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && Json::read(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &str) -> Option<String> {
        let body = Json::read(body.as_bytes()).unwrap();
        shape_fault(&body, "memberId").map(|fault| fault.to_string())
    }

    #[test]
    fn bodies_without_fields_at_the_top_level_are_told_so() {
        let take = r#"{"memberId":"m","stance":"neutral"}"#;
        let quoted = crate::domain::json::write(take);
        for (body, kind) in [
            (format!("[{take}]"), "an array"),
            ("[]".to_owned(), "an array"),
            (quoted.clone(), "a string with an object in it"),
            ("\"x\"".to_owned(), "a string"),
            ("null".to_owned(), "null"),
            ("7".to_owned(), "neither"),
        ] {
            let told = fault(&body).unwrap();
            assert!(
                told.starts_with(&format!("body must be one JSON object, is {kind}")),
                "{told}"
            );
        }
        for body in [
            format!(r#"{{"take":{take}}}"#),
            format!(r#"{{"id":1,"take":[{take}]}}"#),
            format!(r#"{{"take":{quoted}}}"#),
            r#"{"signature":"s","take":{"stance":"neutral"}}"#.to_owned(),
        ] {
            let told = fault(&body).unwrap();
            assert!(told.ends_with("at the top level, has them inside \"take\""), "{told}");
        }
        let body = format!(r#"{{"body":{take}}}"#);
        assert!(fault(&body).unwrap().ends_with("inside \"body\""));
        for body in
            ["{}", r#"{"take":7}"#, r#"{"take":{"a":1}}"#, r#"{"stance":"s","a":{"date":1}}"#]
        {
            assert_eq!(fault(body), None, "{body}");
        }
    }
}
