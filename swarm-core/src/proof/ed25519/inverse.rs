//! Inverses modulo p = 2²⁵⁵ - 19, by the division steps of Bernstein and Yang ("Fast constant-time
//! gcd computation and modular inversion", 2019): half the time that a power takes.
//!
//! For a number x there are f and g, at first p and x, and with them d and e, at first 0 and 1, so
//! that after n steps
//!
//! ```text
//! 2ⁿ·f = d·x      2ⁿ·g = e·x      modulo p
//! ```
//!
//! A step halves g, which is first made even by adding f where it is odd. Before that the two change
//! places, one of them negated, where that keeps both becoming smaller. When g is zero, f is 1 or -1,
//! the greatest common divisor of p and x: so d/2ⁿ is the inverse, or its negative. For numbers of 255
//! bits that takes 738 steps at most, by the theorem 11.2 there.
//!
//! Which steps come next is told by the lowest bits. So as many as a word has room for are found at
//! once, and then done to the numbers.

use super::field::Reduced;

/// How many steps are found at once.
const STEPS: u32 = 62;

/// How often: 744 steps.
const TIMES: usize = 12;

/// 2⁻⁷⁴⁴.
#[rustfmt::skip]
const UNSHIFTED: Reduced = Reduced::from_bytes([
    0xf9, 0x4d, 0x22, 0x1b, 0x5b, 0x85, 0xc1, 0x5d, 0x90, 0x2c, 0x42, 0xd9, 0x69, 0x44, 0xa5, 0x9c,
    0x71, 0xd4, 0xcc, 0xb0, 0x9d, 0x9d, 0x63, 0x59, 0x4f, 0xd6, 0x76, 0xb0, 0x98, 0x6f, 0xb6, 0x38,
]);

/// One divided by this number, or zero for zero. How long it takes depends on the number, which is
/// public.
pub(super) fn inverse(number: Reduced) -> Reduced {
    let (mut f, mut g) = (Wide::P, Wide::of(number));
    let (mut d, mut e) = (Reduced::ZERO, Reduced::ONE);
    let mut delta = 1;
    for _ in 0..TIMES {
        let steps = Steps::next(&mut delta, &f, &g);
        (f, g) = (steps.f.shifted(&f, &g), steps.g.shifted(&f, &g));
        (d, e) = (steps.f.sum(d, e), steps.g.sum(d, e));
    }
    let sign = if f.is_negative() { Row(-1, 0) } else { Row(1, 0) };
    sign.sum(d, e) * UNSHIFTED
}

/// How often f (or d), and g (or e), are in a sum: together 2⁶² times at most.
#[derive(Clone, Copy)]
struct Row(i64, i64);

/// What f and g become, but for being shifted by [`STEPS`] bits, and d and e with them.
struct Steps {
    f: Row,
    g: Row,
}

impl Steps {
    /// The next ones. The two change places where g is odd and `delta`, as the paper has it, is positive.
    fn next(delta: &mut i64, f: &Wide, g: &Wide) -> Self {
        let (mut f, mut g) = (f.lowest(), g.lowest());
        let (mut of_f, mut of_g) = (Row(1, 0), Row(0, 1));
        let mut left = STEPS;
        loop {
            // In place of g being halved, whatever f becomes is doubled: it is shifted in the end.
            let halved = (g | 1 << left).trailing_zeros();
            g >>= halved;
            of_f = Row(of_f.0 << halved, of_f.1 << halved);
            *delta += i64::from(halved);
            left -= halved;
            if left == 0 {
                return Self { f: of_f, g: of_g };
            }
            if *delta > 0 {
                *delta = -*delta;
                (f, g) = (g, f.wrapping_neg());
                (of_f, of_g) = (of_g, Row(-of_f.0, -of_f.1));
            }
            // Several steps in one, as many as there are before the two may change places: f·(2 - f²)
            // is 1/f modulo 2⁶, so that g loses as many bits.
            let bits = (1 - *delta).min(i64::from(left)).min(6);
            let negated = f.wrapping_mul(f).wrapping_sub(2).wrapping_mul(f);
            let times = g.wrapping_mul(negated) & ((1 << bits) - 1);
            g = g.wrapping_add(f.wrapping_mul(times));
            let times = times as i64;
            of_g = Row(of_g.0 + of_f.0 * times, of_g.1 + of_f.1 * times);
        }
    }
}

impl Row {
    /// The sum without its lowest [`STEPS`] bits, which are zero.
    fn shifted(self, f: &Wide, g: &Wide) -> Wide {
        let (mut limbs, mut carry) = ([0; 5], 0);
        for (at, (f, g)) in f.0.into_iter().zip(g.0).enumerate() {
            let product = |times, limb| i128::from(times) * i128::from(limb);
            let sum: i128 = carry + product(self.0, f) + product(self.1, g);
            carry = sum >> STEPS;
            if let Some(below) = at.checked_sub(1) {
                limbs[below] = sum as i64 & LIMB;
            }
        }
        limbs[4] = carry as i64;
        Wide(limbs)
    }

    fn sum(self, d: Reduced, e: Reduced) -> Reduced {
        let times = |times: i64, number| number * Reduced::small(times.unsigned_abs());
        let (d, e) = (times(self.0, d), times(self.1, e));
        let sum = match (self.0 < 0, self.1 < 0) {
            (false, false) => d + e,
            (false, true) => d - e,
            (true, false) => e - d,
            (true, true) => Reduced::ZERO - (d + e).reduce(),
        };
        sum.reduce()
    }
}

/// A number from -p to p: 62 bits a limb, the lowest first. The highest limb has the sign.
struct Wide([i64; 5]);

/// The bits of a limb.
const LIMB: i64 = (1 << 62) - 1;

impl Wide {
    const P: Self = Self([LIMB - 18, LIMB, LIMB, LIMB, 0x7f]);

    fn of(number: Reduced) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(number.to_bytes().as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let [a, b, c, d] = words;
        let limbs = [a, a >> 62 | b << 2, b >> 60 | c << 4, c >> 58 | d << 6, d >> 56];
        Self(limbs.map(|limb| limb as i64 & LIMB))
    }

    /// Its lowest bits.
    fn lowest(&self) -> u64 {
        self.0[0] as u64
    }

    fn is_negative(&self) -> bool {
        self.0[4] < 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divides(number: Reduced) -> bool {
        (number * inverse(number)).to_bytes() == Reduced::ONE.to_bytes()
    }

    #[test]
    fn zero_has_none() {
        assert_eq!(inverse(Reduced::ZERO).to_bytes(), [0; 32]);
    }

    /// Powers of two, what is beside them, their negatives, and numbers of one word that are long.
    #[test]
    fn odd_numbers_have_theirs() {
        let twice = |number: &Reduced| Some((*number + *number).reduce());
        for power in std::iter::successors(Some(Reduced::ONE), twice).take(600) {
            let more = (power + Reduced::small(19)).reduce();
            for number in [power, more, (Reduced::ZERO - power).reduce(), (power - more).reduce()] {
                assert!(divides(number), "{:?}", number.to_bytes());
            }
        }
        assert!(divides(Reduced::small(u64::MAX)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_number_and_its_inverse_are_one(bytes: [u8; 32]) {
            prop_assume!(Reduced::from_bytes(bytes).to_bytes() != [0; 32]);
            prop_assert!(divides(Reduced::from_bytes(bytes)));
        }
    }
}
