//! Argument types in every shape that serde offers, shared by the property test and the fuzz target.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
pub(crate) struct Plain {
    a: Option<i64>,
    #[serde(default)]
    b: Vec<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct Closed {
    a: u128,
    #[serde(alias = "c")]
    b: Option<Box<Self>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
pub(crate) enum Outside {
    One,
    #[serde(rename = "a")]
    Number(i64),
    #[serde(rename = "b")]
    Fields {
        a: f64,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "a", rename_all = "snake_case")]
#[allow(dead_code)]
pub(crate) enum Inside {
    One { b: Option<i32> },
    TwoWords { b: Vec<Self> },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "a", content = "b")]
#[allow(dead_code)]
pub(crate) enum Beside {
    One,
    Two(Vec<i16>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(crate) enum Untagged {
    Number(i64),
    Text(String),
    List(Vec<Self>),
    Fields { a: u8 },
}
