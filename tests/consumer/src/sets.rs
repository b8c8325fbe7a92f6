//! Toolsets: methods as tools.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tk::{ToolContext, ToolParams, toolset};

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
    pub async fn add_later(self: Arc<Self>, by: i64) -> i64 {
        std::future::ready(()).await;
        self.add(by)
    }

    #[doc = include_str!("later.md")]
    #[tool(namespace = "elsewhere")]
    pub fn count_twice(self: Arc<Self>, #[param(description = TAG)] by: i64, times: u8) -> i64 {
        self.add(by) * i64::from(times)
    }
}

const RETRIES: u32 = 2;

/// Shows rows of a store.
#[derive(Debug)]
pub struct Desk<T, const FEW: usize> {
    /// The rows.
    pub rows: Vec<T>,
}

/// Shows rows of any type.
#[toolset(namespace = "desk")]
impl<T: Debug + ToolParams + Clone + Send + Sync, const FEW: usize> Desk<T, FEW> {
    /// Shows rows.
    #[tool]
    #[must_use]
    pub fn show(
        &self,
        #[param(default = FEW, range = 1..=9)] count: usize,
        #[param(length = ..=3, items(range = 0..))] _skipped: Option<Vec<u8>>,
    ) -> String {
        format!("{:?}", self.rows.iter().take(count).collect::<Vec<_>>())
    }

    /// Compares a row, later.
    #[tool]
    pub async fn compare(self: Arc<Self>, row: &T, rows: Vec<T>, #[state] _other: Option<&Self>) -> String {
        std::future::ready(()).await;
        format!("{row:?} {rows:?} {:?}", self.rows)
    }
}

/// Describes itself.
pub trait Describe {
    /// The kind of detail.
    type Detail;

    /// Describes the value.
    fn describe(&self, detail: Self::Detail) -> String;
}

#[toolset(extends)]
impl Describe for Counter {
    type Detail = u8;

    #[tool]
    fn describe(&self, #[param(range = ..=9)] detail: Self::Detail) -> String {
        format!("{detail} {:?}", self.count)
    }
}

/// A value of any type.
#[derive(Debug)]
pub struct Named<T>(pub T);

#[toolset]
impl<T> Describe for Named<T>
where
    T: Debug + Send + Sync,
{
    type Detail = String;

    /// Describes a value of any type.
    #[tool]
    fn describe(&self, detail: Self::Detail) -> String {
        format!("{detail} {:?}", self.0)
    }
}
