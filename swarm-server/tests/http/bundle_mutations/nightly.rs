//! As in the first tier, with more bundles.

use super::compare;

#[test]
fn both_verifiers_agree_on_many_changed_bundles() {
    for begin in (2_000..42_000).step_by(4_000) {
        compare(begin..begin + 4_000);
    }
}
