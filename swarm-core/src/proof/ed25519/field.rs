//! Numbers modulo p = 2²⁵⁵ - 19, over the arithmetic of fiat-crypto, which is proved correct.

use std::ops::{Add, Mul, Sub};

use fiat_crypto::curve25519_64 as fiat;

/// A number modulo p, as products are.
#[derive(Clone, Copy)]
pub(super) struct Reduced(fiat::fiat_25519_tight_field_element);

/// A number modulo p, as sums are and factors may be: its limbs have a few bits more. That a sum is
/// not a summand is what makes adding cheap.
#[derive(Clone, Copy)]
pub(super) struct Loose(fiat::fiat_25519_loose_field_element);

impl Reduced {
    pub(super) const ZERO: Self = Self::small(0);
    pub(super) const ONE: Self = Self::small(1);

    pub(super) const fn small(number: u64) -> Self {
        let limbs = [number & ((1 << 51) - 1), number >> 51, 0, 0, 0];
        Self(fiat::fiat_25519_tight_field_element(limbs))
    }

    /// Of the lower 255 bits, the least significant byte first.
    pub(super) const fn from_bytes(mut bytes: [u8; 32]) -> Self {
        bytes[31] &= 0x7f;
        let mut number = Self::ZERO;
        fiat::fiat_25519_from_bytes(&mut number.0, &bytes);
        number
    }

    /// The one encoding that is below p.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        fiat::fiat_25519_to_bytes(&mut bytes, &self.0);
        bytes
    }

    pub(super) fn square(self) -> Self {
        Loose::from(self).square()
    }
}

impl Loose {
    pub(super) fn square(self) -> Reduced {
        let mut square = Reduced::ZERO;
        fiat::fiat_25519_carry_square(&mut square.0, &self.0);
        square
    }

    pub(super) fn reduce(self) -> Reduced {
        let mut reduced = Reduced::ZERO;
        fiat::fiat_25519_carry(&mut reduced.0, &self.0);
        reduced
    }

    const ZERO: Self = Self(fiat::fiat_25519_loose_field_element([0; 5]));
}

impl From<Reduced> for Loose {
    fn from(number: Reduced) -> Self {
        let mut loose = Self::ZERO;
        fiat::fiat_25519_relax(&mut loose.0, &number.0);
        loose
    }
}

impl Add for Reduced {
    type Output = Loose;

    fn add(self, other: Self) -> Loose {
        let mut sum = Loose::ZERO;
        fiat::fiat_25519_add(&mut sum.0, &self.0, &other.0);
        sum
    }
}

impl Sub for Reduced {
    type Output = Loose;

    fn sub(self, other: Self) -> Loose {
        let mut difference = Loose::ZERO;
        fiat::fiat_25519_sub(&mut difference.0, &self.0, &other.0);
        difference
    }
}

impl<A: Into<Loose>> Mul<A> for Loose {
    type Output = Reduced;

    fn mul(self, other: A) -> Reduced {
        let mut product = Reduced::ZERO;
        fiat::fiat_25519_carry_mul(&mut product.0, &self.0, &other.into().0);
        product
    }
}

impl<A: Into<Loose>> Mul<A> for Reduced {
    type Output = Self;

    fn mul(self, other: A) -> Self {
        Loose::from(self) * other
    }
}
