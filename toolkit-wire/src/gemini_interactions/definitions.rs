//! The `tools` of a request.

use super::GeminiInteractions;
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, parse_named};
use crate::fields::{Fields, field, flag, object, set, text};
use serde_json::Value;
use toolkit_core::tool::ToolDefinition;

impl DefinitionCodec for GeminiInteractions {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let mut tool = Fields::new();
        set(&mut tool, "type", "function");
        set(&mut tool, "name", draft.name());
        set(&mut tool, "description", draft.definition.description.as_str());
        set(&mut tool, "parameters", draft.parameters());
        if draft.definition.metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        tool.into()
    }

    fn is_tool(&self, fields: &Fields) -> bool {
        fields.get("type").is_some_and(Value::is_string)
    }

    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError> {
        let fields = object(tool, path, "a tool with its `type`")?;
        if self.hosted_part(tool, path)?.is_some() {
            return Ok(());
        }
        let mut definition = parse_named(fields, path, "parameters")?;
        definition.metadata.defer = flag(fields, path, "defer_loading")?.unwrap_or(false);
        self.keep(&mut definition, fields);
        found.push(definition);
        Ok(())
    }

    fn hosted_part(&self, tool: &Value, path: &str) -> Result<Option<Value>, WireError> {
        match text(tool, "type") {
            "function" => Ok(None),
            "" => Err(WireError::new(field(path, "type"), "the type of a tool")),
            _ => Ok(Some(tool.clone())),
        }
    }
}
