//! The keys of the answer cache.

use std::fmt::Write as _;

use swarm_core::TenantId;

use crate::schema::SchemaRef;
use crate::tenants::BasePath;

/// The key of a cached answer: tenant, its base path, route, and the decoded parameters that the answer depends on.
/// Different spellings of one request have the same key; parameters that the route ignores are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey(String);

impl CacheKey {
    /// `parts` are the path parameters. `params` are the query parameters of the route (name and schema);
    /// of several in `query` with one name, the last counts.
    pub(crate) fn new(
        (tenant, base): (&TenantId, &BasePath),
        route: &str,
        parts: &[String],
        (params, query): (&[(&str, SchemaRef)], &str),
    ) -> Self {
        let mut text = [tenant.as_str(), " ", base.as_str(), " ", route].concat();
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

    /// Length, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Appends a value, prefixed with its length so that keys are unambiguous.
fn push(key: &mut String, value: &str) {
    let _ = write!(key, " {}:{value}", value.len());
}

#[cfg(test)]
mod tests {
    use swarm_core::SessionId;

    use super::*;
    use crate::schema::HasSchema as _;

    fn key(parts: &[&str], query: &str) -> CacheKey {
        let tenant = TenantId::parse("acme").unwrap();
        let parts: Vec<_> = parts.iter().map(|&part| part.to_owned()).collect();
        CacheKey::new(
            (&tenant, &BasePath::ROOT),
            "/list/{id}",
            &parts,
            (&[("after", SessionId::SCHEMA), ("limit", SessionId::SCHEMA)], query),
        )
    }

    #[test]
    fn key_ignores_spelling_and_unknown_parameters() {
        let plain = key(&["a"], "after=1&limit=2");
        for same in ["limit=2&after=1", "a%66ter=%31&limit=2&x=y", "limit=3&limit=2&after=1"] {
            assert_eq!(key(&["a"], same), plain, "{same}");
        }
        for other in ["after=1", "limit=2", "after=2&limit=1", "after=1&limit=", ""] {
            assert_ne!(key(&["a"], other), plain, "{other}");
        }
        assert_eq!(key(&["a"], "x=y"), key(&["a"], ""));
        assert_ne!(key(&["a"], "after=-"), key(&["a"], ""));
        assert_ne!(key(&["b"], "after=1&limit=2"), plain);
        assert_ne!(key(&["a 1:b"], ""), key(&["a", "b"], ""));
    }
}
