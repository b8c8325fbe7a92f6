//! What an API cannot express of definitions.

use super::limits::LimitExceeded;
use super::strict::NotStrict;
use std::fmt;
use toolkit_schema::SchemaLoss;

/// The lost settings, tools without enforcement, and exceeded limits of encoded definitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DefinitionReport {
    /// Keywords and settings that the API cannot express.
    pub losses: Vec<DefinitionLoss>,
    /// Tools requested as strict but sent without enforcement.
    pub not_strict: Vec<NotStrict>,
    /// Exceeded limits, for which the provider would refuse the request.
    pub limits: Vec<LimitExceeded>,
    /// Names of parameters in another spelling, because the provider refuses them. The tool gets its own
    /// names.
    pub renamed: Vec<RenamedParameter>,
}

impl DefinitionReport {
    /// Returns whether nothing was lost and no limit is exceeded.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.losses.is_empty() && self.not_strict.is_empty() && self.limits.is_empty()
    }
}

impl fmt::Display for DefinitionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let losses = self.losses.iter().map(ToString::to_string);
        let not_strict = self.not_strict.iter().map(ToString::to_string);
        let limits = self.limits.iter().map(ToString::to_string);
        let renamed = self.renamed.iter().map(ToString::to_string);
        let lines: Vec<String> = limits.chain(not_strict).chain(losses).chain(renamed).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// A keyword or setting that the API cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionLoss {
    /// The tool's name.
    pub tool: String,
    /// The loss, with a path such as `/parameters/properties/city`.
    pub loss: SchemaLoss,
}

impl fmt::Display for DefinitionLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool `{}`: {}", self.tool, self.loss)
    }
}

/// A parameter, or a property inside of one, that is sent in another spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenamedParameter {
    /// The tool's name.
    pub tool: String,
    /// The tool's own name.
    pub name: String,
    /// The name that the model sees.
    pub spelling: String,
}

impl fmt::Display for RenamedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, name, spelling } = self;
        write!(f, "tool `{tool}`: parameter `{name}` is sent as `{spelling}`")
    }
}
