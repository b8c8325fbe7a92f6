//! Limits of providers, checked before a request is sent.

pub(crate) mod measure;

use crate::facts::Facts;
use std::fmt;
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;
use toolkit_schema::__private::Names;

/// A provider's limit that definitions exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitExceeded {
    /// The name of the tool over the limit. `None` if the limit applies to all tools together.
    pub tool: Option<String>,
    /// The counted quantity, as in `characters in the name`.
    pub what: String,
    /// The actual count.
    pub actual: usize,
    /// The provider's maximum.
    pub limit: usize,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, what, actual, limit } = self;
        match tool {
            Some(tool) => write!(f, "tool `{tool}`: {actual} {what}, the provider takes {limit}"),
            None => write!(f, "{actual} {what}, the provider takes {limit}"),
        }
    }
}

/// Checks the number of tools and their names. Tools over the limits for strict tools are sent without
/// enforcement instead.
pub(crate) fn check(facts: &Facts, definitions: &[&ToolDefinition], names: &WireNames) -> Vec<LimitExceeded> {
    let mut broken = Vec::new();
    if let Some(limit) = facts.tools.most
        && definitions.len() > limit
    {
        broken.push(LimitExceeded { tool: None, what: "tools".to_owned(), actual: definitions.len(), limit });
    }
    let mut spelled = Names::default();
    for definition in definitions {
        let name = definition.name.as_str();
        let spelling = names.spell(name);
        let mut add = |what: fmt::Arguments<'_>, actual: usize, limit: usize| {
            if actual > limit {
                let tool = Some(name.to_owned());
                let what = what.to_string();
                broken.push(LimitExceeded { tool, what, actual, limit });
            }
        };
        let same = spelled.count(spelling.into());
        add(format_args!("tools of the name `{spelling}`"), same, 1);
        let rule = facts.tools.names;
        let refused = spelling.chars().filter(|c| !rule.accepts_char(*c)).count();
        let is_start_refused = spelling.starts_with(|c| !rule.accepts_first(c));
        add(format_args!("characters in the name"), spelling.chars().count(), rule.max_length());
        add(format_args!("refused characters in the name"), refused, 0);
        add(format_args!("refused characters at the start of the name"), usize::from(is_start_refused), 0);
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ApiFormat;
    use serde_json::{Value, json};
    use toolkit_core::name::ToolName;

    fn tool(name: &str, parameters: Value) -> ToolDefinition {
        ToolDefinition::new(ToolName::new(name).unwrap(), "", parameters)
    }

    #[track_caller]
    fn check_tools(format: ApiFormat, tools: &[ToolDefinition], expected: &[&str]) {
        let tools: Vec<&ToolDefinition> = tools.iter().collect();
        let names = WireNames::new(format.name_rule(), tools.iter().map(|tool| tool.name.as_str()));
        let broken: Vec<String> =
            check(format.facts(), &tools, &names).iter().map(ToString::to_string).collect();
        assert_eq!(broken, expected);
    }

    #[test]
    fn too_many_tools_exceed_the_limit() {
        let tools: Vec<ToolDefinition> =
            (0..513).map(|index| tool(&format!("t{index}"), json!({}))).collect();
        check_tools(ApiFormat::OpenAiChat, &tools, &["513 tools, the provider takes 128"]);
        check_tools(ApiFormat::OpenAiResponses, &tools, &["513 tools, the provider takes 128"]);
        check_tools(ApiFormat::Gemini, &tools, &["513 tools, the provider takes 512"]);
        check_tools(ApiFormat::Anthropic, &tools, &[]);
        check_tools(ApiFormat::Gemini, tools.get(..512).unwrap_or_default(), &[]);
    }

    #[test]
    fn names_are_checked_in_the_providers_spelling() {
        check_tools(ApiFormat::OpenAiChat, &[tool("fs.read", json!({}))], &[]);
        let long = tool(&"a".repeat(100), json!({}));
        check_tools(ApiFormat::OpenAiChat, std::slice::from_ref(&long), &[]);
        let unspelled = check(ApiFormat::OpenAiChat.facts(), &[&long], &WireNames::default());
        assert!(unspelled[0].to_string().ends_with("100 characters in the name, the provider takes 64"));
        check_tools(ApiFormat::Gemini, &[tool("3d", json!({}))], &[]);
        check_tools(
            ApiFormat::Anthropic,
            &[tool("a", json!({})), tool("a", json!({}))],
            &["tool `a`: 2 tools of the name `a`, the provider takes 1"],
        );
    }
}
