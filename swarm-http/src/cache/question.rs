//! The key of a cached answer.

use std::fmt::Write as _;

use swarm_core::TenantId;

/// What is asked of whom: the tenant, the route, and what the answer depends on, decoded. So two
/// spellings of one request are one key, and what the route ignores is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question(String);

impl Question {
    /// `parts` are the open parts of the path, and `query` is the query as it was sent, of which the
    /// route reads these `params` (name and schema), the last of each name.
    pub(crate) fn new(
        tenant: &TenantId,
        route: &str,
        parts: &[String],
        (params, query): (&[(&str, &str)], &str),
    ) -> Self {
        let mut text = [tenant.as_str(), " ", route].concat();
        parts.iter().for_each(|part| push(&mut text, part));
        for (name, _) in params {
            let given = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
            match given.last() {
                Some((_, value)) => push(&mut text, &value),
                None => text.push_str(" -"),
            }
        }
        Self(text)
    }

    /// Its length, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// With its length before it, no text can be taken for two.
fn push(key: &mut String, value: &str) {
    let _ = write!(key, " {}:{value}", value.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(parts: &[&str], query: &str) -> Question {
        let tenant = TenantId::parse("acme").unwrap();
        let parts: Vec<_> = parts.iter().map(|&part| part.to_owned()).collect();
        Question::new(
            &tenant,
            "/list/{id}",
            &parts,
            (&[("after", "Id"), ("limit", "PageLimit")], query),
        )
    }

    #[test]
    fn spelling_and_unknown_parameters_are_no_part_of_a_key() {
        let plain = question(&["a"], "after=1&limit=2");
        for same in ["limit=2&after=1", "a%66ter=%31&limit=2&x=y", "limit=3&limit=2&after=1"] {
            assert_eq!(question(&["a"], same), plain, "{same}");
        }
        for other in ["after=1", "limit=2", "after=2&limit=1", "after=1&limit=", ""] {
            assert_ne!(question(&["a"], other), plain, "{other}");
        }
        assert_eq!(question(&["a"], "x=y"), question(&["a"], ""));
        assert_ne!(question(&["a"], "after=-"), question(&["a"], ""));
        assert_ne!(question(&["b"], "after=1&limit=2"), plain);
        assert_ne!(question(&["a 1:b"], ""), question(&["a", "b"], ""));
    }
}
