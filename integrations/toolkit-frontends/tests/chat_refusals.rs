//! What a page may not do.

use crate::page_support::{Page, all};
use serde_json::{Value, json};

/// Returns the status and the error of a request.
async fn refused(page: &Page, user: &str, request: &str, body: Value) -> (u16, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let response = page.request(user, method, path, &body).await;
    let status = response.status().as_u16();
    let error: Value = serde_json::from_slice(&all(response).await).unwrap_or_default();
    (status, error["error"].as_str().unwrap_or_default().to_owned())
}

fn message(id: &str, part: Value) -> Value {
    json!({"messages": [{"id": id, "role": "user", "parts": [part]}]})
}

#[tokio::test]
async fn a_conversation_is_its_users_alone() {
    let mut page = Page::new();
    page.ask("m1", "pay").await;
    let text = json!({"type": "text", "text": "hello"});
    assert_eq!(refused(&page, "", "GET /1/messages", Value::Null).await.0, 401);
    assert_eq!(refused(&page, "eve", "GET /1/messages", Value::Null).await.0, 404);
    assert_eq!(refused(&page, "eve", "POST /1/stop", Value::Null).await.0, 404);
    assert_eq!(refused(&page, "eve", "GET /1/stream", Value::Null).await.0, 204);
    let decision = json!({"messages": [page.messages[1]]});
    assert_eq!(refused(&page, "eve", "POST /1", decision.clone()).await.0, 404);
    assert_eq!(
        refused(&page, "ada?", "POST /1", decision).await,
        (403, "you may not decide calls".to_owned())
    );
    let sent = message("m2", text);
    assert_eq!(refused(&page, "ada!", "POST /1", sent).await, (403, "you may not send messages".to_owned()));
    assert_eq!(refused(&page, "ada!", "POST /1/stop", Value::Null).await.0, 403);
    assert_eq!(refused(&page, "ada!", "GET /1/messages", Value::Null).await.0, 200);

    let list = page.request("ada", "GET", "/", &Value::Null).await;
    let list: Value = serde_json::from_slice(&all(list).await).unwrap();
    assert_eq!(
        (&list[0]["id"], &list[0]["title"], &list[0]["status"]),
        (&json!("1"), &json!("pay"), &json!("waiting"))
    );
    let other = page.request("eve", "GET", "/", &Value::Null).await;
    assert_eq!(all(other).await, "[]");
}

#[tokio::test]
async fn requests_that_cannot_be_answered_say_why() {
    let page = Page::new();
    let cases = [
        (json!({}), 400, "not one of the AI SDK"),
        (json!({"messages": []}), 400, "no messages"),
        (json!({"messages": [{"id": "s", "role": "system", "parts": []}]}), 400, "not one of the user"),
        (message("m1", json!({"type": "source-url"})), 400, "no text and no file"),
        (message("", json!({"type": "text", "text": "a"})), 400, "has no id"),
        (
            message("m1", json!({"type": "file", "mediaType": "image/png", "url": "https://a.example"})),
            400,
            "Base64",
        ),
        (
            message(
                "m1",
                json!({"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,%"}),
            ),
            400,
            "Base64",
        ),
        (
            json!({"messages": [{"id": "a", "role": "assistant", "parts": []}]}),
            409,
            "load its messages again",
        ),
        (json!({"trigger": "regenerate-message", "messages": []}), 400, "no messages"),
        (
            json!({"trigger": "regenerate-message", "messages": [{"id": "a", "role": "assistant", "parts": []}]}),
            400,
            "not one of the user",
        ),
    ];
    for (body, status, reason) in cases {
        let (found, error) = refused(&page, "ada", "POST /1", body.clone()).await;
        assert_eq!(found, status, "{body}: {error}");
        assert!(error.contains(reason), "{body}: {error}");
    }
    let (status, error) = refused(&page, "ada", "POST /", message("m1", json!({}))).await;
    assert_eq!((status, error.as_str()), (400, "the request has no `id` of a conversation"));
    assert!(page.saved().await.is_empty());
}

#[tokio::test]
async fn a_file_of_a_message_is_saved_with_it() {
    let mut page = Page::new();
    let file = json!({"type": "file", "mediaType": "image/png", "filename": "a.png", "url": "data:image/png;base64,iVBORw=="});
    let parts = json!([file, {"type": "text", "text": "hello"}]);
    page.messages.push(json!({"id": "m1", "role": "user", "parts": parts}));
    page.send().await;
    assert_eq!(page.saved().await[0]["parts"][0], file);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let page = Page::new();
    let mut request = http::Request::builder().uri("/").header("host", "evil.example").header("user", "ada");
    assert_eq!(page.status_of(request).await, 403);
    request = http::Request::builder().uri("/").header("host", "localhost").header("user", "ada");
    assert_eq!(page.status_of(request.header("origin", "https://evil.example")).await, 403);
    request = http::Request::builder().uri("/").header("host", "localhost").header("user", "ada");
    assert_eq!(page.status_of(request.header("origin", "http://localhost:5173")).await, 200);
    // A preflight has no user.
    request = http::Request::builder().method("OPTIONS").uri("/1").header("host", "localhost");
    assert_eq!(page.status_of(request.header("origin", "http://localhost:5173")).await, 204);
}
