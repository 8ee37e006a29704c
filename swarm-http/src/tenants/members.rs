//! Members whom the program around the service has authenticated.

use async_trait::async_trait;
use http::{Extensions, HeaderMap};
use swarm_core::MemberId;

use super::SignOnUnavailable;

/// Says which member of a tenant a request comes from, where the program around the [`service`](crate::service) has a sign-on of its
/// own: [`TenantConfig::members`](crate::TenantConfig::members). Such a member needs no bearer token of Swarm. All other checks stay:
/// it is a member of the tenant ([`Tenant::enrol`](swarm_core::Tenant::enrol)), it is active, and what it files is signed with its key.
///
/// It is asked about each request for a route that takes the bearer token of a member, which waits for the answer.
#[async_trait]
pub trait Members: Send + Sync + 'static {
    /// The member of this tenant whom the program around has authenticated: by an extension, or by a header that a gateway sets.
    /// Nothing in the request may count that a client can send by itself. A bearer token beside it does not count. With `Ok(None)`, the
    /// bearer token of the request counts, as without this hook.
    ///
    /// # Errors
    /// [`SignOnUnavailable`] if it cannot be determined now, which is answered with 503. Reads that need no credential are answered as to
    /// anybody then.
    async fn admit(
        &self,
        request: &MemberRequest<'_>,
    ) -> Result<Option<MemberId>, SignOnUnavailable>;
}

/// The parts of a request by which a member is recognised.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemberRequest<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions, in which a program around the [`service`](crate::service) passes on whom it has authenticated. A
    /// client cannot send any. A warp filter has none.
    pub extensions: &'a Extensions,
}

impl<'a> MemberRequest<'a> {
    pub(crate) fn new(headers: &'a HeaderMap, extensions: &'a Extensions) -> Self {
        Self { headers, extensions }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use bytes::Bytes;
    use http::{Request, StatusCode};
    use http_body_util::Full;
    use swarm_core::domain::{
        Actor, Attribution, Confidence, Contact, Day, Enrolment, Name, SessionDraft, Subject,
    };
    use swarm_core::proof::KeyPair;
    use swarm_core::{Swarm, SystemEntropy, TakeDraft};
    use swarm_store_memory::MemoryStore;
    use tower_service::Service as _;

    use super::*;
    use crate::{AdminTokens, ResponseBody, Site, SiteService, TenantConfig};

    /// What the program around says of a request.
    #[derive(Clone)]
    struct SignedOn(&'static str);

    /// The sign-on, which may not answer.
    #[derive(Clone, Default)]
    struct SignOn(Arc<AtomicBool>);

    #[async_trait]
    impl Members for SignOn {
        async fn admit(
            &self,
            request: &MemberRequest<'_>,
        ) -> Result<Option<MemberId>, SignOnUnavailable> {
            if self.0.load(Ordering::Relaxed) {
                return Err(SignOnUnavailable::new("connection refused"));
            }
            let id = request.extensions.get().map(|SignedOn(id)| id.parse());
            id.transpose().map_err(SignOnUnavailable::new)
        }
    }

    struct Desk {
        service: SiteService,
        sign_on: SignOn,
        keys: KeyPair,
    }

    impl Desk {
        /// A desk with a blind session, and one member, `ada`.
        async fn new() -> Self {
            let sign_on = SignOn::default();
            let mut config = TenantConfig::new("acme".parse().unwrap(), AdminTokens::new());
            config.members = Some(Arc::new(sign_on.clone()));
            let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
            let site = Arc::new(Site::single(swarm, config));
            let served = site.tenant(&"acme".parse().unwrap()).unwrap();
            let (desk, by) = (served.tenant(), Actor::OPERATOR);
            let keys = KeyPair::from_seed(&[7; 32]);
            let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("ada").unwrap());
            let ada = Enrolment::new("ada".parse().unwrap(), name, contact, keys.public_key());
            desk.enrol(&ada, &by).await.unwrap();
            let subject = Subject::new("aurora".parse().unwrap(), "Aurora");
            let _ = desk.put_subject(&subject, &by).await.unwrap();
            let draft = SessionDraft::new(Day::parse("2026-11-21").unwrap(), subject.id);
            let closes = desk.now().await.unwrap().plus_millis(3_600_000);
            let draft = SessionDraft { blind: true, window_closes_at: Some(closes), ..draft };
            desk.convene(&draft, &Attribution::from(by)).await.unwrap();
            Self { service: crate::service(&site), sign_on, keys }
        }

        fn take(&self) -> String {
            let take = TakeDraft::new(
                "ada".parse().unwrap(),
                Day::parse("2026-11-21").unwrap(),
                "aurora".parse().unwrap(),
                "n-1".parse().unwrap(),
                "bullish".parse().unwrap(),
                Confidence::parse(0.7).unwrap(),
            );
            self.keys.sign(take).to_json()
        }

        /// Sends a request of this member; with a token of the program, which is none of Swarm.
        async fn send(
            &self,
            member: Option<&'static str>,
            path: &str,
            body: String,
        ) -> http::Response<ResponseBody> {
            let method = if body.is_empty() { "GET" } else { "POST" };
            let mut request = Request::builder()
                .method(method)
                .uri(format!("http://acme.example{path}"))
                .header("content-type", "application/json")
                .header("authorization", "Bearer of-the-program")
                .body(Full::<Bytes>::from(body))
                .unwrap();
            if let Some(id) = member {
                request.extensions_mut().insert(SignedOn(id));
            }
            self.service.clone().call(request).await.unwrap()
        }
    }

    #[tokio::test]
    async fn member_of_the_sign_on_needs_no_token() {
        let desk = Desk::new().await;
        let ada = Some("ada");
        let status = async |member, path, body| desk.send(member, path, body).await.status();
        for path in ["/api/swarm/preflight", "/api/swarm/submit"] {
            assert_eq!(status(None, path, desk.take()).await, StatusCode::UNAUTHORIZED);
            assert_eq!(status(Some("eve"), path, desk.take()).await, StatusCode::UNAUTHORIZED);
        }
        assert_eq!(status(ada, "/api/swarm/preflight", desk.take()).await, StatusCode::OK);
        let filed = desk.send(ada, "/api/swarm/submit", desk.take()).await;
        assert_eq!(filed.status(), StatusCode::CREATED);
        assert!(filed.headers().contains_key("swarm-seal"));
        assert_eq!(status(ada, "/api/swarm/me", String::new()).await, StatusCode::OK);

        let text = async |member| {
            let take = desk.send(member, "/api/swarm/takes/1", String::new()).await;
            let is_private = take.headers()["cache-control"] == "no-store";
            let Ok(bytes) = take.into_body().into_bytes() else { panic!("a stream") };
            (is_private, String::from_utf8(bytes.to_vec()).unwrap())
        };
        let own = text(ada).await;
        assert!(own.0 && own.1.contains("bullish"), "{own:?}");
        for other in [None, Some("eve")] {
            let seen = text(other).await;
            assert!(!seen.1.contains("bullish"), "{seen:?}");
        }
    }

    #[tokio::test]
    async fn outage_of_the_sign_on_is_a_503_where_a_member_is_asked_for() {
        let desk = Desk::new().await;
        desk.sign_on.0.store(true, Ordering::Relaxed);
        let status = async |path| desk.send(Some("ada"), path, String::new()).await.status();
        assert_eq!(status("/api/swarm/me").await, StatusCode::SERVICE_UNAVAILABLE);
        for public in ["/api/swarm/sessions", "/api/swarm/sessions/1", "/"] {
            assert_eq!(status(public).await, StatusCode::OK, "{public}");
        }
        desk.sign_on.0.store(false, Ordering::Relaxed);
        let filed = desk.send(Some("ada"), "/api/swarm/submit", desk.take()).await;
        assert_eq!(filed.status(), StatusCode::CREATED);
        desk.sign_on.0.store(true, Ordering::Relaxed);
        assert_eq!(status("/api/swarm/takes/1").await, StatusCode::OK);
    }
}
