//! Answers of services as results.

use crate::recorder::{Recorder, document, json_answer, registry};
use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_ai::{Content, Dispatcher, ErrorKind, ToolCall, ToolError, ToolOutput};
use toolkit_openapi::client::HttpLimits;

fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.into()).unwrap()
}

async fn call(
    method: &str,
    answer: impl Fn(usize) -> Response<Body> + Clone + Send + Sync + 'static,
) -> (Result<ToolOutput, ToolError>, usize) {
    let service = Recorder::start(move |_, earlier| answer(earlier)).await;
    let responses = json!({"404": {"description": "There is no such pet."}, "default": {"description": ""}});
    let tools = service.tools(method, "/", json!({"responses": responses}));
    let outcome = tools.call("call", "{}").await;
    (outcome, service.requests().len())
}

#[tokio::test]
async fn a_body_is_read_by_its_media_type() {
    let text = |text: &str| Content::Text(text.to_owned());
    for (status, media_type, body, expected) in [
        (200, "application/json", b"{\"a\": [1, null]}".as_slice(), r#"{"a":[1,null]}"#),
        (200, "application/vnd.x+json; charset=utf-8", b"\xef\xbb\xbf[1]", "[1]"),
        (200, "text/html", b"<p>hi</p>", "<p>hi</p>"),
        (200, "application/xml", b"<a/>", "<a/>"),
        (200, "application/json", b"not json", "not json"),
        (204, "", b"", "The service has answered 204 No Content without content."),
        (201, "application/json", b"", "The service has answered 201 Created without content."),
        (200, "image/png", b"\x89PNG", "[image image/png]"),
        (200, "application/pdf", b"%PDF", "[file application/pdf]"),
    ] {
        let (outcome, _) = call("get", move |_| answer(status, &[("content-type", media_type)], body)).await;
        assert_eq!(outcome.unwrap().to_text(), expected, "{media_type}");
    }
    let (outcome, _) = call("get", |_| answer(200, &[("x-none", "")], "[2]")).await;
    assert_eq!(outcome.unwrap().to_text(), "[2]");
    let (outcome, _) = call("post", |_| answer(201, &[("location", "/pets/7")], "")).await;
    let created = "The service has answered 201 Created without content, at /pets/7.";
    assert_eq!(outcome.unwrap().content(), [text(created)]);
}

#[tokio::test]
async fn json_is_trimmed_with_a_word_of_how_to_get_more() {
    let pets: Vec<Value> =
        (0..5).map(|id| json!({"id": id, "owner": {"login": "ada", "url": "x"}, "secret": 1})).collect();
    let whole = json!({"total": 5, "pets": pets});
    let link =
        "</pets?page=1>; rel=\"prev\", <https://x.example/pets?page=3&per%5Fpage=5&other=1>; rel=\"next\"";
    let service = Recorder::start(move |_, _| {
        answer(200, &[("content-type", "application/json"), ("link", link)], whole.to_string())
    })
    .await;
    let query = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"total": {"type": "integer"}}});
    let responses = json!({"200": {"description": "", "content": {"application/json": {"schema": schema}}}});
    let operation = json!({"parameters": [query("page"), query("per_page")], "responses": responses});
    let builder = service.builder().answer_fields("call", ["total", "pets.id", "pets.owner.login"]);
    let tools = registry(builder.list_limit(2), document("get", "/pets", operation.clone()));
    let output = tools.call("call", "{}").await.unwrap();
    let kept = r#"{"total":5,"pets":[{"id":0,"owner":{"login":"ada"}},{"id":1,"owner":{"login":"ada"}}]}"#;
    assert_eq!(output.to_text(), kept);
    let message = "`pets` has 5 items; the first 2 are shown. There are more pages. To get other parts, use `page`, `per_page`.";
    assert_eq!((output.message(), output.structured()), (message, None));
    // A misspelt field.
    let builder = service.builder().answer_fields("call", ["totl", "pets.name"]);
    let tools = registry(builder, document("get", "/plain", operation.clone()));
    let output = tools.call("call", "{}").await.unwrap();
    let message = "The program keeps only the fields `totl`, `pets.name`, and the answer has none of them.";
    assert!(output.message().ends_with(message), "{}", output.message());
    // Without settings, the answer is whole, and programs get it as a value.
    let tools = registry(service.builder(), document("get", "/pets", operation));
    let output = tools.call("call", "{}").await.unwrap();
    assert_eq!(output.structured().unwrap()["pets"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn an_error_has_the_status_the_message_of_the_service_and_what_to_do() {
    let problem = "application/problem+json";
    let json = "application/json";
    let correct = "Correct the arguments and call again.";
    for (status, media_type, body, kind, message) in [
        (404, json, r#"{"message": "No pet 7"}"#, ErrorKind::Failed, "404 Not Found: No pet 7. Check the ids and names in the arguments, or list what exists.".to_owned()),
        (404, "text/html", "<h1>no</h1>", ErrorKind::Failed, "404 Not Found: There is no such pet. Check the ids and names in the arguments, or list what exists.".to_owned()),
        (401, json, r#"{"error": {"message": "Bad token"}}"#, ErrorKind::Failed, "401 Unauthorized: Bad token. The credentials of the program are missing, wrong or expired; another call will fail as well.".to_owned()),
        (403, json, r#"{"error": "no"}"#, ErrorKind::Failed, "403 Forbidden: no. The credentials of the program do not allow this; do not repeat the call as it is.".to_owned()),
        (409, "text/plain", "taken!", ErrorKind::Failed, "409 Conflict: taken! The call conflicts with the current state: read the state, then call again.".to_owned()),
        (422, problem, r#"{"title": "Invalid", "detail": "two faults", "errors": [{"pointer": "/age", "detail": "too young"}, {"field": "name", "code": "missing"}]}"#, ErrorKind::Retry, format!("422 Unprocessable Entity: Invalid: two faults. Fields: `/age`: too young; `name`: missing. {correct}")),
        (422, json, r#"{"detail": [{"loc": ["body", "age"], "msg": "field required", "type": "x"}]}"#, ErrorKind::Retry, format!("422 Unprocessable Entity. Fields: `body.age`: field required. {correct}")),
        (400, json, r#"{"errors": {"name": ["is blank", "is short"]}}"#, ErrorKind::Retry, format!("400 Bad Request. Fields: `name`: is blank.is short. {correct}")),
        (500, json, "{}", ErrorKind::Failed, "500 Internal Server Error. The service may have done it or not: check before you call again.".to_owned()),
    ] {
        let (outcome, _) = call("post", move |_| answer(status, &[("content-type", media_type)], body)).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, format!("The service has answered {message}").as_str()));
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_again() {
    let far = "4102444800";
    for (status, headers, message) in [
        (429, vec![("retry-after", "17")], "Call again in 17 seconds."),
        (429, vec![("ratelimit-reset", "5")], "Call again in 5 seconds."),
        (429, vec![], "Call again later, and less often."),
        (403, vec![("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "9")], "Call again in 9 seconds."),
        (
            403,
            vec![("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", far)],
            "do not repeat the call as it is.",
        ),
    ] {
        let (outcome, requests) = call("get", move |_| answer(status, &headers, "")).await;
        let error = outcome.unwrap_err();
        let is_limit = !message.contains("do not repeat");
        assert_eq!(
            (error.is_retryable(), error.kind() == ErrorKind::RateLimited, requests),
            (is_limit, is_limit, 1)
        );
        assert!(error.message().ends_with(message), "{error}");
    }
}

#[tokio::test]
async fn a_passing_failure_is_repeated_only_where_that_is_safe() {
    let failing = |earlier: usize| {
        if earlier < 2 { answer(503, &[("retry-after", "0")], "") } else { answer(200, &[], "1") }
    };
    let (outcome, requests) = call("put", failing).await;
    assert_eq!((outcome.unwrap().to_text().as_ref(), requests), ("1", 3));
    let (outcome, requests) = call("post", failing).await;
    assert_eq!((outcome.unwrap_err().is_retryable(), requests), (false, 1));
    let (outcome, requests) = call("get", |_| answer(502, &[], "")).await;
    assert_eq!((outcome.unwrap_err().is_retryable(), requests), (true, 3));
    // The service asks for more time than there is.
    let (_, requests) = call("get", |_| answer(503, &[("retry-after", "60")], "")).await;
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn an_answer_has_limits_of_time_and_size() {
    let service = Recorder::start(|_, _| json_answer(200, &json!("x".repeat(2_000)))).await;
    let parameters = json!([{"name": "page_size", "in": "query", "schema": {"type": "integer"}}]);
    let builder = service.builder().limits(HttpLimits::default().with_max_bytes(1_000));
    let tools = registry(builder, document("get", "/", json!({"parameters": parameters})));
    let error = tools.call("call", "{}").await.unwrap_err();
    let message = "The call of the service failed: the response is longer than 1000 bytes. To get other parts, use `page_size`.";
    assert_eq!((error.message(), error.is_retryable()), (message, false));

    // The call's limit ends it and its connection.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let builder = service.builder().base_url(&url);
    let tools = registry(builder, document("get", "/", json!({})));
    let dispatcher = Dispatcher::new(tools).unwrap().with_timeout(Duration::from_millis(200));
    let results = dispatcher.dispatch([ToolCall::new("1", "call", "{}")]).await;
    let error = results[0].outcome.as_ref().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::TimedOut, "Tool `call` timed out after 0.2s"));

    let tools = registry(
        service.builder().base_url(&url).limits(HttpLimits::default().with_total(Duration::from_millis(100))),
        document("post", "/", json!({})),
    );
    let error = tools.call("call", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(
        error.message().ends_with("The service may have done it or not: check before you call again."),
        "{error}"
    );
}
