//! Search and filters of a list. They are query parameters, so that a link shows the same list to others.

use std::fmt::Display;

use swarm_core::rules::Needle;

use super::links::part;
use crate::request::RequestContext;

/// The search and the filters of a list.
pub(super) struct ListFilter {
    path: &'static str,
    /// Names and values, in a fixed order.
    params: Vec<(&'static str, String)>,
    /// Filters in words: what is filtered by, the value, and the address without this filter.
    pub(super) active: Vec<(&'static str, String, String)>,
}

impl ListFilter {
    /// Reads these parameters of the query; empty ones are left out.
    pub(super) fn of(request: &RequestContext, path: &'static str, names: &[&'static str]) -> Self {
        let mut query = request.query();
        let param = |name: &&'static str| Some((*name, query.remove(*name)?));
        let params = names.iter().filter_map(param).filter(|(_, value)| !value.trim().is_empty());
        Self { path, params: params.collect(), active: Vec::new() }
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// The text to look for, as typed.
    pub(super) fn text(&self) -> &str {
        self.value("q").unwrap_or_default()
    }

    pub(super) fn needle(&self) -> Option<Needle> {
        Needle::new(self.text())
    }

    /// The path of the list.
    pub(super) fn path(&self) -> &'static str {
        self.path
    }

    /// The parameters that the form has no field for.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &(&'static str, String)> {
        self.params.iter().filter(|(name, _)| matches!(*name, "subject" | "member"))
    }

    /// Whether the list is searched or filtered.
    pub(super) fn is_active(&self) -> bool {
        !self.params.is_empty()
    }

    /// The title of the list, with its filters.
    pub(super) fn title(&self, list: &str) -> String {
        let shown = |(name, value): &(&'static str, String)| {
            let active = self.active.iter().find(|(other, ..)| other == name);
            let value = active.map_or(value, |(_, value, _)| value);
            if *name == "q" { format!("“{value}”") } else { format!("{name} {value}") }
        };
        let filters: Vec<_> = self.params.iter().map(shown).collect();
        if filters.is_empty() { list.to_owned() } else { format!("{list}: {}", filters.join(", ")) }
    }

    /// The address of the list with its filters, from a position on.
    pub(super) fn address(&self, before: Option<u64>) -> String {
        self.address_without("", before.map(|before| ("before", before)))
    }

    /// The address of the list with its filters, after the item with this id.
    pub(super) fn address_after(&self, id: &str) -> String {
        self.address_without("", Some(("after", part(id))))
    }

    fn address_without(&self, left_out: &str, position: Option<(&str, impl Display)>) -> String {
        let params = self.params.iter().filter(|(name, _)| *name != left_out);
        let params = params.map(|(name, value)| format!("{name}={}", part(value)));
        let position = position.map(|(name, position)| format!("{name}={position}"));
        let query: Vec<_> = params.chain(position).collect();
        match query.is_empty() {
            true => self.path.to_owned(),
            false => format!("{}?{}", self.path, query.join("&")),
        }
    }

    /// Shows a filter in words; nothing if the parameter is absent.
    pub(super) fn named(mut self, name: &'static str, value: Option<String>) -> Self {
        if let Some(value) = value.filter(|_| self.value(name).is_some()) {
            let without = self.address_without(name, None::<(&str, u64)>);
            self.active.push((name, value, without));
        }
        self
    }
}
