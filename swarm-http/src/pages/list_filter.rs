//! Search and filters of a list. They are query parameters, so that a link shows the same list to others.

use std::fmt::Display;

use swarm_core::rules::Needle;

use super::links::part;
use super::lists::number_param;
use super::markup::count;
use crate::request::RequestContext;
use crate::response::ApiError;

/// The search and the filters of a list.
pub(super) struct ListFilter {
    path: &'static str,
    /// Names and values, in a fixed order.
    params: Vec<(&'static str, String)>,
    /// Filters in words: what is filtered by, the value, and the address without this filter.
    pub(super) active: Vec<(&'static str, String, String)>,
}

/// The parameter of the order of a list.
const SORT: &str = "sort";

/// The parameters that select nothing: the order of a list, and the number of rows of its pages.
const LAYOUT: [&str; 2] = [SORT, "limit"];

/// An order of a list: its word, its address, and whether the list has it.
pub(super) struct Sort {
    pub(super) word: &'static str,
    pub(super) href: String,
    pub(super) is_current: bool,
}

/// The rows of a list that a page shows: those from the parameter `from` on.
pub(super) struct Rows {
    /// The number of rows before the page.
    skipped: usize,
    /// The number of rows to the end of the page, if it is full.
    end: usize,
    /// The canonical address of the page. The first page is the same one in every order.
    pub(super) address: String,
    /// The address of the page that would follow.
    following: String,
}

impl Rows {
    /// The rows of the list at this path, so many on a page.
    pub(super) fn at(
        request: &RequestContext,
        path: &str,
        per_page: usize,
    ) -> Result<Self, ApiError> {
        Self::of(request, per_page, |from| match from {
            Some(from) => format!("{path}?from={from}"),
            None => path.to_owned(),
        })
    }

    fn of(
        request: &RequestContext,
        per_page: usize,
        address: impl Fn(Option<usize>) -> String,
    ) -> Result<Self, ApiError> {
        let from = number_param(request, "from")?.unwrap_or(1).max(1);
        let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let end = skipped.saturating_add(per_page);
        let after = |rows: usize| address((rows > 0).then(|| rows.saturating_add(1)));
        Ok(Self { skipped, end, address: after(skipped), following: after(end) })
    }

    /// Returns the rows of the page, out of all rows of the list.
    pub(super) fn of_all<T>(&self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        all.into_iter().skip(self.skipped).take(self.end - self.skipped)
    }

    /// Whether there are rows before the page.
    pub(super) fn is_later(&self) -> bool {
        self.skipped > 0
    }

    /// The number of the first row, unless it is 1.
    pub(super) fn from(&self) -> Option<usize> {
        self.is_later().then(|| self.skipped.saturating_add(1))
    }

    /// The address of the next page, of a list of so many rows.
    pub(super) fn next(&self, count: usize) -> Option<String> {
        (self.end < count).then(|| self.following.clone())
    }
}

impl ListFilter {
    /// Reads these parameters of the query; empty ones are left out, and of the text to look for, what is not looked for.
    pub(super) fn of(request: &RequestContext, path: &'static str, names: &[&'static str]) -> Self {
        let mut query = request.query();
        let param = |name: &&'static str| {
            let value = query.remove(*name)?;
            let is_sought = *name == "q";
            let value =
                if is_sought { value.trim().chars().take(Needle::MAX).collect() } else { value };
            Some((*name, value))
        };
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
        self.params.iter().filter(|(name, _)| {
            matches!(*name, "subject" | "member" | "session") || LAYOUT.contains(name)
        })
    }

    /// Whether the list is searched or filtered.
    pub(super) fn is_active(&self) -> bool {
        self.params.iter().any(|(name, _)| !LAYOUT.contains(name))
    }

    /// `24 members`, `3 found`
    pub(super) fn count(&self, number: usize, one: &str, more: &str) -> String {
        match self.needle() {
            Some(_) => format!("{number} found"),
            None => count(number, one, more),
        }
    }

    /// The order that is asked for, of these; the first one unless another is named.
    pub(super) fn sort(&self, sorts: &[(&'static str, &'static str)]) -> &'static str {
        let asked = self.value(SORT);
        let known = sorts.iter().find(|(name, _)| Some(*name) == asked);
        known.or(sorts.first()).map_or("", |(name, _)| name)
    }

    /// Links to the list in each of these orders, of which `current` is the one it has.
    pub(super) fn sorts(&self, sorts: &[(&'static str, &'static str)], current: &str) -> Vec<Sort> {
        let link = |(at, (name, word)): (usize, &(&'static str, &'static str))| {
            // The first order needs no parameter.
            let sort = (at > 0).then_some((SORT, *name));
            Sort { word, href: self.address_without(SORT, sort), is_current: *name == current }
        };
        sorts.iter().enumerate().map(link).collect()
    }

    /// The title of the list, with its filters and its order.
    pub(super) fn sorted_title(
        &self,
        list: &str,
        sorts: &[(&'static str, &'static str)],
    ) -> String {
        let sort = self.sort(sorts);
        let word = sorts.iter().skip(1).find(|(name, _)| *name == sort);
        match word {
            Some((_, word)) => self.title(&format!("{list} by {word}")),
            None => self.title(list),
        }
    }

    /// The rows from the parameter `from` on, so many on a page.
    pub(super) fn rows(&self, request: &RequestContext, per_page: usize) -> Result<Rows, ApiError> {
        Rows::of(request, per_page, |from| match from {
            Some(from) => self.address_without("", Some(("from", from))),
            None => self.address_without(SORT, None::<(&str, usize)>),
        })
    }

    /// The title of the list, with its filters.
    pub(super) fn title(&self, list: &str) -> String {
        let shown = |(name, value): &(&'static str, String)| {
            let active = self.active.iter().find(|(other, ..)| other == name);
            let value = active.map_or(value, |(_, value, _)| value);
            if *name == "q" { format!("“{value}”") } else { format!("{name} {value}") }
        };
        let filters = self.params.iter().filter(|(name, _)| !LAYOUT.contains(name));
        let filters: Vec<_> = filters.map(shown).collect();
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

    /// The address of the list with its filters, before this day.
    #[cfg(feature = "committee")]
    pub(super) fn address_before(&self, day: impl Display) -> String {
        self.address_without("", Some(("before", day)))
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
