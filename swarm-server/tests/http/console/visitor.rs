//! A browser without scripts: it keeps the cookie, follows 303, and fills in forms.

use std::time::Duration;

use ureq::http::{HeaderMap, Request};

use crate::below_a_path::BASE;
use crate::harness::{ADMIN, Client};

/// What a browser sends when a link or form of the console leads to a page.
pub const OWN_NAVIGATION: [(&str, &str); 3] = [
    ("sec-fetch-site", "same-origin"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-dest", "document"),
];

/// A browser at one host.
#[derive(Clone)]
pub struct Visitor {
    pub agent: ureq::Agent,
    pub address: String,
    pub host: String,
    pub cookie: Option<String>,
    /// What it sends besides, such as the address that a proxy would name.
    pub headers: Vec<(String, String)>,
}

/// A page, or a redirect to one.
#[derive(Debug)]
pub struct Seen {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

/// A form of a page: where it is sent, and its fields as they stand.
#[derive(Clone, Debug)]
pub struct Form {
    pub action: String,
    pub fields: Vec<(String, String)>,
}

impl Visitor {
    pub fn new(client: &Client) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        let address = client.address.to_string();
        Self {
            agent: config.into(),
            host: address.clone(),
            address,
            cookie: None,
            headers: Vec::new(),
        }
    }

    /// The same, at another host, signed out.
    pub fn at(&self, host: &str) -> Self {
        Self { host: host.to_owned(), cookie: None, ..self.clone() }
    }

    /// Signed in as the operator of the tests.
    pub fn signed_in(client: &Client) -> Self {
        Self::signed_in_with(client, ADMIN)
    }

    pub fn signed_in_with(client: &Client, token: &str) -> Self {
        let mut visitor = Self::new(client);
        assert_eq!(visitor.sign_in(token).status, 303);
        visitor
    }

    pub fn sign_in(&mut self, token: &str) -> Seen {
        let seen = self.post("/operate", &[("token", token)]);
        self.keep(&seen);
        seen
    }

    /// Takes up the cookie of an answer.
    pub fn keep(&mut self, seen: &Seen) {
        if let Some(cookie) = seen.header("set-cookie") {
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        }
    }

    pub fn get(&self, path: &str) -> Seen {
        self.send("GET", path, &[], "")
    }

    /// Sends a form from a page of the console.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        self.post_as(path, &[("sec-fetch-site", "same-origin")], fields)
    }

    /// Sends a form with these headers instead of those of a page of the console.
    pub fn post_as(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Seen {
        let body = encoded(fields.iter().copied());
        let kind = ("content-type", "application/x-www-form-urlencoded");
        self.send("POST", path, &[headers, &[kind]].concat(), &body)
    }

    /// Sends a form of a page with some fields filled in; those that the page does not have are added.
    pub fn submit(&self, form: &Form, filled: &[(&str, &str)]) -> Seen {
        let mut fields = form.fields.clone();
        for (name, value) in filled {
            match fields.iter_mut().find(|(other, _)| other == name) {
                Some((_, old)) => (*old) = (*value).to_owned(),
                None => fields.push(((*name).to_owned(), (*value).to_owned())),
            }
        }
        let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.post(&form.action, &fields)
    }

    /// Opens the page and sends its form with this action.
    #[track_caller]
    pub fn fill_in(&self, page: &str, action: &str, filled: &[(&str, &str)]) -> Seen {
        let form = self.get(page).expect(200).form(action);
        self.submit(&form, filled)
    }

    /// The page that a 303 leads to.
    #[track_caller]
    pub fn follow(&self, seen: &Seen) -> Seen {
        assert_eq!(seen.status, 303, "{seen:?}");
        self.send("GET", seen.header("location").unwrap(), &OWN_NAVIGATION, "").expect(200)
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Seen {
        let mut request =
            Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        request = request.header("host", &self.host).header("accept", "text/html");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let sent = match method {
            "GET" | "HEAD" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        let mut response = sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let seen = Seen {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.body_mut().read_to_string().unwrap(),
        };
        seen.is_guarded(path);
        seen
    }
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) {
        assert!(self.text.contains(text), "no {text:?} in {}", self.text);
    }

    #[track_caller]
    pub fn is_silent_on(&self, text: &str) {
        assert!(!self.text.contains(text), "{text:?} in {}", self.text);
    }

    /// What every answer of the console says to browsers, caches and crawlers.
    #[track_caller]
    fn is_guarded(&self, path: &str) {
        let path = path.strip_prefix(BASE).unwrap_or(path);
        if !path.starts_with("/operate") {
            return;
        }
        assert_eq!(self.header("cache-control"), Some("no-store"), "{path}: {self:?}");
        assert!(self.header("access-control-allow-origin").is_none(), "{path}: {self:?}");
        let policy = self.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(self.header("x-robots-tag").unwrap_or_default().contains("noindex"), "{path}");
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            assert!(!self.text.contains("<script"), "{path}: {}", self.text);
        }
    }

    /// The form that is sent there.
    #[track_caller]
    pub fn form(&self, action: &str) -> Form {
        let found = self.forms().into_iter().find(|form| form.action == action);
        found.unwrap_or_else(|| panic!("no form for {action} in {}", self.text))
    }

    /// All forms that change something.
    pub fn forms(&self) -> Vec<Form> {
        let forms =
            self.text.split("<form ").skip(1).filter_map(|rest| rest.split("</form>").next());
        let forms = forms.filter(|form| form.contains("method=\"post\""));
        forms
            .map(|form| Form { action: attribute(form, "action").unwrap(), fields: fields(form) })
            .collect()
    }
}

/// The fields of a form as they stand.
fn fields(form: &str) -> Vec<(String, String)> {
    let (mut fields, mut is_first) = (Vec::new(), true);
    for tag in form.split('<').skip(1) {
        let name = || attribute(tag, "name");
        if tag.starts_with("input ") {
            let is_box = tag.contains("type=\"checkbox\"");
            let Some(name) = name().filter(|_| !is_box || tag.contains(" checked")) else {
                continue;
            };
            let value = attribute(tag, "value");
            fields.push((name, value.unwrap_or_else(|| if is_box { "on" } else { "" }.to_owned())));
        } else if tag.starts_with("textarea ") {
            let text = tag.split_once('>').unwrap().1;
            fields.push((name().unwrap(), unescaped(text.strip_prefix('\n').unwrap_or(text))));
        } else if tag.starts_with("select ") {
            fields.push((name().unwrap(), String::new()));
            is_first = true;
        } else if tag.starts_with("option ") {
            let (_, chosen) = fields.last_mut().unwrap();
            if std::mem::take(&mut is_first) || tag.contains(" selected") {
                *chosen = attribute(tag, "value").unwrap();
            }
        }
    }
    fields
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = tag.split('>').next().unwrap();
    let value = tag.split_once(&format!(" {name}=\""))?.1;
    Some(unescaped(value.split('"').next().unwrap()))
}

pub fn unescaped(text: &str) -> String {
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#34;", "\"")];
    let plain =
        plain.iter().chain(&[("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&"), ("&amp;", "&")]);
    plain.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A body of a form.
pub fn encoded<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
