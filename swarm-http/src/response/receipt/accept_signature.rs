//! The signatures that `Accept-Signature` requests (RFC 9421, section 5; API.md, 11.7).

use http::{HeaderMap, HeaderName};

use swarm_core::proof::structured_fields::{
    Bare, DictionaryMember, FieldItem, FieldValue, dictionary,
};

/// The header that asks for a receipt.
pub(crate) const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");

/// Maximum size of the header, in bytes, and of its members.
const MAX_BYTES: usize = 2_048;
const MAX_MEMBERS: usize = 4;

/// The signatures that a request asks for, without those that no answer can fulfil.
pub(crate) struct RequestedSignatures(pub(super) Vec<Member>);

/// One signature.
pub(super) struct Member {
    pub(super) label: String,
    /// The components to sign, in this order; if empty, all components that the exchange has.
    pub(super) components: Vec<Component>,
    /// The parameters of the signature, in this order.
    pub(super) parameters: Vec<Parameter>,
}

/// A component of the exchange that can be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Status,
    ContentDigest,
    Date,
    Method,
    Path,
    Query,
    ContentType,
    RequestDigest,
    Entry,
    Seal,
}

/// A parameter of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Created,
    KeyId(String),
    Nonce(String),
    Tag(String),
    Algorithm,
}

impl RequestedSignatures {
    /// The signatures that these headers request, if an answer can fulfil any of them.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        if !headers.contains_key(&ACCEPT_SIGNATURE) {
            return None;
        }
        let lines = headers.get_all(&ACCEPT_SIGNATURE).iter();
        let lines = lines.map(|line| line.to_str().ok()).collect::<Option<Vec<_>>>()?;
        if lines.iter().map(|line| line.len()).sum::<usize>() > MAX_BYTES {
            return None;
        }
        let lines = lines.join(", ");
        let members = dictionary(&lines)?;
        if members.len() > MAX_MEMBERS {
            return None;
        }
        let members: Vec<_> = members.into_iter().filter_map(Member::of).collect();
        (!members.is_empty()).then_some(Self(members))
    }
}

impl Member {
    fn of(member: DictionaryMember<'_>) -> Option<Self> {
        let FieldValue::List(items, parameters) = member.value else { return None };
        let mut components = Vec::with_capacity(items.len());
        for item in &items {
            let component = Component::ALL.into_iter().find(|it| it.is(item))?;
            if components.contains(&component) {
                return None;
            }
            components.push(component);
        }
        if !components.is_empty() && Component::REQUIRED.iter().any(|it| !components.contains(it)) {
            return None;
        }
        let parameters = parameters.into_iter().map(Parameter::of).collect::<Option<_>>()?;
        Some(Self { label: member.key, components, parameters })
    }

    /// Whether the body of the request is signed.
    pub(super) fn covers_request_body(&self) -> bool {
        self.components.is_empty() || self.components.contains(&Component::RequestDigest)
    }
}

impl Component {
    pub(super) const ALL: [Self; 10] = [
        Self::Status,
        Self::ContentDigest,
        Self::Date,
        Self::Method,
        Self::Path,
        Self::Query,
        Self::ContentType,
        Self::RequestDigest,
        Self::Entry,
        Self::Seal,
    ];

    /// What every signature covers. One over less could be put under another answer, or that to another request, and would
    /// frame the service.
    const REQUIRED: [Self; 5] =
        [Self::Status, Self::ContentDigest, Self::Method, Self::Path, Self::Query];

    fn name(self) -> &'static str {
        match self {
            Self::Status => "@status",
            Self::ContentDigest => "content-digest",
            Self::Date => "date",
            Self::Method => "@method",
            Self::Path => "@path",
            Self::Query => "@query",
            Self::ContentType => "content-type",
            Self::RequestDigest => "swarm-request-digest",
            Self::Entry => "swarm-entry",
            Self::Seal => "swarm-seal",
        }
    }

    fn is_of_request(self) -> bool {
        matches!(self, Self::Method | Self::Path | Self::Query)
    }

    fn is(self, item: &FieldItem) -> bool {
        let is_of_request = match item.parameters.as_slice() {
            [] => false,
            [(name, Bare::Boolean(true))] if name == "req" => true,
            _ => return false,
        };
        matches!(&item.bare, Bare::String(name) if name == self.name())
            && is_of_request == self.is_of_request()
    }

    /// The component identifier, as it is signed.
    pub(super) fn identifier(self) -> String {
        let name = self.name();
        if self.is_of_request() { format!("\"{name}\";req") } else { format!("\"{name}\"") }
    }
}

impl Parameter {
    fn of((name, value): (String, Bare)) -> Option<Self> {
        Some(match (name.as_str(), value) {
            ("created", Bare::Boolean(true)) => Self::Created,
            ("keyid", Bare::String(key)) => Self::KeyId(key),
            ("nonce", Bare::String(nonce)) => Self::Nonce(nonce),
            ("tag", Bare::String(tag)) => Self::Tag(tag),
            ("alg", Bare::String(name)) if name == "ed25519" => Self::Algorithm,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn labels(lines: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT_SIGNATURE, HeaderValue::from_str(line).unwrap());
        }
        let members = RequestedSignatures::of(&headers).map_or_else(Vec::new, |asked| asked.0);
        members.into_iter().map(|member| member.label).collect()
    }

    #[test]
    fn members_that_cannot_be_fulfilled_are_left_out() {
        let all = r#"a=("@status" "content-digest" "date" "@method";req "@path";req "@query";req=?1 "content-type" "swarm-request-digest" "swarm-entry" "swarm-seal");created;keyid="k";nonce="n";tag="t";alg="ed25519""#;
        assert_eq!(labels(&[all]), ["a"]);
        let least = r#"a=("@query";req "@path";req "@method";req "content-digest" "@status")"#;
        assert_eq!(labels(&[least]), ["a"]);
        for required in ["@query\";req ", "@path\";req ", "@method\";req ", "content-digest\" "] {
            let less = least.replace(&format!("\"{required}"), "");
            assert!(less != least && labels(&[&less]).is_empty(), "{less}");
        }
        assert!(labels(&[&least.replace(r#" "@status""#, "")]).is_empty());
        for ignored in [
            r#"b=("@method")"#,
            r#"b=("@status";req)"#,
            r#"b=("@authority";req)"#,
            r#"b=("date";sf)"#,
            r#"b=("date" "date")"#,
            "b=(date)",
            r#"b=();alg="hmac-sha256""#,
            "b=();created=1",
            "b=();expires",
            "b=();nonce",
            "b=1",
            "b",
        ] {
            assert_eq!(labels(&[ignored, "c=()"]), ["c"], "{ignored}");
            assert!(labels(&[ignored]).is_empty(), "{ignored}");
        }
    }

    #[test]
    fn header_is_bounded() {
        assert_eq!(labels(&["a=(), b=()", "c=(), d=()"]).len(), MAX_MEMBERS);
        assert!(labels(&["a=(), b=()", "c=(), d=(), e=()"]).is_empty());
        let of_length = |length: usize| format!("a=();nonce=\"{}\"", "n".repeat(length - 13));
        assert_eq!(labels(&[&of_length(MAX_BYTES)]), ["a"]);
        assert!(labels(&[&of_length(MAX_BYTES + 1)]).is_empty());
        assert!(labels(&[]).is_empty());
        assert!(labels(&["a=(", "b=()"]).is_empty());
    }
}
