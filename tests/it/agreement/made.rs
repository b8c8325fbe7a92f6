//! The random types and tools, as the build script writes them; also for the fuzz target.

#![allow(dead_code, unused_variables, clippy::all)]

/// A closure with the type as its parameter, if the type is written as an object; and what serde decodes for it.
fn take<T: toolkit::ToolParams + std::fmt::Debug + 'static>() -> Option<(toolkit::ClosureTool, Decode)> {
    let tool = toolkit::ClosureTool::new("take", "", |it: T| format!("{it:?}")).ok()?;
    let decode: Decode = |text| Some((format!("{:?}", serde_json::from_str::<T>(text).ok()?), true));
    Some((tool.with_metadata(|metadata| metadata.with_coerce(false)), decode))
}

/// Whether the values of a type are within the limits of their variant.
pub(crate) trait KeepsLimits {
    fn keeps_limits(&self) -> bool;
}

/// The value that a type itself decodes from a text, in the words of `Debug`, and whether it keeps its limits.
pub(crate) type Decode = fn(&str) -> Option<(String, bool)>;

/// The limit of another field makes the tool check all arguments.
#[derive(Debug, toolkit::ToolParams)]
struct BesideLimit<T> {
    it: T,
    #[param(range = ..=5)]
    limited: Option<u8>,
}

/// A value in an object, and in lists.
#[derive(Debug, toolkit::ToolParams)]
struct Held<T> {
    #[serde(alias = "in-alias")]
    r#in: T,
    list: Vec<T>,
}

fn beside_serde<T>() -> (toolkit::ClosureTool, Decode)
where
    T: toolkit::ToolParams + KeepsLimits + std::fmt::Debug + 'static,
{
    let (tool, _) = take::<BesideLimit<T>>().expect("an object");
    (tool, |text| {
        let decoded: BesideLimit<T> = serde_json::from_str(text).ok()?;
        Some((format!("{decoded:?}"), decoded.it.keeps_limits()))
    })
}

include!(concat!(env!("OUT_DIR"), "/agreement.rs"));
