//! The `Accept` header.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::ACCEPT;

/// How much a client wants a media type: by quality, then by how specific the range is that names it. So
/// `application/json, */*` wants JSON more than anything else, although the quality of all is 1.
pub(crate) type Preference = (f32, u8);

/// The preference that `accept` gives a media type: that of the most specific range that contains the type.
pub(crate) fn preference(accept: &str, kind: &str, subtype: &str) -> Preference {
    accept
        .split(',')
        .filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let (range_kind, range_subtype) = parts.next()?.split_once('/')?;
            let specific = match (range_kind, range_subtype) {
                ("*", "*") => 0,
                (range, "*") if range.eq_ignore_ascii_case(kind) => 1,
                (range, sub)
                    if range.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subtype) =>
                {
                    2
                }
                _ => return None,
            };
            Some((quality(parts), specific))
        })
        .max_by_key(|(_, specific)| *specific)
        .filter(|(quality, _)| *quality > 0.0)
        .unwrap_or((0.0, 0))
}

/// The quality among the parameters of an item; 1 unless given.
pub(super) fn quality<'a>(parameters: impl IntoIterator<Item = &'a str>) -> f32 {
    let given = parameters.into_iter().find_map(|parameter| {
        let (name, quality) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| quality.trim().parse().ok())?
    });
    given.unwrap_or(1.0)
}

/// The value of the `Accept` header, of several the list of all; empty if there is none.
pub(crate) fn accept(headers: &HeaderMap) -> Cow<'_, str> {
    let mut lines = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let first = lines.next().unwrap_or_default();
    lines.fold(Cow::Borrowed(first), |all, line| Cow::Owned(format!("{all},{line}")))
}

/// Whether an `Accept` header names `application/problem+json` and wants neither JSON nor HTML more. A range that
/// only contains the type does not name it.
pub(crate) fn prefers_problem(accept: &str) -> bool {
    let problem @ (quality, specific) = preference(accept, "application", "problem+json");
    let is_named = quality > 0.0 && specific == 2;
    is_named
        && problem >= preference(accept, "application", "json")
        && problem >= preference(accept, "text", "html")
}

#[cfg(test)]
mod tests {
    use super::prefers_problem;

    #[test]
    fn problem_details_are_for_those_who_name_them() {
        for problem in [
            "application/problem+json",
            "Application/Problem+JSON",
            "application/problem+json, application/json;q=0.9",
            "application/json, application/problem+json",
            "application/problem+json, */*",
            "text/html;q=0.5, application/problem+json",
        ] {
            assert!(prefers_problem(problem), "{problem}");
        }
        for other in [
            "",
            "*/*",
            "application/*",
            "application/json",
            "application/json, application/problem+json;q=0.5",
            "application/problem+json;q=0",
            "application/problem+json;q=0, */*",
            "application/problem+xml",
            "text/html, application/problem+json;q=0.9",
        ] {
            assert!(!prefers_problem(other), "{other}");
        }
    }
}
