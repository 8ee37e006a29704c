//! A client of the API, as small as the demonstration needs it: one connection a request.

use std::net::SocketAddr;

use http_body_util::BodyExt;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use swarm_core::json::{self, Json, Object};
use tokio::net::TcpStream;
use warp::http::{Method, Request};

use crate::Failure;

pub(crate) struct Client {
    pub(crate) server: SocketAddr,
    pub(crate) admin_token: String,
}

impl Client {
    /// Sends what an operator sends.
    pub(crate) async fn operate(
        &self,
        method: Method,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<Object, Failure> {
        self.send(method, path, Some(("x-admin-token", &self.admin_token)), json::write(body)).await
    }

    /// Sends what a member sends.
    pub(crate) async fn submit(
        &self,
        token: &str,
        body: &impl serde::Serialize,
    ) -> Result<Object, Failure> {
        let bearer = format!("Bearer {token}");
        let credential = Some(("authorization", bearer.as_str()));
        self.send(Method::POST, "/api/swarm/submit", credential, json::write(body)).await
    }

    /// Publishes what a member wrote.
    pub(crate) async fn publish(
        &self,
        token: &str,
        memo: &impl serde::Serialize,
    ) -> Result<Object, Failure> {
        let bearer = format!("Bearer {token}");
        let credential = Some(("authorization", bearer.as_str()));
        self.send(Method::POST, "/api/swarm/memos", credential, json::write(memo)).await
    }

    /// Sends what a member of the committee sends.
    pub(crate) async fn submit_to_committee(
        &self,
        key: &str,
        take: &impl serde::Serialize,
    ) -> Result<Object, Failure> {
        self.send(Method::POST, "/api/ic/submit", Some(("x-ic-key", key)), json::write(take)).await
    }

    /// Sends what anybody may send.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<Object, Failure> {
        self.send(Method::POST, path, None, json::write(body)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        credential: Option<(&str, &str)>,
        body: String,
    ) -> Result<Object, Failure> {
        let stream = TcpStream::connect(self.server).await?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(&method)
            .uri(path)
            .header("host", self.server.to_string())
            .header("content-type", "application/json");
        if let Some((name, value)) = credential {
            request = request.header(name, value);
        }
        let response = sender.send_request(request.body(body)?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        drop(sender);
        connection.await??;
        if !status.is_success() {
            let text = String::from_utf8_lossy(&bytes);
            return Err(format!("{method} {path}: {status} {text}").into());
        }
        Ok(Json::read(&bytes)?.into_object())
    }
}
