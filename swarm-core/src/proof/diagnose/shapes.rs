//! The objects that clients sign by mistake in place of the payload.

use unicode_normalization::UnicodeNormalization as _;

use super::body::Sent;
use super::render::{Fields, Value};

/// A way of building an object from the request body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// These fields, in this order.
    Fields(Extent, Order),
    /// The body as sent, without `signature`.
    AsSentWithKey,
    /// The payload, with its keys in the order of the body.
    SentOrder,
    /// The payload, with `weight` before `bucket`.
    WeightFirst,
    /// The payload without these keys.
    Without(&'static [&'static str]),
    /// The payload, with `null` for those of these keys that are empty or absent.
    Null(&'static [&'static str]),
    /// The payload, with its weights sorted by bucket.
    ByBucket,
    /// The payload, with its weights in descending order.
    ByWeight,
    /// The payload, with its weights in reverse order.
    Reversed,
    /// The payload, with an empty list of weights if it has none.
    EmptyWeights,
    /// The payload and an empty signature.
    EmptySignature,
    /// The payload and `"signature": null`.
    NullSignature,
    /// The payload, followed by all other fields of the body.
    Extended,
    /// The payload, with each string in this Unicode normal form.
    Normalized(Form),
    /// The payload, with the time in it in another form.
    Time(Fraction, &'static str),
    /// One of these, in the order of the names of its fields.
    Sorted(&'static Self),
}

/// Which fields a program writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    /// The payload that should have been signed.
    Payload,
    /// The fields of the payload that were sent.
    Present,
    /// The body as sent, without `signature` and without `publicKey` unless that is part of the
    /// payload.
    AsSent,
}

/// The order in which a program writes the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// The order of the fields in the payload, or in the body.
    Given,
    /// The order of the names of the fields.
    Sorted,
}

/// The digits of a second that a program writes, before the zone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fraction {
    Never,
    AsGiven,
    /// Without zeros at the end.
    Shortest,
    /// Six digits, or none where all are zero.
    Micros,
    /// Seven digits.
    Ticks,
}

/// A normal form of Unicode.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Extent {
    fn of(self, sent: &Sent) -> Fields {
        match self {
            Self::Payload => sent.signed(),
            Self::Present => sent.present.clone(),
            Self::AsSent => as_sent(sent, &["signature", "publicKey"]),
        }
    }
}

impl Shape {
    pub(super) const PAYLOAD: Self = Self::Fields(Extent::Payload, Order::Given);
    pub(super) const AS_SENT: Self = Self::Fields(Extent::AsSent, Order::Given);
    pub(super) const SORTED: Self = Self::Fields(Extent::Payload, Order::Sorted);

    /// Builds the object.
    pub(super) fn of(self, sent: &Sent) -> Fields {
        let payload = sent.signed();
        match self {
            Self::Fields(extent, Order::Given) => extent.of(sent),
            Self::Fields(extent, Order::Sorted) => sorted(extent.of(sent)),
            Self::AsSentWithKey => as_sent(sent, &["signature"]),
            Self::SentOrder => in_sent_order(sent, payload),
            Self::WeightFirst => with_weights(payload, |list| list.iter_mut().for_each(reverse)),
            Self::Without(keys) => without(payload, keys),
            Self::Null(keys) => with_nulls(sent, payload, keys),
            Self::ByBucket => {
                with_weights(payload, |list| list.sort_by(|a, b| bucket(a).cmp(bucket(b))))
            }
            Self::ByWeight => {
                with_weights(payload, |list| list.sort_by(|a, b| share(b).total_cmp(&share(a))))
            }
            Self::Reversed => with_weights(payload, |list| list.reverse()),
            Self::EmptyWeights => with_empty_weights(sent, payload),
            Self::EmptySignature => with(payload, "signature", Value::Text(String::new())),
            Self::NullSignature => with(payload, "signature", Value::Null),
            Self::Extended => extended(sent, payload),
            Self::Normalized(form) => normalized(payload, form),
            Self::Time(fraction, zone) => with_time(payload, fraction, zone),
            Self::Sorted(shape) => sorted(shape.of(sent)),
        }
    }
}

/// The body as sent, without the keys in `but` that are not part of the payload. (`publicKey` is
/// part of an application.)
fn as_sent(sent: &Sent, but: &[&str]) -> Fields {
    let is_left_out = |key: &str| but.contains(&key) && !sent.keys().contains(&key);
    sent.fields.iter().filter(|(key, _)| !is_left_out(key)).cloned().collect()
}

fn in_sent_order(sent: &Sent, mut payload: Fields) -> Fields {
    let place = |key: &str| sent.present.iter().position(|(name, _)| name == key);
    payload.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
    payload
}

fn sorted(mut payload: Fields) -> Fields {
    payload.sort_by(|(a, _), (b, _)| a.cmp(b));
    payload
}

fn without(mut payload: Fields, keys: &[&str]) -> Fields {
    payload.retain(|(key, _)| !keys.contains(&key.as_str()));
    payload
}

fn with(mut payload: Fields, key: &str, value: Value) -> Fields {
    payload.push((key.to_owned(), value));
    payload
}

fn with_nulls(sent: &Sent, mut payload: Fields, keys: &[&str]) -> Fields {
    for key in keys.iter().filter(|key| sent.keys().contains(key)) {
        match payload.iter_mut().find(|(name, _)| name == key) {
            Some((_, value)) if *value == Value::Text(String::new()) => *value = Value::Null,
            Some(_) => {}
            None => payload.push(((*key).to_owned(), Value::Null)),
        }
    }
    payload
}

fn with_empty_weights(sent: &Sent, payload: Fields) -> Fields {
    let is_take = sent.keys().contains(&"weights");
    if !is_take || sent.field("weights").is_some() {
        return payload;
    }
    with(payload, "weights", Value::List(Vec::new()))
}

fn extended(sent: &Sent, mut payload: Fields) -> Fields {
    let is_extra =
        |key: &str| !sent.keys().contains(&key) && key != "signature" && key != "publicKey";
    payload.extend(sent.fields.iter().filter(|(key, _)| is_extra(key)).cloned());
    payload
}

fn with_time(mut payload: Fields, fraction: Fraction, zone: &str) -> Fields {
    if let Some((_, Value::Text(time))) = payload.iter_mut().find(|(key, _)| key == "expiresAt")
        && let Some((second, given)) = time.strip_suffix('Z').and_then(|it| it.split_once('.'))
    {
        let shortest = given.trim_end_matches('0');
        let digits = match fraction {
            Fraction::Never => String::new(),
            Fraction::AsGiven => given.to_owned(),
            Fraction::Ticks => format!("{shortest:0<7}"),
            Fraction::Micros if !shortest.is_empty() => format!("{shortest:0<6}"),
            Fraction::Shortest | Fraction::Micros => shortest.to_owned(),
        };
        let point = if digits.is_empty() { "" } else { "." };
        *time = format!("{second}{point}{digits}{zone}");
    }
    payload
}

fn with_weights(mut payload: Fields, change: impl FnOnce(&mut Vec<Value>)) -> Fields {
    if let Some((_, Value::List(entries))) = payload.iter_mut().find(|(key, _)| key == "weights") {
        change(entries);
    }
    payload
}

fn reverse(entry: &mut Value) {
    if let Value::Object(fields) = entry {
        fields.reverse();
    }
}

fn bucket(entry: &Value) -> &str {
    match member(entry, "bucket") {
        Some(Value::Text(bucket)) => bucket,
        _ => "",
    }
}

fn share(entry: &Value) -> f64 {
    match member(entry, "weight") {
        Some(Value::Number(written)) => written.parse().unwrap_or_default(),
        _ => 0.0,
    }
}

fn member<'a>(entry: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Object(fields) = entry else { return None };
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn normalized(payload: Fields, form: Form) -> Fields {
    payload.into_iter().map(|(key, value)| (key, normal(value, form))).collect()
}

fn normal(value: Value, form: Form) -> Value {
    match value {
        Value::Text(text) => Value::Text(match form {
            Form::Nfc => text.nfc().collect(),
            Form::Nfd => text.nfd().collect(),
            Form::Nfkc => text.nfkc().collect(),
            Form::Nfkd => text.nfkd().collect(),
        }),
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| normal(item, form)).collect())
        }
        Value::Object(fields) => Value::Object(normalized(fields, form)),
        other => other,
    }
}
