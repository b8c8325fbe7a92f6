//! The error for the programmer, found before any call is served.

use super::build_problem::BuildProblem;
use crate::name::NameError;
use std::fmt;

/// All problems of the registered tools, found before any call is served.
///
/// ```
/// use toolkit_ai::{ClosureTool, ToolRegistry};
///
/// let ping = ClosureTool::without_arguments("ping", "Answers.", || "pong")?;
/// let error = ToolRegistry::from_tools([ping.clone(), ping]).unwrap_err();
/// assert_eq!(error.problems().len(), 1);
/// assert!(error.to_string().contains("tool `ping`"));
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    problems: Vec<BuildProblem>,
}

impl BuildError {
    /// Returns an error with the `problems`, if there are any.
    ///
    /// # Errors
    /// There are `problems`.
    pub fn unless_empty(problems: Vec<BuildProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }

    /// Returns the problems in the order they were found.
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

/// So that `?` works on names, too. The place is unknown.
///
/// ```
/// use toolkit_ai::{BuildError, ToolName};
///
/// fn names() -> Result<Vec<ToolName>, BuildError> {
///     Ok(vec![ToolName::new("search")?, ToolName::new("get weather")?])
/// }
/// assert!(names().unwrap_err().to_string().contains("get_weather"));
/// ```
impl From<NameError> for BuildError {
    fn from(error: NameError) -> Self {
        BuildProblem::IllegalName { error, defined_at: None }.into()
    }
}

impl FromIterator<BuildProblem> for BuildError {
    fn from_iter<I: IntoIterator<Item = BuildProblem>>(problems: I) -> Self {
        Self { problems: problems.into_iter().collect() }
    }
}

/// Prints the message for a failed `main`.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(f, "{only}"),
            problems => {
                write!(f, "{} problems with the registered tools", problems.len())?;
                for problem in problems {
                    write!(f, "\n- {problem}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for BuildError {}
