//! A macro that implements the standard conversions from text.

/// Implements `FromStr` and `TryFrom<String>` for a type with an associated function `parse`.
macro_rules! parsed {
    ($name:ty) => {
        impl std::str::FromStr for $name {
            type Err = $crate::domain::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::domain::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(text)
            }
        }
    };
}

/// Implements `Deserialize` for a type with a function `parse`, for the text that `Serialize` writes.
macro_rules! deserialized {
    ($name:ty) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use {deserialized, parsed};
