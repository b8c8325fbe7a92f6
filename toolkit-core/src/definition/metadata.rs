//! Tool metadata: the settings hidden from the model.

use crate::error::Location;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

settings! {
    /// The settings of a tool, hidden from the model.
    ///
    /// Every option of `#[tool(…)]` has a builder method. Hints such as `read_only` are yes, no, or unknown
    /// (`None`).
    ///
    /// ```
    /// use toolkit_ai::{ToolMetadata, ToolTag};
    ///
    /// let metadata = ToolMetadata::default().with_tags(["network", "billing"]).with_tags([ToolTag::Slow]);
    /// assert!(metadata.tags.contains(&ToolTag::Network));
    /// assert_eq!(metadata.tags.iter().filter(|tag| tag.is_custom()).count(), 1);
    /// assert_eq!(metadata.with_read_only(true).read_only, Some(true));
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToolMetadata {
        /// The display name of the tool.
        title: Option<String>, with_title(impl Into<String>) => Some(title.into());
        /// The icons in user interfaces.
        icons: Vec<ToolIcon>;
        /// The tags for selecting sets of tools.
        tags: BTreeSet<ToolTag>;
        /// Whether the tool's function is `async`.
        is_async: bool;
        /// Whether the tool's function blocks its thread. The dispatcher runs it on the runtime's blocking
        /// pool.
        blocking: bool, with_blocking(bool);
        /// Whether calls of the tool run one after another, in the order of their batch.
        exclusive: bool, with_exclusive(bool);
        /// The maximum number of concurrent calls of the tool, at least one; `None` for no limit.
        max_concurrency: Option<usize>, with_max_concurrency(usize) => Some(max_concurrency);
        /// The lane parameter: it names the resource used by a call, for instance a file path.
        ///
        /// Calls with the same value run one after another, in the order of their batch, also between tools
        /// with the same lane parameter.
        lane: Option<String>, with_lane(impl Into<String>) => Some(lane.into());
        /// The time limit of a call. `None` leaves that of the dispatcher or the registry,
        /// [`Duration::MAX`] only the dispatcher's hard limit.
        timeout: Option<Duration>, with_timeout(Duration) => Some(timeout);
        /// The maximum number of retries of a failed call. [`Retry`](crate::middleware::Retry) decides
        /// which failures are retried, and when.
        retries: u32, with_retries(u32);
        /// The maximum number of characters of a result for the model. Longer ones are truncated.
        max_result_size: Option<usize>, with_max_result_size(usize) => Some(max_result_size);
        /// Whether the tool only reads data.
        read_only: Option<bool>, with_read_only(bool) => Some(read_only);
        /// Whether the tool may destroy data.
        destructive: Option<bool>, with_destructive(bool) => Some(destructive);
        /// Whether repeating a call has no further effect.
        idempotent: Option<bool>, with_idempotent(bool) => Some(idempotent);
        /// Whether the tool reaches systems outside of the program.
        open_world: Option<bool>, with_open_world(bool) => Some(open_world);
        /// Whether the tool is deferred: with tool search on, the definitions omit it, and the model finds
        /// it with a search.
        defer: bool, with_defer(bool);
        /// Additional words for tool search.
        search_hint: String, with_search_hint(impl Into<String>) => search_hint.into();
        /// Example arguments for the model.
        input_examples: Vec<Value>, with_input_examples(impl IntoIterator<Item = Value>)
            => input_examples.into_iter().collect();
        /// Whether the provider should enforce the schema of the arguments. If `None`, the options of the
        /// format decide.
        strict: Option<bool>, with_strict(bool) => Some(strict);
        /// The allowed callers by the provider's names, such as `direct` and `programmatic`. If empty, the
        /// provider's default applies.
        allowed_callers: Vec<String>;
        /// Whether the model is asked for the reason of each call. If `None`, the registry decides.
        call_reason: Option<bool>, with_call_reason(bool) => Some(call_reason);
        /// The treatment of unknown arguments.
        unknown: UnknownArguments, with_unknown(UnknownArguments);
        /// Whether arguments of convertible types are coerced, such as `"5"` to 5.
        coerce: bool = true, with_coerce(bool);
        /// The source of the tool.
        source: ToolSource, with_source(ToolSource);
        /// Details of the source, for instance an address.
        source_detail: String, with_source_detail(impl Into<String>) => source_detail.into();
        /// The source location of the definition, if known.
        defined_at: Option<Location>;
        /// Metadata for the program's own use.
        meta: Map<String, Value>;
    }
}

impl ToolMetadata {
    /// Adds tags. The name of a [`ToolTag`] variant, such as `network`, becomes this variant, every other
    /// string a custom tag.
    #[must_use]
    pub fn with_tags<T: AsRef<str>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(|tag| ToolTag::from(tag.as_ref())));
        self
    }

    /// Adds icons. A string is an icon's address.
    #[must_use]
    pub fn with_icons<T: Into<ToolIcon>>(mut self, icons: impl IntoIterator<Item = T>) -> Self {
        self.icons.extend(icons.into_iter().map(Into::into));
        self
    }

    /// Adds allowed callers by the provider's names.
    #[must_use]
    pub fn with_allowed_callers<T: Into<String>>(mut self, callers: impl IntoIterator<Item = T>) -> Self {
        self.allowed_callers.extend(callers.into_iter().map(Into::into));
        self
    }

    /// Returns whether a call may be repeated although it may have run already: the tool is idempotent, or
    /// read-only and not marked as not idempotent.
    ///
    /// ```
    /// use toolkit_ai::ToolMetadata;
    ///
    /// assert!(ToolMetadata::default().with_read_only(true).is_repeatable());
    /// assert!(!ToolMetadata::default().with_read_only(true).with_idempotent(false).is_repeatable());
    /// ```
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.idempotent.or(self.read_only) == Some(true)
    }

    /// Adds an entry to the program's own metadata.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// An icon in user interfaces.
///
/// ```
/// use toolkit_ai::definition::ToolIcon;
///
/// let icon = ToolIcon::new("https://example.com/tool.png").with_media_type("image/png").with_size("48x48");
/// assert_eq!(icon.sizes, ["48x48"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolIcon {
    /// The address: an `https:` URL, or a `data:` URL with the icon itself.
    pub src: String,
    /// The media type, such as `image/png`; `None` if the source tells it.
    pub media_type: Option<String>,
    /// The sizes: `48x48`, or `any` for a scalable format.
    pub sizes: Vec<String>,
}

impl ToolIcon {
    /// Creates an icon from its address.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), media_type: None, sizes: Vec::new() }
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Adds a size, such as `48x48` or `any`.
    #[must_use]
    pub fn with_size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }
}

impl From<&str> for ToolIcon {
    fn from(src: &str) -> Self {
        Self::new(src)
    }
}

/// A tag for selecting sets of tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolTag {
    /// The tool only reads data.
    ReadOnly,
    /// The tool may destroy data.
    Destructive,
    /// The tool accesses the network.
    Network,
    /// The tool accesses the file system.
    FileSystem,
    /// The tool takes a long time.
    Slow,
    /// The tool needs special rights.
    Privileged,
    /// A tag defined by the program.
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

    /// Returns the names of the tags that are not custom.
    pub(crate) fn names() -> [&'static str; 6] {
        Self::NAMED.map(|(name, _)| name)
    }

    /// Returns the tag as a string, such as `read_only`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Custom(tag) => tag,
            named => Self::NAMED.iter().find(|(_, tag)| tag == named).map_or("", |(name, _)| name),
        }
    }

    /// Returns `true` for a custom tag of the program.
    #[must_use]
    pub const fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_))
    }
}

impl From<&str> for ToolTag {
    fn from(tag: &str) -> Self {
        for (name, named) in Self::NAMED {
            if name == tag {
                return named;
            }
        }
        Self::Custom(tag.to_owned())
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
    /// An agent, called as a tool.
    Agent,
}

/// The treatment of unknown arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnknownArguments {
    /// A call with unknown arguments is refused with the nearest names. The published schema has
    /// `additionalProperties: false`.
    #[default]
    Refuse,
    /// Unknown arguments are ignored, and the schema allows them.
    Ignore,
}
