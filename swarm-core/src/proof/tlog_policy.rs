//! Which logs and which witnesses a verifier trusts, as C2SP `tlog-policy` writes it: a checkpoint is accepted if a listed log
//! signed it and a quorum of the witnesses cosigned it.

use std::collections::BTreeSet;

use super::note::{KeyKind, SignedNote, VerifierKey};
use super::witness::WitnessKey;
use crate::domain::{Invalid, Timestamp};

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogPolicy {
    logs: Vec<VerifierKey>,
    /// The witnesses and the groups by their names, in the order of their lines.
    voters: Vec<(String, Voter)>,
    /// The place among the voters of the one that decides; `None`: no cosignature is required.
    quorum: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Voter {
    Witness(VerifierKey),
    /// So many of the members, which are earlier voters, by their places.
    Group(usize, Vec<usize>),
}

/// What the witnesses of a policy say of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    /// Whether the quorum is met.
    pub is_met: bool,
    /// The latest time at which a quorum had cosigned the checkpoint; `None` unless the quorum is met by cosignatures whose times
    /// are possible.
    pub at: Option<Timestamp>,
    /// The names of the witnesses that cosigned it at a possible time, in the order of the policy, each with the time.
    pub by: Vec<(String, Timestamp)>,
    /// The names of the witnesses that cosigned it, but not at the time that they say, each with that time; `None` of a time
    /// that has no date.
    pub misdated: Vec<(String, Option<Timestamp>)>,
    /// The names of the witnesses whose cosignatures are not valid.
    pub forged: Vec<String>,
}

/// When a checkpoint can have been cosigned: not before its last entry, and not after now, but for some minutes by which the
/// clocks of a log, a witness and a reader may differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct CosigningTimes {
    /// When the last entry of its tree was logged, as far as the reader knows.
    pub since: Option<Timestamp>,
    /// The reader's clock.
    pub until: Option<Timestamp>,
}

impl CosigningTimes {
    /// By how much clocks may differ, in milliseconds.
    const MAX_APART: i64 = 300_000;

    fn has(self, time: Timestamp) -> bool {
        let may_precede =
            |one: Timestamp, other: Timestamp| one <= other.plus_millis(Self::MAX_APART);
        self.since.is_none_or(|since| may_precede(since, time))
            && self.until.is_none_or(|until| may_precede(time, until))
    }
}

impl TlogPolicy {
    /// Reads a policy.
    ///
    /// # Errors
    /// [`Invalid`] when it is none; the text names the line.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut policy = Unfinished::default();
        for (number, line) in (1..).zip(text.lines()) {
            if let Err(why) = policy.read(line) {
                return Err(Invalid::new("policy", format!("line {number}: {why}")));
            }
        }
        policy.finish().map_err(|why| Invalid::new("policy", why))
    }

    /// Returns the keys of the logs.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// Returns whether the policy requires a cosignature.
    pub fn requires_witnesses(&self) -> bool {
        self.quorum.is_some()
    }

    /// Returns which witnesses cosigned a checkpoint, and whether they are a quorum.
    ///
    /// A cosignature of an impossible time counts, because it shows that the witness saw the checkpoint. It does not show when.
    pub fn cosigned(&self, note: &SignedNote, within: CosigningTimes) -> Cosigned {
        let (mut by, mut misdated, mut forged) = (Vec::new(), Vec::new(), Vec::new());
        // Of each voter: whether it cosigned the checkpoint, and when, if that is possible.
        let mut votes: Vec<(bool, Option<Timestamp>)> = Vec::new();
        for (name, voter) in &self.voters {
            let vote = match voter {
                Voter::Witness(key) => match note.cosigned_at(key) {
                    Some(seconds) => {
                        let time = moment(seconds);
                        let possible = time.filter(|time| within.has(*time));
                        match possible {
                            Some(time) => by.push((name.clone(), time)),
                            None => misdated.push((name.clone(), time)),
                        }
                        (true, possible)
                    }
                    None => {
                        if note.signatures().iter().any(|it| it.is_of(key)) {
                            forged.push(name.clone());
                        }
                        (false, None)
                    }
                },
                Voter::Group(threshold, members) => {
                    let cosigned = members.iter().filter_map(|place| votes.get(*place));
                    let mut cosigned: Vec<_> = cosigned.filter(|vote| vote.0).copied().collect();
                    cosigned.sort_unstable_by(|one, other| other.cmp(one));
                    let last =
                        threshold.checked_sub(1).and_then(|last| cosigned.get(last).copied());
                    last.unwrap_or_default()
                }
            };
            votes.push(vote);
        }
        let (is_met, at) = match self.quorum {
            Some(place) => votes.get(place).copied().unwrap_or_default(),
            None => (true, None),
        };
        Cosigned { is_met, at, by, misdated, forged }
    }
}

/// The time of so many seconds since 1970; `None` if it has no date.
fn moment(seconds: u64) -> Option<Timestamp> {
    Timestamp::from_millis(i64::try_from(seconds).ok()?.checked_mul(1_000)?)
}

/// The lines that were read so far.
#[derive(Default)]
struct Unfinished {
    logs: Vec<VerifierKey>,
    voters: Vec<(String, Voter)>,
    /// The members of groups: each counts in one group at most.
    grouped: BTreeSet<usize>,
    quorum: Option<Option<usize>>,
}

impl Unfinished {
    fn read(&mut self, line: &str) -> Result<(), String> {
        if line.contains(|letter: char| letter.is_ascii_control() && letter != '\t') {
            return Err("has a control character".to_owned());
        }
        let words: Vec<_> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        match *words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with('#') => Ok(()),
            ["log", key] | ["log", key, _] => self.log(key),
            ["witness", name, key] | ["witness", name, key, _] => self.witness(name, key),
            ["group", name, threshold, ref members @ ..] if !members.is_empty() => {
                self.group(name, threshold, members)
            }
            ["quorum", name] => self.quorum(name),
            _ => Err("is no line of a policy: log, witness, group or quorum".to_owned()),
        }
    }

    fn log(&mut self, key: &str) -> Result<(), String> {
        let key = VerifierKey::parse(key).map_err(|error| error.to_string())?;
        if key.kind() != KeyKind::Ed25519 {
            return Err("the key is not that of a log".to_owned());
        }
        if self.logs.iter().any(|log| log.public_key() == key.public_key()) {
            return Err("the key of the log is listed twice".to_owned());
        }
        self.logs.push(key);
        Ok(())
    }

    fn witness(&mut self, name: &str, key: &str) -> Result<(), String> {
        if matches!(WitnessKey::parse(key), Ok(WitnessKey::MlDsa44(_))) {
            return Err("the key is of ML-DSA-44, whose cosignatures are not verified here: name a witness with a key of Ed25519".to_owned());
        }
        let key = VerifierKey::parse(key).map_err(|error| error.to_string())?;
        if key.kind() == KeyKind::Ed25519 {
            return Err("the key is not that of a witness".to_owned());
        }
        let is_same = |voter: &Voter| match voter {
            Voter::Witness(witness) => witness.public_key() == key.public_key(),
            Voter::Group(..) => false,
        };
        if self.voters.iter().any(|(_, voter)| is_same(voter)) {
            return Err("the key of the witness is listed twice".to_owned());
        }
        self.define(name, Voter::Witness(key))
    }

    fn group(&mut self, name: &str, threshold: &str, members: &[&str]) -> Result<(), String> {
        let mut places = Vec::new();
        for member in members {
            let place = self.place(member)?;
            if !self.grouped.insert(place) {
                return Err(format!("{member} is a member of a group already"));
            }
            places.push(place);
        }
        let threshold = match threshold {
            "all" => places.len(),
            "any" => 1,
            number => {
                let parsed = number.parse::<usize>().ok();
                let parsed = parsed.filter(|it| (1..=places.len()).contains(it));
                let parsed = parsed.filter(|it| it.to_string() == number);
                parsed.ok_or("the threshold must be all, any or from 1 to the number of members")?
            }
        };
        self.define(name, Voter::Group(threshold, places))
    }

    fn quorum(&mut self, name: &str) -> Result<(), String> {
        if self.quorum.is_some() {
            return Err("there is a second quorum".to_owned());
        }
        self.quorum = Some(if name == "none" { None } else { Some(self.place(name)?) });
        Ok(())
    }

    fn place(&self, name: &str) -> Result<usize, String> {
        let place = self.voters.iter().position(|(known, _)| known == name);
        place.ok_or_else(|| format!("{name} is not defined above"))
    }

    fn define(&mut self, name: &str, voter: Voter) -> Result<(), String> {
        if name == "none" || self.place(name).is_ok() {
            return Err(format!("the name {name} is taken"));
        }
        self.voters.push((name.to_owned(), voter));
        Ok(())
    }

    fn finish(self) -> Result<TlogPolicy, String> {
        let Self { logs, voters, quorum, .. } = self;
        let quorum = quorum.ok_or("has no line quorum")?;
        Ok(TlogPolicy { logs, voters, quorum })
    }
}

#[cfg(test)]
mod tests {
    use super::super::note::NoteSigner;
    use super::*;

    fn signer(name: &str, kind: KeyKind) -> NoteSigner {
        let mut seed = [0; 32];
        seed[..name.len()].copy_from_slice(name.as_bytes());
        NoteSigner::new(name, kind, &seed).unwrap()
    }

    fn policy() -> String {
        let witness = |name: &str| {
            let key = signer(name, KeyKind::Cosigner);
            format!("witness {name} {} https://{name}.example", key.verifier())
        };
        let log = signer("log", KeyKind::Ed25519);
        let [x1, x2, x3] = ["X1", "X2", "X3"].map(witness);
        let y = witness("Y");
        let log = log.verifier();
        format!(
            "# A comment\n\n log {log}\n{x1}\n{x2}\n{x3}\n\tgroup X 2 X1 X2 X3\n{y}\ngroup both all X Y\nquorum both\n"
        )
    }

    /// A checkpoint that these witnesses cosigned, each at a time in seconds.
    fn note(cosigned: &[(&str, u64)]) -> SignedNote {
        let mut note = SignedNote::new("log\n7\nAAAA\n".to_owned());
        for (name, time) in cosigned {
            let signature = signer(name, KeyKind::Cosigner).sign(note.text(), *time);
            note.push(signature);
        }
        note
    }

    #[test]
    fn quorum_is_met_by_enough_witnesses_of_each_group() {
        let policy = TlogPolicy::parse(&policy()).unwrap();
        assert_eq!(policy.logs().len(), 1);
        for (cosigned, at) in [
            (&[("X1", 10), ("X3", 20), ("Y", 15)][..], Some(10)),
            (&[("X1", 10), ("X2", 30), ("X3", 20), ("Y", 25)], Some(20)),
            (&[("X1", 10), ("Y", 15)], None),
            (&[("X1", 10), ("X2", 10), ("X3", 10)], None),
            (&[], None),
        ] {
            let found = policy.cosigned(&note(cosigned), CosigningTimes::default());
            assert_eq!(found.is_met, at.is_some(), "{cosigned:?}");
            assert_eq!(found.at.map(|at| at.millis() / 1_000), at, "{cosigned:?}");
            assert_eq!(found.by.len(), cosigned.len());
            assert!(found.forged.is_empty());
        }
        // Lines may end as those of Windows do.
        assert_eq!(TlogPolicy::parse(&self::policy().replace('\n', "\r\n")), Ok(policy));
        let none = TlogPolicy::parse("quorum none").unwrap();
        assert!(none.cosigned(&note(&[]), CosigningTimes::default()).is_met);
    }

    #[test]
    fn cosignature_of_another_text_is_forged() {
        let policy = TlogPolicy::parse(&policy()).unwrap();
        let mut forged = SignedNote::new("log\n8\nAAAA\n".to_owned());
        note(&[("X1", 10)]).signatures().iter().for_each(|it| forged.push(it.clone()));
        let found = policy.cosigned(&forged, CosigningTimes::default());
        assert_eq!((found.is_met, found.by, found.forged), (false, vec![], vec!["X1".to_owned()]));
    }

    #[test]
    fn cosignature_of_an_impossible_time_counts_and_shows_no_time() {
        let key = signer("X1", KeyKind::Cosigner);
        let policy =
            TlogPolicy::parse(&format!("witness X1 {}\nquorum X1", key.verifier())).unwrap();
        let within = CosigningTimes { since: moment(10_000), until: moment(20_000) };
        for (time, is_met, is_misdated) in [
            (9_700, true, false),
            (20_300, true, false),
            (9_699, true, true),
            (20_301, true, true),
            (i64::MAX.cast_unsigned(), true, true),
            // These are no times of a cosignature.
            (0, false, false),
            (1 << 63, false, false),
        ] {
            let found = policy.cosigned(&note(&[("X1", time)]), within);
            assert_eq!(found.is_met, is_met, "{time}");
            assert_eq!(!found.misdated.is_empty(), is_misdated, "{time}");
            assert_eq!(found.forged.is_empty(), is_met, "{time}");
            assert_eq!(found.at.is_some(), is_met && !is_misdated, "{time}");
        }
    }

    #[test]
    fn what_is_no_policy_is_refused() {
        let whole = policy();
        let key = signer("X4", KeyKind::Cosigner);
        let witness = format!("witness X4 {}\n", key.verifier());
        assert!(TlogPolicy::parse(&format!("{witness}quorum X4")).is_ok());
        let log = signer("log", KeyKind::Ed25519);
        let log = log.verifier();
        for (bad, why) in [
            (String::new(), "no line quorum"),
            (whole.replace("quorum both\n", ""), "no line quorum"),
            (format!("{whole}quorum X1"), "second quorum"),
            (format!("{whole}nonsense"), "no line of a policy"),
            (format!("log {log}\nlog {log}\nquorum none"), "listed twice"),
            (format!("witness W {log}\nquorum W"), "not that of a witness"),
            (format!("{witness}{witness}quorum X4"), "listed twice"),
            (format!("{witness}group X4 any X4\nquorum X4"), "is taken"),
            (format!("{witness}group none any X4\nquorum none"), "is taken"),
            (format!("{witness}group G 2 X4\nquorum G"), "threshold"),
            (format!("{witness}group G 0 X4\nquorum G"), "threshold"),
            (format!("{witness}group G 01 X4\nquorum G"), "threshold"),
            (format!("{witness}group G any X4 X4\nquorum G"), "a member of a group already"),
            (format!("{witness}group G any X4\ngroup H any X4\nquorum G"), "already"),
            ("quorum G\n".to_owned(), "line 1: G is not defined above"),
            ("quorum\r none\n".to_owned(), "control character"),
        ] {
            let error = TlogPolicy::parse(&bad).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
