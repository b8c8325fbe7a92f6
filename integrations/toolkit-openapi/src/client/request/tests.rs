//! Requests of operations that are made by hand.

mod round_trip;

use super::attachments::Attachments;
use super::*;
use crate::client::operation::{Body, BodyMember, BodySource};
use http::Method;
use serde_json::{Map, json};
use std::sync::Arc;

fn operation(path: &str, parameters: Vec<Parameter>) -> Operation {
    Operation {
        id: "test".to_owned(),
        method: Method::GET,
        path: path.to_owned(),
        server: None,
        parameters,
        body: None,
        responses: Vec::new(),
        security: Vec::new(),
        credentials: Arc::default(),
    }
}

fn styled(style: Style, explode: bool) -> Serialization {
    Serialization::Style { style, explode, allow_reserved: false }
}

fn parameter(name: &str, location: Location, serialization: Serialization) -> Parameter {
    Parameter { argument: name.to_owned(), name: name.to_owned(), location, serialization }
}

fn send(operation: &Operation, arguments: &Value) -> Result<Request<Bytes>, ToolError> {
    let attachments = Attachments::new().with("cat.png", "image/png", b"\x89PNG".as_slice());
    let values = arguments.as_object().unwrap();
    request(operation, "https://api.example.com/v1", Arguments { values, attachments: Some(&attachments) })
}

/// The address below the server's URL, or the message of the error.
fn address(operation: &Operation, arguments: &Value) -> String {
    match send(operation, arguments) {
        Ok(request) => {
            request.uri().to_string().strip_prefix("https://api.example.com/v1").unwrap().to_owned()
        }
        Err(error) => error.to_string().to_owned(),
    }
}

/// The examples of OpenAPI 3.1 ("Style Examples") and of RFC 6570.
#[test]
fn values_are_written_in_the_styles_of_the_specification() {
    let array = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    let (path, query) = (Location::Path, Location::Query);
    for (location, style, explode, value, written) in [
        (path, Style::Matrix, false, json!(""), "/;color"),
        (path, Style::Matrix, false, json!("blue"), "/;color=blue"),
        (path, Style::Matrix, false, array.clone(), "/;color=blue,black,brown"),
        (path, Style::Matrix, false, object.clone(), "/;color=R,100,G,200,B,150"),
        (path, Style::Matrix, true, array.clone(), "/;color=blue;color=black;color=brown"),
        (path, Style::Matrix, true, object.clone(), "/;R=100;G=200;B=150"),
        (path, Style::Label, false, json!("blue"), "/.blue"),
        (path, Style::Label, false, array.clone(), "/.blue,black,brown"),
        (path, Style::Label, false, object.clone(), "/.R,100,G,200,B,150"),
        (path, Style::Label, true, array.clone(), "/.blue.black.brown"),
        (path, Style::Label, true, object.clone(), "/.R=100.G=200.B=150"),
        (path, Style::Simple, false, json!("blue"), "/blue"),
        (path, Style::Simple, false, array.clone(), "/blue,black,brown"),
        (path, Style::Simple, false, object.clone(), "/R,100,G,200,B,150"),
        (path, Style::Simple, true, array.clone(), "/blue,black,brown"),
        (path, Style::Simple, true, object.clone(), "/R=100,G=200,B=150"),
        (query, Style::Form, false, json!(""), "/?color="),
        (query, Style::Form, false, json!("blue"), "/?color=blue"),
        (query, Style::Form, false, array.clone(), "/?color=blue,black,brown"),
        (query, Style::Form, false, object.clone(), "/?color=R,100,G,200,B,150"),
        (query, Style::Form, true, array.clone(), "/?color=blue&color=black&color=brown"),
        (query, Style::Form, true, object.clone(), "/?R=100&G=200&B=150"),
        (query, Style::SpaceDelimited, false, array.clone(), "/?color=blue%20black%20brown"),
        (query, Style::SpaceDelimited, false, object.clone(), "/?color=R%20100%20G%20200%20B%20150"),
        (query, Style::SpaceDelimited, true, array.clone(), "/?color=blue&color=black&color=brown"),
        (query, Style::PipeDelimited, false, array.clone(), "/?color=blue%7Cblack%7Cbrown"),
        (query, Style::PipeDelimited, false, object.clone(), "/?color=R%7C100%7CG%7C200%7CB%7C150"),
        (query, Style::Tab, false, array.clone(), "/?color=blue%09black%09brown"),
        (query, Style::DeepObject, true, object, "/?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (
            query,
            Style::DeepObject,
            true,
            json!({"a": {"b": [1, 2]}, "c": null}),
            "/?color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2",
        ),
        // Each item of an array has its index, so that two objects are not mixed up.
        (
            query,
            Style::DeepObject,
            true,
            json!([{"id": 1}, {"id": 2}]),
            "/?color%5B0%5D%5Bid%5D=1&color%5B1%5D%5Bid%5D=2",
        ),
        (query, Style::DeepObject, true, json!(["a"]), "/?color%5B0%5D=a"),
        // Undefined in RFC 6570: nothing is written.
        (query, Style::Form, true, json!([]), "/"),
        (query, Style::Form, false, json!([]), "/"),
        (query, Style::Form, false, json!({}), "/"),
        (query, Style::Form, true, json!([null, 1]), "/?color=1"),
        (query, Style::Form, true, json!(null), "/"),
        // No style has a text for a value in a value: it is JSON.
        (query, Style::Form, true, json!([[1, true]]), "/?color=%5B1%2Ctrue%5D"),
        // Delimiters in items are encoded, so that they are read as items again.
        (path, Style::Simple, false, json!(["a,b", "c/d"]), "/a%2Cb,c%2Fd"),
        (query, Style::Form, false, json!(["a,b", "c&d=e"]), "/?color=a%2Cb,c%26d%3De"),
    ] {
        let template = if location == path { "/{color}" } else { "/" };
        let operation = operation(template, vec![parameter("color", location, styled(style, explode))]);
        assert_eq!(address(&operation, &json!({"color": value})), written, "{style:?} {explode} {value}");
    }
}

#[test]
fn an_item_with_an_unencoded_delimiter_is_refused() {
    for (location, style, item) in [
        (Location::Query, Style::PipeDelimited, "a|b"),
        (Location::Query, Style::SpaceDelimited, "a b"),
        (Location::Header, Style::Simple, "a,b"),
    ] {
        let operation = operation("/", vec![parameter("tags", location, styled(style, false))]);
        let error = send(&operation, &json!({"tags": [item, "c"]})).unwrap_err();
        assert!(
            error.to_string().contains("`tags`: the item") && error.to_string().contains(item),
            "{error}"
        );
    }
}

#[test]
fn a_name_that_would_be_read_as_two_is_refused() {
    for (location, style, value) in [
        (Location::Query, Style::DeepObject, json!({"a": {"b][c": 1}})),
        (Location::Header, Style::Simple, json!({"a=b": 1})),
    ] {
        let operation = operation("/", vec![parameter("filter", location, styled(style, true))]);
        let error = send(&operation, &json!({"filter": value})).unwrap_err();
        assert!(error.to_string().contains("`filter`: the item"), "{error}");
    }
}

#[test]
fn reserved_characters_stay_where_they_cannot_end_the_value() {
    let serialization = Serialization::Style { style: Style::Form, explode: true, allow_reserved: true };
    let operation = operation("/", vec![parameter("url", Location::Query, serialization)]);
    let written = address(&operation, &json!({"url": "https://a.b/c?d=e&f=[g]#h+i%20"}));
    assert_eq!(written, "/?url=https://a.b/c?d=e%26f=%5Bg%5D%23h%2Bi%2520");
}

#[test]
fn a_parameter_with_content_is_json() {
    let serialization = Serialization::Content("application/json".to_owned());
    let operation = operation(
        "/{where}",
        vec![
            parameter("filter", Location::Query, serialization.clone()),
            parameter("where", Location::Path, serialization.clone()),
            parameter("X-Filter", Location::Header, serialization),
        ],
    );
    let arguments = json!({"filter": {"a": "b"}, "where": "x", "X-Filter": ["y"]});
    assert_eq!(address(&operation, &arguments), "/%22x%22?filter=%7B%22a%22%3A%22b%22%7D");
    assert_eq!(send(&operation, &arguments).unwrap().headers()["x-filter"], r#"["y"]"#);
}

#[test]
fn a_value_that_is_the_whole_query_has_no_name() {
    let whole = |media_type: &str| {
        let serialization = Serialization::Content(media_type.to_owned());
        operation("/", vec![parameter("q", Location::QueryString, serialization)])
    };
    let value = json!({"q": {"a": "b c", "d": [1, 2]}});
    assert_eq!(address(&whole("application/x-www-form-urlencoded"), &value), "/?a=b%20c&d=%5B1%2C2%5D");
    assert_eq!(address(&whole("application/json"), &json!({"q": {"a": 1}})), "/?%7B%22a%22%3A1%7D");
}

#[test]
fn a_path_cannot_be_left() {
    let operation = operation(
        "/files/{name}/versions/{id}.json",
        vec![
            parameter("name", Location::Path, styled(Style::Simple, false)),
            parameter("id", Location::Path, styled(Style::Simple, false)),
        ],
    );
    let with = |name: Value| address(&operation, &json!({"name": name, "id": 7}));
    assert_eq!(with(json!("a/b?c#d%2f é")), "/files/a%2Fb%3Fc%23d%252f%20%C3%A9/versions/7.json");
    assert_eq!(with(json!("..a")), "/files/..a/versions/7.json");
    assert_eq!(with(json!("//evil.example")), "/files/%2F%2Fevil.example/versions/7.json");
    for name in [json!(".."), json!("."), json!(["."]), json!("../x"), json!("a\\..\\b"), json!("a/./b")] {
        assert!(with(name.clone()).contains("`name`: a part of the path, must not have `.`"), "{name}");
    }
    for name in [json!(""), json!([]), json!(null)] {
        assert!(with(name.clone()).contains("`name`: a part of the path, must not be empty"), "{name}");
    }
    assert!(address(&operation, &json!({"name": "a"})).contains("`id`: a part of the path"));
}

#[test]
fn the_path_of_a_document_may_have_a_query() {
    let operation = operation(
        "/a b/{x}?type=1",
        vec![
            parameter("x", Location::Path, styled(Style::Simple, false)),
            parameter("y", Location::Query, styled(Style::Form, true)),
        ],
    );
    assert_eq!(address(&operation, &json!({"x": "?", "y": 2})), "/a%20b/%3F?type=1&y=2");
}

#[test]
fn headers_are_sent_unless_they_belong_to_the_program() {
    let header = |name: &str| parameter(name, Location::Header, styled(Style::Simple, false));
    let names = ["X-Trace", "Authorization", "Host", "cookie", "Content-Length", "Accept", "X-List"];
    let operation = operation("/", names.map(header).into());
    let mut arguments: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!("evil"))).collect();
    arguments.insert("X-List".to_owned(), json!([1, 2]));
    let request = send(&operation, &Value::Object(arguments)).unwrap();
    let sent: Vec<String> = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    assert_eq!(sent, ["x-trace: evil", "x-list: 1,2", "accept: */*"]);
    for illegal in ["a\r\nAuthorization: b", "a\nb", "\0", "é"] {
        let error = send(&operation, &json!({"X-Trace": illegal})).unwrap_err();
        assert!(error.to_string().contains("`X-Trace`: a header, must be ASCII"), "{error}");
    }
}

#[test]
fn cookies_share_one_header_and_cannot_add_another() {
    let cookie = |name: &str, explode| parameter(name, Location::Cookie, styled(Style::Form, explode));
    let operation = operation("/", vec![cookie("session", true), cookie("ids", false)]);
    let request = send(&operation, &json!({"session": "a; admin=1\r\n", "ids": [1, 2]})).unwrap();
    assert_eq!(request.headers()["cookie"], "session=a%3B%20admin%3D1%0D%0A; ids=1,2");
    let lenient = Serialization::Style { style: Style::Form, explode: true, allow_reserved: true };
    let operation = self::operation("/", vec![parameter("pref", Location::Cookie, lenient)]);
    let request = send(&operation, &json!({"pref": "a/b;c=d, \"e\\"})).unwrap();
    assert_eq!(request.headers()["cookie"], "pref=a/b%3Bc=d%2C%20%22e%5C");
}

fn member(name: &str, serialization: Serialization, is_binary: bool) -> BodyMember {
    BodyMember { argument: name.to_owned(), name: name.to_owned(), serialization, is_binary }
}

fn with_body(media_type: &str, source: BodySource) -> Operation {
    let body = Body { media_type: media_type.to_owned(), is_required: true, source };
    Operation { method: Method::POST, body: Some(body), ..operation("/", Vec::new()) }
}

/// The content type and the body as text, or the message of the error.
fn body_of(operation: &Operation, arguments: &Value) -> (String, String) {
    match send(operation, arguments) {
        Ok(request) => {
            let media_type =
                request.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
            (media_type.unwrap_or_default(), String::from_utf8_lossy(request.body()).into_owned())
        }
        Err(error) => (String::new(), error.to_string().to_owned()),
    }
}

#[test]
fn a_body_is_written_in_its_media_type() {
    let form = || Serialization::Plain;
    let json_part = || Serialization::Content("application/json".to_owned());
    let members = || BodySource::Members(vec![member("a", form(), false), member("b", json_part(), false)]);
    let whole = || BodySource::Whole("body".to_owned());
    for (media_type, source, arguments, sent_type, sent) in [
        (
            "application/json",
            members(),
            json!({"b": {"c": null}, "a": 1}),
            "application/json",
            r#"{"a":1,"b":{"c":null}}"#,
        ),
        ("application/json", members(), json!({"a": null}), "application/json", r#"{"a":null}"#),
        ("application/json", members(), json!({}), "application/json", "{}"),
        ("*/*", whole(), json!({"body": [1]}), "application/json", "[1]"),
        (
            "application/merge-patch+json",
            whole(),
            json!({"body": "x"}),
            "application/merge-patch+json",
            r#""x""#,
        ),
        ("text/plain; charset=utf-8", whole(), json!({"body": "é\n"}), "text/plain; charset=utf-8", "é\n"),
        ("application/xml", whole(), json!({"body": "<a/>"}), "application/xml", "<a/>"),
        (
            "application/x-www-form-urlencoded",
            members(),
            json!({"a": ["x y", "&="], "b": {"c": 1}}),
            "application/x-www-form-urlencoded",
            "a=x%20y&a=%26%3D&b=%7B%22c%22%3A1%7D",
        ),
        (
            "application/x-www-form-urlencoded",
            members(),
            json!({"a": {"c": "d"}}),
            "application/x-www-form-urlencoded",
            "a=%7B%22c%22%3A%22d%22%7D",
        ),
        (
            "application/x-www-form-urlencoded",
            whole(),
            json!({"body": {"z": 1, "y": null, "x": {"z": 2}, "w": [{}]}}),
            "application/x-www-form-urlencoded",
            "z=1&x=%7B%22z%22%3A2%7D&w=%5B%7B%7D%5D",
        ),
        ("application/octet-stream", whole(), json!({"body": "aGk="}), "application/octet-stream", "hi"),
        ("application/octet-stream", whole(), json!({"body": "aGk"}), "application/octet-stream", "hi"),
        ("image/*", whole(), json!({"body": "cat.png"}), "image/png", "\u{fffd}PNG"),
    ] {
        let sent = (sent_type.to_owned(), sent.to_owned());
        assert_eq!(body_of(&with_body(media_type, source), &arguments), sent, "{media_type} {arguments}");
    }
    let missing = body_of(&with_body("text/plain", whole()), &json!({})).1;
    assert!(missing.contains("`body`: the body of the request, is missing"), "{missing}");
    let path = body_of(&with_body("application/pdf", whole()), &json!({"body": "/etc/passwd.txt"})).1;
    assert!(path.contains("Base64 string, or the name of an attachment: `cat.png`"), "{path}");
    let mut optional = with_body("application/json", members());
    optional.body.as_mut().unwrap().is_required = false;
    assert_eq!(body_of(&optional, &json!({})), (String::new(), String::new()));
}

#[test]
fn parts_have_their_types_and_a_boundary_that_is_in_none() {
    let part = |media_type: &str| Serialization::Content(media_type.to_owned());
    let source = BodySource::Members(vec![
        member("note", styled(Style::Form, true), false),
        member("meta", part("application/json"), false),
        member("files", part("image/png, image/jpeg"), true),
        member("quote\"\r\n", styled(Style::Form, true), false),
    ]);
    let operation = with_body("multipart/form-data", source);
    let arguments = json!({
        "note": "--toolkit-part--", "meta": {"a": 1}, "files": ["cat.png", "aGk="], "quote\"\r\n": ["x", 2],
    });
    let (media_type, body) = body_of(&operation, &arguments);
    assert_eq!(media_type, "multipart/form-data; boundary=toolkit-part-1");
    let parts = [
        "Content-Disposition: form-data; name=\"note\"\r\n\r\n--toolkit-part--",
        "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}",
        "Content-Disposition: form-data; name=\"files\"; filename=\"cat.png\"\r\nContent-Type: image/png\r\n\r\n\u{fffd}PNG",
        "Content-Disposition: form-data; name=\"files\"; filename=\"files\"\r\nContent-Type: image/png\r\n\r\nhi",
        "Content-Disposition: form-data; name=\"quote%22%0D%0A\"\r\n\r\nx",
        "Content-Disposition: form-data; name=\"quote%22%0D%0A\"\r\n\r\n2",
    ];
    let expected: String = parts.iter().map(|part| format!("--toolkit-part-1\r\n{part}\r\n")).collect();
    assert_eq!(body, format!("{expected}--toolkit-part-1--\r\n"));
}
