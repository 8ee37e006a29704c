//! Filters of lists: what `?q=` finds, and the other conditions (API.md, 6.2; MANUAL.md, 10.4).

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

use super::PublicTake;
use crate::domain::json::is_unprintable;
use crate::domain::{Member, MemberId, Memo, Subject, SubjectId};

/// A text to search for, normalized so that texts that look alike match.
///
/// Case, composition, width and ligatures are ignored, and so is the order of marks where Unicode defines one. `ß` is read as `ss`, `İ` as `i`,
/// any white space as one space, any hyphen as `-`, and `’` as `'`. Invisible characters are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(String);

impl Needle {
    /// The maximum length in characters; the rest is ignored.
    pub const MAX: usize = 100;

    /// Returns the needle for a text, or `None` if the text has only white space and invisible characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim_matches(|it: char| it.is_whitespace() || is_ignored(it));
        let text: String = text.chars().take(Self::MAX).collect();
        let form = folded(&text, |_, _| ());
        (!form.trim().is_empty()).then_some(Self(form))
    }

    /// Returns the text that is looked for, as it is compared.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns where a text contains it, in bytes of the text, in order and apart from one another.
    pub fn ranges_in(&self, text: &str) -> Vec<Range<usize>> {
        // For each byte that is compared, the letter of the text that it comes from.
        let mut letters: Vec<Range<usize>> = Vec::with_capacity(text.len());
        let compared = folded(text, |letter, length| letters.resize(length, letter));
        // A letter is found whole, with the marks that change it, unless it is written for several.
        let divides = |end: usize| {
            let (Some(before), Some(after)) = (letters.get(end.wrapping_sub(1)), letters.get(end))
            else {
                return true;
            };
            let is_mark = compared.get(end..).and_then(|rest| rest.chars().next());
            let is_mark = is_mark.is_some_and(has_class);
            let is_several = |letter: &Range<usize>| {
                text.get(letter.clone()).is_some_and(|it| it.starts_with(SEVERAL))
            };
            !is_mark && (before != after || is_several(before))
        };
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, part) in compared.match_indices(&self.0) {
            let end = at + part.len();
            let (Some(first), Some(last)) = (letters.get(at), letters.get(end - 1)) else {
                continue;
            };
            let is_apart = found.last().is_none_or(|other| other.end <= first.start);
            if is_apart && divides(at) && divides(end) {
                found.push(first.start..last.end);
            }
        }
        found
    }

    /// Returns whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        // Most texts do not contain it: only of the others the places are computed.
        folded(text, |_, _| ()).contains(&self.0) && !self.ranges_in(text).is_empty()
    }

    /// Returns whether the name or the lens of a member contains it.
    pub fn is_in_member(&self, member: &Member) -> bool {
        self.is_in(member.name.as_str()) || self.is_in(member.lens.as_str())
    }

    /// Returns whether the name, the id or the thesis of a subject contains it.
    pub fn is_in_subject(&self, subject: &Subject) -> bool {
        let blurb = subject.thesis_blurb.as_deref().unwrap_or_default();
        [&subject.name, subject.id.as_str(), blurb].iter().any(|text| self.is_in(text))
    }

    /// Returns whether the subject, the stance or the write-up of a take contains it. Of a sealed take only the subject
    /// is known.
    fn is_in_take(&self, take: &PublicTake) -> bool {
        let draft = take.open().map(|take| take.draft());
        self.is_in(take.subject_id().as_str())
            || draft.is_some_and(|draft| {
                self.is_in(draft.body.as_str()) || self.is_in(draft.stance.as_str())
            })
    }
}

/// Returns whether two texts read the same, as [`Needle`] compares them.
pub fn read_the_same(one: &str, other: &str) -> bool {
    folded(one, |_, _| ()) == folded(other, |_, _| ())
}

/// The letters that are written for several: of Latin, the sharp s and the ligatures.
const SEVERAL: [char; 9] = ['ß', 'ẞ', 'ﬀ', 'ﬁ', 'ﬂ', 'ﬃ', 'ﬄ', 'ﬅ', 'ﬆ'];

/// The form in which texts are compared. Calls `each` after each letter, with its place in the text and the length of the form so far.
/// A letter has the marks that follow it: the form has them in an order of its own.
fn folded(text: &str, mut each: impl FnMut(Range<usize>, usize)) -> String {
    let mut form = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (letter, after) = rest.split_at(first_letter(rest));
        let mut push = |small: char| match small {
            _ if small.is_whitespace() => {
                if !form.ends_with(' ') {
                    form.push(' ');
                }
            }
            'ß' => form.push_str("ss"),
            // Of the two small sigmas one stands at the end of words alone.
            'ς' => form.push('σ'),
            // The hyphen, also what is left of one that does not break, and the apostrophe of typography.
            '\u{2010}' => form.push('-'),
            '\u{2019}' => form.push('\''),
            // The dot of the Turkish `İ`, which an `i` has.
            '\u{307}' if form.ends_with('i') => {}
            _ => form.push(small),
        };
        match letter.as_bytes() {
            [ascii] => push(char::from(ascii.to_ascii_lowercase())),
            _ => {
                let seen = letter.chars().filter(|part| !is_ignored(*part));
                seen.nfkd().flat_map(char::to_lowercase).for_each(push);
            }
        }
        each(at..at + letter.len(), form.len());
        rest = after;
    }
    form
}

/// Returns the length in bytes of the first letter of a text, including its marks and the invisible characters behind it.
fn first_letter(text: &str) -> usize {
    let is_ordered = |mark: char| !mark.is_ascii() && mark.nfkd().next().is_some_and(has_class);
    let mut others = text.char_indices().skip(1);
    let next = others.find(|(_, letter)| !is_ordered(*letter) && !is_ignored(*letter));
    next.map_or(text.len(), |(at, _)| at)
}

/// Returns whether a character is a mark that changes the letter before it: one with a combining class. Vowel signs have none, because they follow
/// a letter as another letter does.
fn has_class(character: char) -> bool {
    canonical_combining_class(character) != 0
}

/// Returns whether a character is invisible: a soft hyphen, a joiner, a direction, a variation selector.
fn is_ignored(character: char) -> bool {
    is_unprintable(character) && !character.is_whitespace()
}

/// A filter for takes. All of its conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct TakeFilter {
    /// Only those of this author.
    pub member: Option<MemberId>,
    /// Only those on this subject.
    pub subject: Option<SubjectId>,
    /// Only those with this stance; no sealed ones.
    pub stance: Option<String>,
    /// Only those that contain this text.
    pub needle: Option<Needle>,
}

impl TakeFilter {
    /// Returns whether a take matches.
    pub fn keeps(&self, take: &PublicTake) -> bool {
        let draft = take.open().map(|take| take.draft());
        let is_stance =
            |stance: &String| draft.is_some_and(|draft| stance == draft.stance.as_str());
        self.subject.as_ref().is_none_or(|subject| subject == take.subject_id())
            && self.member.as_ref().is_none_or(|member| member == take.member_id())
            && self.stance.as_ref().is_none_or(is_stance)
            && self.needle.as_ref().is_none_or(|needle| needle.is_in_take(take))
    }
}

/// A filter for memos. All of its conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct MemoFilter {
    /// Only those of this author.
    pub member: Option<MemberId>,
    /// Only those about this subject.
    pub subject: Option<SubjectId>,
    /// Only those whose title or text contains this text.
    pub needle: Option<Needle>,
}

impl MemoFilter {
    /// Returns whether a memo matches.
    pub fn keeps(&self, memo: &Memo) -> bool {
        let has =
            |needle: &Needle| needle.is_in(&memo.draft.title) || needle.is_in(&memo.draft.body);
        self.subject.as_ref().is_none_or(|id| memo.draft.subject_id.as_ref() == Some(id))
            && self.member.as_ref().is_none_or(|id| memo.member_id == *id)
            && self.needle.as_ref().is_none_or(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ignores_case_and_outer_spaces() {
        let needle = Needle::new("  UtiliSation ").unwrap();
        assert!(needle.is_in("Back at 71 %: utilisation alone") && !needle.is_in("utilised"));
        assert!(Needle::new("É").unwrap().is_in("caf\u{e9}"));
        assert_eq!(Needle::new(" \t"), None);
        assert_eq!(Needle::new("\u{fe0f} \u{200b}"), None);
    }

    /// A step for each pair of them would take minutes.
    #[test]
    fn letter_with_thousands_of_marks_is_searched_in_one_pass() {
        let text = format!("a{} b", "\u{301}\u{323}\u{fe0f}".repeat(100_000));
        let found = |needle: &str| Needle::new(needle).unwrap().ranges_in(&text).len();
        assert_eq!(["a", "\u{301}", "b"].map(found), [0, 0, 1]);
    }

    #[test]
    fn search_finds_what_reads_the_same() {
        for (needle, text) in [
            ("credit risk", "credit\n  risk"),
            ("credit risk", "credit\u{a0}risk"),
            ("credit\trisk", "credit risk"),
            ("Caf\u{e9}", "cafe\u{301}"),
            ("cafe\u{301}", "CAF\u{c9}"),
            ("ΟΔΟΣ", "οδος"),
            ("οδοσ", "ΟΔΟΣΗΜΑΝΣΗ"),
            ("STRASSE", "straße"),
            ("weiß", "WEISS"),
            ("\u{130}stanbul", "i\u{307}STANBUL"),
            ("istanbul", "\u{130}stanbul"),
            ("\u{130}STANBUL", "Istanbul"),
            ("\u{2764}", "\u{2764}\u{fe0f}!"),
            ("\u{2764}\u{fe0f}", "\u{2764}!"),
            ("utilisation", "utili\u{ad}sation"),
            ("utili\u{200b}sation\u{feff}", "utilisation"),
            (" \u{200e} risk \u{200f}", "risk"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("caf\u{e9}", "cafe\u{2060}\u{301}"),
            ("credit risk", "credit\u{2028}risk"),
            ("well-known", "well\u{2011}known"),
            ("well\u{2010}known", "well-known"),
            ("isn't", "isn\u{2019}t"),
            ("\u{915}\u{94d}\u{937}", "\u{915}\u{94d}\u{937}\u{93f}"),
            // Vowel signs follow a letter; one takes a place of its own, the other does not.
            ("हिन्द", "हिन्दी"),
            ("हिन्द", "हिन्दु"),
            ("ABC", "ａｂｃ"),
            ("ガ", "ｶﾞｽ"),
            ("fish", "ﬁsh"),
            ("of", "oﬃce"),
            // A keyboard of Vietnamese gives the tone alone, after a letter with its circumflex.
            ("vi\u{1ec7}t", "VI\u{ca}\u{323}T"),
            ("vi\u{ea}\u{323}t", "vie\u{323}\u{302}t"),
            ("vie\u{302}\u{323}t", "vi\u{1ec7}t"),
            // A mark that is two, and has no place itself.
            ("\u{f40}\u{f73}", "\u{f40}\u{f72}\u{f71}"),
        ] {
            let found = Needle::new(needle).unwrap();
            assert!(found.is_in(text), "{needle} in {text}");
            assert_eq!(found.ranges_in(text).len(), 1, "{needle} in {text}");
        }
    }

    #[test]
    fn letters_are_found_whole() {
        for (needle, text) in [
            ("가", "각국"),
            ("かき", "かぎ"),
            ("Ma", "Märchen"),
            ("Ma", "Ma\u{308}rchen"),
            ("cafe", "caf\u{e9}"),
            ("カ", "ｶﾞｽ"),
            // A virama takes the vowel of the letter, a nukta makes it another.
            ("\u{915}", "\u{915}\u{94d}\u{937}"),
            ("\u{915}", "\u{915}\u{93c}"),
            ("vi\u{ea}t", "vi\u{ea}\u{323}t"),
            ("\u{1eb9}", "\u{ea}\u{323}"),
            // Marks of one class read otherwise in another order.
            ("a\u{301}\u{308}", "a\u{308}\u{301}"),
        ] {
            assert!(!Needle::new(needle).unwrap().is_in(text), "{needle} in {text}");
        }
    }

    #[test]
    fn places_are_those_of_the_text_as_it_is() {
        let places = |needle: &str, text: &str| {
            let found = Needle::new(needle).unwrap().ranges_in(text);
            found.into_iter().map(|range| (range.start, range.end)).collect::<Vec<_>>()
        };
        assert_eq!(places("ab", "AB, ab; a"), [(0, 2), (4, 6)]);
        assert_eq!(places("\u{e9}", "caf\u{c9}!"), [(3, 5)]);
        // A letter that is two in the form that is compared is found whole.
        assert_eq!(places("i\u{307}s", "\u{130}s"), [(0, 3)]);
        // So is one with what selects its form, and a ligature.
        assert_eq!(places("\u{1f600}", "a\u{1f600}\u{fe0f}b"), [(1, 8)]);
        assert_eq!(places("fi", "oﬃce"), [(1, 4)]);
        assert_eq!(places("p", "7 ㏘"), [], "it is written for no other letters");
        // And one with its marks, which are compared in another order.
        assert_eq!(places("\u{1ec7}", "vi\u{ea}\u{323}t"), [(2, 6)]);
        assert_eq!(places("\u{1ec7}t", "vi\u{ea}\u{323}t"), [(2, 7)]);
        assert_eq!(places("b", "\u{200b}a\u{ad}b\u{ad}c"), [(6, 9)]);
        assert_eq!(places("x", "nothing"), []);
        assert_eq!(places("a b", "(a \n b)"), [(1, 6)]);
        assert_eq!(places("ss", "Stra\u{df}e"), [(4, 6)]);
        assert_eq!(places("s", "Stra\u{df}e"), [(0, 1), (4, 6)]);
        assert_eq!(places("ss", "s\u{df}s"), [(0, 3)]);
    }
}
