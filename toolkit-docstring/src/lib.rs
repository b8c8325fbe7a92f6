//! Reads parameter documentation out of a doc comment.
#![doc = include_str!("../README.md")]

mod model;

mod decoration;
mod fence;
mod lines;
mod prose;

mod default;
mod item;
mod name;
mod type_spec;

mod description;
mod numpy;
mod section;
mod sphinx;
mod title;

mod findings;
mod parser;

pub use model::{Docstring, ParamDoc, Problem, RaisesDoc, ReturnsDoc};

/// Reads a doc comment: its prose, and what it says about parameters, the result and failures.
///
/// The text may come from `///` lines, from a `/** */` block with its leading stars, or from a Python docstring.
/// Nothing is an error: what cannot be read as documentation of a parameter stays in the description, and what looks
/// like a slip is listed in [`Docstring::problems`].
///
/// # Examples
///
/// ```
/// let docs = toolkit_docstring::parse(
///     "Search the web.\n\n# Arguments\n\n* `query` - what to find\n* `limit` (u32, optional) - defaults to 10",
/// );
///
/// assert_eq!(docs.summary, "Search the web.");
/// assert_eq!(docs.param("query").map(|p| p.description.as_str()), Some("what to find"));
/// assert_eq!(docs.param("limit").and_then(|p| p.default.as_deref()), Some("10"));
/// ```
pub fn parse(text: &str) -> Docstring {
    parser::Parser::new(&lines::read(text)).run()
}
