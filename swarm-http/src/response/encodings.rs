//! ETag and compressed form of a body, computed once.

use std::io::{self, Write};
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;
use sha2::{Digest, Sha256};
use swarm_core::proof::hex;

use crate::budget::InFlight;

/// The suffix of the ETag of a compressed body.
pub(super) const GZIPPED: &str = "-gzip";

/// The ETag of a body, and its compressed form once a client has asked for it.
pub(crate) struct Encodings {
    tag: String,
    /// The `ETag` headers of the plain and the compressed body.
    headers: [HeaderValue; 2],
    gzip: OnceLock<Option<Bytes>>,
    in_flight: InFlight,
}

impl Encodings {
    pub(super) fn of(body: &[u8]) -> Self {
        let hash = Sha256::digest(body);
        let tag = hex(hash.get(..16).unwrap_or(&hash));
        let headers = ["", GZIPPED].map(|suffix| {
            let header = HeaderValue::try_from(format!("\"{tag}{suffix}\""));
            header.unwrap_or(HeaderValue::from_static("\"\""))
        });
        Self { tag, headers, gzip: OnceLock::new(), in_flight: InFlight::new(body.len()) }
    }

    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    /// The `ETag` of the body, compressed or not.
    pub(super) fn header(&self, gzipped: bool) -> HeaderValue {
        let [plain, compressed] = &self.headers;
        if gzipped { compressed.clone() } else { plain.clone() }
    }

    /// The compressed body. `body` must be the body that this was made of.
    pub(crate) fn gzip(&self, body: &[u8]) -> Option<Bytes> {
        self.gzip.get_or_init(|| gzip(body).ok().map(Bytes::from)).clone()
    }

    /// The clients that the body is being sent to, in either form.
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    pub(crate) fn has_gzip(&self) -> bool {
        self.gzip.get().is_some()
    }
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etag_depends_on_every_byte() {
        for length in [1, 512, 513, 100_000] {
            let body = vec![b'x'; length];
            let tag = Encodings::of(&body).tag().to_owned();
            assert_eq!(Encodings::of(&body).tag(), tag);
            for changed in [0, length / 2, length - 1] {
                let mut other = body.clone();
                other[changed] = b'y';
                assert_ne!(Encodings::of(&other).tag(), tag, "byte {changed} of {length}");
            }
            assert_ne!(Encodings::of(&body[1..]).tag(), tag, "a byte less than {length}");
        }
    }
}
