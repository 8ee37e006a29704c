//! SHA-256 digests, in the form of the log.

use serde::{Serialize, Serializer};
use sha2::Sha256;

use super::hex::parse_hex;
use super::json::write;
use super::{Invalid, hex};

/// A SHA-256 digest. Its text is `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(<Sha256 as sha2::Digest>::digest(bytes).into())
    }

    /// The digest of the JSON text of `record`, as responses contain it.
    pub fn of_json<T: Serialize + ?Sized>(record: &T) -> Self {
        Self::of(write(record).as_bytes())
    }

    /// Reads the text of a digest.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, Invalid> {
        let digits = text.as_ref().strip_prefix("sha256:").filter(|it| !it.contains(is_upper));
        let bytes = digits.and_then(parse_hex);
        bytes.map(Self).ok_or_else(|| Invalid::new("digest", "must be sha256: and 64 digits"))
    }

    /// Returns the digest with these 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A digest under construction, of bytes that arrive in parts.
#[derive(Clone, Default)]
pub struct RunningDigest(Sha256);

impl RunningDigest {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.0, bytes);
    }

    /// Returns the digest of the bytes so far.
    pub fn digest(&self) -> Digest {
        Digest(sha2::Digest::finalize(self.0.clone()).into())
    }
}

impl std::fmt::Debug for RunningDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RunningDigest").field(&self.digest()).finish()
    }
}

fn is_upper(letter: char) -> bool {
    letter.is_ascii_uppercase()
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(&hex(&self.0))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

super::parsed::parsed!(Digest);
super::parsed::deserialized!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_from_its_text_alone() {
        // SHA-256 of "abc", FIPS 180-2.
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), text);
        assert_eq!(Digest::parse(text), Ok(Digest::of(b"abc")));
        for bad in ["", "sha256:", &text[7..], &text[..70], &text.to_uppercase()] {
            assert!(Digest::parse(bad).is_err(), "{bad}");
        }
        let upper = text.replace("ba78", "BA78");
        assert!(Digest::parse(upper).is_err());
    }
}
