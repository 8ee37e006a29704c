//! Sums of many points of the curve -x² + y² = 1 + d·x²·y².
//!
//! What is added again and again is kept in the form that takes fewest products to add: seven, where
//! the additions that curve25519-dalek offers take nine. The formulas are those of Hisil, Wong,
//! Carter and Dawson (2008), which hold for every two points of this curve.

use std::iter::zip;

use curve25519_dalek::EdwardsPoint;
use curve25519_dalek::constants::EIGHT_TORSION;

use super::field::{Loose, Reduced};
use super::inverse::inverse;

/// A point (x/z, y/z), with t = x·y/z.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    x: Reduced,
    y: Reduced,
    z: Reduced,
    t: Reduced,
}

/// A point (x, y) to be added to others: 120 bytes.
#[derive(Clone, Copy)]
pub(super) struct Summand {
    /// (y + x) / 2
    plus: Loose,
    /// (y - x) / 2
    minus: Loose,
    /// d·x·y
    product: Loose,
}

impl Sum {
    /// Of no points: (0, 1).
    pub(super) const NONE: Self =
        Self { x: Reduced::ZERO, y: Reduced::ONE, z: Reduced::ONE, t: Reduced::ZERO };

    /// Of one point.
    ///
    /// The encoding of a point tells y, but not x. That of its sum with (-i, 0), where i² = -1, tells
    /// -i·x as its y.
    pub(super) fn of(point: &EdwardsPoint) -> Self {
        let encoded = EdwardsPoint::compress_batch(&[*point, point + EIGHT_TORSION[2]]);
        let [y, turned] = encoded.map(|point| Reduced::from_bytes(point.0));
        let x = I * turned;
        Self { x, y, z: Reduced::ONE, t: x * y }
    }

    /// Of both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let (e, h) = self.across(other.y - other.x, other.y + other.x);
        let c = self.t * (other.t * (D + D));
        let d = self.z * (other.z + other.z);
        Self::from_parts(e, d - c, d + c, h)
    }

    pub(super) fn plus(&self, point: &Summand) -> Self {
        let (e, h) = self.across(point.minus, point.plus);
        let c = self.t * point.product;
        Self::from_parts(e, self.z - c, self.z + c, h)
    }

    pub(super) fn minus(&self, point: &Summand) -> Self {
        let (e, h) = self.across(point.plus, point.minus);
        let c = self.t * point.product;
        Self::from_parts(e, self.z + c, self.z - c, h)
    }

    // Called, it would copy the sum to and fro: a verification takes a twentieth longer.
    #[inline(always)]
    pub(super) fn doubled(&self) -> Self {
        let (xx, yy, zz) = (self.x.square(), self.y.square(), self.z.square());
        let (g, h) = (xx - yy, xx + yy);
        let e = h.reduce() - (self.x + self.y).square();
        let f = g.reduce() + (zz + zz).reduce();
        Self::from_parts(e, f, g, h)
    }

    /// Its encoding in 32 bytes (RFC 8032, section 5.1.2).
    pub(super) fn compress(&self) -> [u8; 32] {
        let inverse = inverse(self.z);
        let odd = (self.x * inverse).to_bytes()[0] & 1;
        let mut bytes = (self.y * inverse).to_bytes();
        bytes[31] |= odd << 7;
        bytes
    }

    fn across(&self, minus: Loose, plus: Loose) -> (Loose, Loose) {
        let (a, b) = ((self.y - self.x) * minus, (self.y + self.x) * plus);
        (b - a, b + a)
    }

    fn from_parts(e: Loose, f: Loose, g: Loose, h: Loose) -> Self {
        Self { x: e * f, y: g * h, z: f * g, t: e * h }
    }
}

impl Summand {
    /// Of many sums at once, since they share one division.
    pub(super) fn of(sums: &[Sum]) -> Vec<Self> {
        let mut product = Reduced::ONE;
        let before = sums.iter().map(|sum| {
            let before = product;
            product = product * sum.z;
            before
        });
        let before: Vec<_> = before.collect();
        let mut left = inverse(product);
        let of_each = |(sum, before): (&Sum, Reduced)| {
            let z = left * before;
            left = left * sum.z;
            let (x, y) = (sum.x * z, sum.y * z);
            let (half_x, half_y) = (x * HALF, y * HALF);
            let (plus, minus) = (half_y + half_x, half_y - half_x);
            Self { plus, minus, product: (x * y * D).into() }
        };
        let mut summands: Vec<_> = zip(sums, before).rev().map(of_each).collect();
        summands.reverse();
        summands
    }
}

/// The number whose square is -1, in the sign that goes with the point that is added above.
#[rustfmt::skip]
const I: Reduced = Reduced::from_bytes([
    0xb0, 0xa0, 0x0e, 0x4a, 0x27, 0x1b, 0xee, 0xc4, 0x78, 0xe4, 0x2f, 0xad, 0x06, 0x18, 0x43, 0x2f,
    0xa7, 0xd7, 0xfb, 0x3d, 0x99, 0x00, 0x4d, 0x2b, 0x0b, 0xdf, 0xc1, 0x4f, 0x80, 0x24, 0x83, 0x2b,
]);

/// 1/2.
#[rustfmt::skip]
const HALF: Reduced = Reduced::from_bytes([
    0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f,
]);

/// -121665/121666, the d of the curve.
#[rustfmt::skip]
const D: Reduced = Reduced::from_bytes([
    0xa3, 0x78, 0x59, 0x13, 0xca, 0x4d, 0xeb, 0x75, 0xab, 0xd8, 0x41, 0x41, 0x4d, 0x0a, 0x70, 0x00,
    0x98, 0xe8, 0x79, 0x77, 0x79, 0x40, 0xc7, 0x8c, 0x73, 0xfe, 0x6f, 0x2b, 0xee, 0x6c, 0x03, 0x52,
]);
