//! The canonical JSON of RFC 8785. It has the same escapes and numbers, but sorts the members of an
//! object by UTF-16 code units instead of characters.

use swarm_core::json::{self, Json};

use crate::vectors::files::{canonical_value, third_party, unhex};

/// The files in which both orders are the same.
const SAME_ORDER: [&str; 5] = ["arrays", "french", "structures", "unicode", "values"];

fn rewritten(text: &str) -> String {
    json::write(&canonical_value(&Json::read(text.as_bytes()).expect(text)))
}

#[test]
fn jcs_output_matches_where_the_member_order_is_the_same() {
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

/// In UTF-16, U+1F602 is a surrogate pair and sorts before U+FB33; here it sorts after it. The text
/// of each member is the same.
#[test]
fn jcs_members_match_where_the_member_order_differs() {
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

/// The members of a flat object of strings, as written, sorted.
fn members(object: &str) -> Vec<String> {
    let inside = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap();
    let mut members: Vec<String> = inside.split("\",").map(str::to_owned).collect();
    members.iter_mut().for_each(|member| *member = member.trim_end_matches('"').to_owned());
    members.sort();
    members
}
