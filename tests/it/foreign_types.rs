//! Types of other crates as parameters and results, with features.

use serde_json::{Value, json};
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::{ToolRegistry, tool, tools};

/// A value of each crate, sent back.
#[tool]
fn echo(
    bytes: bytes::Bytes,
    date: chrono::NaiveDate,
    moment: chrono::DateTime<chrono::Utc>,
    day: jiff::civil::Date,
    price: rust_decimal::Decimal,
    link: url::Url,
    id: uuid::Uuid,
) -> String {
    format!("{} {date} {} {day} {price} {link} {id}", bytes.len(), moment.timestamp())
}

fn arguments() -> Value {
    json!({
        "bytes": [1, 2], "date": "2026-11-26", "moment": "2026-11-26T10:00:00Z", "day": "2026-11-27",
        "price": "9.99", "link": "https://example.com/a", "id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
    })
}

#[tokio::test]
async fn types_of_other_crates_are_parameters_with_a_format() {
    let registry = ToolRegistry::from_tools(tools![echo]).expect("a tool");
    let definition = registry.get("echo").expect("the tool").definition().parameters.clone();
    for (name, format) in [("date", "date"), ("moment", "date-time"), ("link", "uri"), ("id", "uuid")] {
        assert_eq!(definition["properties"][name]["format"], format, "{name}");
    }
    let output = registry.call("echo", arguments()).await.expect("legal arguments");
    let expected =
        "2 2026-11-26 1795687200 2026-11-27 9.99 https://example.com/a 67e55044-10b1-426f-9247-bb680e5fe0c8";
    assert_eq!(output.to_text(), expected);
    assert!(registry.definitions(ApiFormat::OpenAiChat).as_json().contains("\"moment\""));
}

/// Repeats times of a place.
#[tool]
fn repeat_times(
    /// The start.
    start: chrono::NaiveDateTime,
    opens: chrono::NaiveTime,
    closes: Option<jiff::civil::Time>,
    end: jiff::civil::DateTime,
    departure: jiff::Zoned,
    address: std::net::IpAddr,
    hosts: Vec<std::net::Ipv4Addr>,
) -> String {
    format!("{start} {opens} {closes:?} {end} {departure} {address} {hosts:?}")
}

/// JSON Schema 2020-12 formats of types.
const FORMATS: [&str; 6] = ["date", "date-time", "duration", "ipv4", "uri", "uuid"];

#[test]
fn types_publish_only_formats_of_json_schema() {
    fn check(schema: &Value) {
        if let Some(Value::String(format)) = schema.get("format") {
            assert!(FORMATS.contains(&format.as_str()), "{schema}");
        }
        toolkit_ai::schema::keyword::subschemas(schema).for_each(|inside| check(inside.schema));
    }
    let registry = ToolRegistry::from_tools(tools![echo, repeat_times]).expect("tools");
    registry.iter_definitions().for_each(|definition| check(&definition.parameters));
    let tool = registry.get("repeat_times").expect("the tool");
    let properties = &tool.definition().parameters["properties"];
    for (name, expected) in [
        ("start", "The start.\nA date and time without a time zone, as in 2026-01-31T13:45:00."),
        ("closes", "A time of day without a time zone, as in 13:45:00."),
        ("departure", "A date and time with a time zone, as in 2026-01-31T13:45:00+01:00[Europe/Paris]."),
        ("address", "An IPv4 or IPv6 address, as in 192.0.2.1."),
    ] {
        assert_eq!(properties[name]["description"], expected);
    }
    assert_eq!(properties["hosts"]["items"]["format"], "ipv4");
}

#[tokio::test]
async fn a_wrong_value_is_named_with_its_parameter() {
    let registry = ToolRegistry::from_tools(tools![echo]).expect("a tool");
    for (name, wrong) in [
        ("date", "tomorrow"),
        ("moment", "2026-11-26"),
        ("day", "2026-02-30"),
        ("price", "cheap"),
        ("link", "no link"),
        ("id", "7"),
    ] {
        let mut arguments = arguments();
        arguments[name] = wrong.into();
        let error = registry.call("echo", arguments).await.expect_err("a wrong value");
        assert!(error.message().contains(&format!("`{name}`")), "{}", error.message());
    }
}
