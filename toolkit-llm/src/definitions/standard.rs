//! Requests with only the standard fields of an API.

use super::tool_config::without_set;
use crate::facts::{Facts, Strictness, ToolFacts};
use toolkit_core::call::ToolConfig;
use toolkit_core::definition::ToolDefinition;
use toolkit_schema::SchemaLoss;

pub(crate) const REASON: &str = "only the standard fields of the API are sent";

/// Returns the facts of an API without strict tools.
pub(crate) const fn facts(facts: &Facts) -> Facts {
    let strictness = match facts.tools.strictness {
        Strictness::None => Strictness::None,
        _ => Strictness::AllOrNone("only the standard fields of the API are sent, and `strict` is not one"),
    };
    Facts { tools: ToolFacts { strictness, ..facts.tools }, ..*facts }
}

pub(crate) fn definition(definition: &ToolDefinition) -> ToolDefinition {
    let ToolDefinition { name, description, parameters, .. } = definition;
    ToolDefinition::new(name.clone(), description.as_str(), parameters.clone())
}

/// Returns the nearest tool config without allowed tools, custom tools, and a limit on parallel calls, and
/// the losses.
pub(crate) fn tool_config(wanted: &ToolConfig) -> (ToolConfig, Vec<SchemaLoss>) {
    let mut losses = Vec::new();
    let (choice, is_set_lost) = without_set(&wanted.choice);
    if is_set_lost {
        losses.push(SchemaLoss::new("/choice/allowed/names", "allowed", REASON));
    }
    if wanted.parallel == Some(false) {
        losses.push(SchemaLoss::new("/parallel", "parallel", REASON));
    }
    (ToolConfig::from(choice), losses)
}

#[cfg(test)]
mod tests {
    use crate::definitions::DefinitionOptions;
    use crate::definitions::StrictTools;
    use crate::facts::ApiFormat;
    use serde_json::{Value, json};
    use toolkit_core::call::{ToolChoice, ToolConfig};
    use toolkit_core::definition::{TextFormat, ToolDefinition, ToolMetadata};
    use toolkit_core::name::{ToolName, WireNames};

    #[test]
    fn definitions_have_only_standard_fields_and_losses_are_reported() {
        let name = |name: &str| ToolName::new(name).unwrap();
        let metadata = ToolMetadata::default()
            .with_strict(true)
            .with_defer(true)
            .with_input_examples([json!({})])
            .with_meta("anthropic", json!({"cache_control": {"type": "ephemeral"}}));
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}});
        let full = ToolDefinition::new(name("full"), "d", schema.clone()).with_metadata(metadata);
        let lax = ToolDefinition::new(name("lax"), "", schema.clone())
            .with_metadata(ToolMetadata::default().with_strict(false));
        let custom = ToolDefinition::custom(name("custom"), "", TextFormat::Text);
        let options = DefinitionOptions::default().with_strict(StrictTools::All).with_standard_fields(true);
        let tools =
            ApiFormat::OpenAiChat.encode_definitions([&full, &lax, &custom], &WireNames::default(), &options);
        let input = json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"],
            "additionalProperties": false});
        let tool = |name: &str, description: &str, parameters: &Value| {
            let function = json!({"name": name, "description": description, "parameters": parameters});
            json!({"type": "function", "function": function})
        };
        let expected =
            json!([tool("full", "d", &schema), tool("lax", "", &schema), tool("custom", "", &input)]);
        assert_eq!(tools.to_value(), expected);
        let report = tools.report();
        let losses: Vec<(&str, &str)> =
            report.losses.iter().map(|loss| (loss.tool.as_str(), loss.loss.path.as_str())).collect();
        let expected = [
            ("full", "/input_examples"),
            ("full", "/defer"),
            ("full", "/metadata/anthropic/cache_control"),
            ("custom", "/kind"),
        ];
        assert_eq!(losses, expected);
        assert_eq!(report.not_strict.len(), 1, "{report}");
        // Fields that only Anthropic has are left out of its own format, too.
        let anthropic = ApiFormat::Anthropic.encode_definitions([&full], &WireNames::default(), &options);
        assert_eq!(
            anthropic.to_value(),
            json!([{"name": "full", "description": "d", "input_schema": schema}])
        );
        assert!(anthropic.report().losses.iter().any(|loss| loss.loss.path == "/metadata/anthropic"));
    }

    #[test]
    fn a_tool_config_has_only_standard_fields_and_losses_are_reported() {
        let names = WireNames::default();
        let format =
            ApiFormat::OpenAiChat.with_options(DefinitionOptions::default().with_standard_fields(true));
        let allowed = |list: &[&str], required| ToolChoice::Allowed {
            names: list.iter().map(|name| (*name).to_owned()).collect(),
            required,
        };
        let f = json!({"type": "function", "function": {"name": "f"}});
        for (choice, encoded, is_lost) in [
            (ToolChoice::Auto, json!("auto"), false),
            (ToolChoice::Tool("f".to_owned()), f.clone(), false),
            (allowed(&["f"], true), f, false),
            (allowed(&[], false), json!("none"), false),
            (allowed(&["f", "g"], true), json!("required"), true),
            (allowed(&["f"], false), json!("auto"), true),
        ] {
            let mut wanted = ToolConfig::from(choice).with_parallel(true);
            wanted.custom = ["f".to_owned()].into();
            let config = format.encode_tool_config(&wanted, &names);
            assert_eq!(Value::from(config.fields), json!({"tool_choice": encoded}));
            assert_eq!(!config.losses.is_empty(), is_lost);
        }
        let one = format.encode_tool_config(&ToolConfig::default().with_parallel(false), &names);
        assert_eq!(
            (one.fields.contains_key("parallel_tool_calls"), one.losses[0].path.as_str()),
            (false, "/parallel")
        );
        let plain = ApiFormat::OpenAiChat.with_options(DefinitionOptions::default());
        let wanted = ToolConfig::default().with_parallel(false);
        assert_eq!(
            plain.encode_tool_config(&wanted, &names),
            ApiFormat::OpenAiChat.encode_tool_config(&wanted, &names)
        );
    }
}
