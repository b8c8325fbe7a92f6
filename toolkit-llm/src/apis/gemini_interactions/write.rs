//! Writes tools, steps and results for the next request.

use super::media::{self, media_block, text_block};
use super::{FACTS, GeminiInteractions};
use crate::call::outgoing::OutgoingCall;
use crate::call::received::ReceivedMessage;
use crate::call::sanitize;
use crate::codec::{HistoryCodec, ResultCodec};
use crate::definitions::EncodedToolConfig;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder};
use crate::definitions::tool_config::ChoiceCodec;
use crate::history::results::{output_parts, output_text, unsendable};
use crate::json::fields::{Fields, set, set_in, text};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};
use toolkit_schema::__private::{LoopExits, fit_references};

impl DefinitionCodec for GeminiInteractions {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let mut tool = Fields::new();
        set(&mut tool, "type", "function");
        set(&mut tool, "name", encoder.name());
        set(&mut tool, "description", encoder.definition.description.as_str());
        let mut parameters = encoder.parameters();
        let lost = fit_references(&mut parameters, LoopExits::EmptyParts);
        encoder.lose_inside("/parameters", lost);
        set(&mut tool, "parameters", parameters);
        if encoder.definition.metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        tool.into()
    }
}

impl ChoiceCodec for GeminiInteractions {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let choice = match &wanted.choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("any"),
            ToolChoice::Tool(name) => allowed_tools("any", std::slice::from_ref(name), names),
            // An empty list could allow every tool.
            ToolChoice::Allowed { names: allowed, .. } if allowed.is_empty() => json!("none"),
            ToolChoice::Allowed { names: allowed, required: true } => allowed_tools("any", allowed, names),
            ToolChoice::Allowed { names: allowed, required: false } => allowed_tools("auto", allowed, names),
        };
        let mut fields = Fields::new();
        set_in(&mut fields, &["generation_config", "tool_choice"], choice);
        EncodedToolConfig::new(fields).without_limit(wanted)
    }
}

fn allowed_tools(mode: &str, allowed: &[String], names: &WireNames) -> Value {
    let tools: Vec<&str> = allowed.iter().map(|name| names.spell(name)).collect();
    json!({"allowed_tools": {"mode": mode, "tools": tools}})
}

impl HistoryCodec for GeminiInteractions {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut step = call.fields(FACTS.name);
        set(&mut step, "type", "function_call");
        set(&mut step, "id", call.id);
        set(&mut step, "name", call.name);
        set(&mut step, "arguments", call.arguments.into_object());
        step.into()
    }

    /// Drops the user's input and results of functions, which the history has already.
    fn write_part(&self, step: &Value) -> Option<Value> {
        let is_dropped = matches!(text(step, "type"), "" | "user_input" | "function_result");
        if is_dropped { None } else { Some(step.clone()) }
    }

    fn write_message(&self, _message: &ReceivedMessage<'_>, steps: Vec<Value>) -> Vec<Value> {
        steps
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut steps = Vec::with_capacity(calls.len() + 1);
        if !text.is_empty() {
            steps.push(json!({"type": "model_output", "content": [text_block(text)]}));
        }
        steps.extend(calls);
        steps
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let content: Vec<Value> = contents.iter().map(media::block).collect();
        json!({"type": "user_input", "content": content})
    }
}

pub(super) fn result(id: &str, name: &str, result: Value, is_error: bool) -> Value {
    let mut step = json!({"type": "function_result", "call_id": id, "name": name, "result": result});
    if is_error {
        step["is_error"] = true.into();
    }
    step
}

impl ResultCodec for GeminiInteractions {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        let mut steps = Vec::with_capacity(results.len());
        for (given, id) in results.iter().zip(ids) {
            let name = sanitize::name(FACTS.tools.names, names.spell(&given.name));
            steps.push(match &given.outcome {
                Ok(output) => result(id, &name, output_value(output), false),
                Err(error) => result(id, &name, error.message().into(), true),
            });
        }
        steps
    }
}

/// Encodes an output as text, or as content blocks if it has media items.
///
/// The service would store numbers of JSON as doubles.
fn output_value(output: &ToolOutput) -> Value {
    if !output.content().iter().any(|content| media_block(content).is_some()) {
        return output_text(output, unsendable).into();
    }
    output_parts(output, media::block, text_block).into()
}
