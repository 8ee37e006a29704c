//! The JSON Schema of a take, which briefs contain (API.md, 6.6).

use crate::domain::json::Json;
use crate::domain::{Body, Bucket, Session, Weights};

/// The JSON Schema (2020-12) of a take. It accepts every take that a submission accepts, if the
/// stance is a known one and the buckets are listed: optional fields may also be `null`, and
/// weights are optional.
pub(super) fn take_schema(session: &Session) -> Json {
    let stances = session.declaration.scale().stances();
    let stances = texts(stances.iter().map(|stance| stance.name.as_str()));
    let properties = Json::from([
        ("stance", [("type", "string".into()), ("enum", stances)].into()),
        (
            "confidence",
            [("type", "number".into()), ("minimum", 0.0.into()), ("maximum", 1.0.into())].into(),
        ),
        (
            "body",
            [("type", texts(["string", "null"])), ("maxLength", f64::from(Body::MAX).into())]
                .into(),
        ),
        ("weights", weights(session.buckets.as_deref())),
    ]);
    [
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("title", "Take".into()),
        ("type", "object".into()),
        ("required", texts(["stance", "confidence"])),
        ("properties", properties),
    ]
    .into()
}

/// The schema of the weights. Rules that a schema cannot express are in the description.
fn weights(buckets: Option<&[Bucket]>) -> Json {
    let mut bucket = vec![
        ("type", Json::from("string")),
        ("minLength", Json::from(1.0)),
        ("maxLength", Json::from(f64::from(Bucket::MAX))),
    ];
    if let Some(buckets) = buckets {
        bucket.push(("enum", texts(buckets.iter().map(Bucket::as_str))));
    }
    let weight = Json::from([("type", "number".into()), ("minimum", 0.0.into())]);
    let entry = Json::from([
        ("type", "object".into()),
        ("required", texts(["bucket", "weight"])),
        ("properties", [("bucket", bucket.into_iter().collect()), ("weight", weight)].into()),
    ]);
    let positive = Json::from([("weight", [("exclusiveMinimum", Json::from(0.0))].into())]);
    let description = "Each bucket once, no weight negative, and a positive, finite total: only \
                       their proportion counts.";
    [
        ("type", texts(["array", "null"])),
        ("description", description.into()),
        ("minItems", 1.0.into()),
        ("maxItems", f64::from(Weights::MAX).into()),
        ("items", entry),
        ("contains", [("properties", positive)].into()),
    ]
    .into()
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Json {
    texts.into_iter().map(Json::from).collect()
}
