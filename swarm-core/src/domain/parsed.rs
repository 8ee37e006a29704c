//! Conversions from text.

/// Lets what has a `parse` of its own be read by `str::parse` and `TryFrom` too.
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

pub(super) use parsed;
