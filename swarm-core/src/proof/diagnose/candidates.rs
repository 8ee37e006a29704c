//! The texts that clients sign by mistake: single mistakes first, then common combinations.

use sha2::{Digest, Sha256, Sha512};

use super::body::Sent;
use super::code::Code;
use super::differences::differences;
use super::render::{Escapes, Layout, Numbers, Style, Which, write};
use super::shapes::{Form, Shape};
use crate::proof::hex;

/// A way of producing the signed bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate {
    /// An object, written in a style, with a transformation of its text.
    Object(Shape, Style, Finish),
    /// One of [`Sent::others`], by index.
    Other(usize),
}

/// A transformation of the text before it is signed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Finish {
    Nothing,
    Newline(&'static str),
    Sha256,
    Sha256Hex,
    Sha512,
    Sha512Hex,
}

impl Candidate {
    /// The bytes; `None` when there is no such text.
    pub(super) fn message(self, sent: &Sent) -> Option<Vec<u8>> {
        match self {
            Self::Other(at) => sent.others.get(at).map(|text| text.clone().into_bytes()),
            Self::Object(shape, style, finish) => Some(finish.of(write(&shape.of(sent), style))),
        }
    }

    /// The mistakes that this candidate contains.
    pub(super) fn codes(self, sent: &Sent) -> Vec<Code> {
        match self {
            Self::Other(_) => vec![Code::OtherPayload],
            Self::Object(shape, style, finish) => {
                let fields = shape.of(sent);
                let mut codes = differences(&sent.signed(), &fields);
                let text = write(&fields, style);
                codes.extend(style.parts().filter_map(|(code, without)| {
                    (write(&fields, without) != text).then_some(code)
                }));
                codes.extend(finish.code());
                codes
            }
        }
    }
}

impl Style {
    /// The possible mistakes of this style, each with the style without that mistake.
    fn parts(self) -> impl Iterator<Item = (Code, Self)> {
        let layout = match self.layout {
            Layout::Pretty(_) | Layout::PrettyWindows(_) | Layout::PowerShell => Code::Pretty,
            Layout::Compact | Layout::Spaced => Code::Whitespace,
        };
        [
            (layout, Self { layout: Layout::Compact, ..self }),
            (Code::Escapes, Self { escapes: Escapes::Least, ..self }),
            (Code::NumberText, Self { numbers: Numbers::EcmaScript, ..self }),
        ]
        .into_iter()
    }
}

impl Finish {
    fn of(self, text: String) -> Vec<u8> {
        match self {
            Self::Nothing => text.into_bytes(),
            Self::Newline(end) => (text + end).into_bytes(),
            Self::Sha256 => Sha256::digest(text).to_vec(),
            Self::Sha512 => Sha512::digest(text).to_vec(),
            Self::Sha256Hex => hex(&Sha256::digest(text)).into_bytes(),
            Self::Sha512Hex => hex(&Sha512::digest(text)).into_bytes(),
        }
    }

    fn code(self) -> Option<Code> {
        match self {
            Self::Nothing => None,
            Self::Newline(_) => Some(Code::TrailingNewline),
            Self::Sha256 | Self::Sha512 | Self::Sha256Hex | Self::Sha512Hex => {
                Some(Code::SignedDigest)
            }
        }
    }
}

/// All candidates, the likeliest first, because the number of verifications is bounded.
pub(super) fn all() -> impl Iterator<Item = Candidate> {
    shapes()
        .chain(styles())
        .chain(finishes())
        .chain((0..MAX_OTHERS).map(Candidate::Other))
        .chain(combinations())
}

/// The maximum length of [`Sent::others`]: two other kinds and four single fields.
const MAX_OTHERS: usize = 6;

const PLAIN: Style =
    Style { layout: Layout::Compact, escapes: Escapes::Least, numbers: Numbers::EcmaScript };

/// The default of Python.
const PYTHON: Style =
    Style { layout: Layout::Spaced, escapes: Escapes::Python, numbers: Numbers::AsSent };

/// The canonical style with other escapes.
const fn with(escapes: Escapes) -> Style {
    Style { escapes, ..PLAIN }
}

fn shapes() -> impl Iterator<Item = Candidate> {
    const SHAPES: &[Shape] = &[
        Shape::AsSent,
        Shape::SentOrder,
        Shape::Sorted,
        Shape::Without(&["body"]),
        Shape::Without(&["memoUrl"]),
        Shape::Without(&["body", "memoUrl"]),
        Shape::Without(&["lens"]),
        Shape::Null(&["weights"]),
        Shape::Null(&["body", "memoUrl", "lens"]),
        Shape::Null(&["body", "memoUrl", "weights"]),
        Shape::EmptySignature,
        Shape::NullSignature,
        Shape::Extended,
        Shape::AsSentWithKey,
        Shape::ByBucket,
        Shape::ByWeight,
        Shape::Reversed,
        Shape::WeightFirst,
        Shape::Normalized(Form::Nfc),
        Shape::Normalized(Form::Nfd),
        Shape::Normalized(Form::Nfkc),
        Shape::Normalized(Form::Nfkd),
    ];
    SHAPES.iter().map(|shape| Candidate::Object(*shape, PLAIN, Finish::Nothing))
}

fn styles() -> impl Iterator<Item = Candidate> {
    const STYLES: &[Style] = &[
        Style { layout: Layout::Spaced, ..PLAIN },
        Style { layout: Layout::Pretty("  "), ..PLAIN },
        Style { layout: Layout::Pretty("    "), ..PLAIN },
        Style { layout: Layout::Pretty("\t"), ..PLAIN },
        with(Escapes::Html),
        with(Escapes::Python),
        with(Escapes::Php),
        with(Escapes::Slash),
        with(Escapes::DotNet),
        with(Escapes::PowerShell),
        with(Escapes::Gson),
        with(Escapes::Ascii),
        with(Escapes::AsciiUpper),
        with(Escapes::Newtonsoft),
        with(Escapes::Jackson),
        with(Escapes::DotNetRelaxed),
        Style { numbers: Numbers::AsSent, ..PLAIN },
        Style { numbers: Numbers::Point(Which::All), ..PLAIN },
        Style { numbers: Numbers::Cents(Which::All), ..PLAIN },
        Style { numbers: Numbers::Cents(Which::Outer), ..PLAIN },
        Style { numbers: Numbers::Point(Which::Outer), ..PLAIN },
        Style { numbers: Numbers::Point(Which::Inner), ..PLAIN },
        Style { numbers: Numbers::Cents(Which::Inner), ..PLAIN },
    ];
    STYLES.iter().map(|style| Candidate::Object(Shape::Payload, *style, Finish::Nothing))
}

fn finishes() -> impl Iterator<Item = Candidate> {
    const FINISHES: &[Finish] = &[
        Finish::Newline("\n"),
        Finish::Newline("\r\n"),
        Finish::Sha256,
        Finish::Sha256Hex,
        Finish::Sha512,
        Finish::Sha512Hex,
    ];
    FINISHES.iter().map(|finish| Candidate::Object(Shape::Payload, PLAIN, *finish))
}

/// The default output of the JSON writers of common languages and tools, as it is and as a line.
/// Those that differ in one thing only are tried before.
fn combinations() -> impl Iterator<Item = Candidate> {
    const COMPACT_PYTHON: Style = Style { layout: Layout::Compact, ..PYTHON };
    const POWERSHELL: Style =
        Style { layout: Layout::PowerShell, escapes: Escapes::PowerShell, ..PLAIN };
    const LINE: Finish = Finish::Newline("\n");
    const WINDOWS_LINE: Finish = Finish::Newline("\r\n");
    const WRITERS: &[(Style, Finish)] = &[
        // The encoder of Go, which ends with a line feed.
        (with(Escapes::Html), LINE),
        (with(Escapes::Html), Finish::Nothing),
        (PYTHON, Finish::Nothing),
        (COMPACT_PYTHON, Finish::Nothing),
        (PYTHON, LINE),
        (POWERSHELL, Finish::Nothing),
        (Style { escapes: Escapes::Least, ..PYTHON }, Finish::Nothing),
        (with(Escapes::Php), Finish::Nothing),
        (with(Escapes::DotNet), Finish::Nothing),
        (PLAIN, LINE),
        (Style { numbers: Numbers::Point(Which::All), ..PYTHON }, Finish::Nothing),
        (Style { layout: Layout::Pretty("  "), ..PYTHON }, Finish::Nothing),
        (with(Escapes::PowerShell), LINE),
        (COMPACT_PYTHON, LINE),
        (with(Escapes::Php), LINE),
        (with(Escapes::DotNet), LINE),
        // jq.
        (Style { layout: Layout::Pretty("  "), ..PLAIN }, LINE),
        (Style { layout: Layout::Spaced, ..PLAIN }, LINE),
        (with(Escapes::PowerShell), WINDOWS_LINE),
        (POWERSHELL, WINDOWS_LINE),
        (with(Escapes::Gson), LINE),
        (with(Escapes::Slash), LINE),
        (with(Escapes::DotNet), WINDOWS_LINE),
        (Style { layout: Layout::PrettyWindows("  "), ..PLAIN }, Finish::Nothing),
        (Style { layout: Layout::PrettyWindows("  "), ..with(Escapes::DotNet) }, Finish::Nothing),
        (Style { layout: Layout::Pretty("  "), ..with(Escapes::DotNet) }, Finish::Nothing),
        (Style { layout: Layout::Pretty("    "), ..with(Escapes::Php) }, Finish::Nothing),
        (Style { layout: Layout::Pretty("  "), ..with(Escapes::Html) }, Finish::Nothing),
        (Style { layout: Layout::PrettyWindows("    "), ..PLAIN }, Finish::Nothing),
    ];
    // What was sent has the same text as the payload, unless fields are missing or in another order.
    let written = WRITERS.iter().flat_map(|(style, finish)| {
        [Shape::AsSent, Shape::Payload].map(|shape| Candidate::Object(shape, *style, *finish))
    });
    // Maps of Go are sorted; so are those of Python and jq on demand.
    const SORTED: &[(Style, Finish)] = &[
        (with(Escapes::Html), LINE),
        (with(Escapes::Html), Finish::Nothing),
        (PYTHON, Finish::Nothing),
        (COMPACT_PYTHON, Finish::Nothing),
        (PLAIN, LINE),
        (Style { escapes: Escapes::Least, ..PYTHON }, Finish::Nothing),
        (Style { numbers: Numbers::Point(Which::All), ..PYTHON }, Finish::Nothing),
        (with(Escapes::Php), Finish::Nothing),
    ];
    let sorted =
        SORTED.iter().map(|(style, finish)| Candidate::Object(Shape::Sorted, *style, *finish));
    // The rarest writers come last.
    let (first, last) = (written.clone().take(24), written.skip(24));
    first.chain(sorted).chain(last).chain(rare_combinations())
}

/// Combinations with three mistakes, or of settings that are no defaults. They are reached if the text has few
/// characters that writers escape, so that most candidates before are the same.
fn rare_combinations() -> impl Iterator<Item = Candidate> {
    const TWO: Layout = Layout::Pretty("  ");
    const FOUR: Layout = Layout::Pretty("    ");
    const LINE: Finish = Finish::Newline("\n");
    const NULL_WEIGHTS: Shape = Shape::Null(&["weights"]);
    const NULLS: Shape = Shape::Null(&["body", "memoUrl", "weights"]);
    const RARE: &[(Shape, Style, Finish)] = &[
        // Python, Go and C# write absent fields as null unless told otherwise.
        (NULL_WEIGHTS, PYTHON, Finish::Nothing),
        (NULL_WEIGHTS, with(Escapes::Html), LINE),
        (NULL_WEIGHTS, with(Escapes::Html), Finish::Nothing),
        (NULLS, PYTHON, Finish::Nothing),
        // jq -S.
        (Shape::Sorted, Style { layout: TWO, ..PLAIN }, LINE),
        // Swift with sorted keys.
        (Shape::Sorted, with(Escapes::Slash), Finish::Nothing),
        (Shape::Sorted, PYTHON, LINE),
        (Shape::Sorted, Style { layout: TWO, ..PYTHON }, Finish::Nothing),
        (Shape::Payload, Style { layout: FOUR, ..PYTHON }, Finish::Nothing),
        (Shape::Payload, Style { layout: TWO, ..with(Escapes::Html) }, LINE),
        (
            Shape::Payload,
            Style { layout: Layout::Pretty("\t"), ..with(Escapes::Html) },
            Finish::Nothing,
        ),
        (Shape::Payload, Style { layout: TWO, ..with(Escapes::Gson) }, Finish::Nothing),
        (Shape::Sorted, with(Escapes::Gson), Finish::Nothing),
        (Shape::Reversed, PYTHON, Finish::Nothing),
        (Shape::Reversed, with(Escapes::Html), LINE),
        (Shape::Payload, PYTHON, Finish::Sha256),
        (Shape::Sorted, PLAIN, Finish::Sha256),
        (Shape::Payload, Style { layout: FOUR, ..PYTHON }, LINE),
        (
            Shape::Payload,
            Style { layout: Layout::PrettyWindows("  "), ..PLAIN },
            Finish::Newline("\r\n"),
        ),
        (Shape::Sorted, Style { layout: TWO, ..PYTHON }, LINE),
        (NULL_WEIGHTS, with(Escapes::DotNet), Finish::Nothing),
        (Shape::Payload, PYTHON, Finish::Sha256Hex),
        (Shape::Sorted, PLAIN, Finish::Sha256Hex),
    ];
    RARE.iter().map(|(shape, style, finish)| Candidate::Object(*shape, *style, *finish))
}
