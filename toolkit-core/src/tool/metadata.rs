//! Tool metadata: the settings of a tool that the model does not see.

use crate::error::Location;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

settings! {
    /// The settings of a tool that the model does not see.
    ///
    /// Every option of `#[tool(…)]` has a builder method of the same meaning. Hints (`read_only` and the like) have three
    /// states: yes, no, and unknown.
    ///
    /// ```
    /// use toolkit::{ToolMetadata, ToolTag};
    ///
    /// let metadata = ToolMetadata::default().with_tags(["network", "billing"]).with_tags([ToolTag::Slow]);
    /// assert!(metadata.tags.contains(&ToolTag::Network));
    /// assert_eq!(metadata.tags.iter().filter(|tag| tag.is_custom()).count(), 1);
    /// assert_eq!(metadata.with_read_only(true).read_only, Some(true));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToolMetadata {
        /// The display name.
        title: Option<String>, with_title(impl Into<String>) => Some(title.into());
        /// The tags, by which sets of tools are selected.
        tags: BTreeSet<ToolTag>;
        /// Whether the function is `async`.
        is_async: bool;
        /// Whether the function blocks its thread. The dispatcher runs it on the blocking pool.
        blocking: bool, with_blocking(bool);
        /// Whether calls of the tool run one after another, within a batch in their order.
        exclusive: bool, with_exclusive(bool);
        /// The number of calls that may run at once, at least one; `None` for no limit.
        max_concurrency: Option<usize>, with_max_concurrency(usize) => Some(max_concurrency);
        /// The parameter that names the resource of a call.
        ///
        /// Calls with the same value, also of other tools with the same lane, run one after another, within a batch in their
        /// order.
        lane: Option<String>, with_lane(impl Into<String>) => Some(lane.into());
        /// The time limit of a call; `None` for that of the dispatcher or the registry, [`Duration::MAX`] for no limit but the
        /// hard one.
        timeout: Option<Duration>, with_timeout(Duration) => Some(timeout);
        /// The number of retries of a failed call. The middleware that retries decides which failures qualify.
        retries: u32, with_retries(u32);
        /// The number of characters of a result that the model reads.
        max_result_size: Option<usize>, with_max_result_size(usize) => Some(max_result_size);
        /// Whether the tool only reads.
        read_only: Option<bool>, with_read_only(bool) => Some(read_only);
        /// Whether the tool may destroy data.
        destructive: Option<bool>, with_destructive(bool) => Some(destructive);
        /// Whether repeating a call has no further effect.
        idempotent: Option<bool>, with_idempotent(bool) => Some(idempotent);
        /// Whether the tool reaches systems outside of the program's control.
        open_world: Option<bool>, with_open_world(bool) => Some(open_world);
        /// Where the tool may run.
        locality: Locality, with_locality(Locality);
        /// Whether the tool is deferred: published only through the tool search.
        defer: bool, with_defer(bool);
        /// Words for the tool search.
        search_hint: String, with_search_hint(impl Into<String>) => search_hint.into();
        /// Example arguments for the model.
        input_examples: Vec<Value>, with_input_examples(impl IntoIterator<Item = Value>)
            => input_examples.into_iter().collect();
        /// Whether the provider should enforce the schema.
        strict: Option<bool>, with_strict(bool) => Some(strict);
        /// The allowed callers, in the provider's words, such as `direct` and `programmatic`; empty for the provider's
        /// default.
        allowed_callers: Vec<String>;
        /// Whether the model is asked for the reason of each call.
        call_reason: Option<bool>, with_call_reason(bool) => Some(call_reason);
        /// The treatment of unknown arguments.
        unknown: UnknownArguments, with_unknown(UnknownArguments);
        /// Whether near misses are coerced, such as `"5"` to 5.
        coerce: bool = true, with_coerce(bool);
        /// The source of the tool.
        source: ToolSource, with_source(ToolSource);
        /// Details of the source, for instance an address.
        source_detail: String, with_source_detail(impl Into<String>) => source_detail.into();
        /// The place of the definition, if known.
        defined_at: Option<Location>;
        /// The program's own metadata.
        meta: Map<String, Value>;
    }
}

impl ToolMetadata {
    /// Adds tags. Names of [`ToolTag`] variants become these, all others custom tags.
    #[must_use]
    pub fn with_tags<T: AsRef<str>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(|tag| ToolTag::from(tag.as_ref())));
        self
    }

    /// Adds allowed callers, in the provider's words.
    #[must_use]
    pub fn with_allowed_callers<T: Into<String>>(mut self, callers: impl IntoIterator<Item = T>) -> Self {
        self.allowed_callers.extend(callers.into_iter().map(Into::into));
        self
    }

    /// Adds metadata of the program's own.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// A tag, by which sets of tools are selected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolTag {
    /// Only reads.
    ReadOnly,
    /// May destroy data.
    Destructive,
    /// Reaches the network.
    Network,
    /// Reaches the file system.
    FileSystem,
    /// Takes long.
    Slow,
    /// Needs special rights.
    Privileged,
    /// A tag of the program's own.
    Custom(String),
}

impl ToolTag {
    const NAMED: [(&'static str, Self); 6] = [
        ("read_only", Self::ReadOnly),
        ("destructive", Self::Destructive),
        ("network", Self::Network),
        ("file_system", Self::FileSystem),
        ("slow", Self::Slow),
        ("privileged", Self::Privileged),
    ];

    /// Returns the tag as text, as in `read_only`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Custom(tag) => tag,
            named => Self::NAMED.iter().find(|(_, tag)| tag == named).map_or("", |(name, _)| name),
        }
    }

    /// Returns whether the tag is the program's own.
    #[must_use]
    pub const fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_))
    }
}

impl From<&str> for ToolTag {
    fn from(tag: &str) -> Self {
        let named = Self::NAMED.into_iter().find(|(name, _)| *name == tag);
        named.map_or_else(|| Self::Custom(tag.to_owned()), |(_, tag)| tag)
    }
}

impl From<String> for ToolTag {
    fn from(tag: String) -> Self {
        tag.as_str().into()
    }
}

impl AsRef<str> for ToolTag {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl FromStr for ToolTag {
    type Err = Infallible;

    fn from_str(tag: &str) -> Result<Self, Infallible> {
        Ok(tag.into())
    }
}

impl fmt::Display for ToolTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The places where a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Locality {
    /// Anywhere.
    #[default]
    Any,
    /// In this process only.
    Local,
    /// On another machine only.
    Remote,
}

/// The source of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolSource {
    /// A function of the program.
    #[default]
    Native,
    /// A schema and a handler created at run time.
    Dynamic,
    /// A server of the Model Context Protocol.
    Mcp,
    /// An operation of an OpenAPI description.
    OpenApi,
}

/// The treatment of unknown arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnknownArguments {
    /// The call is refused with the nearest name; the schema has `additionalProperties: false`.
    #[default]
    Refuse,
    /// They are ignored, and the schema does not forbid them.
    Ignore,
}
