//! Tool metadata: the settings of a tool that the model does not see.

use crate::error::Location;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The settings of a tool that the model does not see.
///
/// Every option of `#[tool(…)]` has a builder method of the same meaning. Hints (`read_only` and the like) have three
/// states: yes, no, and unknown.
///
/// ```
/// use toolkit::{ToolMetadata, ToolTag};
///
/// let metadata = ToolMetadata::default().with_tags(["network", "billing"]).with_read_only(true);
/// assert!(metadata.tags.contains(&ToolTag::Network));
/// assert_eq!(metadata.tags.iter().filter(|tag| tag.is_custom()).count(), 1);
/// assert_eq!(metadata.read_only, Some(true));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolMetadata {
    /// The display name.
    pub title: Option<String>,
    /// The tags, by which sets of tools are selected.
    pub tags: BTreeSet<ToolTag>,
    /// Whether the function is `async`.
    pub is_async: bool,
    /// Whether the function blocks its thread. The dispatcher runs it on the blocking pool.
    pub blocking: bool,
    /// Whether calls of the tool run one after another, within a batch in their order.
    pub exclusive: bool,
    /// The number of calls that may run at once; `None` for no limit.
    pub max_concurrency: Option<usize>,
    /// The parameter that names the resource of a call.
    ///
    /// Calls with the same value, also of other tools with the same lane, run one after another, within a batch in their
    /// order.
    pub lane: Option<String>,
    /// The time limit of a call; `None` for that of the dispatcher or the registry, [`Duration::MAX`] for no limit but the
    /// hard one.
    pub timeout: Option<Duration>,
    /// The number of retries of a failed call. The middleware that retries decides which failures qualify.
    pub retries: u32,
    /// The number of characters of a result that the model reads.
    pub max_result_size: Option<usize>,
    /// Whether the tool only reads.
    pub read_only: Option<bool>,
    /// Whether the tool may destroy data.
    pub destructive: Option<bool>,
    /// Whether repeating a call has no further effect.
    pub idempotent: Option<bool>,
    /// Whether the tool reaches systems outside of the program's control.
    pub open_world: Option<bool>,
    /// Where the tool may run.
    pub locality: Locality,
    /// Whether the tool is deferred: published only through the tool search.
    pub defer: bool,
    /// Words for the tool search.
    pub search_hint: String,
    /// Example arguments for the model.
    pub input_examples: Vec<Value>,
    /// Whether the provider should enforce the schema.
    pub strict: Option<bool>,
    /// The allowed callers, in the provider's words, such as `direct` and `programmatic`; empty for the provider's
    /// default.
    pub allowed_callers: Vec<String>,
    /// Whether the model is asked for the reason of each call.
    pub call_reason: Option<bool>,
    /// The treatment of unknown arguments.
    pub unknown: UnknownArguments,
    /// Whether near misses are coerced, such as `"5"` to 5.
    pub coerce: bool,
    /// The source of the tool.
    pub source: ToolSource,
    /// Details of the source, for instance an address.
    pub source_detail: String,
    /// The place of the definition, if known.
    pub defined_at: Option<Location>,
    /// The program's own metadata.
    pub meta: Map<String, Value>,
}

impl Default for ToolMetadata {
    fn default() -> Self {
        Self {
            title: None,
            tags: BTreeSet::new(),
            is_async: false,
            blocking: false,
            exclusive: false,
            max_concurrency: None,
            lane: None,
            timeout: None,
            retries: 0,
            max_result_size: None,
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            locality: Locality::Any,
            defer: false,
            search_hint: String::new(),
            input_examples: Vec::new(),
            strict: None,
            allowed_callers: Vec::new(),
            call_reason: None,
            unknown: UnknownArguments::Refuse,
            coerce: true,
            source: ToolSource::Native,
            source_detail: String::new(),
            defined_at: None,
            meta: Map::new(),
        }
    }
}

/// Builder methods, each for the field of its parameter's name.
macro_rules! setters {
    ($($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*) => {
        impl ToolMetadata {
            $($(#[$doc])* #[must_use] pub fn $method(mut self, $field: $ty) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
}

setters! {
    /// Sets the display name.
    with_title(title: impl Into<String>) = Some(title.into());
    /// Sets whether the function blocks its thread.
    with_blocking(blocking: bool) = blocking;
    /// Sets whether calls of the tool run one after another.
    with_exclusive(exclusive: bool) = exclusive;
    /// Sets the number of calls that may run at once, at least one.
    with_max_concurrency(max_concurrency: usize) = Some(max_concurrency);
    /// Sets the lane: calls with equal values of the parameter run in order.
    with_lane(lane: impl Into<String>) = Some(lane.into());
    /// Sets the time limit of a call.
    with_timeout(timeout: Duration) = Some(timeout);
    /// Sets the number of retries of a failed call.
    with_retries(retries: u32) = retries;
    /// Sets the number of characters of a result that the model reads.
    with_max_result_size(max_result_size: usize) = Some(max_result_size);
    /// Sets whether the tool only reads.
    with_read_only(read_only: bool) = Some(read_only);
    /// Sets whether the tool may destroy data.
    with_destructive(destructive: bool) = Some(destructive);
    /// Sets whether repeating a call has no further effect.
    with_idempotent(idempotent: bool) = Some(idempotent);
    /// Sets whether the tool reaches systems outside of the program's control.
    with_open_world(open_world: bool) = Some(open_world);
    /// Sets where the tool may run.
    with_locality(locality: Locality) = locality;
    /// Sets whether the tool is published only through the tool search.
    with_defer(defer: bool) = defer;
    /// Sets words for the tool search.
    with_search_hint(search_hint: impl Into<String>) = search_hint.into();
    /// Sets example arguments for the model.
    with_input_examples(input_examples: impl IntoIterator<Item = Value>) = input_examples.into_iter().collect();
    /// Sets whether the provider should enforce the schema.
    with_strict(strict: bool) = Some(strict);
    /// Sets whether the model is asked for the reason of each call.
    with_call_reason(call_reason: bool) = Some(call_reason);
    /// Sets the treatment of unknown arguments.
    with_unknown(unknown: UnknownArguments) = unknown;
    /// Sets whether near misses are coerced.
    with_coerce(coerce: bool) = coerce;
    /// Sets the source of the tool.
    with_source(source: ToolSource) = source;
    /// Sets details of the source.
    with_source_detail(source_detail: impl Into<String>) = source_detail.into();
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

impl FromStr for ToolTag {
    type Err = Infallible;

    fn from_str(tag: &str) -> Result<Self, Infallible> {
        Ok(Self::from(tag))
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
