//! Requests, as HTTP/1.1 text, through the whole service: never a 5xx. The fixture has a member with the token
//! `ada` that has filed a take, and an operator with the token `adm`.
#![no_main]

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use libfuzzer_sys::fuzz_target;
use swarm_core::domain::AdminTokenHash;
use swarm_testing::TestTenant;
use swarm_core::{Swarm, SystemEntropy, TenantId};
use swarm_http::{AdminTokens, Site, SiteService, TenantConfig};
use swarm_store_memory::MemoryStore;
use tokio::runtime::Runtime;
use tower_service::Service;

fuzz_target!(|text: &[u8]| {
    let Some(request) = request(text) else { return };
    let (runtime, service) = &*SERVED;
    let answer = runtime.block_on(service.clone().call(request));
    let status = answer.map(|answer| answer.status()).expect("there is no other outcome");
    assert!(!status.is_server_error(), "{status}");
});

/// `METHOD path`, a line for each header, a blank line, the body.
fn request(text: &[u8]) -> Option<Request<Full<Bytes>>> {
    let end = text.windows(2).position(|two| two == b"\n\n").unwrap_or(text.len());
    let (head, body) = text.split_at(end);
    let mut lines = head.split(|byte| *byte == b'\n');
    let line = std::str::from_utf8(lines.next()?).ok()?;
    let (method, path) = line.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(path);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    request.body(Full::new(Bytes::copy_from_slice(body.get(2..).unwrap_or_default()))).ok()
}

/// Made once: building the table of routes takes longer than most requests.
static SERVED: LazyLock<(Runtime, SiteService)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let (store, tenant) = (MemoryStore::new(), TenantId::parse("acme").expect("a name"));
    runtime.block_on(async {
        let world = TestTenant::open(Arc::new(store.clone()), tenant.clone());
        let ada = world.author("ada").await;
        let session = world.convened("aurora").await;
        world.filed(&ada, &session, "nonce").await;
    });
    let config = TenantConfig::new(tenant, AdminTokens::single(AdminTokenHash::of(b"adm")));
    let site = Arc::new(Site::single(Swarm::new(store, SystemEntropy), config));
    (runtime, swarm_http::service(&site))
});
