//! Every macro in a program that forbids lints, which generated code cannot allow.
//!
//! Lints that derives of serde and schemars allow, such as `unused_qualifications`, are not forbidden.

#![forbid(
    dead_code,
    elided_lifetimes_in_paths,
    irrefutable_let_patterns,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_ascii_idents,
    non_snake_case,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unnameable_types,
    unreachable_code,
    unreachable_patterns,
    unreachable_pub,
    unsafe_code,
    unused_assignments,
    unused_import_braces,
    unused_lifetimes,
    unused_must_use,
    unused_mut,
    unused_parens,
    unused_results,
    unused_variables,
    variant_size_differences,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::missing_docs_in_private_items,
    clippy::panic,
    clippy::unwrap_used
)]

use std::sync::Arc;
use toolkit_ai::{BuildError, ToolContext, ToolParams, ToolRegistry, tool, tools, toolset};

/// Where to look.
#[derive(Clone, Debug, ToolParams)]
struct Area {
    /// The city.
    #[param(length = 1..=80)]
    city: String,
    /// Kilometres around the city.
    #[param(range = 0.0..=500.0, default = 10.0)]
    radius: f64,
    /// The kinds.
    #[serde(default)]
    kinds: Vec<Kind>,
}

/// What to look for.
#[derive(Clone, Copy, Debug, ToolParams)]
enum Kind {
    /// Museums.
    Museum,
    /// Parks.
    Park,
}

/// Finds places.
#[tool]
#[allow(clippy::unused_async, reason = "it waits for nothing here")]
async fn find_places(
    area: &Area,
    #[param(default = 5, range = 1..=20, alias = "max")] limit: u8,
    note: Option<String>,
    #[state] names: &Vec<String>,
    context: &ToolContext,
) -> Result<String, String> {
    let Area { city, radius, kinds } = area;
    let museums = kinds.iter().filter(|kind| matches!(kind, Kind::Museum)).count();
    let parks = kinds.iter().filter(|kind| matches!(kind, Kind::Park)).count();
    Ok(format!("{city} {radius} {museums} {parks} {limit} {note:?} {names:?} {}", context.tool_name()))
}

#[derive(Clone, Debug)]
struct Desk(String);

/// The tools of a desk.
#[toolset]
impl Desk {
    /// Repeats a text.
    #[tool]
    fn repeat(&self, text: &str, #[param(default = 2)] times: usize) -> String {
        format!("{} {}", self.0, text.repeat(times))
    }
}

#[test]
fn generated_code_allows_no_lint_that_a_program_forbids() -> Result<(), BuildError> {
    let mut registry = ToolRegistry::from_tools(tools![find_places])?;
    registry.register_all(Arc::new(Desk("desk".to_owned())))?;
    assert_eq!(registry.len(), 2);
    Ok(())
}
