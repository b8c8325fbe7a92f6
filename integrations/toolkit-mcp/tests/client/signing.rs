//! A source of tokens that signs requests.

use super::bare::Bare;
use super::{call, within};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::error::Error;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use toolkit_mcp::client::{McpClient, McpProtocol, McpToken, McpUrl, TokenRequest, TokenSource};

/// A source whose requests need a signature and the server's nonce.
#[derive(Default)]
struct Signer {
    signed: Mutex<Vec<String>>,
}

impl TokenSource for Signer {
    async fn token(
        &self,
        request: &TokenRequest<'_>,
    ) -> Result<Option<McpToken>, Box<dyn Error + Send + Sync>> {
        let nonce =
            request.challenge().and_then(|challenge| challenge.header("dpop-nonce")).unwrap_or("none");
        let session = request.header("mcp-session-id").is_some();
        let body = String::from_utf8_lossy(request.body());
        let rpc = if body.contains("tools/call") { "call" } else { "other" };
        let target = request.url().rsplit('/').next().unwrap_or_default();
        self.signed.lock().unwrap().push(format!("{} {target} {session} {rpc} {nonce}", request.method()));
        Ok(Some(McpToken::new("one").with_scheme("DPoP").with_header("DPoP", nonce)))
    }
}

async fn nonce(request: Request, next: Next) -> Response {
    let is_signed = {
        let value = |name: &str| request.headers().get(name).map(HeaderValue::as_bytes);
        value("dpop") == Some(b"n1") && value("authorization") == Some(b"DPoP one")
    };
    if !is_signed {
        let challenge = [("www-authenticate", "DPoP error=\"use_dpop_nonce\""), ("dpop-nonce", "n1")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    next.run(request).await
}

#[tokio::test]
async fn a_source_of_tokens_sees_each_request_and_signs_it() {
    let service = StreamableHttpService::new(
        || Ok(Bare::new()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service).layer(middleware::from_fn(nonce));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let signer = Arc::new(Signer::default());
    let url = McpUrl::new(url).with_token_source(signer.clone());
    let client = within(McpClient::builder(url).protocol(McpProtocol::Handshake).connect()).await.unwrap();
    assert_eq!(call(&client, "add", r#"{"a": 2, "b": 3}"#).await.unwrap().to_text(), "5");
    within(client.close()).await;
    let signed = signer.signed.lock().unwrap();
    for expected in [
        "POST mcp false other none",
        "POST mcp false other n1",
        "POST mcp true call none",
        "POST mcp true call n1",
        "GET mcp true other n1",
        "DELETE mcp true other n1",
    ] {
        assert!(signed.iter().any(|request| request == expected), "{expected}: {signed:?}");
    }
}
