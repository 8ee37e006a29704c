//! The texts that clients sign by mistake: the default output of common programs, single mistakes, and then the
//! combinations of settings of the same programs.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha512};

use super::body::{PayloadKind, Sent};
use super::code::Code;
use super::differences::differences;
use super::render::{
    Escapes, Exponent, Layout, Names, Notation, Numbers, Style, Which, quoted, write,
};
use super::shapes::{Extent, Form, Fraction, Order, Shape};
use crate::proof::hex;

/// A way of producing the signed bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate {
    /// An object, written in a style, with a transformation of its text.
    Object(Shape, Style, Finish),
    /// One of [`Sent::others`], by index, and what follows it.
    Other(usize, &'static str),
}

/// What happens to the text before it is signed: something follows it, it is encoded, and perhaps a line feed follows the encoded text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    end: &'static str,
    encoding: Encoding,
    is_line: bool,
}

#[derive(Clone, Copy, Debug)]
enum Encoding {
    Utf8,
    /// UTF-8 after a byte order mark.
    Marked,
    /// UTF-16, little endian.
    Utf16,
    /// The same after a byte order mark.
    Utf16Marked,
    /// UTF-16, big endian, after a byte order mark.
    Utf16Big,
    /// With a question mark for what this encoding lacks.
    Latin1,
    Ascii,
    /// A code page of Windows: the characters of its bytes from 0x80 on, and a question mark for all others.
    CodePage(&'static str),
    /// UTF-8 that was read as Latin-1 and encoded again.
    Utf8Twice,
    /// A JSON string.
    Quoted(Escapes),
    /// The answer of the service that has the text in it.
    Answer,
    Base64,
    Hex,
    Sha256,
    Sha256Hex,
    Sha256HexUpper,
    Sha256Base64,
    Sha512,
    Sha512Hex,
}

impl Candidate {
    /// The bytes; `None` when there is no such text.
    pub(super) fn message(self, sent: &Sent) -> Option<Vec<u8>> {
        match self {
            Self::Other(at, end) => {
                sent.others.get(at).map(|text| format!("{text}{end}").into_bytes())
            }
            Self::Object(shape, style, finish) => Some(finish.of(write(&shape.of(sent), style))),
        }
    }

    /// The mistakes that this candidate contains.
    pub(super) fn codes(self, sent: &Sent) -> Vec<Code> {
        match self {
            Self::Other(_, "") => vec![Code::OtherPayload],
            Self::Other(..) => vec![Code::OtherPayload, Code::TrailingNewline],
            Self::Object(shape, style, finish) => {
                let fields = shape.of(sent);
                let mut codes = differences(&sent.signed(), &fields);
                let text = write(&fields, style);
                codes.extend(style.parts().filter_map(|(code, without)| {
                    (write(&fields, without) != text).then_some(code)
                }));
                codes.extend(finish.codes());
                codes
            }
        }
    }
}

impl Style {
    /// The possible mistakes of this style, each with the style without that mistake.
    fn parts(self) -> impl Iterator<Item = (Code, Self)> {
        let layout = if self.layout.is_pretty() { Code::Pretty } else { Code::Whitespace };
        [
            (layout, Self { layout: Layout::COMPACT, ..self }),
            (Code::Escapes, Self { escapes: Escapes::LEAST, ..self }),
            (Code::NumberText, Self { numbers: Numbers::EcmaScript, ..self }),
            (Code::FieldNames, Self { names: Names::AsSent, ..self }),
            (Code::NotJson, Self { notation: Notation::Json, ..self }),
        ]
        .into_iter()
    }
}

impl Finish {
    const NOTHING: Self = Self { end: "", encoding: Encoding::Utf8, is_line: false };
    const LINE: Self = Self { end: "\n", ..Self::NOTHING };
    const WINDOWS_LINE: Self = Self { end: "\r\n", ..Self::NOTHING };

    const fn encoded(encoding: Encoding) -> Self {
        Self { encoding, ..Self::NOTHING }
    }

    fn of(self, text: String) -> Vec<u8> {
        let mut bytes = self.encoding.of(text + self.end);
        bytes.extend(self.is_line.then_some(b'\n'));
        bytes
    }

    fn codes(self) -> impl Iterator<Item = Code> {
        let has_end = self.is_line || !self.end.is_empty();
        let end = has_end.then_some(Code::TrailingNewline);
        end.into_iter().chain(self.encoding.code())
    }
}

impl Encoding {
    fn of(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Marked => format!("\u{feff}{text}").into_bytes(),
            Self::Utf16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Marked => Self::Utf16.of(format!("\u{feff}{text}")),
            Self::Latin1 => text.chars().map(|it| u8::try_from(it).unwrap_or(b'?')).collect(),
            Self::Utf16Big => {
                format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect()
            }
            Self::CodePage(upper) => text.chars().map(|it| byte_in(upper, it)).collect(),
            Self::Ascii => text
                .chars()
                .map(|it| if it.is_ascii() { it } else { '?' })
                .collect::<String>()
                .into_bytes(),
            Self::Utf8Twice => text.bytes().map(char::from).collect::<String>().into_bytes(),
            Self::Quoted(escapes) => quoted(&text, escapes).into_bytes(),
            Self::Answer => {
                format!("{{\"canonical\":{}}}", quoted(&text, Escapes::LEAST)).into_bytes()
            }
            Self::Base64 => STANDARD.encode(text).into_bytes(),
            Self::Hex => hex(text.as_bytes()).into_bytes(),
            Self::Sha256 => Sha256::digest(text).to_vec(),
            Self::Sha512 => Sha512::digest(text).to_vec(),
            Self::Sha256Hex => hex(&Sha256::digest(text)).into_bytes(),
            Self::Sha256HexUpper => hex(&Sha256::digest(text)).to_uppercase().into_bytes(),
            Self::Sha256Base64 => STANDARD.encode(Sha256::digest(text)).into_bytes(),
            Self::Sha512Hex => hex(&Sha512::digest(text)).into_bytes(),
        }
    }

    fn code(self) -> Option<Code> {
        match self {
            Self::Utf8 => None,
            Self::Answer => Some(Code::OtherPayload),
            Self::Sha256
            | Self::Sha256Hex
            | Self::Sha256HexUpper
            | Self::Sha256Base64
            | Self::Sha512
            | Self::Sha512Hex => Some(Code::SignedDigest),
            Self::Marked
            | Self::Utf16
            | Self::Utf16Marked
            | Self::Utf16Big
            | Self::Latin1
            | Self::Ascii
            | Self::CodePage(_)
            | Self::Utf8Twice
            | Self::Quoted(_)
            | Self::Base64
            | Self::Hex => Some(Code::TextEncoding),
        }
    }
}

/// The upper half of Windows-1252, the encoding of Windows in Western Europe and America.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯\
    °±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";

/// The upper half of code page 850, that of the command line there.
const PAGE_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

fn byte_in(upper: &str, character: char) -> u8 {
    if character.is_ascii() {
        return u8::try_from(character).unwrap_or(b'?');
    }
    let place = (0x80..=u8::MAX).zip(upper.chars()).find(|(_, it)| *it == character);
    place.map_or(b'?', |(byte, _)| byte)
}

/// The candidates that are tried with each key: what common programs write by default.
pub(super) fn likely(sent: &Sent) -> impl Iterator<Item = Candidate> {
    let first = readings(sent).next();
    DEFAULTS.iter().filter_map(move |output| Some(first?.of(*output)))
}

/// All other candidates, the likeliest first, because the number of verifications is bounded: of families, those with
/// fewer unusual settings.
/// Some have the text of an earlier one.
pub(super) fn others(sent: &Sent) -> impl Iterator<Item = Candidate> {
    let mut readings = readings(sent);
    let first = readings.next();
    let rest: Vec<_> = readings.collect();
    let of_first = move |settings: &[usize]| {
        of_families(settings).into_iter().filter_map(move |output| Some(first?.of(output)))
    };
    let encoded = move |outputs: &'static [Encoded]| {
        encoded_outputs(outputs).filter_map(move |output| Some(first?.of(output)))
    };
    let rarer = RARER
        .iter()
        .filter_map(move |(order, style)| Some(first?.of((*order, *style, Finish::NOTHING))));
    let printed = PYTHON_TEXTS.iter().filter_map(move |output| Some(first?.of(*output)));
    let (usual, others) = DEFAULTS.split_at(DEFAULTS.len().min(USUAL));
    let defaults = |outputs: &'static [Output]| read(outputs.iter().copied(), rest.clone());
    shapes()
        .chain(styles())
        .chain(finishes())
        .chain((0..MAX_OTHERS).flat_map(|at| ["", "\n"].map(|end| Candidate::Other(at, end))))
        .chain(times(sent))
        .chain(defaults(usual))
        .chain(numbers_of_programs())
        .chain(of_first(&[0]))
        .chain(added_fields())
        .chain(of_first(&[1]))
        .chain(encoded(ENCODED))
        .chain(answers())
        .chain(rarer)
        .chain(encoded(MORE_ENCODED))
        .chain(of_first(&[2]))
        .chain(defaults(others))
        .chain(shapes_by_default())
        .chain(of_first(&[3]))
        .chain(read(of_families(&[0, 1, 2, 3]).into_iter(), rest.clone()))
        .chain(printed)
}

/// The maximum length of [`Sent::others`]: two other kinds, four single fields, and a part of one and a string of it.
const MAX_OTHERS: usize = 8;

const PLAIN: Style = Style {
    layout: Layout::COMPACT,
    escapes: Escapes::LEAST,
    numbers: Numbers::EcmaScript,
    names: Names::AsSent,
    notation: Notation::Json,
};

/// The default of Python.
const PYTHON: Style = Style { layout: Layout::SPACED, escapes: Escapes::PYTHON, ..PLAIN };

/// `str` of Python.
const PYTHON_TEXT: Style =
    Style { layout: Layout::SPACED, escapes: Escapes::REPR, notation: Notation::Python, ..PLAIN };

/// The canonical style with other escapes.
const fn with(escapes: Escapes) -> Style {
    Style { escapes, ..PLAIN }
}

/// The canonical style with other white space.
const fn laid_out(layout: Layout) -> Style {
    Style { layout, ..PLAIN }
}

/// The canonical style with other numbers.
const fn numbered(numbers: Numbers) -> Style {
    Style { numbers, ..PLAIN }
}

/// How a program writes the payload: which fields, and with which numbers.
#[derive(Clone, Copy, Debug)]
struct Reading {
    extent: Extent,
    numbers: Numbers,
}

/// The output of a program.
type Output = (Order, Style, Finish);

impl Reading {
    fn text(self, sent: &Sent) -> String {
        let shape = Shape::Fields(self.extent, Order::Given);
        write(&shape.of(sent), numbered(self.numbers))
    }

    fn of(self, (order, style, finish): Output) -> Candidate {
        let style = Style { numbers: self.numbers, ..style };
        Candidate::Object(Shape::Fields(self.extent, order), style, finish)
    }
}

/// The readings of this body that have different texts, the likeliest first. Most programs write the same numbers in
/// the body and in what they sign. The fields differ only if some are missing or more were sent.
fn readings(sent: &Sent) -> impl Iterator<Item = Reading> {
    const NUMBERS: [Numbers; 3] =
        [Numbers::AsSent, Numbers::EcmaScript, Numbers::Point(Which::All)];
    const EXTENTS: [Extent; 3] = [Extent::Present, Extent::AsSent, Extent::Payload];
    let all =
        NUMBERS.into_iter().flat_map(|numbers| EXTENTS.map(|extent| Reading { extent, numbers }));
    let mut texts = HashSet::new();
    all.filter(move |reading| texts.insert(reading.text(sent)))
}

/// Each output, for each of these readings.
fn read(
    outputs: impl Iterator<Item = Output>,
    readings: Vec<Reading>,
) -> impl Iterator<Item = Candidate> {
    outputs.flat_map(move |output| {
        readings.iter().map(|reading| reading.of(output)).collect::<Vec<_>>()
    })
}

/// The number of outputs of [`DEFAULTS`] that are tried for all readings before those of families.
const USUAL: usize = 6;

/// The default output of common programs.
const DEFAULTS: &[Output] = &[
    (Order::Given, PLAIN, Finish::LINE),
    (Order::Given, PYTHON, Finish::NOTHING),
    // The encoder of Go, which ends with a line feed.
    (Order::Given, with(Escapes::HTML), Finish::LINE),
    (Order::Given, with(Escapes::HTML), Finish::NOTHING),
    (Order::Given, laid_out(Layout::TWO), Finish::NOTHING),
    (Order::Given, Style { layout: Layout::COMPACT, ..PYTHON }, Finish::NOTHING),
    (Order::Given, with(Escapes::PHP), Finish::NOTHING),
    (Order::Given, with(Escapes::DOT_NET), Finish::NOTHING),
    (Order::Given, with(Escapes::GSON), Finish::NOTHING),
    // Maps of Go, and Python and RFC 8785 on demand.
    (Order::Sorted, PLAIN, Finish::NOTHING),
    (Order::Sorted, PYTHON, Finish::NOTHING),
    (Order::Sorted, with(Escapes::HTML), Finish::NOTHING),
    (Order::Sorted, with(Escapes::HTML), Finish::LINE),
    (Order::Sorted, Style { layout: Layout::COMPACT, ..PYTHON }, Finish::NOTHING),
    (Order::Given, PYTHON, Finish::LINE),
    // jq, and with -cS.
    (Order::Given, laid_out(Layout::TWO), Finish::LINE),
    (Order::Sorted, PLAIN, Finish::LINE),
    (
        Order::Given,
        Style { layout: Layout::POWER_SHELL, escapes: Escapes::POWER_SHELL, ..PLAIN },
        Finish::NOTHING,
    ),
    (Order::Given, PYTHON_TEXT, Finish::NOTHING),
];

/// Default output that is rarer, or further from the canonical text.
const RARER: &[(Order, Style)] = &[
    // `str(take).replace("'", '"')`.
    (Order::Given, Style { notation: Notation::PythonQuoted, ..PYTHON_TEXT }),
    // System.Text.Json, Newtonsoft, and Go without tags.
    (Order::Given, Style { names: Names::Pascal, ..with(Escapes::DOT_NET) }),
    (Order::Given, Style { names: Names::Pascal, ..PLAIN }),
    (Order::Given, Style { names: Names::Pascal, ..with(Escapes::HTML) }),
    // Rust, Ruby, Python.
    (Order::Given, Style { names: Names::Snake, ..PLAIN }),
    (Order::Given, Style { names: Names::Snake, ..PYTHON }),
    // C and C++.
    (Order::Given, laid_out(Layout::C_JSON)),
    (Order::Given, Style { layout: Layout::JSON_C, ..with(Escapes::SLASH) }),
    (Order::Sorted, Style { layout: Layout::JSON_CPP, ..with(Escapes::ASCII) }),
];

/// `str` of Python, sorted and as a line.
const PYTHON_TEXTS: &[Output] = &[
    (Order::Sorted, PYTHON_TEXT, Finish::NOTHING),
    (Order::Given, PYTHON_TEXT, Finish::LINE),
    (Order::Given, PYTHON_TEXT, Finish::WINDOWS_LINE),
    (Order::Sorted, PYTHON_TEXT, Finish::LINE),
    (Order::Sorted, PYTHON_TEXT, Finish::WINDOWS_LINE),
];

/// The output of programs, and what is signed in its place.
type Encoded = (&'static [Output], &'static [Encoding]);

/// The default output of the most frequent programs.
const ENCODED: &[Encoded] = &[(
    &[
        // Where fields are missing in the body.
        (Order::Given, PLAIN, Finish::NOTHING),
        (Order::Given, PYTHON, Finish::NOTHING),
        (Order::Given, with(Escapes::HTML), Finish::LINE),
        (Order::Given, with(Escapes::HTML), Finish::NOTHING),
        (Order::Sorted, PYTHON, Finish::NOTHING),
        (Order::Given, with(Escapes::DOT_NET), Finish::NOTHING),
        (Order::Given, with(Escapes::POWER_SHELL), Finish::NOTHING),
        (Order::Given, with(Escapes::GSON), Finish::NOTHING),
        (Order::Given, PLAIN, Finish::LINE),
    ],
    &[Encoding::Sha256, Encoding::Sha256Hex, Encoding::Sha512, Encoding::Base64, Encoding::Hex],
)];

const MORE_ENCODED: &[Encoded] = &[
    (
        &[
            (Order::Given, with(Escapes::HTML), Finish::LINE),
            (Order::Given, PYTHON, Finish::NOTHING),
            (Order::Given, laid_out(Layout::TWO), Finish::NOTHING),
        ],
        &[Encoding::Marked],
    ),
    (
        &[
            (Order::Given, PYTHON, Finish::LINE),
            (Order::Sorted, PLAIN, Finish::NOTHING),
            (Order::Given, Style { layout: Layout::COMPACT, ..PYTHON }, Finish::NOTHING),
            (Order::Sorted, Style { layout: Layout::COMPACT, ..PYTHON }, Finish::NOTHING),
            (Order::Given, with(Escapes::PHP), Finish::NOTHING),
            (Order::Sorted, with(Escapes::HTML), Finish::NOTHING),
            (Order::Given, laid_out(Layout::TWO), Finish::NOTHING),
            (Order::Given, laid_out(Layout::SPACED), Finish::NOTHING),
            (Order::Sorted, laid_out(Layout::SPACED), Finish::NOTHING),
        ],
        &[Encoding::Sha256, Encoding::Sha256Hex],
    ),
    (
        &[(Order::Given, PYTHON, Finish::LINE), (Order::Sorted, PLAIN, Finish::NOTHING)],
        &[Encoding::Sha512, Encoding::Base64, Encoding::Hex],
    ),
];

fn encoded_outputs(encoded: &'static [Encoded]) -> impl Iterator<Item = Output> {
    encoded.iter().flat_map(|(outputs, encodings)| {
        outputs.iter().flat_map(|(order, style, finish)| {
            let of = |encoding: &Encoding| Finish { encoding: *encoding, ..*finish };
            encodings.iter().map(move |encoding| (*order, *style, of(encoding)))
        })
    })
}

/// The output of programs that do not write numbers as most do.
fn numbers_of_programs() -> impl Iterator<Item = Candidate> {
    const POINT: Numbers = Numbers::Point(Which::All);
    const OUTPUTS: &[(Order, Style)] = &[
        // Foundation (Swift, Objective-C), and PHP with `serialize_precision=17`.
        (Order::Given, Style { numbers: Numbers::Exact, ..with(Escapes::SLASH) }),
        (Order::Sorted, Style { numbers: Numbers::Exact, ..with(Escapes::SLASH) }),
        (Order::Given, Style { numbers: Numbers::Exact, ..with(Escapes::PHP) }),
        // Newtonsoft and Jackson, indented; Gson.
        (Order::Given, Style { numbers: POINT, ..laid_out(Layout::WINDOWS_TWO) }),
        (Order::Given, Style { numbers: POINT, ..laid_out(Layout::JACKSON) }),
        (Order::Given, Style { numbers: POINT, ..laid_out(Layout::WINDOWS_JACKSON) }),
        (Order::Given, Style { numbers: POINT, ..with(Escapes::GSON) }),
        (Order::Sorted, Style { numbers: POINT, ..PYTHON }),
    ];
    OUTPUTS.iter().flat_map(|(order, style)| {
        [Extent::Present, Extent::Payload]
            .map(|extent| Candidate::Object(Shape::Fields(extent, *order), *style, Finish::NOTHING))
    })
}

/// The answer of the service, signed as a whole.
fn answers() -> impl Iterator<Item = Candidate> {
    [false, true].into_iter().map(|is_line| {
        let finish = Finish { is_line, ..Finish::encoded(Encoding::Answer) };
        Candidate::Object(Shape::PAYLOAD, PLAIN, finish)
    })
}

/// What programs write that read the time of a token claim and write it again.
fn times(sent: &Sent) -> impl Iterator<Item = Candidate> {
    const TIMES: &[Shape] = &[
        // Python; PHP and others without fractions; .NET, Java and Go.
        Shape::Time(Fraction::Micros, "+00:00"),
        Shape::Time(Fraction::Never, "+00:00"),
        Shape::Time(Fraction::Never, "Z"),
        Shape::Time(Fraction::Shortest, "+00:00"),
        Shape::Time(Fraction::Shortest, "Z"),
        Shape::Time(Fraction::AsGiven, "+00:00"),
        // The format `O` of .NET.
        Shape::Time(Fraction::Ticks, "Z"),
        Shape::Time(Fraction::Ticks, "+00:00"),
    ];
    let times = if sent.kind == PayloadKind::TokenClaim { TIMES } else { &[] };
    times.iter().flat_map(|shape| {
        [PLAIN, PYTHON].map(|style| Candidate::Object(*shape, style, Finish::NOTHING))
    })
}

/// The settings that a family of programs combines, the usual one of each first.
struct Family {
    escapes: &'static [Escapes],
    layouts: &'static [Layout],
    orders: &'static [Order],
    finishes: &'static [Finish],
}

/// The families of programs, the most frequent first.
const FAMILIES: &[Family] = &[
    // Python; JavaScript, Ruby, Rust, Dart and C++ with the fewest escapes.
    Family {
        escapes: &[Escapes::PYTHON, Escapes::LEAST],
        layouts: &[Layout::SPACED],
        orders: GIVEN,
        finishes: LINES,
    },
    Family {
        escapes: &[Escapes::PYTHON],
        layouts: &[Layout::COMPACT],
        orders: GIVEN,
        finishes: LINES,
    },
    Family {
        escapes: &[Escapes::PYTHON, Escapes::LEAST],
        layouts: &[Layout::TWO, Layout::FOUR],
        orders: GIVEN,
        finishes: LINES,
    },
    Family {
        escapes: &[Escapes::PYTHON, Escapes::LEAST],
        layouts: &[Layout::SPACED, Layout::COMPACT, Layout::TWO, Layout::FOUR],
        orders: SORTED,
        finishes: LINES,
    },
    // Python on Windows.
    Family {
        escapes: &[Escapes::PYTHON],
        layouts: &[Layout::SPACED],
        orders: GIVEN,
        finishes: &[Finish::WINDOWS_LINE],
    },
    Family {
        escapes: &[Escapes::PYTHON],
        layouts: &[Layout::WINDOWS_TWO, Layout::WINDOWS_FOUR],
        orders: GIVEN,
        finishes: &[Finish::NOTHING, Finish::WINDOWS_LINE],
    },
    // Go, and Rails.
    Family { escapes: &[Escapes::HTML], layouts: &[Layout::TWO], orders: GIVEN, finishes: LINES },
    Family { escapes: &[Escapes::HTML], layouts: &[Layout::TAB], orders: GIVEN, finishes: LINES },
    // Maps of Go.
    Family {
        escapes: &[Escapes::HTML],
        layouts: &[Layout::TWO, Layout::TAB],
        orders: SORTED,
        finishes: LINES,
    },
    // PHP.
    Family {
        escapes: &[Escapes::PHP, Escapes::PHP_UNICODE, Escapes::ASCII],
        layouts: &[Layout::COMPACT, Layout::FOUR],
        orders: BOTH,
        finishes: LINES,
    },
    // System.Text.Json.
    Family {
        escapes: &[Escapes::DOT_NET],
        layouts: &[Layout::COMPACT, Layout::WINDOWS_TWO, Layout::TWO],
        orders: GIVEN,
        finishes: ANY_LINES,
    },
    // Newtonsoft, and with it PowerShell 7.
    Family {
        escapes: &[Escapes::NEWTONSOFT, Escapes::LEAST],
        layouts: &[Layout::WINDOWS_TWO, Layout::TWO],
        orders: GIVEN,
        finishes: ANY_LINES,
    },
    Family {
        escapes: &[Escapes::NEWTONSOFT, Escapes::LEAST],
        layouts: &[Layout::COMPACT],
        orders: GIVEN,
        finishes: ANY_LINES,
    },
    // PowerShell 5.1, also with `-Compress`.
    Family {
        escapes: &[Escapes::POWER_SHELL],
        layouts: &[Layout::POWER_SHELL, Layout::WIDE],
        orders: GIVEN,
        finishes: ANY_LINES,
    },
    Family {
        escapes: &[Escapes::POWER_SHELL],
        layouts: &[Layout::COMPACT],
        orders: GIVEN,
        finishes: ANY_LINES,
    },
    // jq.
    Family {
        escapes: &[Escapes::JQ, Escapes::LEAST, Escapes::ASCII],
        layouts: &[Layout::TWO, Layout::TAB],
        orders: BOTH,
        finishes: &[Finish::LINE, Finish::NOTHING],
    },
    // `jq -c`.
    Family {
        escapes: &[Escapes::JQ, Escapes::ASCII],
        layouts: &[Layout::COMPACT],
        orders: BOTH,
        finishes: LINES,
    },
    // Gson.
    Family {
        escapes: &[Escapes::GSON],
        layouts: &[Layout::COMPACT, Layout::TWO],
        orders: BOTH,
        finishes: LINES,
    },
    // Jackson.
    Family {
        escapes: &[Escapes::JACKSON, Escapes::ASCII_UPPER],
        layouts: &[Layout::COMPACT, Layout::JACKSON],
        orders: BOTH,
        finishes: LINES,
    },
    // Swift.
    Family {
        escapes: &[Escapes::SLASH, Escapes::LEAST],
        layouts: &[Layout::COMPACT, Layout::SWIFT],
        orders: GIVEN,
        finishes: ONE,
    },
    Family {
        escapes: &[Escapes::SLASH, Escapes::LEAST],
        layouts: &[Layout::COMPACT, Layout::SWIFT],
        orders: SORTED,
        finishes: ONE,
    },
    // Perl.
    Family {
        escapes: &[Escapes::LEAST],
        layouts: &[Layout::PERL],
        orders: BOTH,
        finishes: &[Finish::LINE, Finish::NOTHING],
    },
    // org.json.
    Family {
        escapes: &[Escapes::ORG_JSON],
        layouts: &[Layout::COMPACT, Layout::TWO, Layout::FOUR],
        orders: BOTH,
        finishes: ONE,
    },
    // Others, with their default settings.
    Family {
        escapes: &[Escapes::JSON_SIMPLE, Escapes::LUA, Escapes::PHP_HEX, Escapes::DOT_NET_RELAXED],
        layouts: &[Layout::COMPACT],
        orders: GIVEN,
        finishes: ONE,
    },
    // What PowerShell 5.1 writes to files and pipes.
    Family {
        escapes: &[Escapes::POWER_SHELL],
        layouts: &[Layout::POWER_SHELL, Layout::COMPACT],
        orders: GIVEN,
        finishes: FILES,
    },
    // A string of what Python writes.
    Family {
        escapes: &[Escapes::PYTHON, Escapes::LEAST],
        layouts: &[Layout::SPACED, Layout::COMPACT],
        orders: GIVEN,
        finishes: &[Finish::encoded(Encoding::Quoted(Escapes::PYTHON))],
    },
];

const BOTH: &[Order] = &[Order::Given, Order::Sorted];
const GIVEN: &[Order] = &[Order::Given];
const SORTED: &[Order] = &[Order::Sorted];

const ONE: &[Finish] = &[Finish::NOTHING];
const LINES: &[Finish] = &[Finish::NOTHING, Finish::LINE];
const ANY_LINES: &[Finish] = &[Finish::NOTHING, Finish::LINE, Finish::WINDOWS_LINE];
const FILES: &[Finish] = &[
    Finish { end: "\r\n", ..Finish::encoded(Encoding::Utf16Marked) },
    Finish { end: "\r\n", ..Finish::encoded(Encoding::Marked) },
    Finish::encoded(Encoding::Utf16Marked),
    Finish::encoded(Encoding::Marked),
    Finish::encoded(Encoding::Utf16),
];

/// What the families write with these numbers of unusual settings, of the layout, the order and the finish.
fn of_families(settings: &[usize]) -> Vec<Output> {
    let of = |number: usize| FAMILIES.iter().flat_map(move |family| family.outputs(number));
    settings.iter().copied().flat_map(of).collect()
}

impl Family {
    fn outputs(&self, settings: usize) -> impl Iterator<Item = Output> {
        self.escapes.iter().flat_map(move |escapes| {
            self.layouts.iter().enumerate().flat_map(move |(layout, white_space)| {
                let style = Style { layout: *white_space, ..with(*escapes) };
                self.orders.iter().enumerate().flat_map(move |(order, sorted)| {
                    self.finishes.iter().enumerate().filter_map(move |(finish, end)| {
                        let changed = [layout, order, finish].iter().filter(|at| **at > 0).count();
                        (changed == settings).then_some((*sorted, style, *end))
                    })
                })
            })
        })
    }
}

const NO_WEIGHTS: Shape = Shape::Null(&["weights"]);

const SHAPES: &[Shape] = &[
    Shape::AS_SENT,
    Shape::SentOrder,
    Shape::SORTED,
    Shape::Without(&["body"]),
    Shape::Without(&["memoUrl"]),
    Shape::Without(&["body", "memoUrl"]),
    Shape::Without(&["lens"]),
    NO_WEIGHTS,
    Shape::Null(&["body", "memoUrl", "lens"]),
    Shape::Null(&["body", "memoUrl", "weights"]),
    Shape::EmptyWeights,
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

fn shapes() -> impl Iterator<Item = Candidate> {
    SHAPES.iter().map(|shape| Candidate::Object(*shape, PLAIN, Finish::NOTHING))
}

/// Each shape as the most common programs write it.
fn shapes_by_default() -> impl Iterator<Item = Candidate> {
    const OUTPUTS: &[(Style, Finish)] = &[
        (numbered(Numbers::AsSent), Finish::NOTHING),
        (Style { numbers: Numbers::AsSent, ..PYTHON }, Finish::NOTHING),
        (with(Escapes::HTML), Finish::LINE),
        (with(Escapes::HTML), Finish::NOTHING),
        (PLAIN, Finish::LINE),
        (with(Escapes::DOT_NET), Finish::NOTHING),
    ];
    OUTPUTS.iter().flat_map(|(style, finish)| {
        SHAPES.iter().map(move |shape| Candidate::Object(*shape, *style, *finish))
    })
}

/// What programs with fixed types write that is not part of the payload.
fn added_fields() -> impl Iterator<Item = Candidate> {
    const GIVEN: &[Shape] = &[NO_WEIGHTS, Shape::EmptySignature, Shape::NullSignature];
    const SORTED: &[Shape] = &[
        Shape::Sorted(&NO_WEIGHTS),
        Shape::Sorted(&Shape::EmptySignature),
        Shape::Sorted(&Shape::NullSignature),
    ];
    const OUTPUTS: &[(&[Shape], Style, Finish)] = &[
        (GIVEN, with(Escapes::HTML), Finish::NOTHING),
        (GIVEN, with(Escapes::HTML), Finish::LINE),
        (GIVEN, PYTHON, Finish::NOTHING),
        (GIVEN, with(Escapes::DOT_NET), Finish::NOTHING),
        (SORTED, PYTHON, Finish::NOTHING),
        (SORTED, PLAIN, Finish::NOTHING),
        (SORTED, Style { layout: Layout::COMPACT, ..PYTHON }, Finish::NOTHING),
        (SORTED, laid_out(Layout::TWO), Finish::LINE),
        (GIVEN, laid_out(Layout::TWO), Finish::NOTHING),
        (GIVEN, laid_out(Layout::TWO), Finish::LINE),
        (GIVEN, Style { layout: Layout::TWO, ..PYTHON }, Finish::NOTHING),
        (GIVEN, Style { layout: Layout::FOUR, ..PYTHON }, Finish::NOTHING),
    ];
    OUTPUTS.iter().flat_map(|(shapes, style, finish)| {
        let style = Style { numbers: Numbers::AsSent, ..*style };
        shapes.iter().map(move |shape| Candidate::Object(*shape, style, *finish))
    })
}

fn styles() -> impl Iterator<Item = Candidate> {
    const STYLES: &[Style] = &[
        laid_out(Layout::SPACED),
        laid_out(Layout::TWO),
        laid_out(Layout::FOUR),
        laid_out(Layout::TAB),
        with(Escapes::HTML),
        with(Escapes::PYTHON),
        with(Escapes::PHP),
        with(Escapes::SLASH),
        with(Escapes::DOT_NET),
        with(Escapes::POWER_SHELL),
        with(Escapes::GSON),
        with(Escapes::ASCII),
        with(Escapes::ASCII_UPPER),
        with(Escapes::NEWTONSOFT),
        with(Escapes::JACKSON),
        with(Escapes::DOT_NET_RELAXED),
        numbered(Numbers::AsSent),
        numbered(Numbers::Point(Which::All)),
        numbered(Numbers::Fixed(2, Which::All)),
        numbered(Numbers::Fixed(2, Which::Outer)),
        numbered(Numbers::Point(Which::Outer)),
        numbered(Numbers::Point(Which::Inner)),
        numbered(Numbers::Fixed(2, Which::Inner)),
        numbered(Numbers::Fixed(6, Which::All)),
        numbered(Numbers::Exact),
        numbered(Numbers::Single),
        numbered(Numbers::Scientific(&Exponent::JAVA)),
        numbered(Numbers::Scientific(&Exponent::DOT_NET)),
        numbered(Numbers::Scientific(&Exponent::PYTHON)),
        numbered(Numbers::Scientific(&Exponent::PYTHON_FLOATS)),
        numbered(Numbers::Scientific(&Exponent::RUST)),
        numbered(Numbers::Fixed(4, Which::All)),
        numbered(Numbers::Fixed(3, Which::All)),
        laid_out(Layout::WINDOWS_TWO),
        laid_out(Layout::WINDOWS_FOUR),
    ];
    STYLES.iter().map(|style| Candidate::Object(Shape::PAYLOAD, *style, Finish::NOTHING))
}

fn finishes() -> impl Iterator<Item = Candidate> {
    const FINISHES: &[Finish] = &[
        Finish::LINE,
        Finish::WINDOWS_LINE,
        Finish { end: "\n\n", ..Finish::NOTHING },
        Finish { end: " ", ..Finish::NOTHING },
        Finish::encoded(Encoding::Sha256),
        Finish::encoded(Encoding::Sha256Hex),
        Finish::encoded(Encoding::Sha512),
        Finish::encoded(Encoding::Sha512Hex),
        Finish::encoded(Encoding::Sha256HexUpper),
        Finish::encoded(Encoding::Sha256Base64),
        Finish { end: "\n", ..Finish::encoded(Encoding::Sha256) },
        Finish { end: "\n", ..Finish::encoded(Encoding::Sha256Hex) },
        Finish::encoded(Encoding::Marked),
        Finish { end: "\r\n", ..Finish::encoded(Encoding::Marked) },
        Finish { end: "\n", ..Finish::encoded(Encoding::Marked) },
        Finish::encoded(Encoding::Utf16),
        Finish { end: "\r\n", ..Finish::encoded(Encoding::Utf16) },
        Finish::encoded(Encoding::Utf16Marked),
        Finish { end: "\r\n", ..Finish::encoded(Encoding::Utf16Marked) },
        Finish::encoded(Encoding::Utf16Big),
        Finish::encoded(Encoding::Latin1),
        Finish::encoded(Encoding::Ascii),
        Finish::encoded(Encoding::CodePage(WINDOWS_1252)),
        Finish { end: "\r\n", ..Finish::encoded(Encoding::CodePage(WINDOWS_1252)) },
        Finish::encoded(Encoding::CodePage(PAGE_850)),
        Finish { end: "\r\n", ..Finish::encoded(Encoding::CodePage(PAGE_850)) },
        Finish::encoded(Encoding::Utf8Twice),
        Finish::encoded(Encoding::Quoted(Escapes::LEAST)),
        // As `jq .canonical` prints it.
        Finish { is_line: true, ..Finish::encoded(Encoding::Quoted(Escapes::LEAST)) },
        Finish::encoded(Encoding::Quoted(Escapes::PYTHON)),
        Finish::encoded(Encoding::Base64),
        Finish::encoded(Encoding::Hex),
    ];
    FINISHES.iter().map(|finish| Candidate::Object(Shape::PAYLOAD, PLAIN, *finish))
}
