//! The `tools` of a request.

use super::OpenAiChat;
use crate::apis::openai::Form;
use crate::codec::DefinitionCodec;
use crate::declaration::Draft;
use crate::fields::set;
use serde_json::{Value, json};
use toolkit_core::tool::ToolKind;

impl DefinitionCodec for OpenAiChat {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let (kind, mut fields) = Form::Nested.encode_tool(draft);
        // A missing `strict` means `false`. The field is only written if needed, because some servers do not
        // know it.
        let is_set = draft.how.strict || draft.definition.metadata.strict == Some(false);
        if is_set && draft.definition.kind == ToolKind::Function {
            set(&mut fields, "strict", draft.how.strict);
        }
        json!({"type": kind, kind: fields})
    }
}
