//! `/swarm/log`: the log, newest first.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{MemoId, Seq};
use swarm_core::service::LogQuery;
use swarm_core::{Error, Refusal, Tenant};

use super::acts;
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{number_param, part_title};
use super::markup::Markup;
use crate::request::RequestContext;
use crate::response::Reply;

/// Entries per page.
const PER_PAGE: u64 = 50;

#[derive(Template)]
#[template(path = "log.html")]
struct LogPage {
    frame: Frame,
    rows: Vec<Row>,
    later: bool,
    next: Option<String>,
}

struct Row {
    seq: u64,
    when: Markup,
    what: Markup,
}

async fn is_retracted(tenant: &Tenant, memo: MemoId) -> Result<bool, Error> {
    match tenant.memo(memo).await {
        Err(Error::Refused(Refusal::NotFound(_))) => Ok(true),
        memo => memo.map(|_| false),
    }
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let size = tenant.log_size().await?.0;
    let before = number_param(&request, "before")?;
    let end = before.map_or(size, |before| size.min(before.saturating_sub(1)));
    let start = end.saturating_sub(PER_PAGE);
    let count = usize::try_from(end - start).unwrap_or(0);
    let entries = if count == 0 {
        Vec::new()
    } else {
        tenant.log(&LogQuery::all(Seq(start), count)).await?.entries
    };
    let people = acts::people(tenant, &entries).await?;
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries.iter().rev() {
        let Some(line) = entry.line() else {
            let what = Markup::text("cannot be read: what it is about is gone from the store");
            rows.push(Row { seq: entry.seq().0, when: Markup::text("?"), what });
            continue;
        };
        let is_retracted = match acts::published_memo(&line.entry) {
            Some(memo) => is_retracted(tenant, memo).await?,
            None => false,
        };
        let (seq, when) = (line.seq.0, times.time(line.at));
        let what = acts::describe(line, is_retracted, &people, times);
        rows.push(Row { seq, when, what });
    }
    let address = |before: u64| format!("/swarm/log?before={before}");
    let path = before.map_or("/swarm/log".to_owned(), address);
    let page = LogPage {
        frame: Frame::new(SiteContext::of(&request), part_title("Log", "before", before), path),
        rows,
        later: before.is_some(),
        next: (start > 0).then(|| address(start + 1)),
    };
    Ok(html(StatusCode::OK, &page))
}
