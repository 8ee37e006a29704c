//! Multiples of a point, made once, so that multiplying it takes few additions.
//!
//! To compute k·P bit by bit takes 253 doublings of the sum. But k is Σ dₚ·2ᵖ for 256 digits dₚ,
//! and with p = 16·i + j this is
//!
//! ```text
//! k·P = Σⱼ 2ʲ · Σᵢ d₁₆ᵢ₊ⱼ · (2¹⁶ⁱ·P)        i, j = 0 … 15
//! ```
//!
//! So with the sixteen points 2¹⁶ⁱ·P at hand fifteen doublings are enough, and a second product that
//! is added shares them. Subtracting a point costs what adding it does, so digits may be negative:
//! in the non-adjacent form few digits are not zero, and these are odd. Hence a row of odd multiples
//! for each of the sixteen points, up to the largest digit.
//!
//! The digits are those of the number k itself, not of another one that is congruent to it: so the
//! product is right for every point of the curve, whatever its order.

use std::hint::black_box;
use std::iter::{self, successors};
use std::sync::LazyLock;

use curve25519_dalek::EdwardsPoint;
use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;

use super::point::{Sum, Summand};
use crate::domain::PublicKey;

/// How many points 2¹⁶ⁱ·P there are.
const ROWS: usize = 16;

/// How many digits belong to each of them.
const PLACES: usize = 16;

/// Of the base point B: 240 KiB, made when the first key has a table.
static BASE: LazyLock<Multiples<128>> = LazyLock::new(|| Multiples::of(ED25519_BASEPOINT_POINT));

/// Multiples of -A, where A is a member's key: 128 points, 15 KiB.
pub(super) struct KeyTable(Multiples<8>);

impl KeyTable {
    /// The table of this key. To make it takes four or five times as long as to verify with it.
    pub(super) fn of(key: &PublicKey) -> Self {
        Self(Multiples::of(-key.verifying_key().to_edwards()))
    }

    /// s·B - k·A.
    pub(super) fn difference(&self, s: &Scalar, k: &Scalar) -> Sum {
        let (s, k) = (BASE.digits(s), self.0.digits(k));
        BASE.fetch(&s);
        self.0.fetch(&k);
        let mut sum = Sum::NONE;
        for place in (0..PLACES).rev() {
            sum = sum.doubled();
            sum = BASE.add_to(sum, &s, place);
            sum = self.0.add_to(sum, &k, place);
        }
        sum
    }
}

/// One row after another, for each of the points 2¹⁶ⁱ·P: its multiples by 1, 3, 5, … 2·ODD - 1.
struct Multiples<const ODD: usize>(Vec<Summand>);

/// Digits of a number: zero or odd, and no larger than the multiples go.
struct Digits {
    /// dₚ at the place j and in the row i, where p = 16·i + j.
    digits: [[i16; ROWS]; PLACES],
    /// For each place, a bit for each row whose digit is not zero.
    rows: [u16; PLACES],
}

impl Digits {
    /// The digits at this place that are not zero, each with its row.
    fn at(&self, place: usize) -> impl Iterator<Item = (usize, i16)> {
        let mut rows = self.rows[place];
        iter::from_fn(move || {
            let row = rows.trailing_zeros() as usize;
            let digit = self.digits[place].get(row)?;
            rows &= rows - 1;
            Some((row, *digit))
        })
    }
}

impl<const ODD: usize> Multiples<ODD> {
    fn of(point: EdwardsPoint) -> Self {
        let row = |point: Sum| {
            let twice = point.doubled();
            successors(Some(point), move |multiple| Some(multiple.and(&twice))).take(ODD)
        };
        let next = |point: &Sum| (0..PLACES).fold(*point, |point, _| point.doubled());
        let points = successors(Some(Sum::of(&point)), |point| Some(next(point)));
        Self(Summand::of(&points.take(ROWS).flat_map(row).collect::<Vec<_>>()))
    }

    /// The non-adjacent form: from the lowest bit on, as many bits as a digit has are one digit when
    /// they are odd. In the upper half it becomes negative, and what it is too small by is carried.
    fn digits(&self, scalar: &Scalar) -> Digits {
        let width = ODD.ilog2() + 2;
        let mut digits = Digits { digits: [[0; ROWS]; PLACES], rows: [0; PLACES] };
        let (mut at, mut carry) = (0, 0);
        while at < ROWS * PLACES {
            let window = carry + bits(scalar.as_bytes(), at, width);
            if window % 2 == 0 {
                at += 1;
            } else {
                let (row, place) = (at / PLACES, at % PLACES);
                carry = window >> (width - 1);
                digits.digits[place][row] = window - (carry << width);
                digits.rows[place] |= 1 << row;
                at += width as usize;
            }
        }
        digits
    }

    /// Reads the multiples that these digits stand for, so that the processor has them at hand: it waits for
    /// many at once here, and for one after the other where they are added, which takes a fifth longer.
    fn fetch(&self, digits: &Digits) {
        for (row, digit) in (0..PLACES).flat_map(|place| digits.at(place)) {
            black_box(*self.multiple(row, digit));
        }
    }

    /// Adds the multiples that the digits at `place` of each row stand for.
    fn add_to(&self, sum: Sum, digits: &Digits, place: usize) -> Sum {
        digits.at(place).fold(sum, |sum, (row, digit)| {
            let multiple = self.multiple(row, digit);
            if digit > 0 { sum.plus(multiple) } else { sum.minus(multiple) }
        })
    }

    /// The one that an odd digit stands for, but for its sign.
    fn multiple(&self, row: usize, digit: i16) -> &Summand {
        &self.0[row * ODD + usize::from(digit.unsigned_abs()) / 2]
    }
}

/// So many bits of a number of 32 bytes, nine at most, from `place` on.
fn bits(number: &[u8; 32], place: usize, count: u32) -> i16 {
    let byte = |at: usize| number.get(at).copied().unwrap_or(0);
    let two = [byte(place / 8), byte(place / 8 + 1)];
    (i16::from_le_bytes(two) >> (place % 8)) & ((1 << count) - 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use curve25519_dalek::constants::EIGHT_TORSION;

    use super::*;

    /// The smallest and largest scalars, and those whose digits are at the edge of a row, carry all
    /// along, or are as large as they get.
    fn scalars() -> Vec<Scalar> {
        let shifted = |bits: usize, value: u64| {
            (0..bits).fold(Scalar::from(value), |scalar, _| scalar + scalar)
        };
        let edges = (0..252).step_by(4).flat_map(|bits| {
            let power = shifted(bits, 1);
            [power, power - Scalar::ONE, -power, Scalar::ONE - power]
        });
        let large = [1, 3, 5, 7, 15, 17, 31, 33, 63, 65, 127, 129, 255, 257]
            .map(|value| shifted(240, value));
        let alike = [0x11, 0x55, 0x77, 0xaa, 0xdd, 0xee, 0xff].map(|byte| [byte; 32]);
        edges.chain(large).chain(alike.map(Scalar::from_bytes_mod_order)).collect()
    }

    #[test]
    fn the_difference_is_that_of_the_products() {
        for torsion in EIGHT_TORSION {
            let point = ED25519_BASEPOINT_POINT * Scalar::from(5_u8) + torsion;
            let table = KeyTable::of(&PublicKey::from_bytes(&point.compress().0).unwrap());
            let scalars = scalars();
            for (s, k) in scalars.iter().zip(scalars.iter().rev().cycle().skip(1)) {
                let products = ED25519_BASEPOINT_POINT * s - point * k;
                assert_eq!(table.difference(s, k).compress(), products.compress().0, "{s:?} {k:?}");
            }
        }
    }

    #[test]
    fn digits_are_odd_apart_and_make_up_their_number() {
        for scalar in scalars() {
            hold::<8>(&scalar, 5);
            hold::<128>(&scalar, 9);
        }
    }

    fn hold<const ODD: usize>(scalar: &Scalar, width: usize) {
        let digits = Multiples::<ODD>(vec![]).digits(scalar);
        for place in 0..PLACES {
            let digits_there = digits.digits[place].iter().copied().enumerate();
            assert!(digits.at(place).eq(digits_there.filter(|(_, digit)| *digit != 0)));
        }
        let of_row = |row| digits.digits.iter().map(move |place| place[row]);
        let digits: Vec<i16> = (0..ROWS).flat_map(of_row).collect();
        let number = digits.iter().rev().fold(Scalar::ZERO, |sum, &digit| {
            let size = Scalar::from(digit.unsigned_abs());
            sum + sum + if digit < 0 { -size } else { size }
        });
        assert_eq!(number, *scalar);
        let largest = i16::try_from(2 * ODD).unwrap();
        assert!(digits.iter().all(|&digit| digit == 0 || digit % 2 != 0 && digit.abs() < largest));
        let rare = |few: &[i16]| few.iter().filter(|&&digit| digit != 0).count() <= 1;
        assert!(digits.windows(width).all(rare));
    }
}
