//! A module without prelude, for absolute paths in generated code.

#![allow(dead_code, reason = "fields that are only shown count as dead")]
#![no_implicit_prelude]

use ::std::string::String;
use ::tk::{ToolParams, tool, toolset};

/// A function with every kind of parameter.
///
/// # Errors
/// Never.
#[tool(crate = ::tk, namespace = "bare", read_only, input_examples = [::tk::serde_json::json!({})], tags("x"))]
#[allow(clippy::too_many_arguments, reason = "all of them are under test")]
pub async fn everything(
    text: &str,
    bytes: &[u8],
    #[param(default = "x", length = 1..=3)] word: String,
    #[param(default, items(range = 0..=9))] list: ::std::vec::Vec<u8>,
    #[param(alias = "p", default = Place::Here)] place: Place,
    area: ::core::option::Option<&Area>,
    #[state] count: ::core::option::Option<&u64>,
    context: &::tk::ToolContext,
) -> ::core::result::Result<String, ::tk::ToolError> {
    ::std::future::ready(()).await;
    ::core::result::Result::Ok(::std::format!(
        "{text} {bytes:?} {word} {list:?} {place:?} {area:?} {count:?} {}",
        context.tool_name()
    ))
}

/// Nothing.
#[tool(crate = ::tk, namespace = "bare")]
pub fn nothing() {}

/// An area.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::tk)]
pub struct Area {
    #[param(range = 1..=5, default = 2)]
    size: u8,
    #[param(default = "none", pattern = "^[a-z]+$")]
    name: String,
    #[serde(default, rename = "Rest")]
    rest: ::std::vec::Vec<Area>,
    #[serde(skip)]
    skipped: ::core::option::Option<u8>,
    #[serde(flatten)]
    more: Generic<u8>,
}

/// Of a type.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::tk)]
pub struct Generic<T> {
    more: ::core::option::Option<T>,
}

/// A place.
#[derive(Debug, ToolParams, ::tk::serde::Serialize)]
#[tool_params(crate = ::tk)]
#[serde(rename_all = "lowercase", crate = "::tk::serde")]
pub enum Place {
    /// Here.
    Here,
    /// There.
    There(#[param(range = 1..)] u8),
    /// Elsewhere.
    Else {
        /// Where.
        r#where: String,
    },
}

/// Tagged.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::tk)]
#[serde(tag = "tag")]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub enum Tagged {
    /// Here.
    Here,
    /// There.
    There {
        /// How far.
        far: u8,
    },
}

/// Untagged.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::tk)]
#[serde(untagged)]
pub enum Untagged {
    /// Number.
    Number(u8),
    /// Text.
    Text(String),
}

/// Takes the others.
#[tool(crate = ::tk, namespace = "bare")]
#[must_use]
pub fn others(tagged: &Tagged, untagged: ::core::option::Option<Untagged>) -> String {
    ::std::format!("{tagged:?} {untagged:?}")
}

/// A set.
#[derive(Debug)]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct Set;

#[toolset(crate = ::tk)]
impl Set {
    /// Does it.
    #[tool]
    #[must_use]
    pub fn run(&self, n: u8, word: ::core::option::Option<&str>) -> u8 {
        let _: (&Self, _) = (self, word);
        n
    }
}
