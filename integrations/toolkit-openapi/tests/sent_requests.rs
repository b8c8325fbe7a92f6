//! Edges of requests: no body, and too many redirects.

use crate::recorder::{Recorder, json_answer};
use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolkit_ai::ErrorKind;

#[tokio::test]
async fn a_loop_of_redirects_is_an_error() {
    for (method, status) in [("get", 302), ("get", 308), ("post", 307), ("delete", 308)] {
        let service = Recorder::start(move |request, earlier| {
            let place = if earlier % 2 == 0 {
                "/other".to_owned()
            } else {
                format!("http://{}/", request.header("host"))
            };
            Response::builder().status(status).header("location", place).body(Body::empty()).unwrap()
        })
        .await;
        let error = service.tools(method, "/", json!({})).call("call", "{}").await.unwrap_err();
        let expected =
            "Error running tool: the service redirects it more than 5 times; another call will fail as well";
        assert_eq!((error.message(), error.kind()), (expected, ErrorKind::Failed), "{method} {status}");
        assert_eq!(service.lines().len(), 6, "{method} {status}");
    }
    // Where the request may not go on by itself, the place is the answer.
    let service = Recorder::start(|_, _| {
        Response::builder().status(303).header("location", "/orders/7").body(Body::empty()).unwrap()
    })
    .await;
    let output = service.tools("post", "/", json!({})).call("call", "{}").await.unwrap();
    assert!(output.to_text().contains("it is at /orders/7"), "{}", output.to_text());
}

#[tokio::test]
async fn an_optional_body_without_members_is_not_sent() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    for (schema, arguments) in [
        (json!({"type": "object"}), json!({})),
        (json!({"type": "object"}), json!({"body": {}})),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"body": {}})),
        (json!({"type": "object", "properties": {"a": {"type": "string"}}}), json!({})),
        (json!({"anyOf": [{"type": "object"}, {"type": "string"}]}), json!({"body": {}})),
    ] {
        for media_type in ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] {
            for is_required in [false, true] {
                let content = json!({media_type: {"schema": schema}});
                let body = json!({"requestBody": {"required": is_required, "content": content}});
                let sent = service.tools("delete", "/", body).call("call", &arguments.to_string()).await;
                if !is_required {
                    sent.unwrap();
                    let request = service.requests().pop().unwrap();
                    assert_eq!(
                        (request.body.as_str(), request.header("content-type")),
                        ("", ""),
                        "{schema} {media_type}"
                    );
                } else if media_type == "application/json" && arguments != json!({}) {
                    sent.unwrap();
                    assert_eq!(service.requests().pop().unwrap().body, "{}", "{schema}");
                }
            }
        }
    }
}
