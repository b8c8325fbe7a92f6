//! The random types and tools of the build script, also for fuzzing.

#![allow(dead_code, unused_variables, clippy::all)]

/// A closure with an object type as parameter, and serde's decoding.
fn take<T: toolkit_ai::ToolParams + std::fmt::Debug + 'static>() -> Option<(toolkit_ai::ClosureTool, Decode)>
{
    let tool = toolkit_ai::ClosureTool::new("take", "", |it: T| format!("{it:?}")).ok()?;
    let decode: Decode = |text| Some(format!("{:?}", serde_json::from_str::<T>(text).ok()?));
    Some((tool.map_metadata(|metadata| metadata.with_coerce(false)), decode))
}

/// Returns what a type decodes, in `Debug` form.
pub(crate) type Decode = fn(&str) -> Option<String>;

/// A value in an object and in a list. The limit of another field makes the tool check all arguments.
#[derive(Debug, toolkit_ai::ToolParams)]
struct Held<T> {
    #[serde(alias = "in-alias")]
    r#in: T,
    list: Vec<T>,
    #[param(range = ..=5)]
    limited: Option<u8>,
}

include!(concat!(env!("OUT_DIR"), "/agreement.rs"));
