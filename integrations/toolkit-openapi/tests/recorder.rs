//! A local service that records its requests.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use toolkit_ai::{State, ToolContext, ToolError, ToolName, ToolOutput, ToolRegistry};
use toolkit_openapi::client::{Namespaces, OpenApiTools, OpenApiToolsBuilder};

#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// Method, path and query, such as `GET /a?b=c`.
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Recorded {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A service that answers by a function, which also gets the number of earlier requests.
pub(crate) struct Recorder {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Recorded>>>,
}

impl Recorder {
    pub(crate) async fn start(
        answer: impl Fn(&Recorded, usize) -> Response<Body> + Clone + Send + Sync + 'static,
    ) -> Self {
        let requests: Arc<Mutex<Vec<Recorded>>> = Arc::default();
        let recorded = requests.clone();
        let router = Router::new().fallback(move |request: Request| async move {
            let (head, body) = request.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let request = Recorded {
                line: format!("{} {}", head.method, head.uri),
                headers: head.headers,
                body: String::from_utf8_lossy(&body).into_owned(),
            };
            let earlier = {
                let mut requests = recorded.lock().unwrap();
                requests.push(request.clone());
                requests.len() - 1
            };
            answer(&request, earlier)
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, requests }
    }

    pub(crate) fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.line).collect()
    }

    /// Returns settings for tools named by their operations.
    pub(crate) fn builder(&self) -> OpenApiToolsBuilder {
        OpenApiTools::builder().namespaces(Namespaces::None).base_url(&self.url)
    }

    pub(crate) fn tools(&self, method: &str, path: &str, operation: Value) -> ToolRegistry {
        registry(self.builder(), document(method, path, operation))
    }
}

pub(crate) fn document(method: &str, path: &str, mut operation: Value) -> Value {
    operation["operationId"] = "call".into();
    json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {path: {method: operation}}})
}

pub(crate) fn registry(builder: OpenApiToolsBuilder, document: Value) -> ToolRegistry {
    let toolset = builder.read_document(&document.to_string()).unwrap();
    assert!(toolset.issues().is_empty(), "{:?}", toolset.issues());
    toolset.registry().unwrap()
}

pub(crate) async fn call_with(
    tools: &ToolRegistry,
    arguments: Value,
    state: State,
) -> Result<ToolOutput, ToolError> {
    let context = ToolContext::new(ToolName::new("call").unwrap()).with_state(Arc::new(state));
    let tool = tools.get("call").unwrap();
    tool.call(&arguments.to_string(), &context).await
}

pub(crate) fn json_answer(status: u16, body: &Value) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}
