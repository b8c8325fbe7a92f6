//! What a doc comment says.

/// A doc comment taken apart.
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
    /// The first paragraph of the description, its lines joined with a space.
    pub summary: String,
    /// The whole text, dedented, without what went into the fields below, and without the sections of rustdoc that
    /// are for programmers: `# Examples`, `# Panics` and `# Safety`.
    pub description: String,
    /// The documented parameters, in the order of the text, each name once.
    pub params: Vec<ParamDoc>,
    /// What is said about the result.
    pub returns: Option<ReturnsDoc>,
    /// What is said about failures, in the order of the text.
    pub raises: Vec<RaisesDoc>,
    /// Slips of the writer, in the order of the text.
    pub problems: Vec<Problem>,
}

impl Docstring {
    /// The documentation of the parameter `name`; `r#type` and `type` are the same name.
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

/// One documented parameter.
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
    /// The plain name: no stars, no back-ticks, no `r#`.
    pub name: String,
    /// The type as written, without words such as `optional`.
    pub ty: Option<String>,
    /// The text, its lines joined with a space and its paragraphs kept apart by a blank line; may be empty.
    pub description: String,
    /// The default as written, from the type part or from words such as `Defaults to 10.` in the description.
    pub default: Option<String>,
    /// Whether the type part says `optional`.
    pub optional: bool,
    /// The line of the text, counted from zero, where the name stands.
    pub line: usize,
}

/// What is said about the result.
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
    /// The text, its lines joined with a space and its paragraphs kept apart by a blank line; may be empty.
    pub description: String,
    /// The line of the text, counted from zero, where it begins.
    pub line: usize,
}

/// One way to fail.
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
    /// The text, its lines joined with a space and its paragraphs kept apart by a blank line; may be empty.
    pub description: String,
    /// The line of the text, counted from zero, where it begins.
    pub line: usize,
}

/// A slip in the text that its writer should know of.
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse("Adds.\n\n:param a The first number");
///
/// assert_eq!(docs.problems[0].line, 2);
/// assert_eq!(docs.problems[0].message, "`:param` lacks the colon after its name");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line of the text, counted from zero.
    pub line: usize,
    /// What is wrong, lower-case and without a full stop.
    pub message: String,
}
