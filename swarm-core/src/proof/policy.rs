//! A policy of a verifier: which logs it knows, and which witnesses must have cosigned a checkpoint, according to C2SP
//! `tlog-policy` (PROOFS.md).

use std::collections::{HashMap, HashSet};

use super::note::{KeyKind, Note, VerifierKey};
use crate::domain::Invalid;

/// A policy.
#[derive(Clone, Debug)]
pub struct Policy {
    logs: Vec<VerifierKey>,
    witnesses: Vec<(String, VerifierKey)>,
    quorum: Quorum,
}

/// Who must have cosigned a checkpoint.
#[derive(Clone, Debug)]
enum Quorum {
    /// Nobody.
    None,
    /// The witness with this position.
    Witness(usize),
    /// So many of these.
    Group(usize, Vec<Quorum>),
}

/// What a policy says of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    /// Whether enough witnesses cosigned it.
    pub is_met: bool,
    /// The witnesses that cosigned it, each with the time in seconds since 1970.
    pub by: Vec<(String, u64)>,
}

impl Policy {
    /// Reads the text of a policy.
    ///
    /// # Errors
    /// [`Invalid`], naming the first line that breaks a rule of the format.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut reader = Reader::default();
        for (number, line) in (1..).zip(text.split('\n')) {
            let words: Vec<_> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
            let is_plain =
                !line.contains(|letter: char| letter.is_ascii_control() && letter != '\t');
            let is_comment = words.first().is_none_or(|word| word.starts_with('#'));
            let read = match (is_plain, is_comment) {
                (false, _) => Err("a control character"),
                (true, true) => Ok(()),
                (true, false) => reader.line(&words),
            };
            read.map_err(|why| Invalid::new("policy", format!("line {number}: {why}")))?;
        }
        let Reader { logs, witnesses, quorum, .. } = reader;
        let quorum = quorum.ok_or_else(|| Invalid::new("policy", "must have a line quorum"))?;
        Ok(Self { logs, witnesses, quorum })
    }

    /// Returns the keys of the logs that it knows.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// Returns which witnesses cosigned a checkpoint, and whether they suffice.
    pub fn check(&self, checkpoint: &Note) -> Cosigned {
        let times: Vec<_> =
            self.witnesses.iter().map(|(_, key)| checkpoint.cosigned_at(key)).collect();
        let named = self.witnesses.iter().zip(&times);
        let by = named.filter_map(|((name, _), time)| Some((name.clone(), (*time)?))).collect();
        Cosigned { is_met: self.quorum.is_met(&times), by }
    }

    /// Returns whether it requires a cosignature.
    pub fn requires_witnesses(&self) -> bool {
        !matches!(self.quorum, Quorum::None)
    }
}

impl Quorum {
    /// Whether the quorum is met, where these witnesses have cosigned.
    fn is_met(&self, times: &[Option<u64>]) -> bool {
        match self {
            Self::None => true,
            Self::Witness(place) => times.get(*place).is_some_and(Option::is_some),
            Self::Group(least, members) => {
                members.iter().filter(|member| member.is_met(times)).count() >= *least
            }
        }
    }
}

#[derive(Default)]
struct Reader {
    logs: Vec<VerifierKey>,
    witnesses: Vec<(String, VerifierKey)>,
    /// Witnesses and groups by name.
    named: HashMap<String, Quorum>,
    /// The names of those that are a member of a group. None is one of two, so that it counts once.
    members: HashSet<String>,
    quorum: Option<Quorum>,
}

impl Reader {
    fn line(&mut self, words: &[&str]) -> Result<(), &'static str> {
        match words {
            ["log", key] | ["log", key, _] => {
                let key = key_of(key, KeyKind::Ed25519)?;
                if self.logs.iter().any(|log| log.public_key() == key.public_key()) {
                    return Err("a log twice");
                }
                self.logs.push(key);
                Ok(())
            }
            ["witness", name, key] | ["witness", name, key, _] => {
                let key = key_of(key, KeyKind::Cosigner)?;
                if self.witnesses.iter().any(|(_, own)| own.public_key() == key.public_key()) {
                    return Err("a witness twice");
                }
                let place = self.witnesses.len();
                self.witnesses.push(((*name).to_owned(), key));
                self.define(name, Quorum::Witness(place))
            }
            ["group", name, least, members @ ..] => {
                let number = match *least {
                    "any" => 1,
                    "all" => members.len(),
                    digits => decimal(digits).ok_or("a threshold that is no number")?,
                };
                if number == 0 || number > members.len() {
                    return Err("a threshold that its members cannot meet");
                }
                let is_new = |name: &&str| self.members.insert((*name).to_owned());
                let are_new = members.iter().all(is_new);
                let members = members.iter().map(|name| self.named.get(*name).cloned()).collect();
                let members: Option<Vec<_>> = if are_new { members } else { None };
                let members = members.ok_or("a member that is not defined, or is one already")?;
                self.define(name, Quorum::Group(number, members))
            }
            ["quorum", name] => {
                if self.quorum.is_some() {
                    return Err("a second quorum");
                }
                let quorum = match *name {
                    "none" => Some(Quorum::None),
                    name => self.named.get(name).cloned(),
                };
                self.quorum = Some(quorum.ok_or("a name that is not defined before")?);
                Ok(())
            }
            _ => Err("must be log, witness, group or quorum"),
        }
    }

    fn define(&mut self, name: &str, quorum: Quorum) -> Result<(), &'static str> {
        if name == "none" || self.named.contains_key(name) {
            return Err("a name that is taken");
        }
        self.named.insert(name.to_owned(), quorum);
        Ok(())
    }
}

fn decimal(digits: &str) -> Option<usize> {
    digits.parse().ok().filter(|number: &usize| number.to_string() == digits)
}

fn key_of(text: &str, kind: KeyKind) -> Result<VerifierKey, &'static str> {
    let key = VerifierKey::parse(text).ok().filter(|key| key.kind() == kind);
    key.ok_or("a key that is not of this kind")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;
    use crate::proof::note::NoteSigner;

    fn signer(name: &str, kind: KeyKind, seed: u8) -> NoteSigner {
        NoteSigner::new(name, kind, &[seed; 32]).unwrap()
    }

    fn witnesses() -> Vec<NoteSigner> {
        (1..=4).map(|seed| signer(&format!("w{seed}.example"), KeyKind::Cosigner, seed)).collect()
    }

    fn policy(lines: &str) -> Result<Policy, Invalid> {
        let names = ["A", "B", "C", "D"];
        let defined = names.iter().zip(witnesses());
        let defined = defined.map(|(name, it)| format!("witness {name} {}\n", it.verifier()));
        Policy::parse(&format!("# mine\n\n{}{lines}\n", defined.collect::<String>()))
    }

    /// A note that these witnesses have cosigned, by their places.
    fn cosigned(places: &[usize]) -> Note {
        let mut note = Note::new("desk.example/swarm/log/acme\n1\nAAAA\n".to_owned());
        for place in places {
            let signature = witnesses()[*place].sign(note.text(), 7);
            note.push(signature);
        }
        note
    }

    #[test]
    fn quorum_is_met_by_enough_of_its_members() {
        let nested = "group ab 2 A B\ngroup cd any C D\ngroup both all ab cd\nquorum both";
        for (lines, met, unmet) in [
            ("quorum A", vec![vec![0], vec![0, 1]], vec![vec![], vec![1]]),
            ("quorum none", vec![vec![]], vec![]),
            (
                "group g 2 A B C\tD\nquorum g",
                vec![vec![0, 3], vec![1, 2, 3]],
                vec![vec![0], vec![]],
            ),
            (nested, vec![vec![0, 1, 2], vec![0, 1, 3]], vec![vec![0, 2, 3], vec![0, 1]]),
        ] {
            let policy = policy(lines).unwrap();
            assert!(met.iter().all(|places| policy.check(&cosigned(places)).is_met), "{lines}");
            assert!(!unmet.iter().any(|places| policy.check(&cosigned(places)).is_met), "{lines}");
        }
        let found = policy("quorum A").unwrap().check(&cosigned(&[2]));
        assert_eq!(found, Cosigned { is_met: false, by: vec![("C".to_owned(), 7)] });
    }

    #[test]
    fn forged_cosignature_does_not_count() {
        let mut note = cosigned(&[]);
        let forged = signer("w1.example", KeyKind::Cosigner, 9).sign(note.text(), 7).to_string();
        let own = cosigned(&[0]).signatures()[0].to_string();
        // The name and the id of the witness, and the signature of another key.
        let encoded = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
        let (own, forged) = (encoded(&own), encoded(&forged));
        let line = format!("\u{2014} w1.example {}{}", &own[..5], &forged[5..]);
        note.push(super::super::note::NoteSignature::parse(&line).unwrap());
        assert!(!policy("quorum A").unwrap().check(&note).is_met);
    }

    #[test]
    fn line_that_breaks_a_rule_is_named() {
        let key = signer("log.example", KeyKind::Ed25519, 5).verifier().to_string();
        for (lines, why) in [
            ("", "must have a line quorum"),
            ("quorum E", "line 7: a name that is not defined"),
            ("quorum A\nquorum B", "line 8: a second quorum"),
            ("group g 3 A B\nquorum g", "line 7: a threshold"),
            ("group g 0 A B\nquorum g", "line 7: a threshold"),
            ("group g 02 A B\nquorum g", "line 7: a threshold"),
            ("group g any\nquorum g", "line 7: a threshold"),
            ("group g any A A\nquorum g", "line 7: a member"),
            ("group g any A\ngroup h any A\nquorum h", "line 8: a member"),
            ("group A any B\nquorum A", "line 7: a name that is taken"),
            ("group none any B\nquorum none", "line 7: a name that is taken"),
            ("log x\nquorum A", "line 7: a key"),
            ("witness E x\nquorum A", "line 7: a key"),
            ("quorum A \u{1}", "line 7: a control character"),
            ("quorums A", "line 7: must be log"),
        ] {
            let said = policy(lines).unwrap_err().to_string();
            assert!(said.contains(why), "{lines}: {said}");
        }
        let lines = format!("log {key} https://log.example\nquorum A");
        assert_eq!(policy(&lines).unwrap().logs()[0].to_string(), key);
        assert!(policy(&format!("log {key}\nlog {key}\nquorum A")).is_err());
        assert!(policy(&format!("witness E {key}\nquorum A")).is_err(), "the key of a log");
    }
}
