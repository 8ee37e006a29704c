//! The canonical text of any valid take is what `JSON.stringify` gives, compared with a second writer:
//! serde_json, with ECMAScript's number text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use swarm_core::Submission;
use swarm_core::domain::{TakeDraft, Weight};
use swarm_core::proof::canonical;

fuzz_target!(|bytes: &[u8]| {
    let Ok(submission) = Submission::from_json(bytes) else { return };
    let text = canonical(submission.draft());
    assert_eq!(text, stringified(submission.draft()));
    let signed = format!(r#"{},"signature":"A"}}"#, &text[..text.len() - 1]);
    if let Ok(again) = Submission::from_json(signed.as_bytes()) {
        assert_eq!(canonical(again.draft()), text);
    }
});

fn stringified(draft: &TakeDraft) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let fields = [
        ("memberId", text(draft.member_id.as_str())),
        ("date", text(&draft.date.to_string())),
        ("subjectId", text(draft.subject_id.as_str())),
        ("nonce", text(draft.nonce.as_str())),
        ("stance", text(draft.stance.as_str())),
        ("confidence", number(draft.confidence.get())),
        ("body", text(draft.body.as_str())),
        ("memoUrl", text(draft.memo_url.as_str())),
    ];
    let mut members: Vec<_> =
        fields.into_iter().map(|(name, value)| format!("{}:{value}", text(name))).collect();
    if let Some(weights) = &draft.weights {
        let entry = |entry: &Weight| {
            let bucket = text(entry.bucket.as_str());
            format!("{{\"bucket\":{bucket},\"weight\":{}}}", number(entry.weight))
        };
        let entries: Vec<_> = weights.entries().iter().map(entry).collect();
        members.push(format!("\"weights\":[{}]", entries.join(",")));
    }
    format!("{{{}}}", members.join(","))
}

fn number(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}
