//! Dispatches a request: tenant, route, credential, body, handler, answer.

use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_util::{FutureExt, Stream};
use http::Method;
use percent_encoding::percent_decode_str;
use swarm_core::json::{ErrorPosition, Json, NotJson};
use swarm_core::wire::{Problem, RequestError, parameters_hint};
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::Site;
use crate::budget::{BudgetExhausted, InFlight};
use crate::cache::CacheRequest;
use crate::fairness::ClientShare;
use crate::metrics::Submitted;
use crate::response::caching::{self, Negotiation};
use crate::response::{Answer, ApiError, ErrorForm, Reply, SWARM_HINT};
use crate::tenants::{Host, OperatorRequest, ServedTenant};

use super::arrival::Arrival;
use super::body::MAX_PARSED_INLINE;
use super::context::{RequestContext, invalid_query};
use super::credential::{self, Credential, authorize};
use super::dry_run::{self, DryRun};
use super::head::RequestHead;
use super::id::RequestId;
use super::origin::Origin;
use super::receipt::{ReceiptRequest, with_receipt};
use super::reception::{MemoryGate, coding_hint, read_body};
use super::route::{AsyncHandler, Handler, Route, Work};
use super::same_origin::is_change_of_other_site;
use super::table::{Endpoint, ErrorPage, ErrorPages, RouteMatch};

/// Answers a request at an endpoint.
pub(crate) async fn respond<S, B, E>(
    site: Arc<Site>,
    (endpoint, path): RouteMatch,
    arrival: Arrival,
    body: S,
) -> Answer
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf + Send,
    E: Send,
{
    let head = &arrival.head;
    let id = RequestId::of(&head.headers);
    let (method, at) = (head.method.clone(), arrival.path().to_owned());
    let client = site.client_of(&head.headers, &head.extensions);
    let receipt = ReceiptRequest::of(&arrival);
    let form = error_form(&arrival);
    let error_page = endpoint.error_pages().map(|pages| error_page(pages, &arrival));
    let negotiation = endpoint.has_public_read().then(|| match receipt {
        None => Negotiation::of(&head.headers),
        Some(_) => Negotiation::of_receipt(),
    });
    let is_cross_origin = endpoint.route(&method).is_ok_and(Route::is_cross_origin);
    let unknown_parameters = unknown_parameters(&endpoint, &arrival);
    let public = |answer: Answer| {
        let answer = match &error_page {
            Some(page) => page(answer),
            None => answer,
        };
        let mut answer = form.apply(answer);
        if is_cross_origin {
            caching::allow_any_origin(&mut answer);
        }
        match &negotiation {
            Some(negotiation) => caching::make_public(answer, &method, negotiation),
            None => answer,
        }
    };
    let options = AnswerOptions {
        gzip: negotiation.as_ref().is_some_and(Negotiation::takes_gzip),
        is_cached: receipt.is_none(),
    };
    let body = pin!(body);
    // Pinned, because moving a large future into the next one copies it.
    let answer = pin!(with_receipt(receipt, body, async |body| {
        let answer = answer(&site, &endpoint, path, (arrival, options), body).await;
        let answer = answer.unwrap_or_else(ApiError::into_answer);
        let answer = public(answer.with_further_hint(unknown_parameters));
        charge_budget(&site, answer)
            .unwrap_or_else(|error| public(ApiError::from(error).into_answer()))
    }));
    let route = (endpoint.pattern(), endpoint.submitted(&method));
    let asker = (id, client.clone(), &form);
    let logged = pin!(log_and_count(&site, asker, &method, route, answer));
    let answer = match client {
        Some(client) => client.run(logged).await,
        None => logged.await,
    };
    answer.guarded_at(&at)
}

/// The form that the errors of a request have.
fn error_form(arrival: &Arrival) -> ErrorForm {
    ErrorForm::of(&arrival.head.headers, || arrival.address())
}

/// The page of an error of a request.
fn error_page(pages: ErrorPages, arrival: &Arrival) -> ErrorPage {
    let (headers, served) = (&arrival.head.headers, arrival.served.as_ref());
    pages(headers, served, arrival.path(), &|| arrival.address())
}

/// The hint for the parameters of a query that mean nothing, at a path of the API.
fn unknown_parameters(endpoint: &Endpoint, arrival: &Arrival) -> Option<String> {
    let head = &arrival.head;
    if head.query.is_empty() || !arrival.path().starts_with("/api/") {
        return None;
    }
    let route = endpoint.route(&head.method).ok()?;
    let known: Vec<_> = route.parameters().map(|(name, _)| name).collect();
    let sent: Vec<_> =
        form_urlencoded::parse(head.query.as_bytes()).map(|(name, _)| name).collect();
    let unknown = sent.iter().map(|name| &**name).filter(|name| !known.contains(name));
    parameters_hint(unknown, &known)
}

/// The parameter of a route that a query gives and that is not UTF-8.
fn not_text(route: &Route, query: &str) -> Option<&'static str> {
    query.split('&').find_map(|pair| {
        let (name, _) = form_urlencoded::parse(pair.as_bytes()).next()?;
        let (name, _) = route.parameters().find(|(known, _)| *known == name)?;
        percent_decode_str(pair).decode_utf8().is_err().then_some(name)
    })
}

/// How the answer is made: compressed, and from the cache or not.
#[derive(Clone, Copy)]
struct AnswerOptions {
    gzip: bool,
    /// Whether the answer may come from the cache.
    is_cached: bool,
}

/// Counts the answer's bytes in the memory budget until they are sent.
fn charge_budget(site: &Site, answer: Answer) -> Result<Answer, BudgetExhausted> {
    let alone = InFlight::new(answer.body.len());
    let in_flight = answer.encodings.as_ref().map_or(&alone, |encodings| encodings.in_flight());
    let body = site.budget.hold(answer.body, in_flight, ClientShare::current())?;
    Ok(Answer { body, ..answer })
}

/// Answers a request for an unknown path.
pub(crate) async fn respond_unknown<S, B, E>(
    site: &Site,
    error_pages: ErrorPages,
    arrival: Arrival,
    body: S,
) -> Answer
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf + Send,
    E: Send,
{
    let headers = &arrival.head.headers;
    let client = site.client_of(headers, &arrival.head.extensions);
    let id = RequestId::of(headers);
    let receipt = ReceiptRequest::of(&arrival);
    let form = error_form(&arrival);
    let body = pin!(body);
    let answered = with_receipt(receipt, body, async |_body| {
        let answer = match &arrival.served {
            Some(served) => {
                let answer = ApiError::from(RequestError::UnknownPath).into_answer();
                answer.with_hint(arrival.fault_of_path()).below(served.config().base_path())
            }
            // A probe, which may come without a host, of what this address does not have.
            None if arrival.origin.host().is_none() => {
                ApiError::from(RequestError::UnknownPath).into_answer()
            }
            None => no_tenant(site, &arrival.origin).into_answer(),
        };
        form.apply(error_page(error_pages, &arrival)(answer))
    });
    let asker = (id, client, &form);
    let method = &arrival.head.method;
    let answer = log_and_count(site, asker, method, ("unknown", None), answered).await;
    answer.guarded_at(arrival.path())
}

/// The error of a request for no tenant. Logs the host, because usually it is missing from the configuration.
fn no_tenant(site: &Site, origin: &Origin) -> ApiError {
    if !site.finds_by_host() {
        return RequestError::UnknownPath.into();
    }
    tracing::Span::current().record("host", origin.host().map_or("", Host::as_str));
    RequestError::UnknownHost.into()
}

/// Logs and counts a request, and answers 500 if the handler panics. `client` is the forwarded one, if
/// there is one; otherwise a refusal is logged with the client of the connection.
async fn log_and_count(
    site: &Site,
    (id, client, form): (RequestId, Option<Arc<ClientShare>>, &ErrorForm),
    method: &Method,
    (route, submitted): (&'static str, Option<Submitted>),
    answer: impl Future<Output = Answer> + Send,
) -> Answer {
    let _in_flight = site.metrics.start_request();
    let began = Instant::now();
    let span = tracing::info_span!(
        "request",
        %id,
        %method,
        route,
        host = Empty,
        tenant = Empty,
        operator = Empty,
        member = Empty,
        session = Empty
    );
    let answered = async {
        let outcome = AssertUnwindSafe(answer).catch_unwind().await;
        let mut answer = outcome.unwrap_or_else(|_panic| {
            form.apply(ApiError::from(RequestError::Internal).into_answer())
        });
        let took = began.elapsed();
        let problem = answer.problem;
        site.metrics.record((method, route), answer.status, took.as_secs_f64());
        if let Some(what) = submitted {
            site.metrics.submitted(what, problem);
        }
        let error = problem.map(Problem::code);
        let hint = problem.and_then(|_| answer.header(&SWARM_HINT));
        let (status, micros) = (answer.status.as_u16(), took.as_micros() as u64);
        let client = problem.and_then(|_| client.or_else(ClientShare::current));
        let client = client.map(|client| client.address());
        tracing::info!(status, micros, error, hint, client, "answered");
        id.set_header(&mut answer);
        answer
    };
    answered.instrument(span).await
}

async fn answer<S, B, E>(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    parts: Vec<String>,
    (mut arrival, options): (Arrival, AnswerOptions),
    body: Pin<&mut S>,
) -> Reply
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let head = &arrival.head;
    let is_unknown = arrival.served.is_none() && endpoint.needs_tenant();
    // Probes of load balancers ask for the options without a host.
    if is_unknown && !(head.method == Method::OPTIONS && head.host.is_none()) {
        return Err(no_tenant(site, &arrival.origin));
    }
    if head.method == Method::OPTIONS {
        return Ok(caching::preflight(endpoint.allow(), endpoint.cross_origin()));
    }
    let route = endpoint.route(&head.method)?;
    let handler = match &route.handler {
        Handler::Server(handler) => return handler.answer(Arc::clone(site)).await,
        Handler::Tenant(handler) => handler,
    };
    let served = arrival.served.clone().ok_or_else(|| no_tenant(site, &arrival.origin))?;
    tracing::Span::current().record("tenant", served.config().id.as_str());
    credential::admit_member(route.access, &mut arrival.head, &served).await?;
    let head = &arrival.head;
    let (attempts, tenant) = (&site.token_attempts, Arc::clone(&served));
    let config = tenant.config();
    let (tenant, is_unlisted) = (&config.id, config.noindex);
    let attempt = credential::attempt(attempts, route.access, &head.headers, tenant)?;
    let token_hint = credential::token_hint(route.access, &head.headers);
    let coding_hint = route.body.and_then(|_| coding_hint(&head.headers));
    let request = (served, arrival, parts);
    let answer = answer_route(site, (route, handler), request, options, body).await;
    let answer = answer.unwrap_or_else(ApiError::into_answer);
    let hint = match answer.problem {
        Some(Problem::UnknownToken) => token_hint,
        Some(Problem::InvalidJson) => coding_hint,
        _ => None,
    };
    let answer = answer.with_hint(hint);
    if let Some(attempt) = attempt {
        credential::end_attempt(attempt, &answer);
    }
    Ok(if is_unlisted { answer.unlisted() } else { answer })
}

/// Answers a request whose tenant, route and handler are found.
async fn answer_route<S, B, E>(
    site: &Arc<Site>,
    (route, handler): (&Route, &Arc<dyn AsyncHandler<RequestContext>>),
    (served, mut arrival, parts): (Arc<ServedTenant>, Arrival, Vec<String>),
    options: AnswerOptions,
    body: Pin<&mut S>,
) -> Reply
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let target = arrival.take_path();
    let Arrival { head: RequestHead { method, query, headers, extensions, .. }, origin, .. } =
        arrival;
    let sender = OperatorRequest::new(&headers, &extensions);
    let credential = match authorize(route.access, sender, &served).await {
        Ok(credential) => credential,
        Err(error) => {
            return Ok(error.into_answer().with_hint(credential::hint(route.access, &headers)));
        }
    };
    if credential.is_signed_on(&headers) && is_change_of_other_site(&method, &headers, &origin) {
        return Err(RequestError::CrossSite.into());
    }
    let dry_run =
        if route.is_operators_change() { DryRun::of_query(&query, &served)? } else { None };
    let is_dry_run = dry_run.is_some();
    if let Some(name) = not_text(route, &query) {
        return Err(invalid_query(name, "must be text in UTF-8"));
    }
    let bytes = match route.body {
        None => Bytes::new(),
        Some(rule) => {
            read_body(MemoryGate::new(site, &served, &credential), &headers, body, rule).await?
        }
    };
    let (sent, jobs) = (bytes.clone(), Arc::clone(&served));
    let is_cacheable = matches!(route.work, Work::CachedShort | Work::CachedLong);
    let is_public = matches!(credential, Credential::None);
    let changed = (method != Method::GET && method != Method::HEAD && !is_dry_run)
        .then(|| Arc::clone(&served));
    let request = RequestContext {
        site: Arc::clone(site),
        served,
        dry_run: dry_run.map(Box::new),
        origin,
        credential,
        #[cfg(feature = "pages")]
        is_head: method == Method::HEAD,
        #[cfg(feature = "pages")]
        portion: super::portion::Portion::WHOLE,
        headers,
        #[cfg(feature = "pages")]
        extensions,
        target,
        path: parts,
        query,
        parameters: route.query,
        bytes,
        body: Json::Null,
    };
    if route.waits {
        request.wait_for_entry().await?;
    }
    let cache_request = (is_cacheable && options.is_cached && is_public).then(|| CacheRequest {
        key: request.cache_key(route.path),
        gzip: options.gzip,
        is_large: route.work == Work::CachedLong,
        served: Arc::clone(&request.served),
    });
    let max_values = route.parsed_values();
    let is_long = matches!(route.work, Work::Long | Work::CachedLong)
        || (max_values.is_some() && sent.len() > MAX_PARSED_INLINE);
    // Long ones have a share of the worker pool.
    let _turn = if is_long { None } else { ClientShare::turn().await };
    let minted = is_dry_run.then_some(route.mints);
    let base = jobs.config().base_path();
    let answer = match cache_request {
        Some(cache_request) if base.as_str().is_empty() => {
            site.cache.answer(cache_request, || handler.answer(request)).await
        }
        Some(cache_request) => {
            let (handler, served) = (Arc::clone(handler), Arc::clone(&jobs));
            let make = async move {
                let answer = handler.answer(request).await?;
                Ok(answer.below(served.config().base_path()))
            };
            site.cache.answer(cache_request, || make.boxed()).await
        }
        None if is_long => {
            let (handler, is_public) = (Arc::clone(handler), route.is_public_read());
            let served = Arc::clone(&jobs);
            let work = async move {
                let answer = parsed(&handler, request, max_values).await?;
                let answer = marked(answer, minted)?.below(served.config().base_path());
                Ok(if is_public { caching::prepared(answer, options.gzip) } else { answer })
            };
            site.workers.run(jobs.jobs(), work).await
        }
        None => {
            let answer = parsed(handler, request, max_values).await;
            answer.and_then(|answer| Ok(marked(answer, minted)?.below(base)))
        }
    };
    if let Some(served) = changed {
        served.tail().notice();
    }
    let refusal = match answer {
        Ok(answer) => return Ok(answer),
        // The hint quotes the body, which is parsed once more for it.
        Err(error) if sent.len() > MAX_PARSED_INLINE => {
            site.workers.run(jobs.jobs(), async move { error.answer_to(&sent) }).await
        }
        Err(error) => error.answer_to(&sent),
    };
    Ok(refusal.below(base))
}

/// Parses the body, with at most this many values, and answers.
async fn parsed(
    handler: &Arc<dyn AsyncHandler<RequestContext>>,
    mut request: RequestContext,
    max_values: Option<usize>,
) -> Reply {
    if let Some(max_values) = max_values {
        request.body = Json::read_bounded(&request.bytes, max_values)?;
    }
    handler.answer(request).await
}

/// Marks the answer of a dry run.
fn marked(answer: Answer, minted: Option<Option<&str>>) -> Reply {
    match minted {
        Some(minted) => dry_run::mark_dry_run(answer, minted),
        None => Ok(answer),
    }
}

impl From<NotJson> for ApiError {
    fn from(fault: NotJson) -> Self {
        match fault.position {
            ErrorPosition::TooManyValues => RequestError::BodyTooLarge.into(),
            _ => RequestError::InvalidJson(fault).into(),
        }
    }
}
