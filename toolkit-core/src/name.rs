//! Tool names: normalising, qualifying with a namespace, and what is legal.

mod normalize;
mod wire;

pub use normalize::normalize;
#[doc(hidden)]
pub use wire::fnv1a;
pub use wire::{NameRule, WireNames};

use std::fmt;
use std::sync::Arc;

/// The longest legal tool name, in characters.
///
/// The limit of the Model Context Protocol and of Anthropic's Messages API; shorter ones are met
/// by [`WireNames`].
pub const MAX_NAME_LENGTH: usize = 128;

/// What stands between a namespace and the method's own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Separator {
    /// `math-add`. Every provider accepts it, so it is the default.
    #[default]
    Dash,
    /// `math.add`. The Model Context Protocol and Gemini accept it; elsewhere it is mapped.
    Dot,
}

impl Separator {
    /// The character itself.
    #[must_use]
    pub const fn as_char(self) -> char {
        match self {
            Self::Dash => '-',
            Self::Dot => '.',
        }
    }

    /// Reads `-` or `.`.
    #[must_use]
    pub fn from_char(separator: char) -> Option<Self> {
        match separator {
            '-' => Some(Self::Dash),
            '.' => Some(Self::Dot),
            _ => None,
        }
    }
}

/// The name of a tool: the spelling that is called, the namespace and the method's own name.
///
/// A legal name is 1 to 128 characters of `A-Z a-z 0-9 _ . -`. Clones are cheap.
///
/// ```
/// use toolkit::ToolName;
/// use toolkit::name::Separator;
///
/// let name = ToolName::new("add")?.update_namespace("MathOps", false, Separator::Dash)?;
/// assert_eq!(name.as_str(), "math_ops-add");
/// assert_eq!(name.namespace(), Some("math_ops"));
/// assert_eq!(name.method_name(), "add");
/// # Ok::<(), toolkit::name::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<Parts>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Parts {
    qualified: Box<str>,
    namespace: Option<Box<str>>,
    method: Box<str>,
}

impl ToolName {
    /// A name without a namespace, kept as it is written.
    ///
    /// # Errors
    /// [`NameError`] if the name is not legal; it shows a legal spelling.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Self::from_parts(name, None, name)
    }

    /// `namespace`, the separator, `method`. The namespace is [normalised](normalize), the method
    /// is kept as it is written.
    ///
    /// # Errors
    /// [`NameError`] if the qualified name is not legal.
    pub fn qualified(namespace: &str, method: &str, separator: Separator) -> Result<Self, NameError> {
        let namespace = normalized_namespace(namespace)?;
        let qualified = join(&namespace, method, separator);
        Self::from_parts(&qualified, Some(&namespace), method)
    }

    /// A name whose three parts were chosen by somebody else, for instance a remote server that
    /// shows the method `add` under the name `plus`.
    ///
    /// # Errors
    /// [`NameError`] if `qualified` is not legal.
    pub fn from_parts(qualified: &str, namespace: Option<&str>, method: &str) -> Result<Self, NameError> {
        check_name(qualified)?;
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        Ok(Self(Arc::new(Parts {
            qualified: qualified.into(),
            namespace: namespace.map(Into::into),
            method: method.into(),
        })))
    }

    /// The name of a function whose name and namespace the macro has looked at. What it cannot know,
    /// the length of the whole, the registry checks.
    pub(crate) fn unchecked(namespace: Option<&str>, method: &str, separator: Separator) -> Self {
        let namespace = namespace.map(normalize);
        let qualified = match &namespace {
            Some(namespace) => join(namespace, method, separator),
            None => method.to_owned(),
        };
        Self(Arc::new(Parts {
            qualified: qualified.into(),
            namespace: namespace.map(Into::into),
            method: method.into(),
        }))
    }

    /// The name that a function gets when nobody wrote one: function name and namespace are both
    /// [normalised](normalize).
    ///
    /// ```
    /// use toolkit::ToolName;
    /// use toolkit::name::Separator;
    ///
    /// let name = ToolName::from_function("MultiplyNumbers", Some("Calc"), Separator::Dash)?;
    /// assert_eq!(name.as_str(), "calc-multiply_numbers");
    /// # Ok::<(), toolkit::name::NameError>(())
    /// ```
    ///
    /// # Errors
    /// [`NameError`] if what comes out is not legal.
    pub fn from_function(
        function: &str,
        namespace: Option<&str>,
        separator: Separator,
    ) -> Result<Self, NameError> {
        let method = normalize(function);
        match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => Self::qualified(namespace, &method, separator),
            None => Self::new(&method),
        }
    }

    /// The spelling that is called and listed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.qualified
    }

    /// The same as [`as_str`](Self::as_str), under the name that toolregistry gives it.
    #[must_use]
    pub fn qualified_name(&self) -> &str {
        self.as_str()
    }

    /// The namespace, normalised; `None` if the tool has none.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.0.namespace.as_deref()
    }

    /// The tool's own name inside its namespace.
    #[must_use]
    pub fn method_name(&self) -> &str {
        &self.0.method
    }

    /// Whether a namespace is set or the name itself holds a separator.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.namespace().is_some() || self.as_str().contains(['-', '.'])
    }

    /// Puts the tool into `namespace` (normalised), as toolregistry's `update_namespace`.
    ///
    /// A name that is [already in a namespace](Self::is_namespaced) stays as it is, unless `force`
    /// is set: then everything up to the first separator is replaced. The method's own name is kept.
    /// An empty namespace changes nothing.
    ///
    /// # Errors
    /// [`NameError`] if the new name is not legal.
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
        let bare = after_separator(self.as_str(), separator);
        let method = if self.method_name().is_empty() || self.method_name() == self.as_str() {
            bare
        } else {
            self.method_name()
        };
        Self::from_parts(&join(&namespace, bare, separator), Some(&namespace), method)
    }

    /// Builds the name anew from the method's own name, in `namespace` or in none.
    ///
    /// # Errors
    /// [`NameError`] if the new name is not legal.
    pub fn requalify(&self, namespace: Option<&str>, separator: Separator) -> Result<Self, NameError> {
        let method = self.own_name();
        match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => Self::qualified(namespace, method, separator),
            None => Self::new(method),
        }
    }

    /// The method's own name; where it is the whole name, what is left without the namespace.
    fn own_name(&self) -> &str {
        let (name, method) = (self.as_str(), self.method_name());
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

    /// Whether the name begins with `namespace` and the separator: `math` holds `math-add`, but not
    /// `math_ops-add`.
    #[must_use]
    pub fn is_in_namespace(&self, namespace: &str, separator: Separator) -> bool {
        is_in_namespace(self.as_str(), namespace, separator)
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

/// What stands before the first separator of `name`; `None` if it holds none.
///
/// ```
/// use toolkit::name::{namespace_prefix, Separator};
///
/// assert_eq!(namespace_prefix("math-add", Separator::Dash), Some("math"));
/// assert_eq!(namespace_prefix("math-add", Separator::Dot), None);
/// ```
#[must_use]
pub fn namespace_prefix(name: &str, separator: Separator) -> Option<&str> {
    split(name, separator).map(|(prefix, _)| prefix)
}

/// Whether `name` begins with `namespace` and the separator.
#[must_use]
pub fn is_in_namespace(name: &str, namespace: &str, separator: Separator) -> bool {
    strip(name, namespace, separator).is_some()
}

/// `name` without a leading `namespace` and separator; unchanged if it is in another one.
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

fn after_separator(name: &str, separator: Separator) -> &str {
    split(name, separator).map_or(name, |(_, rest)| rest)
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

/// Checks that a name is 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
///
/// # Errors
/// [`NameError`] otherwise; it shows a legal spelling.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let legal = !name.is_empty()
        && name.len() <= MAX_NAME_LENGTH
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    if legal { Ok(()) } else { Err(NameError::name(name)) }
}

/// A name that no tool may have. Its text shows a legal spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// The name as it was given.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.name
    }

    /// A legal name that is close to the given one.
    #[must_use]
    pub fn suggestion(&self) -> &str {
        &self.suggestion
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, suggestion } = self;
        let length = name.chars().count();
        if length > MAX_NAME_LENGTH {
            return write!(
                f,
                "{what} `{suggestion}…` has {length} characters, at most {MAX_NAME_LENGTH} are allowed"
            );
        }
        write!(
            f,
            "{what} `{name}` must be 1 to {MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _ . -, for example `{suggestion}`"
        )
    }
}

impl std::error::Error for NameError {}

fn legal_spelling(name: &str, fallback: &str) -> String {
    let spelled = wire::replace_illegal(name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let spelled: String = spelled.trim_matches('_').chars().take(MAX_NAME_LENGTH).collect();
    if spelled.is_empty() { fallback.to_owned() } else { spelled }
}

#[cfg(test)]
mod tests;
