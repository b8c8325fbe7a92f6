//! Problems with the registered tools, for the programmer.

use super::listing::suggested;
use super::nearest;
use crate::name::{NameError, ToolName, normalize};
use crate::schema::__private::{distinct, sort_by};
use std::fmt;

/// The source location of a tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Location {
    /// The source file.
    pub file: &'static str,
    /// The line number, counted from 1.
    pub line: u32,
}

impl Location {
    /// Returns the source location of the caller.
    ///
    /// If the callers have `#[track_caller]` too, this is the location of the outermost call.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        let place = std::panic::Location::caller();
        Self { file: place.file(), line: place.line() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One problem with the registered tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two tools have the same name.
    #[non_exhaustive]
    DuplicateName {
        /// The name of both tools.
        name: String,
        /// The source location of the earlier tool, if known.
        first: Option<Location>,
        /// The source location of the later tool, if known.
        second: Option<Location>,
    },
    /// Tools of several crates have the same name.
    #[non_exhaustive]
    CratesClash {
        /// The name of the tools.
        name: String,
        /// The crates, each with the source location of its tool if known.
        definitions: Vec<(String, Option<Location>)>,
    },
    /// A tool has an illegal name.
    #[non_exhaustive]
    IllegalName {
        /// The error with the illegal name and a legal suggestion.
        error: NameError,
        /// The source location of the tool, if known.
        defined_at: Option<Location>,
    },
    /// A tool has a fault and cannot be served.
    #[non_exhaustive]
    Tool {
        /// The name of the tool.
        tool: String,
        /// The source location of the tool, if known.
        defined_at: Option<Location>,
        /// The fault that prevents serving the tool.
        fault: ToolFault,
    },
    /// A name matches no registered tool, namespace or tag.
    #[non_exhaustive]
    Unknown {
        /// The kind of the missing item, such as `tool`, `namespace` or `tag`.
        what: &'static str,
        /// The name that matches nothing.
        name: String,
        /// Up to three similar names, best first.
        nearest: Vec<String>,
        /// Up to ten known names, if no name is similar.
        known: Vec<String>,
    },
    /// A rule to deny calls or to ask selects no tool.
    #[non_exhaustive]
    RuleWithoutTools {
        /// The rule, with its conditions that no tool meets, such as ``rule `ask` for the tag `billing` ``.
        rule: String,
        /// Up to three similar names, best first.
        nearest: Vec<String>,
        /// Up to ten known names, if no name is similar.
        known: Vec<String>,
    },
    /// A rule to deny calls or to ask comes after a more lenient rule for all calls, which decides before it.
    #[non_exhaustive]
    UnreachableRule {
        /// The rule, with its conditions.
        rule: String,
        /// The rule for all calls.
        earlier: String,
    },
    /// Two items of the same kind have the same name.
    #[non_exhaustive]
    Ambiguous {
        /// The kind of the items, such as `agent`.
        what: &'static str,
        /// The name of both items.
        name: String,
    },
    /// A pattern cannot match any legal tool name.
    #[non_exhaustive]
    InvalidPattern {
        /// The pattern as given by the program.
        pattern: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// A server cannot have a path.
    #[non_exhaustive]
    InvalidPath {
        /// The path as given by the program.
        path: String,
        /// How to fix it.
        message: String,
    },
    /// A tool cannot be restored because it is not overridden.
    #[non_exhaustive]
    NotOverridden {
        /// The name of the tool.
        tool: String,
    },
}

impl BuildProblem {
    /// Creates the problem of two items of a kind, such as `agent`, with one name.
    #[must_use]
    pub fn ambiguous(what: &'static str, name: impl Into<String>) -> Self {
        Self::Ambiguous { what, name: name.into() }
    }

    /// Creates the problem of a path that a server cannot have. The message says how to fix it.
    #[must_use]
    pub fn invalid_path(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidPath { path: path.into(), message: message.into() }
    }
}

/// A fault of a single tool, reported as [`BuildProblem::Tool`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFault {
    /// The tool needs a state value missing in the registry.
    #[non_exhaustive]
    MissingState {
        /// The type of the missing state.
        type_name: &'static str,
        /// The pointer type, such as `Arc`, if the registry contains the state inside of this pointer.
        within: Option<&'static str>,
    },
    /// The tool needs a value of the [run](crate::ToolRegistry::with_run_state) that the run does not have.
    #[non_exhaustive]
    MissingRunState {
        /// The type of the missing state.
        type_name: &'static str,
    },
    /// A parameter has a reserved name.
    #[non_exhaustive]
    ReservedParameter {
        /// The name of the parameter.
        parameter: &'static str,
    },
    /// The name of the tool is reserved for a [search tool](crate::ToolRegistry::with_tool_search).
    ReservedName,
    /// A schema is invalid, or the parameters schema accepts no objects.
    #[non_exhaustive]
    InvalidSchema {
        /// The position in the schema, such as `#/properties/city/type`; `#` is the root.
        path: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// An argument cannot be transformed as requested.
    #[non_exhaustive]
    InvalidTransform {
        /// The name of the argument.
        argument: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// A [check](crate::LiveRegistry::add_check) of the program refused the tool.
    #[non_exhaustive]
    Refused {
        /// The reason given by the check.
        reason: String,
    },
}

impl BuildProblem {
    /// Creates a [`Tool`](Self::Tool) problem.
    pub(crate) fn of_tool(tool: &ToolName, defined_at: Option<Location>, fault: ToolFault) -> Self {
        Self::Tool { tool: tool.to_string(), defined_at, fault }
    }

    /// Creates an [`Unknown`](Self::Unknown) problem. It suggests the `known` names most similar to `name` or, if none
    /// is similar, lists up to ten of them.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let names: Vec<&str> = known.into_iter().collect();
        let nearest: Vec<String> =
            nearest(name, names.iter().copied()).into_iter().map(str::to_owned).collect();
        let listed = if nearest.is_empty() { names.len().min(10) } else { 0 };
        let known = names.into_iter().take(listed).map(str::to_owned).collect();
        Self::Unknown { what, name: name.to_owned(), nearest, known }
    }

    /// Creates an [`Unknown`](Self::Unknown) problem for the full name of a tool. It suggests the tools with this name
    /// in a namespace or else the most similar names. If no name is similar, it lists up to ten names.
    pub(crate) fn unknown_tool<'a>(
        what: &'static str,
        name: &str,
        tools: impl IntoIterator<Item = &'a ToolName>,
    ) -> Self {
        let mut tools: Vec<&ToolName> = tools.into_iter().collect();
        sort_by(&mut tools, Ord::cmp);
        tools.dedup();
        let meant = tools.iter().filter(|tool| is_method_of(name, tool));
        match Self::bare_name(what, name, meant.copied()) {
            Some(problem) => problem,
            None => Self::unknown(what, name, tools.iter().map(|tool| tool.as_str())),
        }
    }

    /// Creates an [`Unknown`](Self::Unknown) problem for a name without its namespace. It suggests up to three of the
    /// tools that were probably `meant`. Returns `None` if there is none.
    pub(crate) fn bare_name<'a>(
        what: &'static str,
        name: &str,
        meant: impl IntoIterator<Item = &'a ToolName>,
    ) -> Option<Self> {
        let meant = distinct(meant.into_iter().map(ToolName::as_str));
        let nearest: Vec<String> = meant.into_iter().take(3).map(str::to_owned).collect();
        let is_bare = !nearest.is_empty();
        is_bare.then(|| Self::Unknown { what, name: name.to_owned(), nearest, known: Vec::new() })
    }
}

impl ToolFault {
    /// Writes the message about `tool`, a name with the place of its definition.
    fn write(&self, tool: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingState { type_name, within: Some(pointer) } => {
                write!(
                    f,
                    "{tool} needs state of type `{type_name}`, but the registry has `{pointer}<{type_name}>`; "
                )?;
                f.write_str(match *pointer {
                    "Arc" => "add the `Arc` with `registry.with_shared_state(…)`",
                    _ => "add the value without the `Box`, or as `registry.with_shared_state(Arc::from(…))`",
                })
            }
            Self::MissingState { type_name, .. } => {
                write!(
                    f,
                    "{tool} needs state of type `{type_name}`; add it with `registry.with_state(…)`, or declare it with \
                     `registry.with_run_state::<…>()` if it differs between calls"
                )
            }
            Self::MissingRunState { type_name } => write!(
                f,
                "{tool} needs state of type `{type_name}` from each run, and this run has none; give the value to the run, \
                 also when it is resumed"
            ),
            Self::ReservedParameter { parameter } => write!(
                f,
                "{tool} has a parameter `{parameter}`, the name of the call's reason; rename it or set `call_reason = false`"
            ),
            Self::ReservedName => write!(f, "{tool} has the name of a search tool; rename it"),
            Self::InvalidSchema { path, message } => {
                write!(f, "{tool} has an invalid schema at `{path}`: {message}")
            }
            Self::InvalidTransform { argument, message } => {
                write!(f, "argument `{argument}` of {tool} cannot be transformed: {message}")
            }
            Self::Refused { reason } => write!(f, "{tool} was refused: {reason}"),
        }
    }
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName { name, first, second } if first.is_some() && first == second => {
                write!(
                    f,
                    "tool `{name}`, defined at {}, is registered twice; register a second value of its type with \
                     `register_all_in`",
                    At(first)
                )
            }
            Self::DuplicateName { name, first, second } => write!(
                f,
                "tool `{name}` is defined twice: at {} and at {}; rename one or put it into a namespace",
                At(first),
                At(second)
            ),
            Self::CratesClash { name, definitions } => {
                let mut places = Vec::with_capacity(definitions.len());
                for (krate, at) in definitions {
                    places.push(format!("in crate `{krate}` (at {})", At(at)));
                }
                write!(
                    f,
                    "tool `{name}` is defined {}; discover one of them with `Discovery::in_modules`, or all with `NameClash::NamespaceByCrate`",
                    places.join(" and ")
                )
            }
            Self::IllegalName { error, defined_at: None } => error.fmt(f),
            Self::IllegalName { error, defined_at } => {
                write!(f, "{error} (defined at {})", At(defined_at))
            }
            Self::Tool { tool, defined_at, fault } => {
                let tool = format!("tool `{tool}` (defined at {})", At(defined_at));
                fault.write(&tool, f)
            }
            Self::Unknown { what, name, nearest, known } => {
                write!(f, "{what} `{name}` not found{}", suggested(nearest, known))
            }
            Self::RuleWithoutTools { rule, nearest, known } if nearest.is_empty() && known.is_empty() => {
                write!(f, "{rule} selects no tool; correct or remove it")
            }
            Self::RuleWithoutTools { rule, nearest, known } => {
                write!(f, "{rule} selects no tool{}", suggested(nearest, known))
            }
            Self::UnreachableRule { rule, earlier } => {
                write!(
                    f,
                    "{rule} is never reached, because {earlier} decides all calls before it; put it first"
                )
            }
            Self::Ambiguous { what, name } => write!(f, "{what} `{name}` is defined twice; rename one"),
            Self::InvalidPattern { pattern, message } => {
                write!(f, "pattern `{pattern}` matches no tool: {message}")
            }
            Self::InvalidPath { path, message } => write!(f, "path `{path}` cannot be served: {message}"),
            Self::NotOverridden { tool } => {
                write!(f, "tool `{tool}` is not overridden; override it before restoring")
            }
        }
    }
}

/// Returns whether `name` is the method name of a tool, perhaps [normalised](normalize).
fn is_method_of(name: &str, tool: &ToolName) -> bool {
    name == tool.method_name() || name == normalize(tool.method_name())
}

/// A wrapper to display a location. `None` is displayed as "an unknown place".
struct At<'a>(&'a Option<Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => location.fmt(f),
            None => f.write_str("an unknown place"),
        }
    }
}
