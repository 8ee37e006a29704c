//! Text of bounded length: identifiers, labels and longer texts from requests.
//!
//! Lengths count characters (Unicode scalar values). Text is kept exactly as received, without
//! trimming or normalisation (API.md, 1.1).

use super::Invalid;
use super::form::{Value, parsed, text_schema};
use super::json::{Json, Object};

/// Checks that `text` has between `min` and `max` characters.
pub(super) fn bounded(
    field: &'static str,
    text: String,
    min: usize,
    max: usize,
) -> Result<String, Invalid> {
    // A text of at most `max` bytes has at most `max` characters: most texts need no counting.
    let too_long = text.len() > max && text.chars().count() > max;
    let too_short = text.len() < min || (min > 1 && text.chars().count() < min);
    if too_long || too_short {
        return Err(Invalid::new(field, format!("must have {min} to {max} characters")));
    }
    Ok(text)
}

/// A text of `MIN` to `MAX` characters, for fields that have no type of their own.
pub(super) struct Bounded<const MIN: u32, const MAX: u32>(String);

impl<const MIN: u32, const MAX: u32> Value for Bounded<MIN, MAX> {
    fn take(fields: &mut Object, name: &'static str) -> Result<Option<Self>, Invalid> {
        let bounds = |text| bounded(name, text, MIN as usize, MAX as usize);
        Ok(parsed(fields, name, bounds)?.map(Self))
    }

    fn schema() -> Json {
        text_schema(MIN, MAX)
    }
}

impl<const MIN: u32, const MAX: u32> From<Bounded<MIN, MAX>> for String {
    fn from(text: Bounded<MIN, MAX>) -> Self {
        text.0
    }
}

/// Declares a text of bounded length. With `named`, its JSON Schema has its name, and others refer to it.
macro_rules! text {
    (@schema $name:ident $min:literal $max:literal) => {
        $crate::domain::form::text_schema($min, $max)
    };
    (@schema $name:ident $min:literal $max:literal named) => {
        $crate::domain::form::FormSchema::reference(stringify!($name))
    };
    (
        $(#[$doc:meta])*
        $name:ident, $field:literal, $min:literal..=$max:literal $(, $named:ident)?
    ) => {
        $(#[$doc])*
        #[doc = concat!("\n\n", stringify!($min), " to ", stringify!($max), " characters.")]
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The maximum length in characters.
            pub const MAX: u32 = $max;

            /// Checks the length of `text` and keeps it unchanged.
            ///
            /// # Errors
            /// [`Invalid`] when it is too short or too long.
            pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
                $crate::domain::text::bounded($field, text.into(), $min, $max).map(Self)
            }

            /// Returns the text, exactly as received.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        $crate::domain::form::value!(
            $name,
            |fields, name| $crate::domain::form::parsed(fields, name, Self::parse),
            text!(@schema $name $min $max $($named)?)
        );

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        crate::domain::parsed::parsed!($name);
        crate::domain::parsed::deserialized!($name);
    };
}

pub(super) use text;

text!(
    /// The identifier of a member (API.md, 5.1).
    MemberId, "memberId", 1..=100, named
);
text!(
    /// The identifier of a subject: any text (API.md, 5.1).
    SubjectId, "subjectId", 1..=100, named
);
text!(
    /// A text that a member uses for one take only, in any session (API.md, 5.1).
    Nonce, "nonce", 1..=200
);
text!(
    /// The name of a category among which a take divides its weights (API.md, 5.1).
    Bucket, "bucket", 1..=100
);
text!(
    /// The position of a take: any text, unless the session declares its stances. Five have a rank in sessions that declare
    /// none (see [`Stance::known`]).
    Stance, "stance", 1..=100
);
text!(
    /// The write-up of a take (API.md, 5.1). Empty when omitted.
    Body, "body", 0..=10_000
);
text!(
    /// The address of a longer memo: any text, never fetched (API.md, 5.1).
    MemoUrl, "memoUrl", 0..=2_000
);
text!(
    /// The name of a member (API.md, 4.2).
    Name, "name", 1..=100
);
text!(
    /// Where the operator reaches a member (API.md, 4.2). Shown to operators only.
    Contact, "contact", 1..=200
);
text!(
    /// The point of view of a member (API.md, 4.2). Empty when omitted.
    Lens, "lens", 0..=2_000
);
text!(
    /// The remark of an operator on a change, kept in the log permanently.
    Note, "note", 0..=500
);

impl Name {
    /// The name of an erased member.
    pub fn erased() -> Self {
        Self("erased".to_owned())
    }
}

impl Contact {
    /// The contact of an erased member. It is empty, as no other contact is.
    pub fn erased() -> Self {
        Self(String::new())
    }

    /// Returns whether the contact was erased.
    pub fn is_erased(&self) -> bool {
        self.0.is_empty()
    }
}

impl Body {
    /// The empty write-up.
    pub fn none() -> Self {
        Self(String::new())
    }
}

impl Note {
    /// The empty remark.
    pub fn none() -> Self {
        Self(String::new())
    }
}

impl MemoUrl {
    /// No address.
    pub fn none() -> Self {
        Self(String::new())
    }
}

impl Lens {
    /// The empty lens.
    pub fn none() -> Self {
        Self(String::new())
    }
}

impl From<uuid::Uuid> for MemberId {
    fn from(id: uuid::Uuid) -> Self {
        Self(id.to_string())
    }
}

impl Stance {
    /// A stance of the service.
    pub(in crate::domain) fn of_service(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Returns the rank of a known stance: bearish −2, cautious −1, neutral 0, constructive 1,
    /// bullish 2; `None` for any other text (API.md, 6.5).
    pub fn known(&self) -> Option<i8> {
        STANCES.iter().find(|(name, _)| *name == self.0).map(|(_, rank)| *rank)
    }
}

/// The stances of the service with their ranks, in ascending order. A session may declare others.
pub const STANCES: [(&str, i8); 5] =
    [("bearish", -2), ("cautious", -1), ("neutral", 0), ("constructive", 1), ("bullish", 2)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_characters_not_bytes() {
        assert!(Stance::parse("\u{1f680}".repeat(100)).is_ok());
        assert!(Stance::parse("\u{1f680}".repeat(101)).is_err());
        assert!(Stance::parse("").is_err());
        assert!(Body::parse("").is_ok());
    }

    #[test]
    fn text_is_neither_trimmed_nor_normalized() {
        let odd = " e\u{301}\u{0}\r\n ";
        assert_eq!(Nonce::parse(odd).map(|n| n.as_str().to_owned()), Ok(odd.to_owned()));
    }
}
