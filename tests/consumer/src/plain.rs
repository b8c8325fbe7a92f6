//! Tools in modules and functions, with raw identifiers, state and context.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tk::{FunctionTool, ToolContext, tool};

/// Adds.
///
/// :param a: The first
/// :param b: The second
#[tool]
#[must_use]
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Modules in modules.
pub mod outer {
    /// The inner one.
    pub mod inner {
        /// Deep down.
        #[tk::tool(crate = "tk", namespace = "Deep")]
        #[must_use]
        pub fn down(n: u8) -> u8 {
            n
        }

        /// With the third path of the facade.
        #[tk::tool(crate = crate::kit, namespace = "Deep")]
        pub(crate) fn third(n: Option<u8>) -> u8 {
            n.unwrap_or(3)
        }

        /// Visible in the parent module only.
        #[tk::tool(crate = ::tk, namespace = "Deep")]
        pub(super) async fn above(text: &str) -> String {
            std::future::ready(text.to_uppercase()).await
        }
    }

    /// One import brings both the function and its tool.
    #[must_use]
    pub fn tools() -> Vec<tk::FunctionTool> {
        use inner::{above, down, third};
        vec![above::tool(), down::tool(), third::tool()]
    }
}

/// Raw identifiers.
///
/// Args:
///     type: The kind
///     match: What it matches
#[tool]
#[must_use]
pub fn r#loop(r#type: &str, r#match: Option<String>, #[param(default = 2)] r#in: u8) -> String {
    format!("{type} {match:?} {in}")
}

/// State by type.
#[derive(Debug)]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct Db(pub &'static str);

/// State by trait.
pub trait Store: Send + Sync {
    /// Its name.
    fn name(&self) -> String;
}

impl Store for Db {
    fn name(&self) -> String {
        self.0.to_owned()
    }
}

/// Takes state in every form.
#[tool]
pub async fn lent(
    /// The key.
    key: String,
    #[state] db: &Db,
    #[state] store: Arc<dyn Store>,
    #[state] none: Option<&u8>,
    #[state] none_shared: Option<Arc<u16>>,
    context: &ToolContext,
) -> String {
    std::future::ready(()).await;
    format!("{key} {} {} {none:?} {none_shared:?} {}", db.0, store.name(), context.tool_name())
}

/// Borrows everything.
#[tool]
#[must_use]
pub fn borrow(words: &[String], path: &Path, table: &BTreeMap<String, u8>) -> usize {
    words.len() + path.components().count() + table.len()
}

/// Has every argument of `#[tool]`.
#[tool(
    name = "All.Of-it",
    title = "All",
    tags("a", "b"),
    retries = 2,
    max_result_size = 100,
    lane = "reply-to",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    defer = false,
    search_hint = "all",
    input_examples = [tk::serde_json::json!({"reply-to": "a@b.example"})],
    strict = false,
    unknown = "ignore",
    coerce = false,
    strict_docs,
    meta(owner = "nobody")
)]
#[must_use]
pub fn all_of_it(
    /// Where to.
    #[param(rename = "reply-to", alias = "to", alias = "address", format = "email")]
    reply_to: &str,
) -> String {
    reply_to.to_owned()
}

/// Is deprecated.
#[deprecated = "for the test"]
#[tool]
#[must_use]
pub fn old() -> u8 {
    1
}

/// Not on this system.
#[cfg(target_os = "none")]
#[tool]
pub fn absent() {}

mod unreachable {
    /// A lint that the user allows is not reported about generated code.
    #[allow(unreachable_pub, reason = "generated code has the same visibility")]
    #[tk::tool(register = false)]
    pub fn deep() {}
}

/// Returns tools defined inside of a function.
#[must_use]
pub fn local() -> Vec<FunctionTool> {
    /// A type of this function.
    #[derive(Debug, tk::ToolParams)]
    struct Here {
        #[param(default = 4)]
        n: u8,
    }

    /// Local.
    #[tool(register = false)]
    fn add(here: Here) -> u8 {
        let Here { n } = here;
        n
    }

    let closure = || {
        /// In a closure.
        #[tool(register = false)]
        fn deeper() {}
        deeper::tool()
    };
    vec![add::tool(), closure(), unreachable::deep::tool()]
}
