//! Random documents and calls, beside a plain reading of the specification.

use crate::recorder::{Recorded, Recorder, call_with};
use axum::body::Body;
use axum::http::Response;
use percent_encoding::percent_decode_str;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use toolkit_ai::{State, ToolError, ToolOutput, ToolRegistry};
use toolkit_openapi::client::{Credentials, OpenApiTools, OpenApiToolsBuilder};

#[derive(Debug, Clone, Copy)]
enum Written {
    Inline,
    Local,
    /// By a reference to a reference.
    Chain,
    OtherFile,
}

fn written() -> impl Strategy<Value = Written> {
    select(vec![Written::Inline, Written::Local, Written::Chain, Written::OtherFile])
}

/// Returns a document's toolset with one operation, `call`.
fn read(
    builder: OpenApiToolsBuilder,
    written: Written,
    path: &str,
    mut operation: Value,
    schemes: Value,
) -> OpenApiTools {
    operation["operationId"] = "call".into();
    // No scheme is this, except by a reference.
    let session = json!({"type": "apiKey", "in": "cookie", "name": "sid"});
    let own = match written {
        Written::Inline => operation.clone(),
        Written::Local => json!({"$ref": "#/x-operations/call"}),
        Written::Chain => json!({"$ref": "#/x-operations/other"}),
        Written::OtherFile => json!({"$ref": "operations/call.json#/it"}),
    };
    let components = json!({"schemas": {"Text": {"type": "string"}}, "securitySchemes": schemes});
    let document = json!({
        "openapi": "3.1.0",
        "paths": {path: {"post": own}},
        "x-operations": {"call": operation, "other": {"$ref": "#/x-operations/call"}, "session": session},
        "components": components,
    });
    // A reference without a file points into its own.
    let other = json!({"it": operation, "components": components}).to_string();
    builder.document("operations/call.json", other).read_document(&document.to_string()).unwrap()
}

fn answer(text: &str) -> Response<Body> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(Body::from(text.to_owned())).unwrap()
}

/// Calls the operation of a document, with one answer from the service.
fn call(
    body: &str,
    tools: impl Fn(&Recorder) -> OpenApiTools,
    arguments: Value,
) -> (Result<ToolOutput, ToolError>, Vec<Recorded>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let body = body.to_owned();
        let service = Recorder::start(move |_, _| answer(&body)).await;
        let toolset = tools(&service);
        assert_eq!(toolset.issues(), []);
        let registry: ToolRegistry = toolset.registry().unwrap();
        let outcome = call_with(&registry, arguments, State::new()).await;
        (outcome, service.requests())
    })
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

fn of_form(body: &str) -> Vec<(String, String)> {
    let pairs = body.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn of_parts(request: &Recorded) -> Vec<(String, String)> {
    let (_, boundary) = request.header("content-type").split_once("boundary=").unwrap();
    let delimiter = format!("\r\n--{boundary}");
    let body = format!("\r\n{}", request.body);
    let parts = body.split(&delimiter).skip(1).filter(|part| !part.starts_with("--"));
    let read = parts.map(|part| {
        let (head, content) = part.split_once("\r\n\r\n").unwrap();
        let name = head.split_once("name=\"").unwrap().1.split_once('"').unwrap().0;
        (name.to_owned(), content.to_owned())
    });
    read.collect()
}

/// Returns a value's form fields, by OpenAPI 3.1, section 4.8.15.
fn in_form(name: &str, value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            vec![(name.to_owned(), value.to_string())]
        }
        Value::Array(items) => items.iter().map(|item| (name.to_owned(), text(item))).collect(),
        value => vec![(name.to_owned(), text(value))],
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,4}", r#"[ %&=?#/\\.,;:|\[\]{}+"']{1,4}"#]
}

/// A schema, and a valid value.
fn member() -> impl Strategy<Value = (Value, Value)> {
    let texts = select(vec![
        json!({"type": "string"}),
        json!({"anyOf": [{"type": "string"}, {"type": "string", "enum": ["a", "b"]}]}),
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"oneOf": [{"type": "string"}, {"type": "object", "properties": {"k": {}}}]}),
        json!({"allOf": [{"type": "string"}, {"description": "d"}]}),
        json!({"allOf": [{"$ref": "#/components/schemas/Text"}]}),
        json!({"type": ["string", "null"]}),
        json!({"contentEncoding": "base64"}),
        json!({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}),
        json!({}),
    ]);
    let lists = select(vec![
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
    ]);
    let objects = select(vec![
        json!({"type": "object", "additionalProperties": true}),
        json!({"anyOf": [{"type": "string"}, {"type": "object"}]}),
        json!({}),
    ]);
    let lists_of_objects =
        select(vec![json!({"type": "array", "items": {"type": "object"}}), json!({"items": {}})]);
    let object = || btree_map(text(), text(), 0..3).prop_map(|members| json!(members));
    prop_oneof![
        (texts, text().prop_map(Value::from)),
        (lists, vec(text(), 1..3).prop_map(Value::from)),
        (objects, object()),
        (lists_of_objects, vec(object(), 1..3).prop_map(Value::from)),
    ]
}

/// A JSON number of up to 40 digits.
fn number() -> impl Strategy<Value = String> {
    prop_oneof!["-?[1-9][0-9]{0,39}", "-?[1-9][0-9]{0,2}\\.[0-9]{0,30}[1-9]"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_operation_sends_what_its_arguments_say(
        written in written(),
        path in select(vec!["/a", "/a#frag", "/a/{id}#x?beta=false", "/a/{id}/b?beta=true#y", "/a/{i#d}"]),
        members in vec(member(), 1..4),
        media_type in select(vec!["application/x-www-form-urlencoded", "multipart/form-data"]),
    ) {
        let properties: Map<String, Value> =
            members.iter().enumerate().map(|(i, (schema, _))| (format!("m{i}"), schema.clone())).collect();
        let schema = json!({"type": "object", "properties": properties});
        let name = if path.contains("{i#d}") { "i#d" } else { "id" };
        let parameter = json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let operation = json!({
            "parameters": if path.contains('{') { json!([parameter]) } else { json!([]) },
            "requestBody": {"required": true, "content": {media_type: {"schema": schema}}},
        });
        let mut arguments: Map<String, Value> =
            members.iter().enumerate().map(|(i, (_, value))| (format!("m{i}"), value.clone())).collect();
        if path.contains('{') {
            arguments.insert(name.to_owned(), "7#8".into());
        }
        let (outcome, requests) = call(
            "[]",
            |service| read(service.builder(), written, path, operation.clone(), json!({})),
            arguments.into(),
        );
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
        let line = match path {
            "/a" | "/a#frag" => "POST /a",
            "/a/{id}/b?beta=true#y" => "POST /a/7%238/b?beta=true",
            _ => "POST /a/7%238",
        };
        prop_assert_eq!(&requests[0].line, line);
        let sent = if media_type.starts_with("multipart") { of_parts(&requests[0]) } else { of_form(&requests[0].body) };
        let expected: Vec<(String, String)> =
            members.iter().enumerate().flat_map(|(i, (_, value))| in_form(&format!("m{i}"), value)).collect();
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn no_argument_has_the_name_of_a_credential(
        written in written(),
        place in select(vec!["query", "cookie", "form"]),
        members in btree_map(
            prop_oneof![select(vec!["key", "KEY", "sid", "a"]).prop_map(str::to_owned), text()], text(), 1..4
        ),
    ) {
        let schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let schemes = json!({
            "query": {"type": "apiKey", "in": "query", "name": "key"},
            "cookie": {"$ref": "#/x-operations/session"},
        });
        let mut operation = json!({"security": [{"query": [], "cookie": []}]});
        if place == "form" {
            let encoding = json!({"filter": {"style": "form", "explode": true}});
            let schema = json!({"type": "object", "properties": {"filter": schema}});
            let media = json!({"schema": schema, "encoding": encoding});
            operation["requestBody"] = json!({"content": {"application/x-www-form-urlencoded": media}});
        } else {
            let allow_reserved = json!({"name": "filter", "in": place, "explode": true, "style": "form",
                "allowReserved": true, "schema": schema});
            operation["parameters"] = json!([allow_reserved]);
        }
        let credentials = Credentials::new().with_secret("query", "REAL").with_secret("cookie", "REAL");
        let (outcome, requests) = call(
            "[]",
            |service| {
                let builder = service.builder().credentials(credentials.clone());
                read(builder, written, "/a", operation.clone(), schemes.clone())
            },
            json!({"filter": members}),
        );
        let own = if place == "cookie" { "sid" } else { "key" };
        if members.keys().any(|name| name.eq_ignore_ascii_case(own)) {
            let error = outcome.unwrap_err();
            prop_assert!(error.message().contains("the name of a credential"), "{}", error);
            prop_assert_eq!(requests.len(), 0);
            return Ok(());
        }
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
        let request = &requests[0];
        let query = of_form(request.line.split_once('?').unwrap().1);
        let cookies = of_form(&request.header("cookie").replace("; ", "&"));
        let mut expected: Vec<(String, String)> = members.clone().into_iter().collect();
        let (sent, secret) = match place {
            "query" => (query, Some("key")),
            "cookie" => (cookies, Some("sid")),
            _ => (of_form(&request.body), None),
        };
        expected.extend(secret.map(|name| (name.to_owned(), "REAL".to_owned())));
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn an_answer_keeps_all_digits(
        written in written(), numbers in vec(number(), 4), limit in 1..4_usize, is_cut: bool,
    ) {
        let [a, b, c, d] = &numbers[..] else { unreachable!() };
        let list = format!("[{a},{{\"id\":{b},\"x\":\"\\u0041/\"}},{c}]");
        let body = format!("{{\"id\": {d},\n\"list\": {list}, \"other\": 1}}");
        let (outcome, _) = call(
            &body,
            |service| {
                let builder = service.builder();
                let builder = if is_cut {
                    builder.list_limit(limit).answer_fields("call", ["id", "list"])
                } else {
                    builder
                };
                read(builder, written, "/a", json!({}), json!({}))
            },
            json!({}),
        );
        let items = [a.clone(), format!("{{\"id\":{b},\"x\":\"A/\"}}"), c.clone()];
        let kept = if is_cut { limit.min(3) } else { 3 };
        let other = if is_cut { "" } else { ",\"other\":1" };
        let expected = format!("{{\"id\":{d},\"list\":[{}]{other}}}", items[..kept].join(","));
        prop_assert_eq!(outcome.unwrap().to_text().into_owned(), expected);
    }
}
