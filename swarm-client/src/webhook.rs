//! A receiver of webhooks (API.md, 15).

use std::net::IpAddr;
use std::time::Duration;

use ureq::http::Uri;

use crate::connection::Client;
use crate::error::{Error, InvalidUrl};

/// How long a receiver may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A receiver of webhooks, at its URL.
#[derive(Clone, Debug)]
pub struct WebhookClient(Client);

impl WebhookClient {
    /// The receiver at `url`, such as `https://hooks.example/swarm?for=acme`. It sends nothing yet.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it is an `http` or `https` URL without user and fragment.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Client::posting_to(url, TIMEOUT).map(Self)
    }

    /// Posts JSON once, with these headers, for at most 10 s, and returns the answer. No redirect is followed.
    ///
    /// # Errors
    /// [`Error::NoAnswer`].
    pub fn post(&self, headers: &[(&str, &str)], body: &str) -> Result<WebhookAnswer, Error> {
        let (status, headers) = self.0.post_json(headers, body)?;
        let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|seconds| seconds.trim().parse().ok());
        Ok(WebhookAnswer { status, retry_after })
    }
}

/// The answer of a receiver of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookAnswer {
    /// The status.
    pub status: u16,
    /// After how many seconds it asks to be tried again; `None` if it does not say, or names a date.
    pub retry_after: Option<u64>,
}

/// Returns whether the host of a URL is this machine: `localhost`, or a loopback address.
pub fn is_loopback(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn url_is_requested_percent_encoded() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            (stream, line)
        });
        let client = WebhookClient::new(&format!("{origin}/höök/{{a|b}}?für=a b%20[\"c\"]&d=e^f"));
        assert_eq!(client.unwrap().post(&[], "{}").unwrap().status, 204);
        let (_open, line) = asked.join().unwrap();
        let path = "/h%C3%B6%C3%B6k/%7Ba%7Cb%7D?f%C3%BCr=a%20b%20[%22c%22]&d=e%5Ef";
        assert_eq!(line, format!("POST {path} HTTP/1.1\r\n"));
    }

    #[test]
    fn urls_may_have_a_query() {
        for good in [
            "https://a.example/hook?key=b@c",
            "https://a.example/@desk/in",
            "http://[::1]:9/",
            "http://localhost",
        ] {
            assert!(WebhookClient::new(good).is_ok(), "{good}");
        }
        for bad in
            ["", "a.example", "ftp://a.example", "https://user:pass@a.example", "https://a#b"]
        {
            assert!(WebhookClient::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn loopback_hosts_are_recognized() {
        for local in ["http://localhost:80/a", "http://127.8.9.1", "http://[::1]:7/x?y"] {
            assert!(is_loopback(local), "{local}");
        }
        for other in ["http://localhost.example", "http://128.0.0.1", "http://0.0.0.0", "x"] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
