//! The examples' recorded answers.

use std::path::Path;
use toolkit_ai::llm::ApiFormat::OpenAiChat;
use toolkit_ai::serde_json::{self, Map, Value};

#[track_caller]
fn check(file: &str, calls: &[(&str, &str)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(file);
    let body: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let parsed = OpenAiChat.parse_calls(&body).unwrap();
    let found: Vec<_> = parsed.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(found, calls);

    let history = OpenAiChat.assistant_messages(&body).unwrap();
    let written = history[0]["tool_calls"].as_array().unwrap();
    assert_eq!(history.len(), 1);
    for ((call, (_, arguments)), written) in parsed.iter().zip(calls).zip(written) {
        assert_eq!(written["id"], call.id.as_str());
        let is_object = serde_json::from_str::<Map<String, Value>>(arguments).is_ok();
        assert_eq!(written["function"]["arguments"] == *arguments, is_object, "{arguments}");
    }
}

#[test]
fn weather_parallel() {
    let city = |city: &str| format!(r#"{{"city": "{city}", "unit": "celsius"}}"#);
    let [paris, london, rome] = ["Paris", "London", "Rome"].map(city);
    check(
        "weather_parallel.json",
        &[("get_weather", &paris), ("get_weather", &london), ("get_weather", &rome)],
    );
}

#[test]
fn order_and_search() {
    check(
        "order_and_search.json",
        &[
            (
                "create_order",
                r#"{"order":{"customer":"Müller & Söhne","items":[{"sku":"KB-87","quantity":2},{"sku":"MS-12","quantity":1}],"express":true}}"#,
            ),
            ("search_web", r#"{"query":"KB-87 mechanical keyboard delivery time Zürich","max_results":3}"#),
        ],
    );
}

#[test]
fn malformed_arguments() {
    check(
        "malformed_arguments.json",
        &[
            ("add", r#"{"a":19,"b":23}"#),
            ("search_web", r#"{"query":"history of the slide rule and how it was"#),
        ],
    );
}

#[test]
fn unknown_tool() {
    check(
        "unknown_tool.json",
        &[("search_wed", r#"{"query":"Rust 2024 edition","max_results":5}"#), ("add", r#"{"a":2,"b":40}"#)],
    );
}

#[test]
fn wrong_arguments() {
    check(
        "wrong_arguments.json",
        &[
            (
                "create_order",
                r#"{"order":{"customer":"Ada Lovelace","items":[{"sku":"KB-87","quantity":1},{"sku":"MS-12","quantity":"two"}],"expres":false},"note":"leave at the door"}"#,
            ),
            ("search_web", r#"{"querry":"analytical engine","max_results":"a few"}"#),
        ],
    );
}

#[test]
fn slow_and_failing() {
    check(
        "slow_and_failing.json",
        &[
            ("divide", r#"{"a":1,"b":0}"#),
            ("slow_report", r#"{"topic":"quarterly sales"}"#),
            ("add", r#"{"a":20,"b":22}"#),
        ],
    );
}
