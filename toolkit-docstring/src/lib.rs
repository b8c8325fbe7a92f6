//! Parser for the parameter documentation in doc comments.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

mod model;

mod brackets;
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

mod builder;
mod parser;

pub use model::{Docstring, ParamDoc, Problem, RaisesDoc, ReturnsDoc};

/// Parses a doc comment into its prose and the documentation of parameters, result and errors.
///
/// Accepts the text of `///` lines, of a `/** */` block with leading stars, or of a Python docstring.
/// Parsing never fails: text in no known style stays in the description, and [`Docstring::problems`] lists
/// likely mistakes.
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
    parser::Parser::parse(&lines::parse(text))
}
