//! The differences between a signed object and the payload that should have been signed.

use super::code::Code;
use super::render::{Fields, Value};

/// The mistakes that turn `payload` into `signed`.
pub(super) fn differences(payload: &Fields, signed: &Fields) -> Vec<Code> {
    let mut codes = Vec::new();
    if order(payload, signed) != order(signed, payload) {
        codes.push(Code::KeyOrder);
    }
    codes.extend(payload.iter().filter_map(|(key, value)| {
        let other = find(signed, key);
        (other != Some(value)).then(|| changed(key, value, other))
    }));
    let added = signed.iter().filter(|(key, _)| find(payload, key).is_none());
    codes.extend(added.map(|(key, _)| match key.as_str() {
        "signature" => Code::SignatureIncluded,
        "weights" => Code::WeightsNull,
        _ => Code::ExtraFields,
    }));
    codes.dedup();
    codes
}

/// The keys of `these` that `others` also has, in order.
fn order<'a>(these: &'a Fields, others: &Fields) -> Vec<&'a str> {
    let keys = these.iter().map(|(key, _)| key.as_str());
    keys.filter(|key| find(others, key).is_some()).collect()
}

fn find<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The mistake that changed a field of the payload.
fn changed(key: &str, value: &Value, signed: Option<&Value>) -> Code {
    match (key, value, signed) {
        (_, Value::List(entries), Some(Value::List(signed))) => rearranged(entries, signed),
        // Normal forms leave ASCII as it is.
        ("expiresAt", Value::Text(time), Some(Value::Text(_))) if time.is_ascii() => Code::TimeText,
        (_, Value::Text(_), Some(Value::Text(_))) => Code::UnicodeNormalization,
        ("body", ..) => Code::MissingBody,
        ("memoUrl", ..) => Code::MissingMemoUrl,
        ("lens", ..) => Code::MissingLens,
        _ => Code::ExtraFields,
    }
}

/// The mistake that changed the weights.
fn rearranged(entries: &[Value], signed: &[Value]) -> Code {
    if sorted(signed) == sorted(entries) {
        return Code::WeightsOrder;
    }
    let keys = |list: &[Value]| list.iter().map(size).sum::<usize>();
    let differs_in_text = signed.iter().zip(entries).any(|(a, b)| bucket(a) != bucket(b));
    if keys(signed) > keys(entries) {
        Code::ExtraFields
    } else if differs_in_text {
        Code::UnicodeNormalization
    } else {
        Code::KeyOrder
    }
}

/// The entries in a canonical order.
fn sorted(entries: &[Value]) -> Vec<&Value> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_unstable();
    sorted
}

fn size(entry: &Value) -> usize {
    if let Value::Object(fields) = entry { fields.len() } else { 0 }
}

fn bucket(entry: &Value) -> Option<&Value> {
    if let Value::Object(fields) = entry { find(fields, "bucket") } else { None }
}
