//! The points of small order, as they are encoded.

/// Whether this is the canonical encoding of a point of small order.
pub(super) fn is_small_order(encoded: &[u8; 32]) -> bool {
    SMALL_ORDER.contains(encoded)
}

/// The canonical encodings of the eight points of small order: y is 1, -1, 0, or belongs to a point
/// of order eight; the last bit is the sign of x, which is 0 for the first two.
const SMALL_ORDER: [[u8; 32]; 8] = {
    const ONE: [u8; 32] = with_last([0; 32], 0x01, 0x00);
    const MINUS_ONE: [u8; 32] = with_last([0xff; 32], 0xec, 0x7f);
    const ZERO: [u8; 32] = [0; 32];
    const EIGHTH: [u8; 32] = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    const OTHER_EIGHTH: [u8; 32] = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    [
        ONE,
        MINUS_ONE,
        ZERO,
        with_last(ZERO, 0x00, 0x80),
        EIGHTH,
        with_last(EIGHTH, 0xc7, 0xfa),
        OTHER_EIGHTH,
        with_last(OTHER_EIGHTH, 0x26, 0x85),
    ]
};

const fn with_last(mut bytes: [u8; 32], first: u8, last: u8) -> [u8; 32] {
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use curve25519_dalek::constants::EIGHT_TORSION;

    use super::SMALL_ORDER;

    #[test]
    fn the_encodings_of_small_order_are_those_of_the_curve() {
        let torsion = EIGHT_TORSION.iter().map(|point| point.compress().to_bytes());
        assert_eq!(torsion.collect::<HashSet<_>>(), HashSet::from(SMALL_ORDER));
    }
}
