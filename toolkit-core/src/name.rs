//! Tool names: legal characters, namespaces, normalisation, and spellings.

mod normalize;
mod wire;

pub use normalize::normalize;
#[doc(hidden)]
pub use wire::fnv1a;
pub use wire::{NameRule, WireNames};

use std::fmt;
use std::sync::Arc;

/// The maximum length of a tool name, in characters.
///
/// The limit of the Model Context Protocol and Anthropic's Messages API. [`WireNames`] shortens names for
/// providers with a lower one.
pub const MAX_NAME_LENGTH: usize = 128;

/// The search tool by which the model calls a deferred tool.
pub(crate) const CALL_DEFERRED: &str = "call_deferred";

/// The separator between namespace and method name.
///
/// ```
/// use toolkit_ai::ToolName;
/// use toolkit_ai::name::Separator;
///
/// assert_eq!(ToolName::qualified("math", "add", Separator::Dot)?.as_str(), "math.add");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Separator {
    /// A dash, as in `math-add`: the default, accepted by every provider.
    #[default]
    Dash,
    /// A dot, as in `math.add`: accepted by the Model Context Protocol and Gemini, and replaced by
    /// [`WireNames`] for others.
    Dot,
}

impl Separator {
    /// Returns the separator as a character.
    #[must_use]
    pub const fn as_char(self) -> char {
        match self {
            Self::Dash => '-',
            Self::Dot => '.',
        }
    }
}

/// The name of a tool: qualified name, namespace and method name.
///
/// `math-add`, for instance, has the namespace `math` and the method name `add`. A legal name has 1 to 128
/// characters of `A-Z a-z 0-9 _ . -`. Clones are cheap.
///
/// ```
/// use toolkit_ai::ToolName;
/// use toolkit_ai::name::Separator;
///
/// let name = ToolName::new("add")?.update_namespace("MathOps", false, Separator::Dash)?;
/// assert_eq!(name.as_str(), "math_ops-add");
/// assert_eq!(name.namespace(), Some("math_ops"));
/// assert_eq!(name.method_name(), "add");
/// # Ok::<(), toolkit_ai::name::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<NameParts>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct NameParts {
    qualified: Box<str>,
    namespace: Option<Box<str>>,
    method: Box<str>,
}

impl ToolName {
    /// Creates a name without a namespace.
    ///
    /// # Errors
    /// The name is illegal; the error suggests a legal one.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Self::from_parts(name, None, name)
    }

    /// Creates a qualified name. The namespace is [normalised](normalize).
    ///
    /// # Errors
    /// The namespace or the qualified name is illegal.
    pub fn qualified(namespace: &str, method: &str, separator: Separator) -> Result<Self, NameError> {
        let namespace = normalized_namespace(namespace)?;
        let qualified = join(&namespace, method, separator);
        Self::from_parts(&qualified, Some(&namespace), method)
    }

    /// Creates a name from its parts. The namespace is [normalised](normalize).
    ///
    /// The qualified name need not consist of the others: a remote method `add` may be published as `plus`.
    ///
    /// # Errors
    /// `qualified` or the namespace is illegal.
    pub fn from_parts(qualified: &str, namespace: Option<&str>, method: &str) -> Result<Self, NameError> {
        check_name(qualified)?;
        match namespace {
            Some(namespace) if !namespace.is_empty() => {
                Ok(Self::from_legal(qualified, Some(&normalized_namespace(namespace)?), method))
            }
            _ => Ok(Self::from_legal(qualified, None, method)),
        }
    }

    fn from_legal(qualified: &str, namespace: Option<&str>, method: &str) -> Self {
        Self(Arc::new(NameParts {
            qualified: qualified.into(),
            namespace: namespace.map(Into::into),
            method: method.into(),
        }))
    }

    /// Creates a name from parts checked by `#[tool]`. The registry checks the joined length.
    pub(crate) fn unchecked(namespace: Option<&str>, method: &str, separator: Separator) -> Self {
        let namespace = namespace.map(normalize);
        let qualified = match &namespace {
            Some(namespace) => join(namespace, method, separator),
            None => method.to_owned(),
        };
        Self::from_legal(&qualified, namespace.as_deref(), method)
    }

    /// Creates the default tool name of a function: `get_weather` for `getWeather`. The function name and
    /// the namespace are [normalised](normalize).
    ///
    /// ```
    /// use toolkit_ai::ToolName;
    /// use toolkit_ai::name::Separator;
    ///
    /// let name = ToolName::from_function("MultiplyNumbers", Some("Calc"), Separator::Dash)?;
    /// assert_eq!(name.as_str(), "calc-multiply_numbers");
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    ///
    /// # Errors
    /// The result is illegal.
    pub fn from_function(
        function: &str,
        namespace: Option<&str>,
        separator: Separator,
    ) -> Result<Self, NameError> {
        Self::maybe_qualified(namespace, &normalize(function), separator)
    }

    fn maybe_qualified(
        namespace: Option<&str>,
        method: &str,
        separator: Separator,
    ) -> Result<Self, NameError> {
        match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => Self::qualified(namespace, method, separator),
            None => Self::new(method),
        }
    }

    /// Returns the qualified name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.qualified
    }

    /// Returns the normalised namespace, if there is one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.0.namespace.as_deref()
    }

    /// Returns the method name, without the namespace.
    #[must_use]
    pub fn method_name(&self) -> &str {
        &self.0.method
    }

    /// Returns whether the name has a namespace or a separator (`-` or `.`).
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.namespace().is_some() || self.as_str().contains(['-', '.'])
    }

    /// Returns the name moved to another namespace, which is [normalised](normalize). An empty one changes
    /// nothing.
    ///
    /// A name [in a namespace](Self::is_namespaced) moves only if `force` is `true`: `namespace` replaces
    /// the part before the first `separator`. A method name that differs from the qualified name stays.
    ///
    /// # Errors
    /// The new name is illegal.
    pub fn update_namespace(
        &self,
        namespace: &str,
        force: bool,
        separator: Separator,
    ) -> Result<Self, NameError> {
        if namespace.is_empty() || (!force && self.is_namespaced()) {
            return Ok(self.clone());
        }
        let namespace = normalized_namespace(namespace)?;
        let bare = split(self.as_str(), separator).map_or(self.as_str(), |(_, rest)| rest);
        let has_own_method = !self.method_name().is_empty() && self.method_name() != self.as_str();
        let method = if has_own_method { self.method_name() } else { bare };
        Self::from_parts(&join(&namespace, bare, separator), Some(&namespace), method)
    }

    /// Returns a name of `namespace`, if any, and this method name.
    ///
    /// # Errors
    /// The new name is illegal.
    pub fn requalify(&self, namespace: Option<&str>, separator: Separator) -> Result<Self, NameError> {
        Self::maybe_qualified(namespace, self.bare_method(), separator)
    }

    /// Returns the method name. If it is empty or the qualified name, returns the latter without its
    /// namespace.
    fn bare_method(&self) -> &str {
        let name = self.as_str();
        let method = self.method_name();
        if !method.is_empty() && method != name {
            return method;
        }
        let mut separators = [Separator::Dash, Separator::Dot].into_iter();
        let rest = match self.namespace() {
            Some(namespace) => separators.find_map(|separator| strip(name, namespace, separator)),
            None => separators.find_map(|separator| split(name, separator)).map(|(_, rest)| rest),
        };
        rest.unwrap_or(name)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolName({:?})", self.as_str())
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Returns the part of `name` before the first separator, if there is one.
///
/// ```
/// use toolkit_ai::name::{namespace_prefix, Separator};
///
/// assert_eq!(namespace_prefix("math-add", Separator::Dash), Some("math"));
/// assert_eq!(namespace_prefix("math-add", Separator::Dot), None);
/// ```
#[must_use]
pub fn namespace_prefix(name: &str, separator: Separator) -> Option<&str> {
    split(name, separator).map(|(prefix, _)| prefix)
}

/// Returns whether `name` begins with `namespace` and the separator.
///
/// For example, with a dash, `math-add` is in the namespace `math`, but `math_ops-add` is not.
#[must_use]
pub fn is_in_namespace(name: &str, namespace: &str, separator: Separator) -> bool {
    strip(name, namespace, separator).is_some()
}

/// Returns `name` without `namespace` and separator. Names in other namespaces are returned unchanged.
#[must_use]
pub fn strip_namespace<'a>(name: &'a str, namespace: &str, separator: Separator) -> &'a str {
    strip(name, namespace, separator).unwrap_or(name)
}

fn strip<'a>(name: &'a str, namespace: &str, separator: Separator) -> Option<&'a str> {
    if namespace.is_empty() {
        return None;
    }
    name.strip_prefix(namespace)?.strip_prefix(separator.as_char())
}

fn split(name: &str, separator: Separator) -> Option<(&str, &str)> {
    name.split_once(separator.as_char())
}

fn join(namespace: &str, method: &str, separator: Separator) -> String {
    format!("{namespace}{}{method}", separator.as_char())
}

fn normalized_namespace(namespace: &str) -> Result<String, NameError> {
    let normalized = normalize(namespace);
    match check_name(&normalized) {
        Ok(()) => Ok(normalized),
        Err(_) => Err(NameError::namespace(namespace)),
    }
}

/// Checks if `name` is legal by [`NameRule::TOOL_NAMES`].
///
/// # Errors
/// `name` is illegal; the error suggests a legal one.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if NameRule::TOOL_NAMES.accepts(name) { Ok(()) } else { Err(NameError::name(name)) }
}

/// An illegal tool name or namespace. The message suggests a legal one.
#[derive(Clone, PartialEq, Eq)]
pub struct NameError {
    what: &'static str,
    name: String,
    suggestion: String,
}

impl NameError {
    fn name(name: &str) -> Self {
        Self { what: "tool name", name: name.to_owned(), suggestion: legal_spelling(name, "tool") }
    }

    fn namespace(namespace: &str) -> Self {
        Self {
            what: "namespace",
            name: namespace.to_owned(),
            suggestion: legal_spelling(&normalize(namespace), "tools"),
        }
    }

    /// Returns the illegal name.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.name
    }

    /// Returns a similar legal name.
    #[must_use]
    pub fn suggestion(&self) -> &str {
        &self.suggestion
    }
}

/// Prints the message for a failed `main`.
impl fmt::Debug for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, suggestion } = self;
        let length = name.chars().count();
        if length > MAX_NAME_LENGTH {
            return write!(
                f,
                "{what} `{suggestion}…` has {length} characters; use at most {MAX_NAME_LENGTH}"
            );
        }
        write!(
            f,
            "{what} `{name}` must be 1 to {MAX_NAME_LENGTH} of the characters {}, for example `{suggestion}`",
            NameRule::TOOL_NAMES.characters()
        )
    }
}

impl std::error::Error for NameError {}

fn legal_spelling(name: &str, fallback: &str) -> String {
    let plain = NameRule::TOOL_NAMES.plain(name);
    let spelled: String = plain.trim_matches('_').chars().take(MAX_NAME_LENGTH).collect();
    if spelled.is_empty() { fallback.to_owned() } else { spelled }
}

#[cfg(test)]
mod tests;
