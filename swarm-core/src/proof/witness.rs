//! The bodies of requests and answers of `add-checkpoint` in C2SP `tlog-witness` (API.md, 11.6).

use super::note::{Note, NoteSignature};
use super::tree::TreeHash;
use crate::domain::Invalid;

/// Returns the body of a request: the size up to which the witness has cosigned the log, the proof that the
/// checkpoint continues it, and the checkpoint.
pub fn add_checkpoint(old: u64, proof: &[TreeHash], checkpoint: &Note) -> String {
    let proof: String = proof.iter().map(|hash| format!("{hash}\n")).collect();
    format!("old {old}\n{proof}\n{checkpoint}")
}

/// Reads the body of a 200: lines of cosignatures. Those by unknown keys are included.
///
/// # Errors
/// [`Invalid`] when it is something else.
pub fn read_cosignatures(body: &str) -> Result<Vec<NoteSignature>, Invalid> {
    let lines = body.strip_suffix('\n');
    let lines = lines.ok_or_else(|| Invalid::new("cosignatures", "must end with a line feed"))?;
    lines.split('\n').map(NoteSignature::parse).collect()
}

/// Reads the body of a 409: the size up to which the witness has cosigned the log; `None` for anything else.
pub fn read_size(body: &str) -> Option<u64> {
    let line = body.strip_suffix('\n').unwrap_or(body);
    line.parse::<u64>().ok().filter(|size| size.to_string() == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_the_size_the_proof_and_the_checkpoint() {
        let note = "acme.example/log\n7\nAAAA\n\n\u{2014} acme.example/log AAAAAAA=\n";
        let note = Note::parse(note).unwrap();
        let hash = TreeHash::empty();
        let body = add_checkpoint(3, &[hash, hash], &note);
        assert_eq!(body, format!("old 3\n{hash}\n{hash}\n\n{note}"));
        assert_eq!(add_checkpoint(0, &[], &note), format!("old 0\n\n{note}"));
    }

    #[test]
    fn answers_of_witnesses_are_read() {
        assert_eq!((read_size("20\n"), read_size("0")), (Some(20), Some(0)));
        for bad in ["", "\n", "020\n", "+1\n", "1\n\n", "-1", "twenty"] {
            assert_eq!(read_size(bad), None, "{bad:?}");
        }
        let line = "\u{2014} witness.example AAAAAAA=\n";
        assert_eq!(read_cosignatures(&line.repeat(2)).unwrap().len(), 2);
        for bad in ["", "\n", line.trim_end(), &format!("{line}\n")] {
            assert!(read_cosignatures(bad).is_err(), "{bad:?}");
        }
    }
}
