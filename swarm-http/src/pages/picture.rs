//! `/swarm/sessions/<id>/picture.png`: the stance field of a session, for link previews. It has no text,
//! because a server may have no fonts; the preview has the words.

use http::StatusCode;
use swarm_core::rules::{Position, PublicTake};
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Rect, Transform};

use super::charts::{self, tone_of};
use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// Width and height, as previews crop them, in pixels.
const WIDTH: f32 = 1_200.0;
const HEIGHT: f32 = 630.0;

/// Maximum number of dots.
const MAX_DOTS: usize = 250;

/// The colours of the style sheet in light mode.
const PAPER: [u8; 3] = [0xfb, 0xfa, 0xf7];
const INK: [u8; 3] = [0x1d, 0x1c, 0x1a];
const LINE: [u8; 3] = [0xe2, 0xde, 0xd5];
const AXIS_LINE: [u8; 3] = [0x85, 0x7f, 0x75];
const STANCES: [[u8; 3]; 5] =
    [[0x8f, 0x1d, 0x12], [0xc0, 0x70, 0x3a], AXIS_LINE, [0x5a, 0x92, 0xc4], [0x0f, 0x4a, 0x86]];

/// Vertical positions of the top of the field and of its axis, and the radius of a dot.
const TOP: f32 = 70.0;
const AXIS: f32 = 520.0;
const RADIUS: f32 = 15.0;

pub(crate) async fn session(request: RequestContext) -> Reply {
    let (session, takes) = request.tenant().session(request.session_id()?).await?;
    let scale = session.declaration.scale();
    let positions: Vec<_> = match session.snapshot.as_deref() {
        Some(snapshot) => {
            let position = |quote| Position::of_quote(scale, quote);
            snapshot.quotes.iter().filter_map(position).collect()
        }
        None => takes
            .iter()
            .filter_map(PublicTake::open)
            .filter_map(|it| Position::of_take(scale, it))
            .collect(),
    };
    let snapshot = session.snapshot.as_ref().filter(|_| session.voided.is_none());
    let consensus = snapshot.and_then(|snapshot| snapshot.figures.consensus.as_ref());
    let mut answer = Answer::new(StatusCode::OK, "image/png", String::new());
    // Only a picture without area cannot be drawn.
    answer.body =
        png(&positions, consensus.map(|it| scale.normalized(it.score))).unwrap_or_default().into();
    Ok(answer.of_session(&session))
}

/// Five columns, bearish to bullish; height is confidence, and a triangle below is the consensus.
fn png(positions: &[Position], consensus: Option<f64>) -> Option<Vec<u8>> {
    let mut pixels = Pixmap::new(WIDTH as u32, HEIGHT as u32)?;
    let [red, green, blue] = PAPER;
    pixels.fill(Color::from_rgba8(red, green, blue, 255));
    for rank in [-2.0, -1.0, 0.0, 1.0, 2.0] {
        let line = Rect::from_xywh(column(rank) - 1.0, TOP, 2.0, AXIS - TOP)?;
        pixels.fill_rect(line, &paint(LINE), Transform::identity(), None);
    }
    let axis = Rect::from_xywh(60.0, AXIS - 1.0, WIDTH - 120.0, 3.0)?;
    pixels.fill_rect(axis, &paint(AXIS_LINE), Transform::identity(), None);
    for (position, (x, y)) in positions.iter().zip(places(positions)) {
        let tone = tone_of(position.rank);
        let at = charts::STANCES.iter().position(|stance| *stance == tone)?;
        for (radius, color) in [(RADIUS + 2.0, PAPER), (RADIUS, *STANCES.get(at)?)] {
            fill(&mut pixels, PathBuilder::from_circle(x, y, radius), color);
        }
        if tone == "neutral" {
            // Hollow, as on the pages.
            fill(&mut pixels, PathBuilder::from_circle(x, y, RADIUS - 5.0), PAPER);
        }
    }
    if let Some(score) = consensus {
        let (x, y) = (column(score.clamp(-2.0, 2.0) as f32), AXIS + 12.0);
        let mut triangle = PathBuilder::new();
        triangle.move_to(x, y);
        triangle.line_to(x + 26.0, y + 40.0);
        triangle.line_to(x - 26.0, y + 40.0);
        triangle.close();
        fill(&mut pixels, triangle.finish(), INK);
    }
    pixels.encode_png().ok()
}

fn column(rank: f32) -> f32 {
    160.0 + 220.0 * (rank + 2.0)
}

/// The places of the first dots: those that would overlap are moved right, up to the next column.
fn places(positions: &[Position]) -> Vec<(f32, f32)> {
    let mut places: Vec<(f32, f32)> = Vec::new();
    for position in positions.iter().take(MAX_DOTS) {
        let confidence = position.confidence.clamp(0.0, 1.0) as f32;
        let y = AXIS - 40.0 - (AXIS - TOP - 60.0) * confidence;
        let mut x = column(position.rank as f32);
        let last = x + 180.0;
        let overlaps = |x: f32| places.iter().any(|(a, b)| (a - x).hypot(b - y) < 2.0 * RADIUS);
        while x < last && overlaps(x) {
            x += RADIUS;
        }
        places.push((x, y));
    }
    places
}

fn paint([red, green, blue]: [u8; 3]) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn fill(pixels: &mut Pixmap, path: Option<tiny_skia::Path>, color: [u8; 3]) {
    if let Some(path) = path {
        pixels.fill_path(&path, &paint(color), FillRule::Winding, Transform::identity(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_is_a_png_of_bounded_size() {
        let position = |nth: i32| Position {
            rank: f64::from(nth % 5 - 2),
            confidence: f64::from(nth) / 5_000.0,
        };
        let many: Vec<_> = (0..5_000).map(position).collect();
        for (positions, score) in [(&[][..], None), (&many, Some(-0.4))] {
            let png = png(positions, score).unwrap();
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert!((1_000..300_000).contains(&png.len()), "{}", png.len());
        }
    }
}
