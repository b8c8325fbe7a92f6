//! The tools of a request.

use super::Bedrock;
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, parse_named};
use crate::fields::{Fields, field, flag, object, optional, set};
use serde_json::{Value, json};
use toolkit_core::tool::ToolDefinition;

impl DefinitionCodec for Bedrock {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let mut tool = Fields::new();
        set(&mut tool, "name", draft.name());
        // The service refuses an empty description.
        if !draft.definition.description.is_empty() {
            set(&mut tool, "description", draft.definition.description.as_str());
        }
        set(&mut tool, "inputSchema", json!({"json": draft.parameters()}));
        if draft.how.strict {
            set(&mut tool, "strict", true);
        }
        json!({"toolSpec": tool})
    }

    fn is_tool(&self, fields: &Fields) -> bool {
        ["toolSpec", "systemTool", "cachePoint"].iter().any(|kind| fields.contains_key(*kind))
    }

    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError> {
        let fields = object(tool, path, "a tool with `toolSpec`")?;
        if self.hosted_part(tool, path)?.is_some() {
            return Ok(());
        }
        let path = field(path, "toolSpec");
        let expected = "the name, description and schema of a tool";
        let tool = object(fields.get("toolSpec").unwrap_or(&Value::Null), &path, expected)?;
        let expected = "an object with the schema in `json`";
        let schema = optional(tool, &path, "inputSchema", expected, Value::as_object)?;
        let mut named = tool.clone();
        set(&mut named, "inputSchema.json", schema.and_then(|schema| schema.get("json")).cloned());
        let mut definition = parse_named(&named, &path, "inputSchema.json")?;
        definition.metadata.strict = flag(tool, &path, "strict")?;
        self.keep(&mut definition, fields);
        found.push(definition);
        Ok(())
    }

    /// Returns the entry if it is a tool of the service (`systemTool`) or a cache mark (`cachePoint`), and
    /// `None` otherwise.
    fn hosted_part(&self, tool: &Value, _path: &str) -> Result<Option<Value>, WireError> {
        let is_hosted = tool.get("systemTool").or(tool.get("cachePoint")).is_some_and(Value::is_object);
        Ok(is_hosted.then(|| tool.clone()))
    }
}
