//! The style sheets of the pages.

use std::sync::LazyLock;

use http::StatusCode;

use crate::request::RequestContext;
use crate::response::{Answer, Reply};

/// The style sheet, made short: it counts towards the size of each page.
pub(super) static STYLE: LazyLock<String> =
    LazyLock::new(|| shortened(include_str!("../../templates/style.css")));

/// The style sheet of lists, which only their pages load.
pub(super) static LIST_STYLE: LazyLock<String> =
    LazyLock::new(|| shortened(include_str!("../../templates/lists.css")));

/// The style sheet.
pub(crate) async fn style(_: RequestContext) -> Reply {
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", STYLE.clone()))
}

/// The style sheet of lists.
pub(crate) async fn list_style(_: RequestContext) -> Reply {
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", LIST_STYLE.clone()))
}

/// A style sheet without comments, and without spaces that mean nothing. It has no strings with spaces beside punctuation.
fn shortened(style: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(style.len()), style);
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    code.push_str(rest);
    let mut short = code.split_whitespace().collect::<Vec<_>>().join(" ");
    // A space before a colon can be a combinator: `a :is(time)`.
    for sign in ["{", "}", ";", ","] {
        short = short.replace(&format!("{sign} "), sign).replace(&format!(" {sign}"), sign);
    }
    short.replace(": ", ":").replace(";}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheet_is_served_short() {
        let style = "/* a */\n  b :is(c, d) { e: f g; } /* h\n i */ j { k: l; }\n";
        assert_eq!(shortened(style), "b :is(c,d){e:f g}j{k:l}");
        let rules = include_str!("../../templates/style.css").matches('}').count();
        assert!(!STYLE.contains("*/") && STYLE.matches('}').count() == rules);
    }
}
