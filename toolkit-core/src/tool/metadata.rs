//! What the program knows about a tool and the model does not see.

use crate::error::Location;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What the program knows about a tool and the model does not see.
///
/// Every option of `#[tool(…)]` has a builder method here of the same meaning. Hints (`read_only` and
/// the like) have three states: yes, no, and not said.
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
    /// The name that people read.
    pub title: Option<String>,
    /// What sets of tools are chosen by.
    pub tags: BTreeSet<ToolTag>,
    /// Whether the function is `async`.
    pub is_async: bool,
    /// Whether the function blocks its thread: the dispatcher then runs it on the blocking pool.
    pub blocking: bool,
    /// Whether no two calls of the tool may run at the same time. Those of one batch run in their order.
    pub exclusive: bool,
    /// How many calls of the tool may run at the same time; `None` is any number.
    pub max_concurrency: Option<usize>,
    /// The parameter that says what a call works on. Calls with the same value, also of other tools that name a
    /// parameter of the same name, run one after another, those of one batch in their order.
    pub lane: Option<String>,
    /// How long one call may run; `None` leaves it to the dispatcher and the registry, and
    /// [`Duration::MAX`] says that there is no limit but the hard one.
    pub timeout: Option<Duration>,
    /// How often a call that failed may be tried again. The middleware that does it decides on which failures.
    pub retries: u32,
    /// How many characters of a result the model gets.
    pub max_result_size: Option<usize>,
    /// Whether the tool changes nothing.
    pub read_only: Option<bool>,
    /// Whether the tool may destroy something.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether the tool reaches things that the program does not control.
    pub open_world: Option<bool>,
    /// Where the tool may run.
    pub locality: Locality,
    /// Whether the model learns of the tool only when it searches for it.
    pub defer: bool,
    /// Words under which a search finds the tool.
    pub search_hint: String,
    /// Arguments that show the model how to call the tool.
    pub input_examples: Vec<Value>,
    /// Whether the provider should hold the model to the schema.
    pub strict: Option<bool>,
    /// Who may call the tool, in the words of the provider, as in `direct` and `programmatic`; empty
    /// leaves it to the provider.
    pub allowed_callers: Vec<String>,
    /// Whether the model should say why it calls the tool.
    pub call_reason: Option<bool>,
    /// What happens to arguments that the tool does not have.
    pub unknown: UnknownArguments,
    /// Whether a value that does not fit is tried as what may be meant, as in `"5"` for 5.
    pub coerce: bool,
    /// Where the tool comes from.
    pub source: ToolSource,
    /// More about where it comes from, for instance an address.
    pub source_detail: String,
    /// Where the tool is defined, if that is known.
    pub defined_at: Option<Location>,
    /// Whatever else the program wants to know.
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

/// Builder methods; each takes the value that its field then has.
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
    /// Sets the name that people read.
    with_title(title: impl Into<String>) = Some(title.into());
    /// Says that the function blocks its thread.
    with_blocking(blocking: bool) = blocking;
    /// Says that no two calls of the tool may run at the same time.
    with_exclusive(exclusive: bool) = exclusive;
    /// Sets how many calls of the tool may run at the same time, at least one.
    with_max_concurrency(max_concurrency: usize) = Some(max_concurrency);
    /// Names the parameter whose value calls must have in common to keep their order.
    with_lane(lane: impl Into<String>) = Some(lane.into());
    /// Sets how long one call may run.
    with_timeout(timeout: Duration) = Some(timeout);
    /// Sets how often a call that failed may be tried again.
    with_retries(retries: u32) = retries;
    /// Sets how many characters of a result the model gets.
    with_max_result_size(max_result_size: usize) = Some(max_result_size);
    /// Says whether the tool changes nothing.
    with_read_only(read_only: bool) = Some(read_only);
    /// Says whether the tool may destroy something.
    with_destructive(destructive: bool) = Some(destructive);
    /// Says whether a second call with the same arguments changes nothing more.
    with_idempotent(idempotent: bool) = Some(idempotent);
    /// Says whether the tool reaches things that the program does not control.
    with_open_world(open_world: bool) = Some(open_world);
    /// Says where the tool may run.
    with_locality(locality: Locality) = locality;
    /// Says that the model learns of the tool only when it searches for it.
    with_defer(defer: bool) = defer;
    /// Sets words under which a search finds the tool.
    with_search_hint(search_hint: impl Into<String>) = search_hint.into();
    /// Sets arguments that show the model how to call the tool.
    with_input_examples(input_examples: impl IntoIterator<Item = Value>) = input_examples.into_iter().collect();
    /// Says whether the provider should hold the model to the schema.
    with_strict(strict: bool) = Some(strict);
    /// Says whether the model should say why it calls the tool.
    with_call_reason(call_reason: bool) = Some(call_reason);
    /// Says what happens to arguments that the tool does not have.
    with_unknown(unknown: UnknownArguments) = unknown;
    /// Says whether a value that does not fit is tried as what may be meant.
    with_coerce(coerce: bool) = coerce;
    /// Says where the tool comes from.
    with_source(source: ToolSource) = source;
    /// Says more about where it comes from.
    with_source_detail(source_detail: impl Into<String>) = source_detail.into();
}

impl ToolMetadata {
    /// Adds tags. Those of [`ToolTag`] are known by their names, all others are custom.
    #[must_use]
    pub fn with_tags<T: AsRef<str>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(|tag| ToolTag::from(tag.as_ref())));
        self
    }

    /// Says who may call the tool, in the words of the provider.
    #[must_use]
    pub fn with_allowed_callers<T: Into<String>>(mut self, callers: impl IntoIterator<Item = T>) -> Self {
        self.allowed_callers.extend(callers.into_iter().map(Into::into));
        self
    }

    /// Adds something that only the program knows the meaning of.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// What sets of tools are chosen by. The named ones are those of toolregistry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolTag {
    /// Changes nothing.
    ReadOnly,
    /// May destroy something.
    Destructive,
    /// Reaches the network.
    Network,
    /// Reaches the file system.
    FileSystem,
    /// Takes long.
    Slow,
    /// Needs rights that not everybody has.
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

    /// The tag as text, as in `read_only`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Custom(tag) => tag,
            named => Self::NAMED.iter().find(|(_, tag)| tag == named).map_or("", |(name, _)| name),
        }
    }

    /// Whether the tag is the program's own.
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

/// Where a tool may run.
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

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolSource {
    /// A function of the program.
    #[default]
    Native,
    /// A schema and a handler that were made at run time.
    Dynamic,
    /// A server of the Model Context Protocol.
    Mcp,
    /// An operation of an OpenAPI description.
    OpenApi,
}

/// What happens to arguments that a tool does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnknownArguments {
    /// The call is refused with the nearest name; the schema says `additionalProperties: false`.
    #[default]
    Refuse,
    /// They are ignored, and the schema does not forbid them.
    Ignore,
}
