//! What the programmer must put right before the program serves.

use super::nearest;
use super::tool::one_of;
use crate::name::NameError;
use std::fmt;

/// Where a tool is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location {
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One thing that the programmer must put right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two tools have one name.
    DuplicateName {
        /// The name.
        name: String,
        /// Where the tool that was there first is defined, if that is known.
        first: Option<Location>,
        /// Where the tool that came second is defined, if that is known.
        second: Option<Location>,
    },
    /// A tool needs a state that nobody has given.
    MissingState {
        /// The name of the tool.
        tool: String,
        /// The type of the state.
        type_name: &'static str,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// A tool has a parameter under a name that is taken from it.
    ReservedParameter {
        /// The name of the tool.
        tool: String,
        /// The name of the parameter.
        parameter: &'static str,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// A tool has the name of one that the registry [adds itself](crate::ToolRegistry::with_tool_search).
    ReservedName {
        /// The name.
        tool: String,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// A tool has a name that is not legal.
    IllegalName {
        /// What is wrong with it, and a legal spelling.
        error: NameError,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// The schema of a tool's arguments is none, or not one that its arguments can have.
    InvalidSchema {
        /// The name of the tool.
        tool: String,
        /// Where in the schema, as in `#/properties/city/type`; `#` is the whole.
        path: String,
        /// What is wrong there, and what would be right.
        message: String,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// An argument of a tool cannot be shown as it was to be.
    InvalidTransform {
        /// The name of the tool.
        tool: String,
        /// The argument.
        argument: String,
        /// What stands against it, and what would be right.
        message: String,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// Something was named that is not there.
    Unknown {
        /// What kind of thing: `tool`, `namespace` or `tag`.
        what: &'static str,
        /// The name.
        name: String,
        /// The at most three names that are most like it, best first.
        nearest: Vec<String>,
    },
    /// Two things of one kind have one name.
    Ambiguous {
        /// What kind of thing, such as `agent`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A check did not let a tool in.
    Refused {
        /// The name of the tool.
        tool: String,
        /// What the check says.
        reason: String,
        /// Where the tool is defined, if that is known.
        defined_at: Option<Location>,
    },
    /// A tool was to be restored that is not overridden.
    NotOverridden {
        /// The name of the tool.
        tool: String,
    },
}

impl BuildProblem {
    /// Nothing of this kind has this name; `known` are the names that there are.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let nearest = nearest(name, known).into_iter().map(str::to_owned).collect();
        Self::Unknown { what, name: name.to_owned(), nearest }
    }
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName { name, first, second } if first.is_some() && first == second => {
                write!(f, "tool `{name}`, defined at {}, is registered twice", place(*first))
            }
            Self::DuplicateName { name, first, second } => {
                write!(
                    f,
                    "two tools are named `{name}`: one defined at {}, one at {}; rename one or put it into a namespace",
                    place(*first),
                    place(*second)
                )
            }
            Self::MissingState { tool, type_name, defined_at } => {
                write!(
                    f,
                    "tool `{tool}` (defined at {}) needs a state of type `{type_name}`; give it with `registry.with_state(…)`",
                    place(*defined_at)
                )
            }
            Self::ReservedParameter { tool, parameter, defined_at } => {
                write!(
                    f,
                    "tool `{tool}` must not have a parameter `{parameter}` (defined at {}): the model's reason for a call has that name; rename it or say `call_reason = false`",
                    place(*defined_at)
                )
            }
            Self::ReservedName { tool, defined_at } => {
                write!(
                    f,
                    "tool `{tool}` must have another name (defined at {}): the tool search has a tool of that name",
                    place(*defined_at)
                )
            }
            Self::IllegalName { error, defined_at } => {
                write!(f, "{error} (defined at {})", place(*defined_at))
            }
            Self::InvalidSchema { tool, path, message, defined_at } => {
                let place = place(*defined_at);
                write!(f, "the schema of tool `{tool}` is wrong at `{path}`: {message} (defined at {place})")
            }
            Self::InvalidTransform { tool, argument, message, defined_at } => {
                let place = place(*defined_at);
                write!(
                    f,
                    "argument `{argument}` of tool `{tool}` cannot be changed so: {message} (defined at {place})"
                )
            }
            Self::Unknown { what, name, nearest } if nearest.is_empty() => {
                write!(f, "there is no {what} `{name}`")
            }
            Self::Unknown { what, name, nearest } => {
                let nearest: Vec<&str> = nearest.iter().map(String::as_str).collect();
                write!(f, "there is no {what} `{name}`; did you mean {}?", one_of(&nearest))
            }
            Self::Ambiguous { what, name } => {
                write!(f, "two {what}s are named `{name}`; give each a name of its own")
            }
            Self::Refused { tool, reason, defined_at } => {
                write!(f, "tool `{tool}` was refused: {reason} (defined at {})", place(*defined_at))
            }
            Self::NotOverridden { tool } => {
                write!(f, "tool `{tool}` must be overridden before it can be restored")
            }
        }
    }
}

fn place(location: Option<Location>) -> String {
    location.map_or_else(|| "an unknown place".to_owned(), |location| location.to_string())
}

/// Everything that the programmer must put right before the program serves, all at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    problems: Vec<BuildProblem>,
}

impl BuildError {
    /// `Ok` if there is no problem.
    ///
    /// # Errors
    /// All problems, otherwise.
    pub fn unless_empty(problems: Vec<BuildProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }

    /// The problems, in the order in which they were found.
    #[must_use]
    pub fn problems(&self) -> &[BuildProblem] {
        &self.problems
    }
}

impl From<BuildProblem> for BuildError {
    fn from(problem: BuildProblem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl FromIterator<BuildProblem> for BuildError {
    fn from_iter<I: IntoIterator<Item = BuildProblem>>(problems: I) -> Self {
        Self { problems: problems.into_iter().collect() }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(f, "{only}"),
            problems => {
                write!(f, "{} problems with the registered tools", problems.len())?;
                problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
            }
        }
    }
}

impl std::error::Error for BuildError {}
