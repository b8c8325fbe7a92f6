//! The tools of a request.

use super::Bedrock;
use crate::codec::DefinitionCodec;
use crate::declaration::Draft;
use crate::fields::{Fields, set};
use serde_json::{Value, json};

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
}
