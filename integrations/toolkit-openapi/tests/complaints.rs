//! What users of other importers complain of.

use crate::recorder::{Recorder, call_with, document, json_answer, registry};
use serde_json::{Value, json};
use toolkit_ai::events::ToolEventKind;
use toolkit_ai::{Dispatcher, RunContext, State, ToolCall};
use toolkit_openapi::client::{Attachments, CallerCredentials, Credentials};

fn parameter(location: &str, style: &str, explode: bool, schema: Value) -> Value {
    json!({"name": "x", "in": location, "required": true, "style": style, "explode": explode, "schema": schema})
}

#[tokio::test]
async fn styles_and_multi_valued_parameters_are_written_as_the_document_says() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let list = json!({"type": "array", "items": {"type": "string"}});
    let object = json!({"type": "object", "additionalProperties": true});
    for (path, parameter, value, line) in [
        ("/a", parameter("query", "form", false, list.clone()), json!(["b", "c"]), "GET /a?x=b,c"),
        ("/a", parameter("query", "form", true, list.clone()), json!(["b", "c"]), "GET /a?x=b&x=c"),
        ("/a", parameter("query", "pipeDelimited", false, list.clone()), json!(["b", "c"]), "GET /a?x=b%7Cc"),
        (
            "/a",
            parameter("query", "deepObject", true, object),
            json!({"b": {"c": 1}}),
            "GET /a?x%5Bb%5D%5Bc%5D=1",
        ),
        ("/a/{x}", parameter("path", "simple", false, list.clone()), json!(["b", "c"]), "GET /a/b,c"),
        ("/a/{x}/d", parameter("path", "label", true, list), json!(["b", "c"]), "GET /a/.b.c/d"),
    ] {
        let tools = service.tools("get", path, json!({"parameters": [parameter]}));
        tools.call("call", json!({"x": value}).to_string()).await.unwrap();
        assert_eq!(service.lines().last().unwrap(), line);
    }
}

#[tokio::test]
async fn headers_of_the_program_arrive_and_win_over_arguments() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let parameters = json!([
        {"name": "X-Version", "in": "header", "schema": {"type": "string"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    ]);
    let builder = service.builder().header("X-Version", "2026").header("X-Tenant", "acme");
    let tools = registry(builder, document("get", "/", json!({"parameters": parameters})));
    tools.call("call", r#"{"X-Version": "1", "X-Trace": "t"}"#).await.unwrap();
    let request = &service.requests()[0];
    let headers = ["x-version", "x-tenant", "x-trace", "accept"].map(|name| request.header(name));
    assert_eq!(headers, ["2026", "acme", "t", "*/*"]);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_reported_and_returned() {
    let answer = json!({"id": "7", "name": null});
    let body = answer.clone();
    let service = Recorder::start(move |_, _| json_answer(200, &body)).await;
    let schema = json!({"type": "object", "required": ["size"], "properties": {
        "id": {"type": "integer"}, "name": {"type": "string"}, "size": {"type": "integer"},
    }});
    let responses =
        json!({"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}});
    let tools = service.tools("get", "/", json!({"responses": responses}));
    let dispatcher = Dispatcher::new(tools).unwrap();
    let mut events = dispatcher.events();
    let results = dispatcher.dispatch([ToolCall::new("1", "call", "{}")]).await;
    let output = results[0].outcome.as_ref().unwrap();
    assert_eq!((output.to_text().as_ref(), output.structured()), (answer.to_string().as_str(), None));
    let mut reports = Vec::new();
    while let Some(Ok(event)) = events.next().await {
        match event.kind {
            ToolEventKind::Progress { message, .. } => reports.push(message),
            ToolEventKind::Ended(_) => break,
            _ => {}
        }
    }
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert!(report.starts_with("The answer does not match the document: "), "{report}");
    for field in ["`id`", "`name`", "`size`"] {
        assert!(report.contains(field), "{report}");
    }
}

#[tokio::test]
async fn users_of_one_process_have_their_own_credentials() {
    let service =
        Recorder::start(|request, _| json_answer(200, &json!(request.header("authorization")))).await;
    let mut document = document("get", "/", json!({"security": [{"token": []}]}));
    document["components"] = json!({"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}});
    let builder = service.builder().credentials(Credentials::new().with_secret("token", "of-program"));
    let tools = registry(builder, document);
    let state = |user: &str| {
        let credentials = Credentials::new().with_secret("token", format!("of-{user}-123456"));
        State::new().with(CallerCredentials::new().with(service.host(), credentials))
    };
    let elsewhere = CallerCredentials::new().with("127.0.0.1", Credentials::new());
    let allowed = State::new().with(elsewhere.clone().with_fallback());
    // All at once: no call takes another's token.
    let (_, _, _, error) = tokio::join!(
        call_with(&tools, json!({}), state("ada")),
        call_with(&tools, json!({}), state("bob")),
        call_with(&tools, json!({}), allowed),
        call_with(&tools, json!({}), State::new().with(elsewhere)),
    );
    let error = error.unwrap_err();
    let host = service.host();
    assert!(
        error.message().contains(&format!("the user of this run has no credentials for `{host}`;")),
        "{error}"
    );
    assert!(error.details().unwrap().starts_with("`CallerCredentials` has the hosts `127.0.0.1`; add"));
    let mut sent: Vec<String> =
        service.requests().iter().map(|request| request.header("authorization").to_owned()).collect();
    sent.sort();
    assert_eq!(sent, ["Bearer of-ada-123456", "Bearer of-bob-123456", "Bearer of-program"]);
}

#[tokio::test]
async fn a_file_is_an_attachment_or_base64_and_never_a_path() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let file = json!({"type": "string", "format": "binary"});
    let schema = json!({"type": "object", "required": ["file"], "properties": {"file": file, "title": {"type": "string"}}});
    let body = json!({"required": true, "content": {"multipart/form-data": {"schema": schema}}});
    let dispatcher = Dispatcher::new(service.tools("post", "/", json!({"requestBody": body}))).unwrap();
    let attachments = Attachments::new().with("cat.png", "image/png", "pixels");
    let dispatcher = dispatcher.with_run(RunContext::new().with_state(attachments));
    let call = |file: &str| ToolCall::new(file, "call", json!({"file": file, "title": "Cat"}).to_string());
    let results = dispatcher.dispatch([call("cat.png"), call("aGk="), call("../secret.txt")]).await;
    let is_sent: Vec<bool> = results.iter().map(|result| result.outcome.is_ok()).collect();
    assert_eq!(is_sent, [true, true, false]);
    let mut bodies: Vec<String> = service.requests().into_iter().map(|request| request.body).collect();
    bodies.sort();
    bodies.sort_by_key(|body| body.contains("cat.png"));
    assert!(bodies[0].contains(
        "name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nhi\r\n"
    ));
    assert!(bodies[1].contains("filename=\"cat.png\"\r\nContent-Type: image/png\r\n\r\npixels\r\n"));
}
