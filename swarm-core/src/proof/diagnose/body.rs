//! The request body of a diagnosis: any kind of signed payload.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::render::{self, Fields, Value};
use crate::domain::json::{self, Json, Object};
use crate::domain::{
    Application, Described, Form, FormSchema, Invalid, MemberId, PublicKey, Signed, TakeDraft,
    TokenClaim,
};
use crate::proof::{canonical, verify};

/// The kinds of payload that members sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PayloadKind {
    /// A take.
    Take,
    /// An application.
    Application,
    /// A token claim.
    TokenClaim,
}

#[derive(Clone, Debug)]
enum Payload {
    Take(Arc<Signed<TakeDraft>>),
    Application(Arc<Signed<Application>>),
    TokenClaim(Arc<Signed<TokenClaim>>),
}

/// The complete body of a submission, an application or a token claim.
#[derive(Clone, Debug)]
pub struct SignedBody {
    payload: Payload,
    public_key: Option<String>,
    sent: Sent,
}

impl Described for SignedBody {
    const NAME: &'static str = "Signed";
    const TOPIC: &'static str = "takes";

    fn describe(schema: &mut FormSchema) {
        schema.description = "The body of a submit, an application or a token claim; with publicKey if the member has none \
            on file. Missing fields of a take are findings.";
        schema.add::<Option<String>>("signature", "");
        schema.add::<Option<String>>("publicKey", "");
        schema.example = Signed::<TakeDraft>::EXAMPLE_WITH_KEY;
    }
}

impl SignedBody {
    /// Reads a body of any of the three kinds.
    ///
    /// # Errors
    /// [`Invalid`] when it is none of them. The error names the first invalid field of the kind
    /// that the body resembles.
    pub fn read(bytes: &[u8]) -> Result<Self, Invalid> {
        let none = || Invalid::new("body", "must be JSON: an object with its signature");
        let Ok(Json::Object(fields)) = Json::read(bytes) else { return Err(none()) };
        let members = render::fields(&fields);
        let payload = read_payload(&fields)?;
        let public_key = fields.clone().text_if_any("publicKey")?;
        let kind = kind_of(&payload);
        let others = others(&fields, kind);
        let sent = Sent { kind, present: present(&members, kind), fields: members, others };
        Ok(Self { sent, payload, public_key })
    }

    /// Returns the kind of payload.
    pub fn kind(&self) -> PayloadKind {
        self.sent.kind
    }

    /// The member that is said to have signed it, whose registered key counts; `None` for an
    /// application.
    pub fn member_id(&self) -> Option<&MemberId> {
        match &self.payload {
            Payload::Take(signed) => Some(&signed.payload.member_id),
            Payload::TokenClaim(signed) => Some(&signed.payload.member_id),
            Payload::Application(_) => None,
        }
    }

    /// Whether the signature passes strict verification, with the registered key or, if there is
    /// none, with the key in the body.
    pub(super) fn holds(&self, registered: Option<&PublicKey>) -> bool {
        let sent = self.public_key.as_deref().and_then(|text| PublicKey::parse(text).ok());
        let Some(key) = registered.or(sent.as_ref()) else { return false };
        match &self.payload {
            Payload::Take(signed) => verify(signed, key).is_some(),
            Payload::Application(signed) => verify(signed, key).is_some(),
            Payload::TokenClaim(signed) => verify(signed, key).is_some(),
        }
    }

    /// The canonical text. In an application, `key` replaces the public key, if given.
    pub(super) fn canonical(&self, key: Option<&PublicKey>) -> String {
        match &self.payload {
            Payload::Take(signed) => canonical(&signed.payload),
            Payload::TokenClaim(signed) => canonical(&signed.payload),
            Payload::Application(signed) => {
                let mut application = signed.payload.clone();
                if let Some(key) = key {
                    application.public_key = key.to_string();
                }
                canonical(&application)
            }
        }
    }

    pub(super) fn signature(&self) -> &str {
        match &self.payload {
            Payload::Take(signed) => signed.signature.as_str(),
            Payload::Application(signed) => signed.signature.as_str(),
            Payload::TokenClaim(signed) => signed.signature.as_str(),
        }
    }

    pub(super) fn public_key(&self) -> Option<&str> {
        self.public_key.as_deref()
    }

    pub(super) fn sent(&self) -> &Sent {
        &self.sent
    }
}

/// The body as sent, with its order of keys and its number texts.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) kind: PayloadKind,
    pub(super) fields: Fields,
    /// The fields of the body that are part of the payload. A body may have very many others.
    pub(super) present: Fields,
    /// Other texts that may have been signed by mistake.
    pub(super) others: Vec<String>,
}

impl Sent {
    /// The keys of the payload, in canonical order.
    pub(super) fn keys(&self) -> &'static [&'static str] {
        keys(self.kind)
    }

    /// A field; `None` when absent or null.
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        let found = self.present.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value).filter(|value| **value != Value::Null)
    }

    /// The fields of the payload, in canonical order.
    pub(super) fn signed(&self) -> Fields {
        let mut fields = Fields::new();
        for key in self.keys() {
            match self.field(key) {
                Some(Value::List(entries)) => {
                    let entries = entries.iter().map(weight).collect();
                    fields.push(((*key).to_owned(), Value::List(entries)));
                }
                Some(value) => fields.push(((*key).to_owned(), value.clone())),
                None if *key == "weights" => {}
                None => fields.push(((*key).to_owned(), Value::Text(String::new()))),
            }
        }
        fields
    }
}

fn present(fields: &Fields, kind: PayloadKind) -> Fields {
    let is_part = |key: &str| keys(kind).contains(&key);
    fields.iter().filter(|(key, _)| is_part(key)).cloned().collect()
}

fn weight(entry: &Value) -> Value {
    let Value::Object(fields) = entry else { return entry.clone() };
    let named = |name| fields.iter().find(|(key, _)| key == name).cloned();
    Value::Object(["bucket", "weight"].into_iter().filter_map(named).collect())
}

fn keys(kind: PayloadKind) -> &'static [&'static str] {
    match kind {
        PayloadKind::Take => &[
            "memberId",
            "date",
            "subjectId",
            "nonce",
            "stance",
            "confidence",
            "body",
            "memoUrl",
            "weights",
        ],
        PayloadKind::Application => &["name", "contact", "lens", "publicKey"],
        PayloadKind::TokenClaim => &["memberId", "challenge", "expiresAt"],
    }
}

fn kind_of(payload: &Payload) -> PayloadKind {
    match payload {
        Payload::Take(_) => PayloadKind::Take,
        Payload::Application(_) => PayloadKind::Application,
        Payload::TokenClaim(_) => PayloadKind::TokenClaim,
    }
}

/// Whether a body with these fields is that of a take, be it whole or not.
pub(super) fn is_take(fields: &Object) -> bool {
    ["nonce", "stance", "subjectId"].iter().any(|field| fields.has(field))
}

/// Reads a take if the body has fields that only takes have, else a token claim or an application.
fn read_payload(fields: &Object) -> Result<Payload, Invalid> {
    let mut fields = fields.clone();
    if is_take(&fields) {
        return Signed::<TakeDraft>::read(&mut fields).map(Arc::new).map(Payload::Take);
    }
    if fields.has("challenge") || fields.has("expiresAt") {
        let claim = Signed::<TokenClaim>::read(&mut fields);
        return claim.map(Arc::new).map(Payload::TokenClaim);
    }
    Signed::<Application>::read(&mut fields).map(Arc::new).map(Payload::Application)
}

/// Texts that may have been signed by mistake: the canonical texts of the other kinds that these
/// fields also form, single fields, and the challenge in other forms.
fn others(fields: &Object, kind: PayloadKind) -> Vec<String> {
    let take = TakeDraft::read(&mut fields.clone()).map(|payload| canonical(&payload));
    let claim = Signed::<TokenClaim>::read(&mut fields.clone());
    let claim = claim.map(|signed| canonical(&signed.payload));
    let application = Signed::<Application>::read(&mut fields.clone());
    let application = application.map(|signed| canonical(&signed.payload));
    let kinds = [
        (PayloadKind::Take, take),
        (PayloadKind::TokenClaim, claim),
        (PayloadKind::Application, application),
    ];
    let of_kinds = kinds.into_iter().filter(|(other, _)| *other != kind);
    let of_kinds = of_kinds.filter_map(|(_, text)| text.ok());
    let alone = ["challenge", "nonce", "body", "publicKey"].into_iter();
    let text = |field| fields.clone().text_if_any(field).ok().flatten();
    let challenge = text("challenge");
    // The random part, without the name of the service.
    let random = challenge.as_deref().and_then(|challenge| challenge.rsplit_once(' '));
    let random = random.map(|(_, random)| random.to_owned());
    // As `jq .challenge` prints it.
    let string = challenge.as_ref().map(json::write);
    of_kinds.chain(alone.filter_map(text)).chain(random).chain(string).collect()
}
