//! A take, encoded as arguments of `file.lua`.

use std::fmt::{Display, Write as _};
use std::iter::{once, zip};

use swarm_core::SessionId;
use swarm_core::proof::hex;
use swarm_core::rules::Filing;

use crate::codec;
use crate::keys::sessions_on;
use crate::scripts::{FIELDS, REST, SESSION_FIELDS, SESSION_REST};

/// A take, and what it is checked against.
pub(crate) struct EncodedTake {
    pub(crate) session: SessionId,
    /// The arguments of its session, without the number of takes.
    pub(crate) of_session: Args<SESSION_FIELDS, { SESSION_REST - 1 }>,
    pub(crate) own: Args<FIELDS, REST>,
}

/// Arguments of a script: `F` fields that it reads, then `R` others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Args<const F: usize, const R: usize> {
    text: String,
    /// Where each argument ends.
    ends: ([usize; F], [usize; R]),
}

impl EncodedTake {
    pub(crate) fn new(filing: &Filing) -> Self {
        let (member, member_version) = filing.member();
        let (session, session_version) = filing.session();
        let (date, subject) = filing.newest_of();
        let nonce = filing.nonce().as_str();
        let deadline = filing.commit_deadline().map(|deadline| deadline.millis().to_string());
        let revision = filing.revision().get();
        Self {
            session,
            of_session: Args::new(
                128,
                [
                    &format_args!("session:{session}"),
                    &format_args!("newest:{}", sessions_on(&date.to_string(), subject.as_str())),
                    &format_args!("hold:{session}"),
                ],
                [&session_version.0, &session.0, &deadline.unwrap_or_default()],
            ),
            own: Args::new(
                3072,
                [
                    &format_args!("nonce:{}:{member}{nonce}", member.as_str().len()),
                    &format_args!("latest:{session}:{member}"),
                    &format_args!("member:{member}"),
                ],
                [
                    &member_version.0,
                    &hex(&filing.attempt().0),
                    &revision.saturating_sub(1),
                    &revision,
                    &codec::TakeRow(filing),
                ],
            ),
        }
    }

    /// Whether both may be in one batch: they write no common field.
    pub(crate) fn is_compatible(&self, other: &Self) -> bool {
        /// The first fields, those of the nonce and the latest revision, are written.
        const WRITTEN: usize = 2;
        let mut written = zip(self.own.fields(), other.own.fields()).take(WRITTEN);
        written.all(|(one, other)| one != other)
    }

    /// Its size in bytes without the session.
    pub(crate) fn len(&self) -> usize {
        self.own.text.len()
    }
}

impl<const F: usize, const R: usize> Args<F, R> {
    /// Encodes the arguments; `room` is the capacity to allocate, in bytes.
    fn new(room: usize, fields: [&dyn Display; F], rest: [&dyn Display; R]) -> Self {
        let (mut text, mut ends) = (String::with_capacity(room), ([0; F], [0; R]));
        let all = ends.0.iter_mut().chain(&mut ends.1);
        for (arg, end) in zip(fields.into_iter().chain(rest), all) {
            // Writing to a string does not fail.
            let _ = write!(text, "{arg}");
            *end = text.len();
        }
        Self { text, ends }
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.all().take(F)
    }

    pub(crate) fn rest(&self) -> impl Iterator<Item = &str> {
        self.all().skip(F)
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let ends = || self.ends.0.iter().chain(&self.ends.1).copied();
        zip(once(0).chain(ends()), ends()).map(|(begin, end)| &self.text[begin..end])
    }
}
