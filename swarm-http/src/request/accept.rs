//! The `Accept` header.

/// The quality that `accept` gives a media type: the quality of the most specific range that contains the type.
pub(crate) fn quality(accept: &str, kind: &str, subtype: &str) -> f32 {
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
            let given = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            Some((specific, given.unwrap_or(1.0)))
        })
        .max_by_key(|(specific, _)| *specific)
        .map_or(0.0, |(_, quality)| quality)
}
