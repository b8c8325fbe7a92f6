//! A reader of the page, without a browser.

use axum::Router;
use axum::body::Body;
use http::header::SET_COOKIE;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::prelude::*;
use toolkit_page::ToolPage;
use tower::ServiceExt as _;

/// The time that no request of a test needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Doubles a number.
#[tool(namespace = "math", read_only)]
pub(crate) fn double(n: i64) -> i64 {
    n * 2
}

/// Writes a line. Calls for one file wait for each other.
#[tool(namespace = "files", lane = "path")]
pub(crate) async fn write(path: String, line: String) -> String {
    tokio::time::sleep(Duration::from_millis(20)).await;
    format!("{path}: {line}")
}

pub(crate) fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![double, write]).unwrap()
}

pub(crate) fn page() -> ToolPage {
    ToolPage::new(Dispatcher::new(registry()).unwrap())
}

pub(crate) struct Reader {
    pub(crate) app: Router,
    pub(crate) cookie: String,
    pub(crate) csrf: String,
}

impl Reader {
    /// Enters a page as its reader does: with a one-time address.
    pub(crate) async fn enter(page: ToolPage) -> Self {
        let path = page.logins().new_path();
        let app = page.into_router().unwrap();
        let response = send(&app, request("GET", &path)).await;
        assert_eq!(response.status(), 200);
        let cookie = response.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        let mut reader = Self { app, cookie, csrf: String::new() };
        reader.csrf = reader.get("/api/session").await["csrf"].as_str().unwrap().to_owned();
        reader
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> http::request::Builder {
        request(method, path).header("cookie", &self.cookie)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let response = self.send(self.request("GET", path), &Value::Null).await;
        assert_eq!(response.status(), 200, "{path}");
        json_of(response).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.request("POST", path).header("x-toolkit-csrf", &self.csrf);
        let response = self.send(request, body).await;
        (response.status().as_u16(), json_of(response).await)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> (u16, Value) {
        let body = json!({"id": "1", "arguments": arguments.to_string()});
        self.post(&format!("/api/tools/{tool}/call"), &body).await
    }

    pub(crate) async fn send(&self, request: http::request::Builder, body: &Value) -> Response<Body> {
        let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
        timeout(PATIENCE, self.app.clone().oneshot(request.body(body).unwrap())).await.unwrap().unwrap()
    }
}

pub(crate) fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "localhost:8000")
}

pub(crate) async fn send(app: &Router, request: http::request::Builder) -> Response<Body> {
    let request = request.body(Body::empty()).unwrap();
    timeout(PATIENCE, app.clone().oneshot(request)).await.unwrap().unwrap()
}

pub(crate) async fn json_of(response: Response<Body>) -> Value {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned()))
}
