//! All scored sessions of a tenant, kept for rankings and records.

use std::collections::{BTreeMap, HashMap};

use super::super::aggregate::RankedPosition;
use super::record::{Scored, figures};
use super::session::{Forecast, crowd_forecast, forecast, lean};
use super::{MemberRecord, Ranking, ScoreFigures};
use crate::domain::{Day, MemberId, Session, SessionId, SubjectId};

/// A selection of sessions. The default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScoreFilter {
    /// Only sessions about this subject.
    pub subject: Option<SubjectId>,
    /// Only sessions of this day or later ones.
    pub since: Option<Day>,
}

/// The scored sessions of a tenant. The positions of a session never change, because its snapshot does not; only its
/// outcome may.
#[derive(Clone, Debug, Default)]
pub struct ScoreBook {
    sessions: Vec<BookedSession>,
    slots: HashMap<SessionId, usize>,
    members: BTreeMap<MemberId, Vec<BookedPosition>>,
}

/// A session with at least one known stance.
#[derive(Clone, Debug)]
struct BookedSession {
    date: Day,
    subject_id: SubjectId,
    crowd: f64,
    /// The outcome on the scale of the service, −2 to 2; `None` while the session does not count.
    value: Option<f64>,
}

/// A member's position in a session.
#[derive(Clone, Copy, Debug)]
struct BookedPosition {
    slot: usize,
    forecast: f64,
    rank: f64,
}

impl ScoreBook {
    /// Puts in the outcome of an aggregated session, which is on the scale of its stances, in place of an earlier one;
    /// `None` if the session does not count.
    pub fn put(&mut self, session: &Session, value: Option<f64>) {
        let scale = session.declaration.scale();
        let value = value.map(|value| scale.normalized(value));
        if let Some(booked) =
            self.slots.get(&session.id).and_then(|slot| self.sessions.get_mut(*slot))
        {
            booked.value = value;
            return;
        }
        let quotes = session.snapshot.as_ref().map_or(&[][..], |snapshot| &snapshot.quotes);
        let position = |quote| RankedPosition::of_quote(scale, quote);
        let positions: Vec<_> = quotes.iter().filter_map(position).collect();
        let (Some(crowd), Some(_)) = (crowd_forecast(&positions), value) else { return };
        let slot = self.sessions.len();
        self.slots.insert(session.id, slot);
        let (date, subject_id) = (session.date, session.subject_id.clone());
        self.sessions.push(BookedSession { date, subject_id, crowd, value });
        for quote in quotes {
            let Some(position) = position(quote) else { continue };
            let forecast = forecast(lean(position));
            let booked = BookedPosition { slot, forecast, rank: position.rank };
            self.members.entry(quote.member_id.clone()).or_default().push(booked);
        }
    }

    /// Returns the ranking of all members over the selected sessions. A place takes `min` scored sessions.
    pub fn ranking(&self, filter: &ScoreFilter, min: usize) -> Ranking {
        let baseline = |forecast: fn(&BookedSession) -> f64| {
            let counted = self.sessions.iter().filter(|session| session.is_selected(filter));
            figures(counted.filter_map(|session| session.scored(forecast(session), 0.0)))
        };
        let baselines = [baseline(|session| session.crowd), baseline(|_| Forecast::NEUTRAL)];
        let members = self.members.iter().map(|(member, positions)| {
            let figures: ScoreFigures = figures(self.scored(positions, filter));
            (member.clone(), figures)
        });
        Ranking::of(min, baselines, members)
    }

    /// Returns the record of a member over the selected sessions.
    pub fn record(&self, member: &MemberId, filter: &ScoreFilter) -> MemberRecord {
        let positions = self.members.get(member).map(Vec::as_slice).unwrap_or_default();
        MemberRecord::of(&self.scored(positions, filter).collect::<Vec<_>>())
    }

    /// The positions of a member in the selected sessions.
    fn scored<'a>(
        &'a self,
        positions: &'a [BookedPosition],
        filter: &'a ScoreFilter,
    ) -> impl Iterator<Item = Scored> + 'a {
        positions.iter().filter_map(move |position| {
            let session = self.sessions.get(position.slot)?;
            let counted = session.is_selected(filter).then_some(session)?;
            counted.scored(position.forecast, position.rank)
        })
    }
}

impl BookedSession {
    fn is_selected(&self, filter: &ScoreFilter) -> bool {
        filter.subject.as_ref().is_none_or(|subject| self.subject_id == *subject)
            && filter.since.is_none_or(|since| self.date >= since)
    }

    /// A position in the session; `None` while it does not count.
    fn scored(&self, forecast: f64, rank: f64) -> Option<Scored> {
        let value = self.value?;
        let crowd_loss = Forecast::of(self.crowd, value).loss;
        Some(Scored { rank, forecast, value, crowd_loss })
    }
}
