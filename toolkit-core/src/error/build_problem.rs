//! Problems with the registered tools.

use super::listing::suggested;
use super::nearest;
use crate::name::{NameError, ToolName, normalize};
use crate::schema::__private::{distinct, sort_by};
use std::fmt;

/// The source location of a tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Location {
    /// The file.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

impl Location {
    /// Returns the caller's source location, of the outermost call with `#[track_caller]`.
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
    ///
    /// Write `#[tool(namespace = "…")]` on one of them. `ToolRegistry::discover` has all linked tools already.
    #[non_exhaustive]
    DuplicateName {
        /// The name of both tools.
        name: String,
        /// The place of the earlier tool, if known.
        first: Option<Location>,
        /// The place of the later tool, if known.
        second: Option<Location>,
    },
    /// Tools of several crates have the same name.
    #[non_exhaustive]
    CratesClash {
        /// The name of the tools.
        name: String,
        /// The crates, each with the place of its tool if known.
        definitions: Vec<(String, Option<Location>)>,
    },
    /// A tool has an illegal name.
    #[non_exhaustive]
    IllegalName {
        /// The illegal name, with a legal suggestion.
        error: NameError,
        /// The place of the tool, if known.
        defined_at: Option<Location>,
    },
    /// A tool cannot be served.
    #[non_exhaustive]
    Tool {
        /// The name of the tool.
        tool: String,
        /// The place of the tool, if known.
        defined_at: Option<Location>,
        /// The fault of the tool.
        fault: ToolFault,
    },
    /// A name matches no registered tool, namespace or tag.
    ///
    /// Names begin with their namespace, as in `files-read`.
    #[non_exhaustive]
    Unknown {
        /// The kind of item, such as `tool`, `namespace` or `tag`.
        what: &'static str,
        /// The name.
        name: String,
        /// Up to three similar names, best first.
        nearest: Vec<String>,
        /// Up to ten known names, if no name is similar.
        known: Vec<String>,
    },
    /// A rule to deny calls or to ask selects no tool.
    #[non_exhaustive]
    RuleWithoutTools {
        /// The rule with its unmet conditions, such as ``rule `ask` for the tag `billing` ``.
        rule: String,
        /// Up to three similar names, best first.
        nearest: Vec<String>,
        /// Up to ten known names, if no name is similar.
        known: Vec<String>,
    },
    /// A rule to deny calls or to ask comes after a more lenient rule for all calls.
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
        /// Their name.
        name: String,
    },
    /// A pattern cannot match a legal tool name.
    ///
    /// Patterns are names with `*` and `?`.
    #[non_exhaustive]
    InvalidPattern {
        /// The pattern.
        pattern: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// A server cannot have a path.
    #[non_exhaustive]
    InvalidPath {
        /// The path.
        path: String,
        /// How to fix it.
        message: String,
    },
    /// Other machines can reach a server that has no guard for them.
    #[non_exhaustive]
    Unguarded {
        /// The address or the host.
        address: String,
        /// How to fix it.
        message: String,
    },
    /// A tool is not overridden and cannot be restored.
    #[non_exhaustive]
    NotOverridden {
        /// The name of the tool.
        tool: String,
    },
}

impl BuildProblem {
    /// Creates the problem of two items, such as agents, with one name.
    #[must_use]
    pub fn ambiguous(what: &'static str, name: impl Into<String>) -> Self {
        Self::Ambiguous { what, name: name.into() }
    }

    /// Creates the problem of a path that a server cannot have. `message` says how to fix it.
    #[must_use]
    pub fn invalid_path(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidPath { path: path.into(), message: message.into() }
    }

    /// Creates the problem of a server that other machines can reach without a guard. `message` says how to
    /// fix it.
    #[must_use]
    pub fn unguarded(address: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Unguarded { address: address.into(), message: message.into() }
    }
}

/// A fault of a single tool, reported as [`BuildProblem::Tool`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFault {
    /// The tool needs state that the registry lacks.
    #[non_exhaustive]
    MissingState {
        /// The missing type.
        type_name: &'static str,
        /// The pointer type, such as `Arc`, if the registry has the state inside of it.
        within: Option<&'static str>,
    },
    /// The tool needs a value of the [run](crate::ToolRegistry::with_run_state) that the run lacks.
    ///
    /// An agent takes it with `.state(value)`, also at `resume`, and a server with `with_call_state`.
    #[non_exhaustive]
    MissingRunState {
        /// The missing type.
        type_name: &'static str,
    },
    /// A parameter has a reserved name.
    #[non_exhaustive]
    ReservedParameter {
        /// The parameter.
        parameter: &'static str,
    },
    /// The name is reserved for a [search tool](crate::ToolRegistry::with_tool_search).
    ReservedName,
    /// A schema is invalid, or that of the parameters accepts no objects.
    #[non_exhaustive]
    InvalidSchema {
        /// The position, such as `#/properties/city/type`; `#` is the root.
        path: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// An argument cannot be transformed as requested.
    ///
    /// A tool around the tool can do what a transform cannot.
    #[non_exhaustive]
    InvalidTransform {
        /// The name of the argument.
        argument: String,
        /// The fault, and how to fix it.
        message: String,
    },
    /// A [check](crate::LiveRegistry::add_check) refused the tool.
    #[non_exhaustive]
    Refused {
        /// The check's reason.
        reason: String,
    },
}

impl BuildProblem {
    pub(crate) fn of_tool(tool: &ToolName, defined_at: Option<Location>, fault: ToolFault) -> Self {
        Self::Tool { tool: tool.to_string(), defined_at, fault }
    }

    /// Creates an [`Unknown`](Self::Unknown) problem with similar `known` names, or else up to ten.
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

    /// Creates an [`Unknown`](Self::Unknown) problem for a full tool name, with tools of this name in a
    /// namespace, or else similar names, or else up to ten.
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

    /// Creates an [`Unknown`](Self::Unknown) problem for a name without namespace, with up to three tools
    /// probably `meant`, if any.
    pub(crate) fn bare_name<'a>(
        what: &'static str,
        name: &str,
        meant: impl IntoIterator<Item = &'a ToolName>,
    ) -> Option<Self> {
        let meant = distinct(meant.into_iter().map(ToolName::as_str));
        let nearest: Vec<String> = meant.into_iter().take(3).map(str::to_owned).collect();
        if nearest.is_empty() {
            return None;
        }
        Some(Self::Unknown { what, name: name.to_owned(), nearest, known: Vec::new() })
    }
}

impl ToolFault {
    /// Writes the message about `tool`, a name with its place.
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
            Self::Unguarded { address, message } => {
                write!(f, "`{address}` is reachable from other machines; {message}")
            }
            Self::NotOverridden { tool } => {
                write!(f, "tool `{tool}` is not overridden; override it before restoring")
            }
        }
    }
}

/// Returns whether `name` is a tool's method name, perhaps [normalised](normalize).
fn is_method_of(name: &str, tool: &ToolName) -> bool {
    name == tool.method_name() || name == normalize(tool.method_name())
}

/// Displays a location, or "an unknown place".
struct At<'a>(&'a Option<Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => location.fmt(f),
            None => f.write_str("an unknown place"),
        }
    }
}
