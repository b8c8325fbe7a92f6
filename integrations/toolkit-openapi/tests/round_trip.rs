//! A served registry's document becomes tools with the same results and errors as direct calls.

use crate::served::registry;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolkit_ai::{Content, ToolOutput};
use toolkit_openapi::client::{Credentials, Namespaces, OpenApiTools};
use toolkit_openapi::server::OpenApiServer;

/// A call on the wire: request line, media type, body, and the response's body.
type Exchange = (String, String, String, Vec<u8>);

async fn recorded(exchanges: Arc<Mutex<Vec<Exchange>>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let line = format!("{} {}", head.method, head.uri);
    let header = |name: &str| head.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    assert_eq!(header("authorization"), "Bearer secret");
    let media_type = header("content-type");
    let sent = String::from_utf8(body.to_vec()).unwrap();
    let (head, answer) = next.run(Request::from_parts(head, Body::from(body))).await.into_parts();
    let answer = to_bytes(answer, usize::MAX).await.unwrap();
    exchanges.lock().unwrap().push((line, media_type, sent, answer.to_vec()));
    Response::from_parts(head, Body::from(answer))
}

/// Returns a response's bytes for this output.
fn on_the_wire(output: &ToolOutput) -> Vec<u8> {
    match output.content() {
        [Content::Json(json)] => json.as_str().as_bytes().to_vec(),
        [Content::Text(text)] => text.as_bytes().to_vec(),
        [Content::Image(_)] => b"\x89PNG\r\n".to_vec(),
        _ => br#"{"content":[{"type":"text","text":"see"},{"type":"image","media_type":"image/png","base64":"eA=="}]}"#
            .to_vec(),
    }
}

#[tokio::test]
async fn every_tool_has_the_same_result_directly_and_through_both_halves() {
    let direct = registry();
    let server = OpenApiServer::new(registry()).unwrap().with_bearer_token("secret");
    let document = server.document();
    let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
    let wire = exchanges.clone();
    let router = Router::new().fallback_service(server.into_service());
    let router = router.layer(from_fn(move |request, next| recorded(wire.clone(), request, next)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let builder = OpenApiTools::builder().namespaces(Namespaces::None).base_url(url);
    let builder = builder.credentials(Credentials::new().with_secret("bearer", "secret"));
    let toolset = builder.read_document(&document).unwrap();
    assert!(toolset.issues().is_empty(), "{:?}", toolset.issues());
    let tools = toolset.registry().unwrap();
    assert_eq!(tools.names().collect::<Vec<_>>(), direct.names().collect::<Vec<_>>());
    for name in direct.names() {
        let properties = |tools: &toolkit_ai::ToolRegistry| {
            let schema = tools.get(name).unwrap().definition().parameters.clone();
            schema["properties"].as_object().map(|properties| properties.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(properties(&tools).unwrap_or_default(), properties(&direct).unwrap_or_default(), "{name}");
    }
    for (tool, arguments) in [
        ("add", json!({"a": i64::MAX - 10, "b": 10})),
        ("weather", json!({"city": "Zürich \"\u{1F327}\""})),
        ("greet", json!({"name": "Ada\r\n"})),
        ("greet", json!({})),
        ("chart", json!({})),
        ("both", json!({})),
        ("fail", json!({"kind": "failed"})),
        ("fail", json!({"kind": "retry"})),
        ("fail", json!({"kind": "pending"})),
        ("fail", json!({"kind": "rate"})),
        ("fail", json!({"kind": "panic"})),
    ] {
        let here = direct.call(tool, &arguments.to_string()).await;
        let there = tools.call(tool, &arguments.to_string()).await;
        let (line, media_type, sent, answer) = exchanges.lock().unwrap().pop().unwrap();
        assert_eq!(line, format!("POST /tools/{tool}"));
        if arguments != json!({}) {
            assert_eq!((media_type.as_str(), sent), ("application/json", arguments.to_string()));
        }
        match (here, there) {
            (Ok(here), Ok(there)) => {
                assert_eq!(answer, on_the_wire(&here), "{tool}");
                if tool != "both" {
                    assert_eq!(here.content(), there.content(), "{tool}");
                }
            }
            (Err(here), Err(there)) => {
                let problem: Value = serde_json::from_slice(&answer).unwrap();
                assert_eq!(problem["detail"], here.message());
                assert!(there.message().contains(here.message()), "{}\n{}", here.message(), there.message());
            }
            (here, there) => panic!("{tool} {arguments}: {here:?} and {there:?}"),
        }
    }
    assert_eq!(exchanges.lock().unwrap().len(), 0, "a call was sent twice");
}
