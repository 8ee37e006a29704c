//! Filters of lists: what `?q=` finds, and the other conditions (API.md, 6.2 and 10.4).

use super::PublicTake;
use crate::domain::{Member, MemberId, Memo, Subject, SubjectId};

/// A text to look for. Case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(String);

impl Needle {
    /// The maximum length in characters; the rest is ignored.
    pub const MAX: usize = 100;

    /// The needle for this text; `None` if it has nothing but spaces.
    pub fn new(text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(Self::MAX).collect();
        (!text.is_empty()).then(|| Self(text.to_lowercase()))
    }

    /// Returns whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
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
    }
}
