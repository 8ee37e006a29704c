//! A check for duplicate names.

use std::collections::HashSet;

/// Whether all names are distinct. Up to `MAX_PAIRWISE` names are compared in pairs, without an
/// allocation; more are sorted.
pub(crate) fn are_distinct<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
    const MAX_PAIRWISE: usize = 16;
    if names.clone().nth(MAX_PAIRWISE).is_some() {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        return names.windows(2).all(|pair| pair.first() != pair.last());
    }
    while let Some(name) = names.next() {
        if names.clone().any(|other| other == name) {
            return false;
        }
    }
    true
}

/// The first name that occurs a second time.
pub(crate) fn first_duplicate<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut known = HashSet::new();
    names.find(|name| !known.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::{are_distinct, first_duplicate};

    #[test]
    fn duplicate_is_found_at_any_position() {
        for count in [0, 1, 2, 15, 16, 17, 18, 40] {
            let names: Vec<String> = (0..count).map(|number: usize| number.to_string()).collect();
            assert!(are_distinct(names.iter().map(String::as_str)), "{count}");
            for (one, other) in [(0, 1), (0, count), (count / 2, count), (count, count + 1)] {
                let mut names = names.clone();
                names.insert(one.min(names.len()), "twice".to_owned());
                names.insert(other.min(names.len()), "twice".to_owned());
                assert!(!are_distinct(names.iter().map(String::as_str)), "{count} {one} {other}");
                assert_eq!(first_duplicate(names.iter().map(String::as_str)), Some("twice"));
            }
        }
    }
}
