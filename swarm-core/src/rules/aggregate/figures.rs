//! Rounding of the figures in a snapshot (API.md, 6.5).

/// Rounds to 12 decimals, half away from zero. Zero loses its sign.
///
/// Rust's formatter rounds the exact value of the double, and ties to even. The only doubles
/// halfway between two such decimals are the odd multiples of 2⁻¹³. For these, the next double away
/// from zero is formatted instead.
pub(super) fn rounded(value: f64) -> f64 {
    let size = value.abs();
    let halfway = (size * 8_192.0) % 2.0 == 1.0;
    let beyond = if halfway { size.next_up() } else { size };
    let rounded: f64 = format!("{beyond:.12}").parse().unwrap_or(size);
    // Adding zero turns -0 into 0.
    rounded.copysign(value) + 0.0
}

#[expect(clippy::cast_precision_loss, reason = "numbers of members are far below 2^53")]
pub(in crate::rules) fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_to_twelve_decimals() {
        for (value, expected) in [
            (0.1 + 0.2, 0.3),
            (-1.500_000_000_000_000_2, -1.5),
            (2.0 / 3.0, 0.666_666_666_667),
            (1.0 / 3.0, 0.333_333_333_333),
            (0.499_999_999_999_6, 0.5),
            (4.9e-13, 0.0),
            (5e-324, 0.0),
            (2.0, 2.0),
        ] {
            assert_eq!(rounded(value).to_bits(), f64::to_bits(expected), "{value}");
            assert_eq!(rounded(-value).to_bits(), (0.0 - expected).to_bits(), "-{value}");
        }
    }

    #[test]
    fn ties_round_away_from_zero() {
        // Multiples of 2^-13 = 0.0001220703125: thirteen decimals, the last of them a 5.
        for (odd, expected) in [(1.0, 0.000_122_070_313), (3.0, 0.000_366_210_938)] {
            assert_eq!(rounded(odd / 8_192.0), expected);
            assert_eq!(rounded(-odd / 8_192.0), -expected);
        }
        assert_eq!(rounded(2.0 / 8_192.0), 0.000_244_140_625);
        // A value just below the tie is rounded to the nearer decimal.
        assert_eq!(rounded((1.0_f64 / 8_192.0).next_down()), 0.000_122_070_312);
    }
}
