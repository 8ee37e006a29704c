//! Where the members of a session disagree: the surest words for and against, who moved since the last session of the subject,
//! and how many texts begin alike.

use std::collections::HashMap;

use swarm_core::domain::{Confidence, SessionSummary, Snapshot, Stance, StanceScale};
use swarm_core::rules::{PublicTake, RankedPosition};
use swarm_core::store::SessionList;
use swarm_core::{Error, MemberId, Session, TakeId, Tenant};

use super::charts::{shown, signed};
use super::markdown::first_words;
use super::markup::Markup;
use super::people::{People, Person};
use super::time_text::TimeFormatter;
use super::{links, stance};
use crate::request::portion::Portion;

/// Quotes on each side, and their longest text, in letters.
const QUOTES: usize = 2;
const MAX_QUOTE: usize = 280;

/// Maximum number of members named that moved.
const MAX_MOVES: usize = 8;

/// Texts that begin with this many equal words begin alike.
const ALIKE_WORDS: usize = 6;

/// A member's say in a session: what counts, or of a session without a snapshot the latest take.
pub(super) struct Voice<'a> {
    pub(super) member: &'a MemberId,
    take: TakeId,
    stance: &'a Stance,
    confidence: Confidence,
    /// The rank of the stance on the scale of the service, −2 to 2, if it has one.
    pub(super) rank: Option<f64>,
    /// The text; `None` if it is withheld.
    body: Option<&'a str>,
}

/// The rank of a stance on the scale of the service, −2 to 2.
fn rank_of(scale: &StanceScale, stance: &Stance, confidence: Confidence) -> Option<f64> {
    RankedPosition::of(scale, stance, confidence).map(|position| position.rank)
}

/// The voices of a session with this scale, as far as they are not sealed.
pub(super) fn voices<'a>(
    scale: &StanceScale,
    snapshot: Option<&'a Snapshot>,
    latest: &'a [PublicTake],
) -> Vec<Voice<'a>> {
    if let Some(snapshot) = snapshot {
        let quotes = snapshot.quotes.iter().map(|quote| Voice {
            member: &quote.member_id,
            take: quote.take_id,
            stance: &quote.stance,
            confidence: quote.confidence,
            rank: rank_of(scale, &quote.stance, quote.confidence),
            body: quote.body.as_ref().map(|body| body.as_str()),
        });
        return quotes.collect();
    }
    let open = latest.iter().filter_map(PublicTake::open).map(|take| {
        let draft = take.draft();
        Voice {
            member: &draft.member_id,
            take: take.id,
            stance: &draft.stance,
            confidence: draft.confidence,
            rank: rank_of(scale, &draft.stance, draft.confidence),
            body: take.withheld.is_none().then(|| draft.body.as_str()),
        }
    });
    open.collect()
}

/// The members of the sides, and the surest words of each.
pub(super) struct Sides {
    pub(super) both: [Side; 2],
}

pub(super) struct Side {
    /// `For`, `Against`
    pub(super) title: &'static str,
    /// `12 members, bullish or constructive`
    pub(super) members: String,
    pub(super) quotes: Vec<QuoteView>,
}

pub(super) struct QuoteView {
    pub(super) who: Person,
    pub(super) take: String,
    pub(super) stance: Markup,
    pub(super) words: String,
    /// `3 others begin alike`
    pub(super) alike: Option<String>,
}

impl Sides {
    /// The sides; `None` where nobody is on either.
    pub(super) fn of(
        scale: &StanceScale,
        voices: &[Voice<'_>],
        alike: &Alike,
        people: &People,
    ) -> Option<Self> {
        let side = |title: &'static str, sign: i8| {
            let (count, stances) = (on_side(voices, sign).count(), stances_of(scale, sign));
            Side {
                title,
                members: match count {
                    0 => "nobody".to_owned(),
                    1 => format!("1 member, {stances}"),
                    count => format!("{count} members, {stances}"),
                },
                quotes: quoted(voices, sign)
                    .into_iter()
                    .map(|(voice, words)| QuoteView {
                        who: people.person(voice.member),
                        take: links::take(voice.take),
                        stance: stance::on_scale(scale, voice.stance, Some(voice.confidence)),
                        words: first_words(words, MAX_QUOTE),
                        alike: alike.text(words),
                    })
                    .collect(),
            }
        };
        let both = [side("For", 1), side("Against", -1)];
        both.iter().any(|side| !side.quotes.is_empty()).then_some(Self { both })
    }
}

/// The stances on a side, the strongest first: `bullish or constructive`.
fn stances_of(scale: &StanceScale, sign: i8) -> String {
    /// Maximum number of stances that are named.
    const NAMED: usize = 3;
    let is_of = |rank: f64| on(Some(scale.normalized(rank)), sign);
    let of_side = scale.stances().iter().filter(|stance| is_of(stance.rank));
    let mut names: Vec<_> = of_side.map(|stance| stance.name.as_str()).collect();
    if sign > 0 {
        names.reverse();
    }
    match names.len() {
        ..=NAMED => names.join(" or "),
        _ if sign > 0 => "above the middle".to_owned(),
        _ => "below the middle".to_owned(),
    }
}

/// Whether a rank is on this side of the middle.
fn on(rank: Option<f64>, sign: i8) -> bool {
    rank.is_some_and(|rank| rank * f64::from(sign) > 0.0)
}

/// The members that [`Sides`] names.
pub(super) fn quoted_members(voices: &[Voice<'_>]) -> Vec<MemberId> {
    let quotes = [1, -1].into_iter().flat_map(|sign| quoted(voices, sign));
    quotes.map(|(voice, _)| voice.member.clone()).collect()
}

fn on_side<'v, 'a>(
    voices: &'v [Voice<'a>],
    sign: i8,
) -> impl Iterator<Item = &'v Voice<'a>> + use<'v, 'a> {
    let is_on = move |voice: &&Voice<'_>| on(voice.rank, sign);
    voices.iter().filter(is_on)
}

/// The members of a side with the highest confidence whose texts can be read, and their texts. No two begin alike.
fn quoted<'v, 'a>(voices: &'v [Voice<'a>], sign: i8) -> Vec<(&'v Voice<'a>, &'a str)> {
    let mut told: Vec<_> = on_side(voices, sign)
        .filter_map(|voice| Some((voice, voice.body.filter(|body| !body.trim().is_empty())?)))
        .collect();
    told.sort_by(|(a, _), (b, _)| {
        b.confidence.get().total_cmp(&a.confidence.get()).then(a.take.cmp(&b.take))
    });
    let mut chosen: Vec<(&Voice<'_>, &str)> = Vec::new();
    for (voice, words) in told {
        let is_new = chosen.iter().all(|(_, other)| beginning(other) != beginning(words));
        if is_new && chosen.len() < QUOTES {
            chosen.push((voice, words));
        }
    }
    chosen
}

/// How many of the texts of a session begin with the same words.
#[derive(Default)]
pub(super) struct Alike(HashMap<String, usize>);

impl Alike {
    pub(super) fn of<'a>(voices: impl IntoIterator<Item = &'a Voice<'a>>) -> Self {
        let mut counts = HashMap::new();
        for voice in voices {
            if let Some(body) = voice.body.filter(|body| !body.trim().is_empty()) {
                *counts.entry(beginning(body)).or_insert(0) += 1;
            }
        }
        Self(counts)
    }

    /// The texts that begin like another one, and all texts; `None` if none does.
    pub(super) fn total(&self) -> Option<(usize, usize)> {
        let alike: usize = self.0.values().filter(|count| **count > 1).sum();
        (alike > 0).then(|| (alike, self.0.values().sum()))
    }

    /// `1 other text begins alike`; `None` if no other one does.
    pub(super) fn text(&self, body: &str) -> Option<String> {
        match self.0.get(&beginning(body)).copied().unwrap_or_default() {
            0 | 1 => None,
            2 => Some("1 other text begins alike".to_owned()),
            count => Some(format!("{} other texts begin alike", count - 1)),
        }
    }
}

/// The first words of a text, without case and punctuation.
fn beginning(text: &str) -> String {
    let words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(ALIKE_WORDS).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Who moved since the last session of the subject that has a result.
pub(super) struct Moves {
    /// The path and day of that session.
    pub(super) since: (String, Markup),
    /// `+0.36 to +0.70 (+0.34)`
    pub(super) score: Option<String>,
    /// Those that changed sides.
    pub(super) crossed: Vec<MoveView>,
    /// Those that moved without changing sides, and how many more there are.
    pub(super) shifted: Vec<MoveView>,
    pub(super) more: usize,
    /// Of those that filed both times, how many did not move.
    pub(super) kept: (usize, usize),
}

pub(super) struct MoveView {
    pub(super) who: Person,
    pub(super) from: Markup,
    pub(super) to: Markup,
}

/// A member's position in the last session and in this one.
struct Step<'a> {
    member: &'a MemberId,
    from: (&'a Stance, f64),
    to: (&'a Stance, f64),
}

impl Step<'_> {
    fn is_crossing(&self) -> bool {
        self.from.1 * self.to.1 < 0.0
    }

    fn length(&self) -> f64 {
        (self.to.1 - self.from.1).abs()
    }

    fn view(&self, [before, now]: [&StanceScale; 2], people: &People) -> MoveView {
        MoveView {
            who: people.person(self.member),
            from: stance::on_scale(before, self.from.0, None),
            to: stance::on_scale(now, self.to.0, None),
        }
    }
}

/// The steps of the members that filed in both sessions, those that changed sides first, then the longest.
fn steps<'a>(before: &'a Session, voices: &[Voice<'a>]) -> Vec<Step<'a>> {
    let scale = before.declaration.scale();
    let quotes = before.snapshot.as_deref().map_or(&[][..], |snapshot| &snapshot.quotes);
    let known: HashMap<_, _> = quotes.iter().map(|quote| (&quote.member_id, quote)).collect();
    let step = |voice: &Voice<'a>| {
        let quote = *known.get(voice.member)?;
        Some(Step {
            member: voice.member,
            from: (&quote.stance, rank_of(scale, &quote.stance, quote.confidence)?),
            to: (voice.stance, voice.rank?),
        })
    };
    let mut steps: Vec<_> = voices.iter().filter_map(step).collect();
    steps.sort_by(|a, b| {
        (!a.is_crossing())
            .cmp(&!b.is_crossing())
            .then(b.length().total_cmp(&a.length()))
            .then(a.to.1.total_cmp(&b.to.1))
    });
    steps
}

/// The last session of the subject before this one that counts and has a result.
pub(super) async fn last_result(
    tenant: &Tenant,
    session: &Session,
) -> Result<Option<std::sync::Arc<Session>>, Error> {
    if !session.summary().counts() {
        return Ok(None);
    }
    let list = SessionList::About(session.subject_id.clone());
    let has_result = |other: &SessionSummary| other.counts() && other.figures.is_some();
    let found = tenant.summaries_where(list, Some(session.id), 1, has_result).await?;
    let Some(before) = found.sessions.first() else { return Ok(None) };
    // It may have been withdrawn meanwhile.
    Error::if_any(tenant.session_record(before.id).await)
}

impl Moves {
    /// What changed since `before`; `None` if nobody filed in both.
    pub(super) fn of(
        (before, session): (&Session, &Session),
        voices: &[Voice<'_>],
        portion: Portion,
        people: &People,
        times: TimeFormatter,
    ) -> Option<Self> {
        let steps = steps(before, voices);
        let scales = [before, session].map(|session| session.declaration.scale());
        let moved = steps.iter().filter(|step| step.length() > 0.0).count();
        let views = |is_crossing: bool| {
            let these = steps
                .iter()
                .filter(move |step| step.length() > 0.0 && step.is_crossing() == is_crossing);
            let these = these.take(portion.of(MAX_MOVES));
            these.map(|step| step.view(scales, people)).collect::<Vec<_>>()
        };
        let (crossed, shifted) = (views(true), views(false));
        (!steps.is_empty()).then(|| Self {
            since: (links::session(before.id), times.day(before.date)),
            score: score_text(before, session),
            more: moved - crossed.len() - shifted.len(),
            crossed,
            shifted,
            kept: (steps.len() - moved, steps.len()),
        })
    }
}

/// The members that [`Moves`] names.
pub(super) fn moved_members(before: Option<&Session>, voices: &[Voice<'_>]) -> Vec<MemberId> {
    let steps = before.map(|before| steps(before, voices)).unwrap_or_default();
    let moved = steps.iter().filter(|step| step.length() > 0.0).take(2 * MAX_MOVES);
    moved.map(|step| step.member.clone()).collect()
}

/// The scores of two results and their difference; `None` unless both have a consensus on one scale and met their quorums.
fn score_text(before: &Session, session: &Session) -> Option<String> {
    if before.declaration.scale() != session.declaration.scale() {
        return None;
    }
    let score = |session: &Session| {
        let figures = &session.snapshot.as_deref()?.figures;
        let is_result = figures.quorum.as_ref().is_none_or(|quorum| quorum.met);
        Some(figures.consensus.as_ref().filter(|_| is_result)?.score)
    };
    let (from, to) = (score(before)?, score(session)?);
    // The difference of the figures shown: readers subtract them.
    let [before, after, by] = [from, to, shown(to) - shown(from)].map(signed);
    Some(if before == after {
        format!("{after}, unchanged")
    } else {
        format!("{before} to {after} ({by})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_begin_alike_whatever_their_case_and_punctuation() {
        let same = beginning("The **unlock** is behind us: supply is known.");
        assert_eq!(same, beginning("the unlock is behind us; SUPPLY may fall"));
        assert_ne!(same, beginning("The unlock is behind us."));
        assert_eq!(beginning(" … "), "");
    }
}
