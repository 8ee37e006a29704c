//! `/swarm/sessions/<id>/picture.png`: a session for link previews: subject, day, result, how many filed, and the stances.
//!
//! Others keep the picture, so it says nothing that changes with the time alone.

use http::StatusCode;
use swarm_core::Session;
use swarm_core::domain::{Figures, Method, SessionState};
use swarm_core::rules::{self, PublicTake, RankedPosition, resolve};
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Rect, Transform};

use super::charts::{Counts, STANCES, signed, tone_of};
use super::lettering::{fitted, shape, width};
use super::lists;
use super::result::ResultView;
use super::stage_text;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// Width and height, as previews crop them, and the width of the margins, in pixels.
const WIDTH: f32 = 1_200.0;
const HEIGHT: f32 = 630.0;
const MARGIN: f32 = 64.0;

/// Maximum number of dots.
const MAX_DOTS: usize = 250;

type Rgb = [u8; 3];

/// The colours of the style sheet in light mode.
const PAPER: Rgb = [0xfb, 0xfa, 0xf7];
const INK: Rgb = [0x1d, 0x1c, 0x1a];
const QUIET: Rgb = [0x62, 0x5f, 0x58];
const LINE: Rgb = [0xe2, 0xde, 0xd5];
const AXIS_LINE: Rgb = [0x85, 0x7f, 0x75];
const COLORS: [Rgb; 5] =
    [[0x8f, 0x1d, 0x12], [0xc0, 0x70, 0x3a], AXIS_LINE, [0x5a, 0x92, 0xc4], [0x0f, 0x4a, 0x86]];

/// Sizes of the subject, at most and at least, of the figure, of the words below it, and of all else.
const SUBJECT: (f32, f32) = (76.0, 52.0);
const FIGURE: f32 = 120.0;
const WORDS: f32 = 40.0;
const SMALL: f32 = 30.0;

/// The field of stances: its left and right edge, its top, its axis, and the radius of a dot.
const FIELD: (f32, f32) = (600.0, WIDTH - MARGIN);
const TOP: f32 = 250.0;
const AXIS: f32 = 500.0;
const RADIUS: f32 = 10.0;

/// The bar of the stances at the foot: its top and its height.
const BAR: (f32, f32) = (548.0, 22.0);

/// The outline of a hollow part of the bar, the size of the names below it, and the least distance of two of them.
const EDGE: f32 = 3.0;
const SIDE: f32 = 24.0;
const APART: f32 = 24.0;

/// What the picture shows.
struct Card {
    desk: String,
    subject: String,
    /// `26 Nov 2026 · published`
    day: String,
    /// The largest words: a score and its stance, or what there is in its place.
    figure: Figure,
    /// Up to two lines below: `9 of 11 agree`, `22 of 24 members filed`.
    lines: Vec<String>,
    positions: Vec<RankedPosition>,
    /// The text that replaces the field if there are no positions.
    empty: &'static str,
    /// The members of each stance.
    counts: Counts,
}

/// A score, and the nearest stance.
struct Score {
    score: f64,
    /// Its place on the scale of the service, −2 to 2.
    normalized: f64,
    stance: String,
    is_result: bool,
    is_median: bool,
}

enum Figure {
    /// A score.
    Score(Score),
    Words(&'static str),
}

pub(crate) async fn session(request: RequestContext) -> Reply {
    let tenant = request.tenant();
    let (session, takes) = tenant.session(request.session_id()?).await?;
    let (_, subject) = lists::subject(tenant, &session.subject_id).await?;
    let desk = request.served.config().name.clone();
    let mut answer = Answer::new(StatusCode::OK, "image/png", String::new());
    // Only a picture without area cannot be drawn.
    answer.body = Card::of(&session, &takes, desk, subject).png().unwrap_or_default().into();
    Ok(answer)
}

impl Card {
    fn of(session: &Session, takes: &[PublicTake], desk: String, subject: String) -> Self {
        let latest = resolve(takes);
        let expected = latest.iter().filter(|take| session.expects(take.member_id()));
        let open = expected.filter_map(PublicTake::open);
        let snapshot = session.snapshot.as_deref();
        let scale = session.declaration.scale();
        let (positions, counts) = match snapshot {
            Some(snapshot) => {
                let stances = snapshot.quotes.iter().map(|quote| &quote.stance);
                let position = |quote| RankedPosition::of_quote(scale, quote);
                let positions = snapshot.quotes.iter().filter_map(position).collect();
                (positions, Counts::of_each(scale, stances))
            }
            None => {
                let stances = open.clone().map(|take| &take.draft().stance);
                let open = open.clone();
                let positions =
                    open.filter_map(|take| RankedPosition::of_take(scale, take)).collect();
                (positions, Counts::of_each(scale, stances))
            }
        };
        let figures = snapshot.map(|snapshot| &snapshot.figures);
        let filed = match figures {
            Some(figures) => figures.participation.members,
            None => rules::filed(session, latest.iter().map(PublicTake::member_id)),
        };
        let day = TimeFormatter::whole_day(session.date);
        Self {
            desk,
            subject,
            day: format!("{day} · {}", stage(session)),
            figure: Figure::of(session, figures),
            lines: lines(session, figures, filed),
            empty: match (filed, session.is_sealed()) {
                // Whether takes may still come depends on the time.
                (0, _) => "no takes",
                (_, true) => "",
                (_, false) => "no stance of the five",
            },
            positions,
            counts,
        }
    }
}

/// The state and the flags, which change by acts alone: `published, no quorum`.
fn stage(session: &Session) -> String {
    let state = stage_text::state_word(session.state);
    let flags = stage_text::flags(&session.summary());
    [state].into_iter().chain(flags).collect::<Vec<_>>().join(", ")
}

impl Figure {
    fn of(session: &Session, figures: Option<&Figures>) -> Self {
        if session.voided.is_some() {
            return Self::Words("void");
        }
        let consensus = figures.and_then(|figures| Some((figures, figures.consensus.as_ref()?)));
        if let Some((figures, consensus)) = consensus {
            return Self::Score(Score {
                score: consensus.score,
                normalized: figures.stances.scale().normalized(consensus.score),
                stance: consensus.stance.as_str().to_owned(),
                is_result: figures.quorum.as_ref().is_none_or(|quorum| quorum.met),
                is_median: consensus.method == Some(Method::WeightedMedian),
            });
        }
        Self::Words(match (figures, session.state) {
            (Some(figures), _) if figures.participation.members == 0 => "no takes",
            (Some(_), _) => "no consensus",
            (None, SessionState::Scheduled) => "announced",
            (None, _) if session.is_sealed() => "sealed",
            (None, SessionState::Collecting) => "open",
            (None, _) => "closed",
        })
    }
}

/// The lines below the figure.
fn lines(session: &Session, figures: Option<&Figures>, filed: usize) -> Vec<String> {
    let agreement = figures.filter(|_| session.voided.is_none()).and_then(ResultView::of);
    let until = session.window_closes_at.filter(|_| figures.is_none());
    let first = match (agreement, until) {
        (Some(result), _) => Some(result.quorum_missed.unwrap_or(result.agreement)),
        (None, Some(until)) => Some(format!("until {}", TimeFormatter::whole_time(until))),
        (None, None) => None,
    };
    let expected = session.roster.as_ref().map(|roster| roster.expected().count());
    let filed = match (expected, filed) {
        (Some(expected), filed) => format!("{filed} of {expected} members filed"),
        (None, 1) => "1 member filed".to_owned(),
        (None, filed) => format!("{filed} members filed"),
    };
    first.into_iter().chain([filed]).collect()
}

impl Card {
    fn png(&self) -> Option<Vec<u8>> {
        let mut pixels = Pixmap::new(WIDTH as u32, HEIGHT as u32)?;
        let [red, green, blue] = PAPER;
        pixels.fill(Color::from_rgba8(red, green, blue, 255));
        self.draw_words(&mut pixels);
        if self.positions.is_empty() {
            let x = (FIELD.0 + FIELD.1 - width(self.empty, SMALL)) / 2.0;
            write(&mut pixels, self.empty, SMALL, (x, (TOP + AXIS) / 2.0), AXIS_LINE);
        } else {
            self.draw_field(&mut pixels);
        }
        self.draw_bar(&mut pixels);
        pixels.encode_png().ok()
    }

    fn draw_words(&self, pixels: &mut Pixmap) {
        let room = WIDTH - 2.0 * MARGIN;
        let desk = fitted(&self.desk, SMALL, room);
        write(pixels, &desk, SMALL, (MARGIN, 74.0), QUIET);
        let whole = width(&self.subject, SUBJECT.0).max(1.0);
        let size = (SUBJECT.0 * room / whole).clamp(SUBJECT.1, SUBJECT.0);
        let subject = fitted(&self.subject, size, room);
        write(pixels, &subject, size, (MARGIN, 160.0), INK);
        write(pixels, &fitted(&self.day, SMALL, room), SMALL, (MARGIN, 210.0), QUIET);
        let room = FIELD.0 - MARGIN - 40.0;
        let mut y = 350.0;
        match &self.figure {
            Figure::Score(score) => {
                let is_result = score.is_result;
                let figure = signed(score.score);
                let figure = if is_result { figure } else { format!("({figure})") };
                let color = if is_result { INK } else { AXIS_LINE };
                write(pixels, &figure, FIGURE, (MARGIN, y), color);
                y += 58.0;
                let color = color_of(tone_of(score.normalized));
                let words = match (is_result, score.is_median) {
                    (true, _) => &*fitted(&score.stance, WORDS, room),
                    (false, false) => "mean of those filed",
                    (false, true) => "median of those filed",
                };
                write(pixels, words, WORDS, (MARGIN, y), if is_result { color } else { QUIET });
            }
            Figure::Words(words) => {
                let size = FIGURE.min(FIGURE * room / width(words, FIGURE).max(1.0));
                write(pixels, words, size, (MARGIN, y), INK);
                // For letters that reach below the line.
                y += size / 6.0;
            }
        }
        for line in &self.lines {
            y += 44.0;
            write(pixels, &fitted(line, SMALL, room), SMALL, (MARGIN, y), QUIET);
        }
    }

    /// Five columns, bearish to bullish; height is confidence, and a line through them the score.
    fn draw_field(&self, pixels: &mut Pixmap) {
        for rank in [-2.0, -1.0, 0.0, 1.0, 2.0] {
            rectangle(pixels, (column(rank) - 1.0, TOP, 2.0, AXIS - TOP), LINE);
        }
        rectangle(pixels, (FIELD.0, AXIS - 1.0, FIELD.1 - FIELD.0, 3.0), AXIS_LINE);
        if let Figure::Score(score) = &self.figure {
            let x = column(score.normalized.clamp(-2.0, 2.0) as f32);
            let color = if score.is_result { INK } else { AXIS_LINE };
            rectangle(pixels, (x - 2.0, TOP - 14.0, 4.0, AXIS - TOP + 14.0), color);
        }
        for (position, (x, y)) in self.positions.iter().zip(places(&self.positions)) {
            let tone = tone_of(position.rank);
            let color = color_of(tone);
            for (radius, color) in [(RADIUS + 2.0, PAPER), (RADIUS, color)] {
                fill(pixels, PathBuilder::from_circle(x, y, radius), color);
            }
            if tone == "neutral" {
                // Hollow, as on the pages.
                fill(pixels, PathBuilder::from_circle(x, y, RADIUS - 4.0), PAPER);
            }
        }
    }

    /// How many members are on each side of the middle of the scale, whatever the colours of their stances, and have other
    /// stances: in the order of the bar, without those that nobody is on.
    fn sides(&self) -> Vec<(usize, &'static str)> {
        let [against, neutral, for_it] = self.counts.by_side();
        let other = self.counts.other();
        let sides = [(against, "against"), (neutral, "neutral"), (for_it, "for"), (other, "other")];
        sides.into_iter().filter(|(count, _)| *count > 0).collect()
    }

    /// The names of the sides, and where each begins: in the middle below its part of the bar, and apart from the next one.
    fn labels(&self) -> Vec<(String, f32)> {
        let sides = self.sides();
        let total = number(sides.iter().map(|(count, _)| count).sum()).max(1.0);
        let (mut labels, mut before, mut free) = (Vec::new(), 0.0, MARGIN);
        for (count, side) in sides {
            let (text, part) = (format!("{count} {side}"), number(count) / total);
            let middle = MARGIN + (WIDTH - 2.0 * MARGIN) * (before + part / 2.0);
            let wide = width(&text, SIDE);
            let x = (middle - wide / 2.0).max(free);
            (before, free) = (before + part, x + wide + APART);
            labels.push((text, x));
        }
        let mut end = WIDTH - MARGIN;
        for (text, x) in labels.iter_mut().rev() {
            *x = x.min(end - width(text, SIDE));
            end = *x - APART;
        }
        labels
    }

    /// How many members have each stance, as one bar, with the sides below. Nothing where nobody has filed.
    fn draw_bar(&self, pixels: &mut Pixmap) {
        let total = number(self.counts.by_tone().map(|(_, count)| count).sum());
        if total == 0.0 {
            return;
        }
        let (whole, mut x) = (WIDTH - 2.0 * MARGIN, MARGIN);
        for (tone, count) in self.counts.by_tone().filter(|(_, count)| *count > 0) {
            let wide = whole * number(count) / total;
            rectangle(pixels, (x, BAR.0, wide, BAR.1), color_of(tone));
            if tone == "neutral" && wide > 2.0 * EDGE {
                // Hollow, as on the pages.
                let inner = (x + EDGE, BAR.0 + EDGE, wide - 2.0 * EDGE, BAR.1 - 2.0 * EDGE);
                rectangle(pixels, inner, PAPER);
            }
            x += wide;
        }
        for (text, x) in self.labels() {
            write(pixels, &text, SIDE, (x, BAR.0 + BAR.1 + 34.0), QUIET);
        }
    }
}

/// A count, of which a picture has no more.
fn number(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

/// The colour of a class of stances.
fn color_of(tone: &str) -> Rgb {
    let place = STANCES.iter().position(|stance| *stance == tone);
    place.and_then(|place| COLORS.get(place)).copied().unwrap_or(AXIS_LINE)
}

fn column(rank: f32) -> f32 {
    FIELD.0 + 30.0 + 112.0 * (rank + 2.0)
}

/// The places of the first dots: those that would overlap are moved right, up to the next column.
fn places(positions: &[RankedPosition]) -> Vec<(f32, f32)> {
    let mut places: Vec<(f32, f32)> = Vec::new();
    for position in positions.iter().take(MAX_DOTS) {
        let confidence = position.confidence.clamp(0.0, 1.0) as f32;
        let y = AXIS - 20.0 - (AXIS - TOP - 30.0) * confidence;
        let mut x = column(position.rank as f32);
        let last = (x + 88.0).min(FIELD.1 - RADIUS);
        let overlaps = |x: f32| places.iter().any(|(a, b)| (a - x).hypot(b - y) < 2.0 * RADIUS);
        while x < last && overlaps(x) {
            x += RADIUS;
        }
        places.push((x, y));
    }
    places
}

fn write(pixels: &mut Pixmap, text: &str, size: f32, at: (f32, f32), color: Rgb) {
    fill(pixels, shape(text, size, at), color);
}

fn rectangle(pixels: &mut Pixmap, (x, y, wide, high): (f32, f32, f32, f32), color: Rgb) {
    if let Some(area) = Rect::from_xywh(x, y, wide, high) {
        pixels.fill_rect(area, &paint(color), Transform::identity(), None);
    }
}

fn paint([red, green, blue]: Rgb) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn fill(pixels: &mut Pixmap, path: Option<tiny_skia::Path>, color: Rgb) {
    if let Some(path) = path {
        pixels.fill_path(&path, &paint(color), FillRule::Winding, Transform::identity(), None);
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::{RankedStance, Stance, StanceScale, Stances};

    use super::*;

    fn score(score: f64, stance: &str) -> Figure {
        let (stance, is_result, is_median) = (stance.to_owned(), true, false);
        Figure::Score(Score { score, normalized: score, stance, is_result, is_median })
    }

    fn card(subject: &str, members: i32) -> Card {
        let position = |nth: i32| RankedPosition {
            rank: f64::from(nth % 5 - 2),
            confidence: f64::from(nth) / 5_000.0,
        };
        Card {
            desk: "Acme".to_owned(),
            subject: subject.to_owned(),
            day: "26 Nov 2026 · published".to_owned(),
            figure: score(0.7, "constructive"),
            lines: vec!["9 of 11 agree".to_owned()],
            positions: (0..members).map(position).collect(),
            empty: "no takes",
            counts: Counts::of(&Stances::of_service([usize::try_from(members).unwrap(); 5], 3)),
        }
    }

    #[test]
    fn picture_is_a_png_of_bounded_size() {
        let long = "W\u{202e}金<&".repeat(50_000);
        for (subject, members) in [("Aurora", 0), ("", 5_000), (&long, 60)] {
            let png = card(subject, members).png().unwrap();
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert!((1_000..300_000).contains(&png.len()), "{}", png.len());
        }
    }

    #[test]
    fn sides_are_counted_by_rank() {
        let sides = [(4, "against"), (2, "neutral"), (4, "for"), (3, "other")];
        assert_eq!(card("Aurora", 2).sides(), sides);
        let ranked =
            |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
        // The second is nearest to the middle, and has the colour of it.
        let scale = [("no", 0.0), ("hardly", 40.0), ("yes", 100.0)].map(ranked);
        let scale = StanceScale::parse(scale.into()).unwrap();
        let filed = ["no", "hardly", "yes"].map(|name| Stance::parse(name).unwrap());
        let counts = Counts::of_each(&scale, &filed);
        let declared = Card { counts, ..card("Aurora", 2) };
        assert_eq!(declared.sides(), [(2, "against"), (1, "for")]);
    }

    #[test]
    fn sides_are_named_below_their_parts_of_the_bar() {
        let with = |counts: [usize; 5], other| Card {
            counts: Counts::of(&Stances::of_service(counts, other)),
            ..card("Aurora", 2)
        };
        let alone = with([0, 0, 3, 0, 0], 0).labels();
        let [(text, x)] = &*alone else { panic!("{alone:?}") };
        assert_eq!(text, "3 neutral");
        assert!((x + width(text, SIDE) / 2.0 - WIDTH / 2.0).abs() < 1.0, "{x}");
        for (counts, other) in [([97, 0, 1, 1, 0], 1), ([1, 0, 1, 97, 0], 1), ([1, 0, 1, 0, 1], 97)]
        {
            let labels = with(counts, other).labels();
            let mut free = MARGIN - 0.5;
            for (text, x) in &labels {
                assert!(*x >= free, "{labels:?}");
                free = x + width(text, SIDE) + APART - 0.5;
            }
            assert!(free - APART <= WIDTH - MARGIN + 0.5 && labels.len() == 4, "{labels:?}");
        }
    }

    #[test]
    fn words_are_on_the_picture() {
        let pixels = |card: &Card| card.png().unwrap();
        let plain = card("Aurora", 5);
        assert_eq!(pixels(&plain), pixels(&card("Aurora", 5)));
        assert_ne!(pixels(&plain), pixels(&card("Borealis", 5)));
        let negative = Card { figure: score(-0.7, "cautious"), ..card("Aurora", 5) };
        assert_ne!(pixels(&plain), pixels(&negative));
        let fewer = Card { lines: vec!["8 of 11 agree".to_owned()], ..card("Aurora", 5) };
        assert_ne!(pixels(&plain), pixels(&fewer));
    }
}
