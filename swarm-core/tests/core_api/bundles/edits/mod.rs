//! Bundles that were edited after they were downloaded. The log is unchanged.

mod log;
mod session;
mod takes;

use swarm_core::json::{Json, Object, write};

use crate::bundles::cases::Case;
use crate::bundles::desk::Desk;

type Finds = &'static [(&'static str, &'static str)];

pub(crate) fn cases() -> Vec<Case> {
    let edits = Edits::of(Desk::published());
    [takes::cases, session::cases, log::cases].into_iter().flat_map(|cases| cases(&edits)).collect()
}

/// A bundle, and the parts of it that are edited.
struct Edits {
    desk: Desk,
    text: String,
    signatures: Vec<String>,
    proofs: Vec<String>,
}

impl Edits {
    fn of(desk: Desk) -> Self {
        let text = desk.bundle();
        let (signatures, proofs) =
            (after_each(&text, "\"signature\":\""), after_each(&text, "\"proof\":[\""));
        Self { desk, text, signatures, proofs }
    }

    fn case(&self, name: &'static str, about: &'static str, bundle: String, finds: Finds) -> Case {
        Case { bundle, ..Case::new(name, about, &self.desk, finds) }
    }

    /// An edit of the session, which comes first.
    fn session(
        &self,
        name: &'static str,
        about: &'static str,
        from: &str,
        to: &str,
        finds: Finds,
    ) -> Case {
        let (head, rest) = self.parts();
        let edited = replaced(name, head, from, to);
        self.case(name, about, format!("{edited}{rest}"), finds)
    }

    /// An edit of the takes, or of what follows.
    fn replaced(
        &self,
        name: &'static str,
        about: &'static str,
        from: &str,
        to: &str,
        finds: Finds,
    ) -> Case {
        let (head, rest) = self.parts();
        let edited = replaced(name, rest, from, to);
        self.case(name, about, format!("{head}{edited}"), finds)
    }

    /// An edit of the list with this name.
    fn listed(
        &self,
        name: &'static str,
        about: &'static str,
        list: &str,
        change: &dyn Fn(&mut Vec<Json>),
        finds: Finds,
    ) -> Case {
        self.case(name, about, with_list(&self.text, list, change), finds)
    }

    fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.text.find(r#","takes":["#).unwrap())
    }
}

fn replaced(name: &str, text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from) && from != to, "{name}: {from}");
    text.replacen(from, to, 1)
}

/// What comes before the next quotation mark.
fn quoted(text: &str) -> String {
    text.split('"').next().unwrap().to_owned()
}

fn read(bundle: &str) -> Object {
    Json::read(bundle.as_bytes()).unwrap().into_object()
}

fn with_list(bundle: &str, list: &str, change: &dyn Fn(&mut Vec<Json>)) -> String {
    let mut bundle = read(bundle);
    let mut items = match bundle.clone().take(list) {
        Some(Json::List(items)) => items,
        _ => Vec::new(),
    };
    change(&mut items);
    bundle.set(list, items.into_iter().collect());
    write(&bundle)
}

/// What follows each occurrence of `mark`.
fn after_each(text: &str, mark: &str) -> Vec<String> {
    text.split(mark).skip(1).map(|rest| rest.chars().take(120).collect()).collect()
}
