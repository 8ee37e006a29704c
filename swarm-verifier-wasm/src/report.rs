//! The report on texts, as JSON.

use swarm_core::audit::{Known, Line, Lines, Unverifiable, Verdict, verify_texts};
use swarm_core::json::{Json, Object, write};
use swarm_core::{Invalid, SessionId, TakeId};

/// Maximum total size of the options and the texts, in bytes. Reading a JSON text may take eight times its size, and the
/// memory of a module ends at 4 GiB.
pub const MAX_BYTES: usize = 64 << 20;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The exit status of `swarm verify`: 0 if nothing fails, 1 if something does, 2 if nothing was verified, 3 with the option
    /// `strict` if something is notable.
    pub status: u8,
    /// `{"status", "verified", "lines": [{"verdict", "text"}]}`, or `{"status": 2, "verified": false, "error"}`. `verified` is whether
    /// something was verified and nothing fails: of a take whose texts are withheld perhaps nothing can be verified. A verdict is `holds`,
    /// `fails`, `notable`, `unproven`, or null for a statement. A text is a line of `swarm verify`, as it prints it.
    pub json: String,
}

/// Verifies texts: a take, a bundle, a take and its proof, a receipt, or a receipt and the body of its request.
///
/// `options` is a JSON object of texts, named like the options of `swarm verify`: `key`, `memberKey`, `request`; of `members`
/// and `policy` the contents of the files; `servedKey`, the key of the log that the server of a bundle names; `take` and `session`,
/// the ids of what was asked for; and `strict`, a boolean.
pub fn report(options: &[u8], texts: &[&[u8]]) -> Report {
    let size = texts.iter().fold(options.len(), |size, text| size.saturating_add(text.len()));
    let verified = match (size, texts.len()) {
        (..=MAX_BYTES, 1 | 2) => verified(options, texts),
        (..=MAX_BYTES, _) => {
            Err("give a take, a bundle or a receipt, and perhaps one other text".into())
        }
        _ => Err("the texts are too large: swarm verify reads them".into()),
    };
    match verified {
        Ok((lines, is_strict)) => {
            let found = ("lines", lines.iter().map(line).collect());
            of_status(lines.status(is_strict), lines.is_verified(), found)
        }
        Err(error) => of_status(2, false, ("error", Json::from(&*error.to_string()))),
    }
}

fn of_status(status: u8, is_verified: bool, found: (&str, Json)) -> Report {
    let number = Json::from(f64::from(status));
    let json = Json::from([("status", number), ("verified", Json::Bool(is_verified)), found]);
    Report { status, json: write(&json) }
}

fn line(line: &Line) -> Json {
    let verdict = line.verdict.map(Verdict::as_str).map_or(Json::Null, Json::from);
    Json::from([("verdict", verdict), ("text", Json::from(&*line.text))])
}

/// The lines, and whether what is notable counts.
fn verified(options: &[u8], texts: &[&[u8]]) -> Result<(Lines, bool), Unverifiable> {
    let options = Json::read(options).map_err(|_| "the options are no JSON")?;
    let Options { texts: given, asked, is_strict } = Options::read(options.into_object())?;
    let [key, served_key, member_key, request, members, policy] =
        given.each_ref().map(Option::as_deref);
    let [asked_take, asked_session] = asked;
    let (asked_take, asked_session) = (asked_take.map(TakeId), asked_session.map(SessionId));
    let known =
        Known { key, served_key, member_key, request, members, policy, asked_take, asked_session };
    Ok((verify_texts(texts, &known)?, is_strict))
}

struct Options {
    texts: [Option<String>; 6],
    /// The take and the session that were asked for.
    asked: [Option<u64>; 2],
    is_strict: bool,
}

impl Options {
    fn read(mut fields: Object) -> Result<Self, Invalid> {
        let mut text = |name| fields.text_if_any(name);
        let texts = [
            text("key")?,
            text("servedKey")?,
            text("memberKey")?,
            text("request")?,
            text("members")?,
            text("policy")?,
        ];
        let asked = [fields.id_if_any("take")?, fields.id_if_any("session")?];
        Ok(Self { texts, asked, is_strict: fields.bool_if_any("strict")?.unwrap_or_default() })
    }
}
