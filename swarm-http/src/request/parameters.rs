//! Parameters of paths and queries: numbers, and the pages of lists.

use std::ops::RangeInclusive;

use swarm_core::domain::{Day, Invalid, SubjectId};
use swarm_core::rules::{MIN_SCORED, MemoFilter, Needle, ScoreFilter, TakeFilter};
use swarm_core::service::TakeListPage;
use swarm_core::{Error, MemberId, SessionId, TakeId, Tenant};

pub(crate) use super::context::number;
use super::context::{RequestContext, invalid_query};
use crate::response::ApiError;
use crate::schema::{SchemaRef, schema};

/// Maximum page size of most lists.
pub(crate) const MAX_PAGE: usize = 500;

/// Page size unless the query gives one.
pub(crate) const DEFAULT_PAGE: u64 = 100;

/// The fewest and the most scored sessions that a query may demand for a place in the ranking.
const MIN_SCORED_ALLOWED: RangeInclusive<usize> = 2..=1_000;

/// Of the parameter `limit` of most lists.
pub(crate) const PAGE_LIMIT: SchemaRef = schema!("server", "PageLimit", {
    "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE
});

/// Of a parameter that is true or false.
pub(crate) const FLAG: SchemaRef = schema!("common", "Flag", {"type": "boolean", "default": false});

/// Of the text to look for.
pub(crate) const SEARCH_TEXT: SchemaRef = schema!("common", "SearchText", {
    "type": "string", "maxLength": Needle::MAX,
    "description": format!("A text to look for, in any case; more than {} characters are ignored.", Needle::MAX)
});

/// Of the number of scored sessions that a place in the ranking takes.
pub(crate) const LEAST_SCORED: SchemaRef = schema!("scores", "MinScored", {
    "type": "integer", "minimum": MIN_SCORED_ALLOWED.start(), "maximum": MIN_SCORED_ALLOWED.end(),
    "default": MIN_SCORED, "description": "The number of scored sessions that a place takes."
});

/// At most `limit` items from `position` on.
pub(crate) struct Page<P> {
    pub(crate) limit: usize,
    pub(crate) position: Option<P>,
}

impl RequestContext {
    /// Reads `limit`, 1 to `max`, and the position parameter `name` from the query.
    pub(crate) fn page<P>(
        &self,
        max: usize,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Page<P>, ApiError> {
        self.page_of((DEFAULT_PAGE, max), name, parse)
    }

    /// Like [`page`](Self::page), with another page size unless the query gives one.
    pub(crate) fn page_of<P>(
        &self,
        (default, max): (u64, usize),
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<Page<P>, ApiError> {
        let limit = self.limit(default, max)?;
        let query = self.query();
        let position = query.get(name).map(|text| parse(text).ok_or_else(|| no_position(name)));
        Ok(Page { limit, position: position.transpose()? })
    }

    fn limit(&self, default: u64, max: usize) -> Result<usize, ApiError> {
        let query = self.query();
        let limit = query.get("limit").map_or(Some(default), |text| number(text));
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        limit.filter(|limit| (1..=max).contains(limit)).ok_or_else(|| {
            invalid_query("limit", format!("must be a whole number from 1 to {max}"))
        })
    }

    /// The number of rows of an HTML page that usually has `rows`: at most `limit`, if the query has it.
    #[cfg(feature = "pages")]
    pub(crate) fn rows(&self, rows: usize) -> Result<usize, ApiError> {
        Ok(self.portion.of(rows).min(self.limit(rows as u64, MAX_PAGE)?))
    }
}

/// Filters of lists. A parameter that is empty counts as absent: forms send it so.
impl RequestContext {
    /// Reads the filter `name` from the query with `parse`, which says what it must be.
    pub(crate) fn filter<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ApiError> {
        let text = self.query().remove(name).filter(|text| !text.trim().is_empty());
        text.map(|text| parse(&text).map_err(|rule| invalid_query(name, rule))).transpose()
    }

    /// Like [`filter`](Self::filter), for a value of the domain.
    pub(crate) fn filter_of<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(String) -> Result<T, Invalid>,
    ) -> Result<Option<T>, ApiError> {
        self.filter(name, |text| parse(text.to_owned()).map_err(|invalid| invalid.rule))
    }

    /// Reads a filter that is a day of the calendar.
    pub(crate) fn day(&self, name: &'static str) -> Result<Option<Day>, ApiError> {
        self.filter_of(name, |text| Day::in_calendar(name, &text))
    }

    /// Reads what the list of takes selects.
    pub(crate) fn take_list(&self) -> Result<TakeList, ApiError> {
        let filter = TakeFilter {
            member: self.filter_of("member", MemberId::parse)?,
            subject: self.filter_of("subject", SubjectId::parse)?,
            stance: self.filter("stance", |text| Ok(text.to_owned()))?,
            needle: self.needle(),
        };
        let session = self.filter("session", |text| {
            number(text).map(SessionId).ok_or_else(|| "must be the id of a session".to_owned())
        })?;
        Ok(TakeList { filter, session, superseded: self.flag("superseded")? })
    }

    /// Reads what the list of memos selects.
    pub(crate) fn memo_filter(&self) -> Result<MemoFilter, ApiError> {
        Ok(MemoFilter {
            member: self.filter_of("member", MemberId::parse)?,
            subject: self.filter_of("subject", SubjectId::parse)?,
            needle: self.needle(),
        })
    }

    /// Reads the text to look for.
    pub(crate) fn needle(&self) -> Option<Needle> {
        Needle::new(self.query().get("q")?)
    }

    /// Reads the scored sessions that a ranking is of, and how many of them a place takes.
    pub(crate) fn scores_selected(&self) -> Result<(ScoreFilter, usize), ApiError> {
        let min = self.filter("min", |text| {
            let min = text.parse().ok().filter(|min| MIN_SCORED_ALLOWED.contains(min));
            let (least, most) = (MIN_SCORED_ALLOWED.start(), MIN_SCORED_ALLOWED.end());
            min.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
        })?;
        let filter = ScoreFilter {
            subject: self.filter_of("subject", SubjectId::parse)?,
            since: self.day("since")?,
        };
        Ok((filter, min.unwrap_or(MIN_SCORED)))
    }

    /// Reads a filter that is `true` or `false`; false unless given.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, ApiError> {
        let flag = self.filter(name, |text| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("must be true or false".to_owned()),
        })?;
        Ok(flag.unwrap_or_default())
    }
}

/// The takes that a query selects.
pub(crate) struct TakeList {
    pub(crate) filter: TakeFilter,
    pub(crate) session: Option<SessionId>,
    /// Whether superseded takes are listed too.
    pub(crate) superseded: bool,
}

impl TakeList {
    /// Up to `limit` of the takes with ids below `before`, by id in descending order.
    pub(crate) async fn page(
        &self,
        tenant: &Tenant,
        before: Option<TakeId>,
        limit: usize,
    ) -> Result<TakeListPage, Error> {
        let Self { filter, session, superseded } = self;
        match session {
            Some(id) => tenant.session_take_list(*id, filter, *superseded, before, limit).await,
            None => tenant.take_list(filter, *superseded, before, limit).await,
        }
    }
}

/// The error for a query parameter that is not a position in the list.
pub(crate) fn no_position(name: &'static str) -> ApiError {
    invalid_query(name, "must be a position that the list gave")
}
