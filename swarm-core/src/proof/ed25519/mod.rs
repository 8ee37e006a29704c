//! Strict verification of Ed25519 signatures, by ed25519-dalek.

#[cfg(test)]
mod tests;

use ed25519_dalek::Verifier as _;

use crate::domain::{PublicKey, Signature};

/// Returns whether a signature holds over a message under strict verification: no small-order
/// component, no malleable or non-canonical encoding (API.md, 3.2).
///
/// This accepts exactly what `verify_strict` of ed25519-dalek accepts for a [`PublicKey`], without
/// decompressing R. `verify` compares the bytes of R with the canonical encoding of s·B - k·A, so
/// an R that it accepts is of small order only if it is one of `SMALL_ORDER`. Weak keys are
/// refused when they are parsed. The range of s is checked here too, because dalek's feature
/// `legacy_compatibility`, which any crate of a build can enable, turns its own check off.
pub fn verify_signature(message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
    signature.decoded().is_some_and(|signature| {
        !SMALL_ORDER.contains(signature.r_bytes())
            && is_reduced(signature.s_bytes())
            && key.verifying_key().verify(message, &signature).is_ok()
    })
}

/// The order of the base point, little-endian: 2^252 + 27742317777372353535851937790883648493.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// Whether s is below the order, so that no second s is valid for the same signature.
fn is_reduced(s: &[u8; 32]) -> bool {
    s.iter().rev().lt(ORDER.iter().rev())
}

/// The canonical encodings of the eight points of small order. The y coordinate is 1, -1 or 0, or
/// that of a point of order eight; the highest bit is the sign of x, which is 0 for the first two.
const SMALL_ORDER: [[u8; 32]; 8] = {
    const ONE: [u8; 32] = with_ends([0; 32], 0x01, 0x00);
    const MINUS_ONE: [u8; 32] = with_ends([0xff; 32], 0xec, 0x7f);
    const ZERO: [u8; 32] = [0; 32];
    const ORDER_EIGHT: [u8; 32] = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    const ORDER_EIGHT_NEGATED: [u8; 32] = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    [
        ONE,
        MINUS_ONE,
        ZERO,
        with_ends(ZERO, 0x00, 0x80),
        ORDER_EIGHT,
        with_ends(ORDER_EIGHT, 0xc7, 0xfa),
        ORDER_EIGHT_NEGATED,
        with_ends(ORDER_EIGHT_NEGATED, 0x26, 0x85),
    ]
};

const fn with_ends(mut bytes: [u8; 32], first: u8, last: u8) -> [u8; 32] {
    bytes[0] = first;
    bytes[31] = last;
    bytes
}
