//! The `Accept` header.

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
            let given = parts.find_map(|part| {
                let (name, quality) = part.split_once('=')?;
                name.trim().eq_ignore_ascii_case("q").then(|| quality.trim().parse::<f32>().ok())?
            });
            Some((given.unwrap_or(1.0), specific))
        })
        .max_by_key(|(_, specific)| *specific)
        .filter(|(quality, _)| *quality > 0.0)
        .unwrap_or((0.0, 0))
}
