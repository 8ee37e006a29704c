//! What changed between two revisions of a take.

use swarm_core::TakeDraft;

use super::charts::float;
use super::markup::{Markup, clipped, escape};

/// Longest texts that are compared word by word, as the product of their words; longer ones would take too
/// long.
const MAX_CELLS: usize = 1_000_000;

/// Unchanged words that are shown on each side of a change.
const CONTEXT: usize = 12;

/// Texts that share less than this part of their letters are shown one beside the other: marks in nearly every word cannot
/// be read.
const MIN_SHARED: f64 = 0.4;

/// Longest text with marks, in bytes of HTML; a longer one is shown so too.
const MAX_MARKED: usize = 12_000;

/// Longest part of texts that are shown so, in letters.
const MAX_BESIDE: usize = 1_500;

/// What changed from one revision to the next.
pub(super) struct Differences {
    /// Changed fields, in words: `stance: neutral, now bullish`.
    pub(super) fields: Vec<String>,
    /// The text with removed and added words marked, if it changed.
    pub(super) text: Option<Markup>,
    /// The text before and after, if nearly all of it changed.
    pub(super) rewritten: Option<(String, String)>,
}

impl Differences {
    pub(super) fn between(before: &TakeDraft, after: &TakeDraft) -> Self {
        let mut fields = Vec::new();
        if before.stance != after.stance {
            fields.push(format!("stance: {}, now {}", before.stance, after.stance));
        }
        let [old, new] = [before, after].map(|draft| format!("{:.2}", draft.confidence.get()));
        if before.confidence != after.confidence {
            fields.push(format!("confidence: {old}, now {new}"));
        }
        if before.weights != after.weights {
            fields.push("weights".to_owned());
        }
        if before.memo_url != after.memo_url {
            fields.push("memo".to_owned());
        }
        let (old, new) = (before.body.as_str(), after.body.as_str());
        let text =
            (old != new).then(|| mark_changes(old, new).filter(|it| it.0.len() <= MAX_MARKED));
        match text {
            Some(None) => {
                let rewritten = [old, new].map(|text| clipped(text, MAX_BESIDE)).into();
                Self { fields, text: None, rewritten: Some(rewritten) }
            }
            text => Self { fields, text: text.flatten(), rewritten: None },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.text.is_none() && self.rewritten.is_none()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Same,
    Removed,
    Added,
}

/// Both texts in one, with removed words in `del` and added ones in `ins`. Where little changed, unchanged
/// words far from a change are left out. `None` if they share too little.
fn mark_changes(before: &str, after: &str) -> Option<Markup> {
    let longer = before.len().max(after.len());
    let (before, after): (Vec<_>, Vec<_>) =
        (before.split_inclusive(' ').collect(), after.split_inclusive(' ').collect());
    let mut html = String::new();
    let parts = parts(&before, &after);
    let same = parts.iter().filter(|(part, _)| *part == Part::Same);
    let same: usize = same.map(|(_, word)| word.len()).sum();
    let is_one_empty = before.concat().trim().is_empty() || after.concat().trim().is_empty();
    if !is_one_empty && float(same) < MIN_SHARED * float(longer) {
        return None;
    }
    for (nth, run) in parts.chunk_by(|one, next| one.0 == next.0).enumerate() {
        let Some((part, _)) = run.first() else { continue };
        let words = |run: &[(Part, &str)]| -> String {
            escape(&run.iter().map(|(_, word)| *word).collect::<String>())
        };
        match part {
            Part::Removed => html.push_str(&format!("<del>{}</del>", words(run))),
            Part::Added => html.push_str(&format!("<ins>{}</ins>", words(run))),
            Part::Same if run.len() > 2 * CONTEXT + 4 => {
                let (start, end) = (run.get(..CONTEXT), run.get(run.len() - CONTEXT..));
                if nth > 0 {
                    html.push_str(&words(start.unwrap_or_default()));
                }
                html.push_str("… ");
                html.push_str(&words(end.unwrap_or_default()));
            }
            Part::Same => html.push_str(&words(run)),
        }
    }
    Some(Markup(html))
}

/// The words of both texts in order: what they share is found by their longest common subsequence.
fn parts<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(Part, &'a str)> {
    let shared = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (start, before) = before.split_at(shared);
    let after = after.get(shared..).unwrap_or_default();
    let mut parts: Vec<_> = start.iter().map(|word| (Part::Same, *word)).collect();
    if before.len().saturating_mul(after.len()) > MAX_CELLS {
        parts.extend(before.iter().map(|word| (Part::Removed, *word)));
        parts.extend(after.iter().map(|word| (Part::Added, *word)));
        return parts;
    }
    // Row by row from the end: the length of the longest common subsequence of what follows.
    let width = after.len() + 1;
    let mut longest = vec![0_u32; (before.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let get = |cells: &[u32], row, column| cells.get(at(row, column)).copied().unwrap_or(0);
    for (row, old) in before.iter().enumerate().rev() {
        for (column, new) in after.iter().enumerate().rev() {
            let best = if old == new {
                get(&longest, row + 1, column + 1) + 1
            } else {
                get(&longest, row + 1, column).max(get(&longest, row, column + 1))
            };
            if let Some(cell) = longest.get_mut(at(row, column)) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    loop {
        match (before.get(row), after.get(column)) {
            (Some(old), Some(new)) if old == new => {
                parts.push((Part::Same, *old));
                (row, column) = (row + 1, column + 1);
            }
            (Some(old), new)
                if new.is_none()
                    || get(&longest, row + 1, column) >= get(&longest, row, column + 1) =>
            {
                parts.push((Part::Removed, *old));
                row += 1;
            }
            (_, Some(new)) => {
                parts.push((Part::Added, *new));
                column += 1;
            }
            (_, None) => return parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(before: &str, after: &str) -> String {
        mark_changes(before, after).unwrap().0
    }

    #[test]
    fn removed_and_added_words_are_marked_and_escaped() {
        let html = marked("I <b> wait for the vote.", "I do not wait for the count.");
        let expected = "I <del>&lt;b&gt; </del><ins>do not </ins>wait for the <del>vote.</del><ins>count.</ins>";
        assert_eq!(html, expected);
    }

    #[test]
    fn unchanged_words_far_from_a_change_are_left_out() {
        let long = "word ".repeat(100);
        let html = marked(&format!("{long}old"), &format!("{long}new"));
        assert_eq!(html.matches("word").count(), CONTEXT, "{html}");
        assert!(html.starts_with("… word") && html.ends_with("<del>old</del><ins>new</ins>"));
    }

    #[test]
    fn very_long_texts_are_not_compared_word_by_word() {
        let same = "same ".repeat(5_000);
        let [old, new] = ["a ", "b "].map(|word| same.clone() + &word.repeat(5_000));
        let html = marked(&old, &new);
        assert_eq!((html.matches("<del>").count(), html.matches("<ins>").count()), (1, 1));
    }

    #[test]
    fn texts_that_share_little_are_not_marked() {
        let (old, new) = ("The unlock is near.", "Fees cover the emissions by now.");
        assert_eq!(mark_changes(old, new), None);
        let half = "one two three four five six";
        assert!(mark_changes(half, "one two three nine ten eleven").is_some());
        assert_eq!(marked("", "New."), "<ins>New.</ins>");
    }
}
