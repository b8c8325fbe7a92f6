//! The result of parsing a doc comment.

/// A parsed doc comment.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Adds numbers.\n\n:param a: one\n:returns: the sum\n\nNever fails.");
///
/// assert_eq!(docs.summary, "Adds numbers.");
/// assert_eq!(docs.description, "Adds numbers.\n\nNever fails.");
/// assert_eq!(docs.params.len(), 1);
/// assert!(docs.problems.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Docstring {
    /// The first paragraph of the description, as one line.
    pub summary: String,
    /// The text without the documentation of parameters, return value and errors.
    ///
    /// Common indentation is removed, and so are the rustdoc sections `# Examples`, `# Panics` and `#
    /// Safety`, because they address programmers.
    pub description: String,
    /// The documented parameters in order, each once.
    pub params: Vec<ParamDoc>,
    /// The documentation of the return value.
    pub returns: Option<ReturnsDoc>,
    /// The documented errors in order.
    pub raises: Vec<RaisesDoc>,
    /// Likely mistakes in the order of the lines.
    pub problems: Vec<Problem>,
}

impl Docstring {
    /// Returns the documentation of the parameter called `name`, with or without the prefix `r#`.
    ///
    /// # Examples
    ///
    /// ```
    /// let docs = toolkit_docstring::parse("Args:\n    type: what to list");
    ///
    /// assert_eq!(docs.param("r#type").map(|p| p.description.as_str()), Some("what to list"));
    /// assert_eq!(docs.param("kind"), None);
    /// ```
    pub fn param(&self, name: &str) -> Option<&ParamDoc> {
        let plain = name.strip_prefix("r#").unwrap_or(name);
        self.params.iter().find(|param| param.name == plain)
    }
}

/// The documentation of one parameter.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Lists.\n\nArgs:\n    limit (int, optional): At most. Defaults to `10`.");
/// let limit = docs.param("limit").ok_or("missing")?;
///
/// assert_eq!(limit.ty.as_deref(), Some("int"));
/// assert_eq!(limit.description, "At most. Defaults to `10`.");
/// assert_eq!(limit.default.as_deref(), Some("10"));
/// assert!(limit.optional);
/// assert_eq!(limit.line, 3);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamDoc {
    /// The bare name, without stars, backticks or `r#`.
    pub name: String,
    /// The type as written in the comment, without words such as `optional`.
    pub ty: Option<String>,
    /// The description, possibly empty. Each paragraph is one line, and a blank line separates paragraphs.
    pub description: String,
    /// The default value as written, after the type or in a phrase such as `Defaults to 10.`
    pub default: Option<String>,
    /// Whether the comment gives the word `optional` with the type.
    pub optional: bool,
    /// The zero-based number of the line that names the parameter.
    pub line: usize,
}

/// The documentation of the return value.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Lists.\n\nReturns:\n    list[str]: the names");
/// let returns = docs.returns.ok_or("missing")?;
///
/// assert_eq!(returns.ty.as_deref(), Some("list[str]"));
/// assert_eq!(returns.description, "the names");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReturnsDoc {
    /// The type as written.
    pub ty: Option<String>,
    /// The description, in the form of [`ParamDoc::description`].
    pub description: String,
    /// The zero-based number of the first line.
    pub line: usize,
}

/// The documentation of one error.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Reads.\n\n:raises OSError: when the disk is gone");
///
/// assert_eq!(docs.raises[0].ty.as_deref(), Some("OSError"));
/// assert_eq!(docs.raises[0].description, "when the disk is gone");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaisesDoc {
    /// The error type as written.
    pub ty: Option<String>,
    /// The description, in the form of [`ParamDoc::description`].
    pub description: String,
    /// The zero-based number of the first line.
    pub line: usize,
}

/// A likely mistake in a doc comment.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Adds.\n\n:param a The first number");
///
/// assert_eq!(docs.problems[0].line, 2);
/// assert_eq!(docs.problems[0].message, "`:param` is missing the colon after its name");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The zero-based number of the line with the mistake.
    pub line: usize,
    /// The mistake, starting in lowercase and without a trailing period.
    pub message: String,
}
