//! The `tools` of a request.

use super::GeminiInteractions;
use crate::codec::DefinitionCodec;
use crate::declaration::Draft;
use crate::fields::{Fields, set};
use serde_json::Value;

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
}
