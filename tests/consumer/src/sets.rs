//! Toolsets: methods as tools.

use std::sync::Mutex;
use tk::{ToolContext, toolset};

/// Counts.
#[derive(Debug, Default)]
pub struct Counter {
    count: Mutex<i64>,
}

/// Counts, and remembers.
#[toolset]
impl Counter {
    /// Not a tool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds.
    ///
    /// # Panics
    /// If the lock is poisoned.
    ///
    /// Args:
    ///     by: How much
    #[tool(idempotent = false)]
    pub fn add(&self, #[param(default = 1, range = 0..=10)] by: i64) -> i64 {
        let mut count = self.count.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *count += by;
        *count
    }

    /// Reads.
    #[tk::tool(name = "recall", read_only)]
    pub(crate) async fn read(&self, context: &ToolContext) -> String {
        std::future::ready(()).await;
        format!("{} {:?}", context.tool_name(), self.count)
    }

    /// Private, without a receiver.
    #[tool(namespace = "elsewhere")]
    fn double(n: i64) -> i64 {
        n * 2
    }

    /// Takes state and a reference.
    #[tool]
    fn r#move(&self, #[state] _db: Option<&crate::plain::Db>, r#ref: &str) -> String {
        format!("{ref} {:?}", self.count)
    }
}

/// Toolsets in a module.
pub mod inside {
    use tk::toolset;

    /// A toolset with its own namespace.
    #[derive(Debug)]
    pub struct Other<T>(pub T);

    #[toolset(crate = crate::kit, namespace = "Own")]
    impl Other<u8> {
        /// Its value.
        #[tool]
        #[must_use]
        pub const fn value(&self) -> u8 {
            self.0
        }
    }

    /// Returns a toolset defined inside of a function.
    #[must_use]
    pub fn local() -> impl tk::Toolset {
        /// Local.
        #[derive(Debug)]
        struct Local;

        #[toolset]
        impl Local {
            /// Does nothing.
            #[tool]
            fn nothing(&self) {
                let Self = self;
            }
        }
        Local
    }
}

/// The name of a tag.
const TAG: &str = "shared";

/// More tools of the counter, in a block of their own.
#[toolset(extends)]
impl Counter {
    #[doc = concat!("Counts", " later.\n\n:param by: How much, ", "from a file")]
    #[tool(description = concat!("Adds ", "later."), tags("set", TAG), retries = RETRIES)]
    pub async fn add_later(self: std::sync::Arc<Self>, by: i64) -> i64 {
        std::future::ready(()).await;
        self.add(by)
    }

    #[doc = include_str!("later.md")]
    #[tool(namespace = "elsewhere")]
    pub fn count_twice(self: std::sync::Arc<Self>, #[param(description = TAG)] by: i64, times: u8) -> i64 {
        self.add(by) * i64::from(times)
    }
}

const RETRIES: u32 = 2;
