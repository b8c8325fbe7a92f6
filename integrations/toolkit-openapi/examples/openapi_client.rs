//! A service in the same program: its document becomes tools, and a model's calls reach it.
//!
//! The calls are those that a model would make; no key is needed. Each run has the credentials of its user.
#![allow(clippy::print_stdout)]

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::routing::get;
use serde_json::{Value, json};
use std::error::Error;
use tokio::net::TcpListener;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::{Dispatcher, RunContext, ToolCall};
use toolkit_openapi::client::{CallerCredentials, Credentials, OpenApiTools};

/// The document of the service, as `/openapi.json` serves it.
fn document() -> Value {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "/v1"}],
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/orders": {"get": {
                "operationId": "listOrders", "tags": ["orders"], "summary": "Lists the orders of the user.",
                "parameters": [
                    {"name": "states", "in": "query", "explode": false, "schema": {
                        "type": "array", "items": {"type": "string", "enum": ["open", "paid", "sent"]}
                    }},
                    {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}},
                ],
            }},
            "/orders/{id}": {"get": {
                "operationId": "getOrder", "tags": ["orders"], "summary": "Returns an order.", "parameters": [id],
                "responses": {"404": {"description": "The user has no such order."}},
            }},
        },
    })
}

/// Returns the user of a request.
fn user(headers: &HeaderMap) -> Result<&'static str, StatusCode> {
    match headers.get("authorization").and_then(|value| value.to_str().ok()) {
        Some("Bearer token-of-ada") => Ok("ada"),
        Some("Bearer token-of-bob") => Ok("bob"),
        _ => Err(StatusCode::UNAUTHORIZED),
    }
}

type Answer = Result<([(HeaderName, &'static str); 1], String), StatusCode>;

fn answer(value: &Value) -> Answer {
    Ok(([(CONTENT_TYPE, "application/json")], value.to_string()))
}

async fn list_orders(headers: HeaderMap, RawQuery(query): RawQuery) -> Answer {
    let user = user(&headers)?;
    let orders: Vec<Value> =
        (1..=30).map(|id| json!({"id": id, "user": user, "note": "a long text"})).collect();
    answer(&json!({"query": query, "orders": orders}))
}

async fn get_order(headers: HeaderMap, Path(id): Path<u64>) -> Answer {
    let user = user(&headers)?;
    if id > 30 { Err(StatusCode::NOT_FOUND) } else { answer(&json!({"id": id, "user": user})) }
}

/// Starts the service, and returns its address.
async fn start() -> Result<String, Box<dyn Error>> {
    let router = Router::new()
        .route("/openapi.json", get(async || answer(&document())))
        .route("/v1/orders", get(list_orders))
        .route("/v1/orders/{id}", get(get_order));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let host = listener.local_addr()?.to_string();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(host)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let host = start().await?;
    let toolset = OpenApiTools::builder()
        .answer_fields("listOrders", ["query", "orders.id", "orders.user"])
        .list_limit(2)
        .read_address(&format!("http://{host}/openapi.json"))
        .await?;
    let registry = toolset.registry()?;
    println!("{}", registry.definitions(ApiFormat::OpenAiChat).to_value());

    for user in ["ada", "bob", "nobody"] {
        let credentials = Credentials::new().with_secret("token", format!("token-of-{user}"));
        let callers = CallerCredentials::new().with(host.as_str(), credentials);
        let dispatcher = Dispatcher::new(registry.clone())?.with_run(RunContext::new().with_state(callers));
        let calls = [
            ToolCall::new("1", "orders-listOrders", r#"{"states": ["open", "paid"]}"#),
            ToolCall::new("2", "orders-getOrder", r#"{"id": 7}"#),
            ToolCall::new("3", "orders-getOrder", r#"{"id": 99}"#),
        ];
        for result in dispatcher.dispatch(calls).await {
            match result.outcome {
                Ok(output) => println!("{user}: {} {}", output.to_text(), output.message()),
                Err(error) => println!("{user}: {error}"),
            }
        }
    }
    Ok(())
}
