//! A module whose traits give every type the methods that generated code calls.

#![allow(dead_code, reason = "fields that are only shown count as dead")]
#![allow(clippy::wrong_self_convention, reason = "only a method that takes `self` comes before all others")]

use std::future::ready;
use std::sync::Arc;
use tk::{ToolContext, ToolParams, tool, toolset};

macro_rules! methods {
    ($trait:ident: $($method:ident)*) => {
        /// Methods of every type. Those that take `self` by value come before all methods that borrow.
        pub trait $trait: Sized {
            $(
                /// Takes the place of another method.
                fn $method(self) {}
            )*
        }

        impl<T> $trait for T {}
    };
}

methods! { Extension:
    as_deref as_ref clone context convert decode decode_struct deprecated examples exclusive_maximum exclusive_minimum
    format into_error items json_schema map_metadata max_length maximum min_length minimum multiple_of of_success of_type
    one_of output_schema pattern receiver schema schema_id schema_name shared_receiver shared_schema shared_state split
    state to_value tool unwrap_or_else with_async with_idempotent with_namespace with_read_only with_receiver
    with_state_needs with_struct_args with_tags with_timeout
}

/// A place.
#[derive(Debug, Clone, Default, ToolParams)]
#[serde(default)]
pub struct Place<T> {
    /// The city.
    #[param(length = 1..=80, default = "Rome")]
    city: String,
    /// How far around.
    #[param(range = 0.0..20.0, alias = "r", deprecated)]
    radius: f64,
    /// What is there.
    #[param(items(multiple_of = 2), examples = [[2]])]
    parts: Vec<u8>,
    /// More.
    more: Option<T>,
}

/// A side.
#[derive(Debug, Clone, Copy, Default, ToolParams)]
pub enum Side {
    /// Left.
    #[default]
    Left,
    /// Right.
    Right,
}

/// A unit.
#[derive(Debug, Clone, Copy, ToolParams)]
#[serde(tag = "kind", content = "size")]
pub enum Unit {
    /// Metric.
    Metric,
    /// Of a size.
    Of(#[param(range = 1..)] u8),
}

/// Takes parameters of each kind.
///
/// # Errors
/// Never.
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
#[tool(namespace = "shadowed", tags("a", tk::ToolTag::Custom("b".into())), timeout = "1s", idempotent)]
pub async fn everything(
    text: &str,
    place: Option<&Place<u8>>,
    word: Option<&str>,
    #[param(default = 3, one_of = [3, 4])] count: u8,
    #[param(default)] side: Side,
    unit: Unit,
    #[state] number: &u64,
    #[state] shared: Option<Arc<u64>>,
    context: &ToolContext,
) -> Result<String, std::fmt::Error> {
    ready(()).await;
    Ok(format!(
        "{text} {place:?} {word:?} {count} {side:?} {unit:?} {number} {shared:?} {}",
        context.tool_name()
    ))
}

/// Takes a struct.
#[tool(namespace = "shadowed", read_only)]
pub async fn whole(#[param(flatten)] place: Place<u8>) -> Option<Vec<u8>> {
    ready(Some(place.parts)).await
}

/// A set of a type.
#[derive(Debug)]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct Set<T>(pub T);

#[toolset(namespace = "shadowed_set")]
impl<T: std::fmt::Display + Send + Sync> Set<T> {
    /// Shows it.
    #[tool]
    #[must_use]
    pub fn show(&self, #[param(pattern = "^a")] prefix: &str) -> String {
        std::format!("{prefix}{}", self.0)
    }

    /// Shows a shared one.
    #[tool]
    #[must_use]
    pub fn show_shared(self: Arc<Self>) -> String {
        self.0.to_string()
    }
}

/// What derives of schemars call too, and so cannot be shadowed beside them.
pub mod pushing {
    use tk::toolset;

    methods! { Pushing: push }

    /// A set.
    #[derive(Debug)]
    #[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
    pub struct Pushed;

    #[toolset]
    impl Pushed {
        /// Adds.
        #[tool]
        #[must_use]
        pub fn add(n: i64) -> i64 {
            n + 1
        }
    }
}
