//! The APIs of providers: their names on the command line, and what they get of a definition.

use crate::exit::Failure;
use serde_json::{Value, json};
use toolkit_core::{ToolDefinition, ToolRegistry};
use toolkit_llm::{ApiFormat, DefinitionOptions, DefinitionReport};

/// Returns the API of a name that the user has typed.
pub(crate) fn api(name: &str) -> Result<ApiFormat, Failure> {
    if let Ok(format) = name.parse() {
        return Ok(format);
    }
    let names: Vec<&str> = ApiFormat::ALL.iter().map(|format| format.name()).collect();
    Err(Failure::usage(format!("API `{name}` not found; use one of {}", names.join(", "))))
}

/// Returns the JSON of a definition for an API, and what is lost on the way.
pub(crate) fn encoded(
    registry: &ToolRegistry,
    definition: &ToolDefinition,
    format: ApiFormat,
) -> (Value, DefinitionReport) {
    let names = registry.wire_names(&format);
    let definitions = format.encode_definitions([definition], &names, &DefinitionOptions::default());
    (definitions.to_value(), definitions.report().clone())
}

pub(crate) fn report_json(report: &DefinitionReport) -> Value {
    let mut losses = Vec::new();
    for lost in &report.losses {
        let loss = &lost.loss;
        losses.push(json!({"path": loss.path, "keyword": loss.keyword, "reason": loss.reason}));
    }
    let limits: Vec<String> = report.limits.iter().map(ToString::to_string).collect();
    let not_strict: Vec<&str> = report.not_strict.iter().map(|tool| tool.reason.as_str()).collect();
    json!({"losses": losses, "limits": limits, "not_strict": not_strict})
}
