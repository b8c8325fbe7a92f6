//! The `tools` of a request.

use super::Cohere;
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::Draft;
use crate::fields::{Fields, object};
use crate::kept::keep;
use crate::openai::Form;
use serde_json::Value;
use toolkit_core::tool::ToolDefinition;

impl DefinitionCodec for Cohere {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        Form::function(draft)
    }

    fn is_tool(&self, fields: &Fields) -> bool {
        fields.contains_key("function")
    }

    fn parse_tool(&self, tool: &Value, path: &str, found: &mut Vec<ToolDefinition>) -> Result<(), WireError> {
        let (mut definition, ..) = Form::Nested.parse_tool(tool, path)?;
        keep(self, &mut definition, object(tool, path, "a tool")?);
        found.push(definition);
        Ok(())
    }

    /// Returns `None`, because the service runs no tools itself.
    fn hosted_part(&self, _tool: &Value, _path: &str) -> Result<Option<Value>, WireError> {
        Ok(None)
    }
}
