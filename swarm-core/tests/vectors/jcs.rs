//! The canonical JSON of RFC 8785: same escapes, same numbers; but the members of an object are
//! sorted there by UTF-16 code units, and here by characters.

use swarm_core::json::{self, Json};

use crate::files::{canonical_value, third_party, unhex};

/// The files where both orders are the same.
const SAME_ORDER: [&str; 5] = ["arrays", "french", "structures", "unicode", "values"];

fn rewritten(text: &str) -> String {
    json::write(&canonical_value(&Json::read(text.as_bytes()).expect(text)))
}

#[test]
fn canonical_text_and_bytes_are_those_published() {
    for name in SAME_ORDER {
        let Some(input) = third_party(&format!("jcs/input/{name}.json")) else { return };
        let output = third_party(&format!("jcs/output/{name}.json")).unwrap();
        let digits = third_party(&format!("jcs/outhex/{name}.txt")).unwrap();
        let bytes = unhex(&digits.split_ascii_whitespace().collect::<String>());
        assert_eq!(rewritten(&input), output, "{name}");
        assert_eq!(rewritten(&input).as_bytes(), bytes, "{name}");
        assert_eq!(rewritten(&output), output, "{name}");
    }
}

/// U+1F602 comes before U+FB33 in UTF-16, where it is a surrogate pair, and after it here. Member
/// by member, the text is the same.
#[test]
fn where_the_order_differs_every_member_is_as_published() {
    let Some(input) = third_party("jcs/input/weird.json") else { return };
    let output = third_party("jcs/output/weird.json").unwrap();
    let digits = third_party("jcs/outhex/weird.txt").unwrap();
    let bytes = unhex(&digits.split_ascii_whitespace().collect::<String>());
    assert_eq!(output.as_bytes(), bytes);

    let written = rewritten(&input);
    assert_ne!(written, output);
    assert_eq!(members(&written), members(&output));
    assert_eq!(rewritten(&output), written);
}

/// The members of a flat object of texts, as written, sorted.
fn members(object: &str) -> Vec<String> {
    let inside = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap();
    let mut members: Vec<String> = inside.split("\",").map(str::to_owned).collect();
    members.iter_mut().for_each(|member| *member = member.trim_end_matches('"').to_owned());
    members.sort();
    members
}
