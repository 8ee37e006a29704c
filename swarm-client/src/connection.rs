//! Requests with retries, and their answers.

use std::net::IpAddr;
use std::thread::sleep;
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use swarm_core::Invalid;
use swarm_core::json::{self, Json, Object};
use ureq::config::ConfigBuilder;
use ureq::http::request::Builder;
use ureq::http::uri::Authority;
use ureq::http::{HeaderMap, HeaderValue, Request, Response, Uri};
use ureq::typestate::AgentScope;
use ureq::{Agent, AsSendBody, Body, Proxy, ProxyProtocol};

#[cfg(feature = "tls")]
use crate::authorities::Authorities;
use crate::error::{Error, InvalidUrl, Refused};

/// The longest time for one request, from connecting to the end of the answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest body of an answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 256 << 20;

/// The largest text that [`Client::post_text`] reads, in bytes.
const MAX_TEXT_BYTES: u64 = 64 << 10;

/// The delays before each retry of a request without an answer.
const RETRY_DELAYS: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The characters of ASCII that no URL has (RFC 3986), though people write them and `http` takes some.
const OUTSIDE_URLS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A client of one service. Clones share its connections.
///
/// A request takes at most 30 s ([`with_timeout`](Self::with_timeout)). Calls that may be repeated are made up to five times while there is
/// no answer, with pauses of 0.5, 1, 2 and 4 s ([`without_retries`](Self::without_retries)); all others are made once. A 429 is not
/// repeated: [`Refused::retry_after`] says when to. The proxy is that of the environment (`https_proxy` or `http_proxy` by the scheme of
/// the URL, else `all_proxy`, unless `no_proxy` exempts the host; or the same in capitals), and none for this machine. It is one of HTTP: calls
/// fail where the environment names only others. `no_proxy` lists domains, which exempt the hosts below them too, addresses and their ranges
/// (`10.0.0.0/8`), each perhaps with a port, or `*` for all.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    /// Percent-encoded, without a trailing slash.
    base: String,
    /// The origin that members know the service by.
    service: String,
    /// For one request.
    timeout: Duration,
    retry_delays: &'static [Duration],
    /// The variable of the environment that names a proxy that cannot be used.
    bad_proxy: Option<&'static str>,
}

type AgentConfig = ConfigBuilder<AgentScope>;

/// The credential of a request.
#[derive(Clone, Copy)]
pub(crate) enum Credential<'a> {
    None,
    Bearer(&'a str),
    ApiKey(&'a str),
    Operator(&'a str),
}

impl Client {
    /// A client of the service at `url`, such as `https://acme.example`. It sends nothing yet.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it has the scheme `http` or `https`, a host, and no user, query or fragment.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Self::configured(url, trusting_the_system)
    }

    /// A client like that of [`new`](Self::new) that trusts these authorities besides those of the system.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    #[cfg(feature = "tls")]
    pub fn trusting(url: &str, authorities: &Authorities) -> Result<Self, InvalidUrl> {
        Self::configured(url, |config, scheme| trusting(config, scheme, authorities))
    }

    /// A client that posts to exactly this URL, which may have a query, within this time. A query may have a secret in it, so
    /// no error names the URL.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it has the scheme `http` or `https`, a host, and no user or fragment.
    pub(crate) fn posting_to(url: &str, timeout: Duration) -> Result<Self, InvalidUrl> {
        if url.contains('#') {
            return Err(InvalidUrl);
        }
        let bare = url.split('?').next().unwrap_or_default();
        let configure = |config: AgentConfig, scheme: &str| {
            // A receiver that has closed a connection in between must not fail a delivery.
            trusting_the_system(config.max_idle_connections(0), scheme)
        };
        let client = Self::configured(bare, configure)?.with_timeout(timeout);
        Ok(Self { base: encoded(url), ..client })
    }

    /// Posts JSON to the URL once, with these headers. Returns the status and the headers of the answer.
    pub(crate) fn post_json(
        &self,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<(u16, HeaderMap), Error> {
        let mut request = Request::builder().method("POST").uri(&self.base);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("content-type", "application/json");
        let (answered, _) = self.run(request.body(body).map_err(malformed)?)?.into_parts();
        Ok((answered.status.as_u16(), answered.headers))
    }

    /// A client whose connections `configure` configures, by the scheme of the URL.
    fn configured(
        url: &str,
        configure: impl FnOnce(AgentConfig, &str) -> AgentConfig,
    ) -> Result<Self, InvalidUrl> {
        let uri: Uri = url.parse().map_err(|_| InvalidUrl)?;
        let scheme = uri.scheme_str().unwrap_or_default();
        if !matches!(scheme, "http" | "https") || uri.host().is_none_or(str::is_empty) {
            return Err(InvalidUrl);
        }
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        if has_user || url.contains(['?', '#']) {
            return Err(InvalidUrl);
        }
        // A credential is for one server only: redirects are not followed.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        let proxy = match is_local_host(uri.host().unwrap_or_default()) {
            true => Ok(None),
            false => proxy_of(&uri, |name| std::env::var(name).ok()),
        };
        let bad_proxy = proxy.as_ref().err().copied();
        let config = configure(config.proxy(proxy.unwrap_or_default()), scheme);
        let base = encoded(url.trim_end_matches('/'));
        let service = address(url).ok_or(InvalidUrl)?;
        let (agent, timeout) = (config.build().into(), REQUEST_TIMEOUT);
        Ok(Self { agent, base, service, timeout, retry_delays: &RETRY_DELAYS, bad_proxy })
    }

    /// Returns a client of the same service whose members know it by another address than the URL. For
    /// example, members know `https://acme.example`, and the URL names a machine behind a proxy.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it is an `http` or `https` URL.
    pub fn known_as(self, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self { service: address(url).ok_or(InvalidUrl)?, ..self })
    }

    /// Returns the address that challenges of the service must name, and that nonces begin with: its origin and, if it is
    /// below a path, that path.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns the path of the URL, which precedes the path of each request; empty if it has none.
    pub fn base_path(&self) -> &str {
        let authority = self.base.split_once("://").map_or("", |(_, rest)| rest);
        authority.find('/').and_then(|at| authority.get(at..)).unwrap_or_default()
    }

    /// Returns the URL that it was made with, percent-encoded and without a trailing slash.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Sets the longest time for one request, from connecting to the end of the answer: 30 s by default. Retries and the pauses
    /// between them are not part of it.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Turns off retries.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self { retry_delays: &[], ..self }
    }

    /// Sends a GET, with retries while there is no answer.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn get(&self, path: &str) -> Result<Json, Error> {
        self.get_as(path, Credential::None)
    }

    /// Returns the body of the answer to a GET, in the media type `accept`. Retries while there is no
    /// answer.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn get_bytes(&self, path: &str, accept: &str) -> Result<Vec<u8>, Error> {
        self.with_retries(|| {
            let request = self.request("GET", path, accept)?.body(());
            let response = self.run(request.map_err(malformed)?);
            read_bytes(response.map_err(|error| self.named(error))?)
        })
    }

    /// Sends a GET with the bearer token of a member, with retries while there is no answer.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn get_for(&self, token: &str, path: &str) -> Result<Json, Error> {
        self.get_as(path, Credential::Bearer(token))
    }

    pub(crate) fn get_as(&self, path: &str, credential: Credential<'_>) -> Result<Json, Error> {
        self.with_retries(|| self.send_once("GET", path, credential, None))
    }

    /// Sends a POST, with retries while there is no answer.
    pub(crate) fn post_with_retries(
        &self,
        path: &str,
        credential: Credential<'_>,
        body: &str,
    ) -> Result<Object, Error> {
        let sent = || self.send_once("POST", path, credential, Some(body));
        self.with_retries(sent).map(Json::into_object)
    }

    /// Sends a POST that asks for a receipt, with retries while there is no answer. Returns any answer with a status below
    /// 500.
    pub(crate) fn post_for_receipt(
        &self,
        path: &str,
        credential: Credential<'_>,
        body: &str,
    ) -> Result<RawAnswer, Error> {
        self.with_retries(|| {
            let request = self.request("POST", path, "application/json")?;
            let request = request.header("accept-signature", "swarm=()");
            let response = self.send_request(request, credential, Some(body))?;
            let answer = RawAnswer::read(response)?;
            match answer.refused() {
                Some(Error::NoAnswer(why)) => Err(Error::NoAnswer(why)),
                _ => Ok(answer),
            }
        })
    }

    /// Sends `body` once.
    pub(crate) fn post(
        &self,
        path: &str,
        credential: Credential<'_>,
        body: &impl Serialize,
    ) -> Result<Object, Error> {
        self.send("POST", path, credential, body)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        credential: Credential<'_>,
        body: &impl Serialize,
    ) -> Result<Object, Error> {
        self.send_once(method, path, credential, Some(&json::write(body))).map(Json::into_object)
    }

    fn with_retries<T>(&self, attempt: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        for pause in self.retry_delays {
            match attempt() {
                Err(Error::NoAnswer(_)) => sleep(*pause),
                answered => return answered,
            }
        }
        attempt()
    }

    fn send_once(
        &self,
        method: &str,
        path: &str,
        credential: Credential<'_>,
        body: Option<&str>,
    ) -> Result<Json, Error> {
        read(self.exchange(method, path, credential, body)?)
    }

    /// Sends a request once; returns any answer.
    fn exchange(
        &self,
        method: &str,
        path: &str,
        credential: Credential<'_>,
        body: Option<&str>,
    ) -> Result<Response<Body>, Error> {
        let request = self.request(method, path, "application/json")?;
        self.send_request(request, credential, body)
    }

    fn send_request(
        &self,
        request: Builder,
        credential: Credential<'_>,
        body: Option<&str>,
    ) -> Result<Response<Body>, Error> {
        let request = match credential {
            Credential::None => request,
            Credential::Bearer(token) => request.header("authorization", format!("Bearer {token}")),
            Credential::ApiKey(key) => request.header("x-ic-key", key),
            Credential::Operator(token) => request.header("x-admin-token", token),
        };
        let response = match body {
            None => self.run(request.body(()).map_err(malformed)?),
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.run(request.body(body).map_err(malformed)?)
            }
        };
        response.map_err(|error| self.named(error))
    }

    /// Sends a text once. Returns status and body of any answer of at most 64 KiB.
    pub(crate) fn post_text(&self, path: &str, body: &str) -> Result<(u16, String), Error> {
        let request = self.request("POST", path, "text/plain")?;
        let request = request.header("content-type", "text/plain; charset=utf-8");
        let answered = self.run(request.body(body).map_err(malformed)?);
        let mut response = answered.map_err(|error| self.named(error))?;
        let limited = response.body_mut().with_config().limit(MAX_TEXT_BYTES);
        let text = String::from_utf8(limited.read_to_vec().map_err(unread)?);
        let text = text.map_err(|_| Error::Unreadable("an answer that is no text".to_owned()))?;
        Ok((response.status().as_u16(), text))
    }

    /// Posts bytes of this media type to the URL once. Returns status and body of any answer of at most `most` bytes.
    pub(crate) fn post_bytes(
        &self,
        media_type: &str,
        body: &[u8],
        most: u64,
    ) -> Result<(u16, Vec<u8>), Error> {
        let request = Request::builder().method("POST").uri(&self.base);
        let request = request.header("content-type", media_type);
        let mut response = self.run(request.body(body).map_err(malformed)?)?;
        let body = response.body_mut().with_config().limit(most).read_to_vec().map_err(unread)?;
        Ok((response.status().as_u16(), body))
    }

    /// Sends a request once, within the time for one.
    fn run(&self, request: Request<impl AsSendBody>) -> Result<Response<Body>, Error> {
        let is_https = self.base.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("https:"));
        if is_https && !has_provider() {
            // The connection would panic.
            return Err(Error::NoProvider);
        }
        if let Some(variable) = self.bad_proxy {
            // It would be sent without a proxy.
            return Err(Invalid::new(variable, "must be the http:// address of a proxy").into());
        }
        let uses_proxy = self.agent.config().proxy().is_some();
        let request = self.agent.configure_request(request).timeout_global(Some(self.timeout));
        let answered = self.agent.run(request.build());
        answered.map_err(|error| {
            let why = match &error {
                // A server that speaks TLS answers plain text with an alert.
                ureq::Error::Protocol(_) if !is_https => {
                    format!("{error}: if the server speaks TLS, its address begins with https://")
                }
                error if uses_proxy => {
                    format!("{error}, through the proxy that the environment names")
                }
                error => error.to_string(),
            };
            match is_untrusted(&error) {
                true => Error::Untrusted(why),
                false => Error::NoAnswer(format!("no answer: {why}")),
            }
        })
    }

    /// The error with the URL.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::NoAnswer(why) => Error::NoAnswer(format!("{}: {why}", self.base)),
            Error::Untrusted(why) => Error::Untrusted(format!("{}: {why}", self.base)),
            other => other,
        }
    }

    fn request(&self, method: &str, path: &str, accept: &str) -> Result<Builder, Error> {
        if !path.starts_with('/') {
            // Without this it would become part of the host.
            return Err(Invalid::new("path", "must begin with a slash").into());
        }
        let uri = format!("{}{path}", self.base);
        Ok(Request::builder().method(method).uri(uri).header("accept", accept))
    }
}

/// The configuration for a URL of this scheme that trusts these authorities besides those of the system, which are read
/// for `https` alone.
#[cfg(feature = "tls")]
fn trusting(config: AgentConfig, scheme: &str, authorities: &Authorities) -> AgentConfig {
    match scheme {
        "https" => config.tls_config(authorities.config()),
        _ => config,
    }
}

#[cfg(feature = "tls")]
fn trusting_the_system(config: AgentConfig, scheme: &str) -> AgentConfig {
    trusting(config, scheme, &Authorities::default())
}

#[cfg(not(feature = "tls"))]
fn trusting_the_system(config: AgentConfig, _: &str) -> AgentConfig {
    config
}

/// Whether there is a cryptography provider for TLS.
#[cfg(all(feature = "tls", not(feature = "ring")))]
fn has_provider() -> bool {
    rustls::crypto::CryptoProvider::get_default().is_some()
}

/// With `ring` there always is one; without `tls` none is needed.
#[cfg(not(all(feature = "tls", not(feature = "ring"))))]
fn has_provider() -> bool {
    true
}

/// Whether the server's certificate is not accepted.
#[cfg(feature = "tls")]
fn is_untrusted(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    let error = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>());
    matches!(error, Some(rustls::Error::InvalidCertificate(_)))
}

#[cfg(not(feature = "tls"))]
fn is_untrusted(_: &ureq::Error) -> bool {
    false
}

/// A token with a line end, for example.
fn malformed(error: ureq::http::Error) -> Error {
    Invalid::new("request", format!("cannot be sent: {error}")).into()
}

/// A URL whose path and query may have been written for people, as it is requested. Its host is in ASCII.
fn encoded(url: &str) -> String {
    utf8_percent_encode(url, OUTSIDE_URLS).to_string()
}

/// The origin of an `http` or `https` URL, in lower case and without the default port, and its path without a slash at the end. `None`
/// also if its port is none, which `http` reads as the default one.
pub(crate) fn address(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let host = uri.host()?.to_ascii_lowercase();
    let default = match &*scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let port = port_of(uri.authority()?)?.filter(|port| *port != default);
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{scheme}://{host}{port}{}", uri.path().trim_end_matches('/')))
}

/// The port of an authority, if it has one; `None` for one that is not from 1 to 65535.
fn port_of(authority: &Authority) -> Option<Option<u16>> {
    let (_, place) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
    Some(match place.strip_prefix(authority.host())? {
        "" | ":" => None,
        port => Some(port.strip_prefix(':')?.parse().ok().filter(|port| *port > 0)?),
    })
}

/// The proxy that the environment names for a URI: that of the first variable whose value can be used, or `None` if `no_proxy` exempts
/// the host. The error is the first variable, if none can be used: to go on without a proxy would evade it.
fn proxy_of(
    uri: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Proxy>, &'static str> {
    let set =
        |name: &&'static str| Some((*name, variable(name).filter(|value| !value.is_empty())?));
    let (of_scheme, port) = match uri.scheme_str() {
        Some("https") => (["https_proxy", "HTTPS_PROXY"], 443),
        _ => (["http_proxy", "HTTP_PROXY"], 80),
    };
    let (host, port) = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(port));
    let exempt = ["no_proxy", "NO_PROXY"].iter().find_map(set);
    if exempt.is_some_and(|(_, exempt)| is_exempt(&exempt, host, port)) {
        return Ok(None);
    }
    let usable = |(_, address): &(_, String)| {
        let proxy = Proxy::new(address).ok()?;
        port_of(proxy.uri().authority()?)?;
        let is_http = matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https);
        is_http.then_some(proxy)
    };
    let named = of_scheme.iter().chain(&["all_proxy", "ALL_PROXY"]);
    let named: Vec<_> = named.filter_map(set).collect();
    match (named.first(), named.iter().find_map(usable)) {
        (Some((first, _)), None) => Err(first),
        (_, found) => Ok(found),
    }
}

/// Whether a value of `no_proxy` exempts a host at this port: by its domain or one above, its address or a range with it, each perhaps with
/// a port, or as all are.
fn is_exempt(exempt: &str, host: &str, port: u16) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = without_brackets(&host).parse::<IpAddr>();
    let is_of = |entry: &str| {
        let (name, of) = match entry.rsplit_once(':') {
            // The colons of an address of IPv6 without brackets precede no port.
            Some((name, of)) if !name.contains(':') || name.ends_with(']') => {
                (name, of.parse().ok())
            }
            _ => (entry, Some(port)),
        };
        let is_host = match address {
            Ok(address) => is_in(address, without_brackets(name)),
            Err(_) => is_below(&host, name),
        };
        of == Some(port) && (name == "*" || is_host)
    };
    exempt.split(|it: char| it == ',' || it.is_whitespace()).any(is_of)
}

/// Whether a host is this domain or below it. `.a.example` and `*.a.example` are `a.example`.
fn is_below(host: &str, domain: &str) -> bool {
    let domain = domain.trim_start_matches('*').trim_matches('.').to_ascii_lowercase();
    let above = host.strip_suffix(&*domain).filter(|_| !domain.is_empty());
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// Whether an address is this one, or in this range in CIDR.
fn is_in(address: IpAddr, range: &str) -> bool {
    // The bits begin at the highest one.
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let (start, length) = range.split_once('/').unzip();
    let Ok(start) = start.unwrap_or(range).parse::<IpAddr>() else { return false };
    let ((address, all), (start, of)) = (bits(address), bits(start));
    let length = length.map_or(Some(all), |length| length.parse().ok());
    let has = |length: u32| length <= all && (address ^ start).leading_zeros() >= length;
    all == of && length.is_some_and(has)
}

fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Whether a host is this machine, for which proxies of the environment are not used.
fn is_local_host(host: &str) -> bool {
    let address = without_brackets(host).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

fn unread(error: ureq::Error) -> Error {
    match error {
        // A retry would get the same long answer.
        ureq::Error::BodyExceedsLimit(_) => Error::Unreadable("the answer is too long".to_owned()),
        error => Error::NoAnswer(format!("no answer: {error}")),
    }
}

/// Whether a status leaves the outcome of the request unknown, whether by the service or a proxy.
fn is_outcome_unknown(status: u16) -> bool {
    status == 408 || status >= 500
}

/// The JSON body of a 2xx.
fn read(response: Response<Body>) -> Result<Json, Error> {
    let bytes = read_bytes(response)?;
    Json::read(&bytes).map_err(|_| Error::Unreadable("an answer that is no JSON".to_owned()))
}

/// The body of a 2xx.
fn read_bytes(response: Response<Body>) -> Result<Vec<u8>, Error> {
    let answer = RawAnswer::read(response)?;
    match answer.refused() {
        Some(error) => Err(error),
        None => Ok(answer.body),
    }
}

/// An answer as it arrived.
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl RawAnswer {
    fn read(mut response: Response<Body>) -> Result<Self, Error> {
        let limited = response.body_mut().with_config().limit(MAX_ANSWER_BYTES);
        let body = limited.read_to_vec().map_err(unread)?;
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        let headers = response.headers().iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)));
        Ok(Self { status: response.status().as_u16(), headers: headers.collect(), body })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(header, _)| header == name);
        header.map(|(_, value)| value.as_str())
    }

    /// The error of an answer other than a 2xx.
    pub(crate) fn refused(&self) -> Option<Error> {
        if (200..300).contains(&self.status) {
            return None;
        }
        let header = |name| self.header(name).map(str::to_owned);
        let body = Json::read(&self.body).unwrap_or(Json::Null).into_object();
        let error = body.clone().text("error").unwrap_or_default();
        let status = self.status;
        let (code, hint) = (header("swarm-error"), header("swarm-hint"));
        let retry_after = self.header("retry-after").and_then(|seconds| seconds.parse().ok());
        let refused = Refused { status, code, hint, retry_after, error, body };
        Some(match is_outcome_unknown(status) {
            true => Error::NoAnswer(refused.to_string()),
            false => Error::Refused(Box::new(refused)),
        })
    }

    /// The answer as `curl -i` prints it, if its body is text.
    pub(crate) fn printed(&self) -> Option<String> {
        let headers = self.headers.iter();
        let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let body = std::str::from_utf8(&self.body).ok()?;
        Some(format!("HTTP/1.1 {}\r\n{headers}\r\n{body}", self.status))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use std::error::Error as _;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// A service that answers each request with this text, or not at all if it is empty.
    fn service(answer: &'static str) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 4_096]);
                let _ = stream.write_all(answer.as_bytes());
                open.extend(answer.is_empty().then_some(stream));
            }
        });
        Client::new(&url).unwrap()
    }

    #[test]
    fn refusal_says_when_to_try_again() {
        let client = service(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        );
        let Err(Error::Refused(refused)) = client.get("/") else { panic!("it is refused") };
        assert_eq!((refused.status, refused.retry_after), (429, Some(7)));
        assert!(refused.source().is_none());
    }

    #[test]
    fn port_that_is_none_is_not_the_default_one() {
        for url in ["http://127.0.0.1:99999", "https://a.example:65536/a", "http://[::1]:0"] {
            assert!(matches!(Client::new(url), Err(InvalidUrl)), "{url}");
        }
        for (url, origin) in [
            ("https://A.example:443/", "https://a.example"),
            ("http://[::1]:8080/a/", "http://[::1]:8080/a"),
            ("http://a.example:", "http://a.example"),
        ] {
            assert_eq!(address(url).as_deref(), Some(origin));
        }
    }

    #[test]
    fn server_that_answers_is_not_said_to_give_no_answer() {
        let client = service(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 29\r\nConnection: close\r\n\r\n{\"error\":\"store unavailable\"}",
        );
        let failed = client.without_retries().get("/").unwrap_err();
        assert!(matches!(failed, Error::NoAnswer(_)), "{failed:?}");
        assert_eq!(failed.to_string(), "503 \"store unavailable\"");
    }

    #[test]
    fn request_takes_no_longer_than_its_timeout() {
        let client = service("").without_retries().with_timeout(Duration::from_millis(50));
        let Err(Error::NoAnswer(why)) = client.get("/") else { panic!("nobody answers") };
        assert!(why.contains("timeout"), "{why}");
    }

    #[test]
    fn first_proxy_that_can_be_used_is() {
        let uri: Uri = "https://acme.example/a".parse().unwrap();
        let named = |set: &[(&str, &str)]| {
            let proxy = proxy_of(&uri, |name| {
                set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
            });
            proxy.map(|proxy| proxy.map(|proxy| (proxy.host().to_owned(), proxy.port())))
        };
        for (good, host, port) in [
            ("http://127.0.0.1:1", "127.0.0.1", 1),
            ("https://proxy.example", "proxy.example", 443),
            ("ada:a%40b@proxy.example:3128", "proxy.example", 3128),
            ("http://[::1]:2", "[::1]", 2),
        ] {
            let found = Ok(Some((host.to_owned(), port)));
            assert_eq!(named(&[("HTTPS_PROXY", good)]), found, "{good}");
            for unusable in ["socks5://127.0.0.1:1", "http://"] {
                assert_eq!(named(&[("HTTPS_PROXY", good), ("ALL_PROXY", unusable)]), found);
            }
        }
        assert_eq!(named(&[("HTTPS_PROXY", "")]), Ok(None));
        for bad in
            ["socks5://127.0.0.1:1", "ftp://127.0.0.1", "http://", "http://proxy.example:99999"]
        {
            assert_eq!(named(&[("https_proxy", bad)]), Err("https_proxy"), "{bad}");
            let exempt = [("HTTPS_PROXY", bad), ("NO_PROXY", "other.example, acme.example")];
            assert_eq!(named(&exempt), Ok(None), "{bad}");
        }
    }

    #[test]
    fn variable_of_the_scheme_names_the_proxy() {
        for (scheme, set, found) in [
            ("https", &["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy"][..], "HTTPS_PROXY"),
            ("https", &["HTTPS_PROXY", "https_proxy"], "https_proxy"),
            ("https", &["ALL_PROXY", "HTTP_PROXY", "http_proxy"], "ALL_PROXY"),
            ("https", &["HTTP_PROXY", "http_proxy"], ""),
            ("http", &["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy"], "http_proxy"),
            ("http", &["ALL_PROXY", "HTTP_PROXY"], "HTTP_PROXY"),
            ("http", &["ALL_PROXY", "HTTPS_PROXY", "all_proxy"], "all_proxy"),
            ("http", &["HTTPS_PROXY", "https_proxy"], ""),
        ] {
            let uri = format!("{scheme}://a.example").parse().unwrap();
            let variable = |name: &str| set.contains(&name).then(|| format!("http://{name}"));
            let proxy = proxy_of(&uri, variable).unwrap();
            assert_eq!(proxy.as_ref().map_or("", Proxy::host), found, "{scheme} {set:?}");
        }
    }

    #[test]
    fn no_proxy_exempts_domains_addresses_and_ranges() {
        for (exempt, host, is_exempt) in [
            ("corp.invalid", "corp.invalid", true),
            ("corp.invalid", "a.b.Corp.invalid", true),
            ("corp.invalid", "acorp.invalid", false),
            (".Corp.invalid", "a.corp.invalid", true),
            (".corp.invalid", "corp.invalid.", true),
            ("*.corp.invalid", "a.corp.invalid", true),
            ("a.corp.invalid", "corp.invalid", false),
            ("b.invalid, corp.invalid", "a.corp.invalid", true),
            ("b.invalid corp.invalid", "corp.invalid", true),
            ("corp.invalid:443", "a.corp.invalid", true),
            ("corp.invalid:8443", "a.corp.invalid", false),
            ("corp.invalid:", "corp.invalid", false),
            ("*", "corp.invalid", true),
            ("*", "[fd00::1]", true),
            ("*:8443", "corp.invalid", false),
            ("", "corp.invalid", false),
            (".", "corp.invalid", false),
            (",", "corp.invalid", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("2.3", "10.1.2.3", false),
            ("10.1.2.3:443", "10.1.2.3", true),
            ("10.1.2.3:80", "10.1.2.3", false),
            ("10.0.0.0/8", "10.255.2.3", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.128/25", "10.1.2.127", false),
            ("10.1.2.3/32", "10.1.2.3", true),
            ("10.0.0.0/33", "10.0.0.0", false),
            ("10.0.0.0/", "10.0.0.0", false),
            ("0.0.0.0/0", "10.1.2.3", true),
            ("0.0.0.0/0", "[fd00::1]", false),
            ("::/0", "10.1.2.3", false),
            ("10.0.0.0/8", "corp.invalid", false),
            ("fd00::/8", "[fdff::1]", true),
            ("fd00::/8", "[fe00::1]", false),
            ("fd00::1", "[FD00:0::1]", true),
            ("[fd00::1]", "[fd00::1]", true),
            ("[fd00::1]:443", "[fd00::1]", true),
            ("[fd00::1]:80", "[fd00::1]", false),
        ] {
            assert_eq!(super::is_exempt(exempt, host, 443), is_exempt, "{exempt} {host}");
        }
    }

    #[test]
    fn alert_of_tls_is_explained() {
        let client = service("\u{15}\u{3}\u{3}\0\u{2}\u{2}F").without_retries();
        let Err(Error::NoAnswer(why)) = client.get("/") else { panic!("it is no answer") };
        assert!(why.ends_with("its address begins with https://"), "{why}");
    }

    #[cfg(all(feature = "tls", not(feature = "ring")))]
    #[test]
    fn without_a_provider_there_is_an_error() {
        let client = Client::new("https://127.0.0.1:9").unwrap();
        assert!(matches!(client.get("/"), Err(Error::NoProvider)));
    }
}
