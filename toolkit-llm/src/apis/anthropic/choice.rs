//! The `tool_choice` of a request. It includes the limit on parallel calls.

use super::Anthropic;
use crate::fields::{Fields, set};
use crate::tool_config::{ChoiceCodec, EncodedToolConfig, without_set};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

pub(crate) const CHOICE: &str = "tool_choice";

impl ChoiceCodec for Anthropic {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (choice, is_set_lost) = without_set(&wanted.choice);
        let (kind, name) = match &choice {
            ToolChoice::None => ("none", None),
            ToolChoice::Required => ("any", None),
            ToolChoice::Tool(name) => ("tool", Some(name)),
            _ => ("auto", None),
        };
        let mut choice = Fields::new();
        set(&mut choice, "type", kind);
        if let Some(name) = name {
            set(&mut choice, "name", names.spell(name));
        }
        // The service refuses `disable_parallel_tool_use` together with the choice `none`.
        if let Some(parallel) = wanted.parallel.filter(|_| kind != "none") {
            set(&mut choice, "disable_parallel_tool_use", !parallel);
        }
        let encoded = EncodedToolConfig::new(Fields::from_iter([(CHOICE.to_owned(), choice.into())]));
        let reason = "the API takes no set of tools, so the model may call every tool of the request";
        if is_set_lost { encoded.lose("/choice/allowed/names", "allowed", reason) } else { encoded }
    }
}
