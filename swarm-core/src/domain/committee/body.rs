//! The body of a committee take, and the trailer line at its end (API.md, 8.4).

use super::CommitteeStance;

/// The characters allowed after the trailer, and in blank lines.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The trailer as an ECMAScript regular expression, for JSON Schema. It matches exactly the bodies
/// whose trailer [`CommitteeBody::parse`] accepts.
pub const TRAILER_PATTERN: &str = "(^|\\n)STANCE: (bullish|constructive|neutral|cautious|bearish) \
     \\| CONFIDENCE: (0(\\.[0-9]+)?|1(\\.0+)?)[ \\t\\r\\n]*$";

/// The body of a committee take: 80 to 4,000 characters, kept as received. The last line that is
/// not blank is the trailer.
///
/// The trailer is `STANCE: `, one of the five stances, ` | CONFIDENCE: ` and a decimal number. The
/// number is `0` or `1`, optionally followed by a point and digits; after `1` all digits are zero.
/// It has no sign, exponent, further leading zero, percent sign, or trailing point.
///
/// Case and inner spaces must match exactly, and nothing may precede the trailer on its line.
/// Look-alikes outside ASCII (`：`, `｜`, a no-break space) do not match. Spaces, tabs and blank
/// lines may follow. A line ends at LF, optionally preceded by CR; a lone CR or a Unicode line
/// separator does not end a line. The trailer is not compared with the fields of the take, and the
/// three paragraphs are not checked.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct CommitteeBody(String);

impl CommitteeBody {
    /// The minimum length in characters.
    pub const MIN: u32 = 80;

    /// The maximum length in characters.
    pub const MAX: u32 = 4_000;

    /// Checks the length of `text` and keeps it unchanged.
    ///
    /// # Errors
    /// The first [`BodyFault`] that applies, in the order of the variants.
    pub fn parse(text: impl Into<String>) -> Result<Self, BodyFault> {
        let text = text.into();
        let length = text.chars().count();
        if length < Self::MIN as usize {
            return Err(BodyFault::TooShort);
        }
        if length > Self::MAX as usize {
            return Err(BodyFault::TooLong);
        }
        if !ends_with_trailer(&text) {
            return Err(BodyFault::NoTrailer);
        }
        Ok(Self(text))
    }

    /// Returns the text, exactly as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a body was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFault {
    /// The body has fewer than 80 characters.
    TooShort,
    /// The body has more than 4,000 characters.
    TooLong,
    /// The body does not end with the trailer.
    NoTrailer,
}

fn ends_with_trailer(text: &str) -> bool {
    let text = text.trim_end_matches(BLANKS);
    let line = text.rsplit('\n').next().unwrap_or(text);
    let fields = line.strip_prefix("STANCE: ").and_then(|rest| rest.split_once(" | CONFIDENCE: "));
    fields.is_some_and(|(stance, confidence)| {
        CommitteeStance::parse(stance).is_some() && is_confidence(confidence)
    })
}

fn is_confidence(text: &str) -> bool {
    let (whole, digits) = match text.split_once('.') {
        Some((whole, digits)) => (whole, Some(digits)),
        None => (text, None),
    };
    let digits_are = |allowed: fn(&u8) -> bool| {
        digits.is_none_or(|digits| !digits.is_empty() && digits.as_bytes().iter().all(allowed))
    };
    match whole {
        "0" => digits_are(u8::is_ascii_digit),
        "1" => digits_are(|digit| *digit == b'0'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer(end: &str) -> Result<CommitteeBody, BodyFault> {
        CommitteeBody::parse(format!("{}\n{end}", "REGIME ALLOCATION SUBJECT ".repeat(4)))
    }

    #[test]
    fn trailer_accepts_each_stance_and_decimal() {
        for stance in CommitteeStance::ALL {
            for confidence in ["0", "1", "0.0", "0.72", "1.0", "1.000", "0.000000000000000000001"] {
                assert!(trailer(&format!("STANCE: {stance} | CONFIDENCE: {confidence}")).is_ok());
            }
        }
    }

    #[test]
    fn trailer_refuses_other_numbers() {
        for bad in [
            "", "0.", "1.", ".5", "00", "00.5", "01", "1.1", "1.01", "2", "-0", "-0.5", "+0.5",
            "1e0", "5e-1", "0,5", "50%", "0.5.5", "0.5x", "0x1", "NaN", "０.5", "0.５", "½",
            "0 .5",
        ] {
            let end = format!("STANCE: bullish | CONFIDENCE: {bad}");
            assert_eq!(trailer(&end), Err(BodyFault::NoTrailer), "{bad}");
        }
    }

    #[test]
    fn blanks_may_follow_and_lines_may_end_with_crlf() {
        for after in ["\n", "\r\n", " ", "\t \t", "\n\n\n", " \r\n\t\r\n ", "\r"] {
            assert!(trailer(&format!("STANCE: neutral | CONFIDENCE: 0.5{after}")).is_ok());
        }
        let crlf = format!("{}\r\nSTANCE: neutral | CONFIDENCE: 0.5\r\n", "REGIME ".repeat(12));
        assert!(CommitteeBody::parse(crlf).is_ok());
    }

    #[test]
    fn trailer_must_be_the_whole_last_line() {
        let stance = "STANCE: neutral | CONFIDENCE: 0.5";
        for bad in [
            format!("{stance}\nand so on"),
            format!("{stance} and so on"),
            format!("so: {stance}"),
            format!(" {stance}"),
            format!("\t{stance}"),
            format!("**{stance}**"),
            format!("> {stance}"),
            format!("{stance}\u{a0}"),
            format!("{stance}\u{200b}"),
            format!("text\r{stance}"),
            format!("text\u{2028}{stance}"),
            format!("text\u{85}{stance}"),
            format!("text\u{b}{stance}"),
            format!("{stance}\0"),
        ] {
            assert_eq!(trailer(&bad), Err(BodyFault::NoTrailer), "{bad:?}");
        }
        assert!(trailer(&format!("{stance}\n{stance}")).is_ok());
        assert!(trailer(&format!("STANCE: none\n\n{stance}")).is_ok());
    }

    #[test]
    fn trailer_must_match_exactly() {
        for bad in [
            "stance: neutral | confidence: 0.5",
            "Stance: neutral | Confidence: 0.5",
            "STANCE: Neutral | CONFIDENCE: 0.5",
            "STANCE: hopeful | CONFIDENCE: 0.5",
            "STANCE:neutral | CONFIDENCE: 0.5",
            "STANCE:  neutral | CONFIDENCE: 0.5",
            "STANCE: neutral|CONFIDENCE: 0.5",
            "STANCE: neutral  | CONFIDENCE: 0.5",
            "STANCE: neutral | CONFIDENCE:0.5",
            "STANCE: neutral | CONFIDENCE:  0.5",
            "STANCE: neutral, CONFIDENCE: 0.5",
            "CONFIDENCE: 0.5 | STANCE: neutral",
            "STANCE\u{ff1a} neutral | CONFIDENCE: 0.5",
            "STANCE: neutral \u{ff5c} CONFIDENCE: 0.5",
            "STANCE: neutral \u{2223} CONFIDENCE: 0.5",
            "STANCE:\u{a0}neutral | CONFIDENCE: 0.5",
            "\u{feff}STANCE: neutral | CONFIDENCE: 0.5",
            "ST\u{410}NCE: neutral | CONFIDENCE: 0.5",
            "STANCE: n\u{435}utral | CONFIDENCE: 0.5",
            "STANCE: neutral",
            "",
        ] {
            assert_eq!(trailer(bad), Err(BodyFault::NoTrailer), "{bad:?}");
        }
    }

    #[test]
    fn length_in_characters_is_checked_before_the_trailer() {
        let stance = "\nSTANCE: neutral | CONFIDENCE: 0.5";
        let body = |length: usize| {
            CommitteeBody::parse("\u{1f680}".repeat(length - stance.len()) + stance).map(|_| ())
        };
        assert_eq!(body(79), Err(BodyFault::TooShort));
        assert_eq!((body(80), body(4_000)), (Ok(()), Ok(())));
        assert_eq!(body(4_001), Err(BodyFault::TooLong));
        assert_eq!(CommitteeBody::parse("x".repeat(79)), Err(BodyFault::TooShort));
        assert_eq!(CommitteeBody::parse("x".repeat(80)), Err(BodyFault::NoTrailer));
        assert_eq!(CommitteeBody::parse("x".repeat(4_001)), Err(BodyFault::TooLong));
        assert_eq!(CommitteeBody::parse(" ".repeat(80)), Err(BodyFault::NoTrailer));
    }
}
