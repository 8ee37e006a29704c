//! Decoding text that is not a valid row returns an error.

use super::decode_document;

type Reads = fn(&str) -> bool;

/// A row that is truncated anywhere decodes to an error, not to a panic or another record. The rows lack
/// fields that may be absent.
#[test]
fn truncated_row_is_an_error() {
    let key = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    let hash = "00".repeat(32);
    let at = "2026-11-21T22:45:00.000Z";
    let member = format!(
        r#"1 claimed {hash} {key} {{"id":"a","name":"a","contact":"c","lens":"","appliedAt":"{at}"}}"#
    );
    let session = r#"1 collecting 7 0 {"date":"2026-11-21","subjectId":"s"}"#;
    let message = r#"1 queued 7 0 0 {"to":"c","subject":"","body":"","attempts":0}"#;
    let take = format!(
        r#"7 0 7 1 {key} c2ln {{"memberId":"a","date":"2026-11-21","subjectId":"s","nonce":"n","stance":"x","confidence":1}}"#
    );
    let seat = format!(
        r#"1 {hash} {{"id":"a","name":"a","lens":"","voice":"","status":"active","created_at":"{at}"}}"#
    );
    let blank = r#"1 0 0 {"date":"2026-11-21"}"#;
    let brief = r#"a 0 2 {"4 é"}"#;
    let submission = format!(
        r#"0 {{"member_id":"a","date":"2026-11-21","subject_id":"s","stance":"neutral","confidence":1,"body":"{}\nSTANCE: neutral | CONFIDENCE: 0.5"}}"#,
        "x".repeat(80)
    );
    let day = format!(
        r#"1 2 1 a{{"date":"2026-11-21","subject":"s","generation":{{"subject_id":"a","withdrawn":0,"deadline":"{at}","generated_at":"{at}","briefs":2}}}}"#
    );
    let reads: [(&str, Reads); 9] = [
        (&member, |row| super::decode_member(row).is_ok()),
        (session, |row| super::decode_session(row).is_ok()),
        (message, |row| super::decode_message(row).is_ok()),
        (&take, |row| super::decode_take(row).is_ok()),
        (&seat, |row| super::decode_committee_member(row).is_ok()),
        (blank, |row| super::decode_committee_day(row).is_ok()),
        (&day, |row| super::decode_committee_day(row).is_ok()),
        (brief, |row| super::decode_committee_brief(row).is_ok()),
        (&submission, |row| super::decode_committee_take(row).is_ok()),
    ];
    for (row, read) in reads {
        assert!(read(row), "{row}");
        for end in (0..row.len()).filter(|end| row.is_char_boundary(*end)) {
            assert!(!read(&row[..end]), "{}", &row[..end]);
        }
    }
}

#[test]
fn document_key_has_the_stated_length() {
    let read = |row: &str| decode_document(row).map(|it| (it.key, it.json)).ok();
    assert_eq!(read("1 0 2 a {}"), Some(("a ".to_owned(), "{}".to_owned())));
    assert_eq!(read("1 0 0 "), Some((String::new(), String::new())));
    for bad in ["1 0 9 key", "1 0 1 \u{e9}", "1 0 -1 key", "1 0 key", ""] {
        assert_eq!(read(bad), None, "{bad}");
    }
}
