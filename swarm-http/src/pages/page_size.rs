//! The size of pages: at most 50 KiB (MANUAL.md, 10.1).

use super::styles::{LIST_STYLE, STYLE};
use crate::request::RequestContext;
use crate::request::portion::Portion;
use crate::response::{Answer, Reply};

/// The largest page, in bytes.
const MAX_PAGE: usize = 50 * 1024;

/// What the limit counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// The HTML and its style sheets.
    WithStyles,
    /// The HTML alone.
    HtmlAlone,
    /// Nothing: the page shows one long text, and the rest of it is short.
    LongText,
}

impl Limit {
    /// A smaller portion for a page that has more bytes than it may have.
    pub(super) fn smaller(self, answer: &Answer, portion: Portion) -> Option<Portion> {
        let (size, room) = self.exceeded(&answer.body)?;
        portion.smaller(size, room)
    }

    /// The bytes of the page and those that it may have, if it has more.
    fn exceeded(self, page: &[u8]) -> Option<(usize, usize)> {
        let room = match self {
            Self::WithStyles => MAX_PAGE.saturating_sub(styles(page)),
            Self::HtmlAlone => MAX_PAGE,
            Self::LongText => return None,
        };
        (page.len() > room).then_some((page.len(), room))
    }
}

/// The bytes of the style sheets that a page loads.
fn styles(page: &[u8]) -> usize {
    let head = page.get(..page.len().min(8_192)).unwrap_or_default();
    let has_lists = String::from_utf8_lossy(head).contains("/swarm/lists.css\"");
    STYLE.len() + if has_lists { LIST_STYLE.len() } else { 0 }
}

/// Renders the page of a request with its usual number of rows, and with fewer while it exceeds the limit.
pub(super) async fn fitting<F: Future<Output = Reply>>(
    limit: Limit,
    request: RequestContext,
    page: impl Fn(RequestContext) -> F,
) -> Reply {
    let mut portion = request.portion;
    loop {
        let answer = page(RequestContext { portion, ..request.clone_read() }).await?;
        match limit.smaller(&answer, portion) {
            Some(smaller) => portion = smaller,
            None => return Ok(answer),
        }
    }
}
