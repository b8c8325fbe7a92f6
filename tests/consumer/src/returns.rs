//! Every supported return type.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use tk::output::JsonText;
use tk::serde::Serialize;
use tk::{Content, IntoToolOutput, ToolError, ToolOutput, tool};

/// Written as JSON.
#[derive(Debug, Serialize)]
#[serde(crate = "tk::serde", rename_all = "camelCase")]
pub struct Report {
    page_count: u8,
    lines: Vec<String>,
}

/// Converted by its own `IntoToolOutput`.
#[derive(Debug)]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct Celsius(f64);

impl IntoToolOutput for Celsius {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(format!("{} °C", self.0)))
    }
}

/// Fails with a cause.
#[derive(Debug)]
pub struct Failed(std::num::ParseIntError);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no number")
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// An alias.
type Fallible<T> = Result<T, Failed>;

macro_rules! returns {
    ($($name:ident() -> $ty:ty { $value:expr })*) => {
        $(
            /// Returns.
            #[tool(namespace = "returns")]
            #[allow(clippy::unnecessary_wraps, reason = "the type is under test")]
            pub(crate) fn $name() -> $ty { $value }
        )*
    };
}

returns! {
    text() -> String { "a".to_owned() }
    cow() -> Cow<'static, str> { Cow::Borrowed("a") }
    number() -> f32 { 1.5 }
    unit() -> () { () }
    option_number() -> Option<u8> { Some(1) }
    array() -> [&'static str; 2] { ["a", "b"] }
    table() -> BTreeMap<u8, bool> { BTreeMap::from([(1, true)]) }
    report() -> Report { Report { page_count: 1, lines: Vec::new() } }
    celsius() -> Celsius { Celsius(1.5) }
    output() -> ToolOutput { ToolOutput::text("a").with_brief("b") }
    content() -> Content { Content::Text("a".to_owned()) }
    opaque() -> impl Serialize { [1, 2] }
    fallible_alias() -> Fallible<u8> { "x".parse().map_err(Failed) }
    fallible_text() -> Result<String, String> { Err("no".to_owned()) }
    fallible_box() -> Result<Report, Box<dyn Error>> { Err("no".into()) }
    fallible_box_send() -> Result<Celsius, Box<dyn Error + Send + Sync>> { Err("no".into()) }
    fallible_opaque() -> Result<impl Serialize, impl fmt::Display> { if true { Err("no") } else { Ok(1) } }
    fallible_json() -> Result<JsonText, tk::serde_json::Error> { JsonText::new(&1) }
}

/// Returns a borrowed argument.
#[tool(namespace = "returns")]
#[must_use]
pub fn lent(text: &str) -> &str {
    text.trim()
}

/// Returns a borrowed argument, later.
#[tool(namespace = "returns")]
pub async fn lent_later(text: &str, n: Option<usize>) -> Cow<'_, str> {
    let n = std::future::ready(n.unwrap_or(1)).await;
    Cow::Borrowed(&text[..n])
}

/// Nothing at all.
#[tool(namespace = "returns")]
pub fn nothing() {}

/// Fails later.
///
/// # Errors
/// Always.
#[tool(namespace = "returns")]
pub async fn fails_later(text: &str) -> Result<u8, Failed> {
    std::future::ready(text).await.parse().map_err(Failed)
}

/// Uses the `?` operator.
///
/// # Errors
/// If the text is no number.
#[tool(namespace = "returns")]
pub fn question(text: &str) -> Result<u8, Box<dyn Error + Send + Sync + 'static>> {
    let number: u8 = text.parse()?;
    Ok(number)
}
