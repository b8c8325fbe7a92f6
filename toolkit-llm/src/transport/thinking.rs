//! Writes the amount of thinking into the fields of each API.

use super::draft::Draft;
use crate::ApiFormat;
use crate::message::{AssistantMessage, Message};
use crate::model::{Effort, ModelRequest, Thinking};
use serde_json::{Value, json};
use toolkit_core::ToolChoice;

/// The smallest thinking budget that Anthropic accepts.
const ANTHROPIC_THINKING_TOKENS: u32 = 1_024;

/// Writes the options `thinking` and `show_thinking`.
pub(super) fn write(draft: &mut Draft<'_>) {
    let shown = draft.request.options.show_thinking;
    match draft.format {
        _ if draft.is_standard_chat() => {
            let is_set = [("thinking", draft.request.options.thinking.is_some()), ("show_thinking", shown)];
            is_set.iter().filter(|(_, is_set)| *is_set).for_each(|(option, _)| draft.lose_as_extra(option));
            return;
        }
        ApiFormat::Anthropic => return anthropic_thinking(draft),
        ApiFormat::Gemini => {
            gemini_thinking(draft);
            if shown {
                draft.set("/generationConfig/thinkingConfig/includeThoughts", true);
            }
            return;
        }
        ApiFormat::GeminiInteractions => {
            interactions_thinking(draft);
            if shown {
                draft.set("/generation_config/thinking_summaries", "auto");
            }
            return;
        }
        ApiFormat::Ollama => return ollama_thinking(draft),
        ApiFormat::Cohere => return cohere_thinking(draft),
        ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses => {}
        ApiFormat::Bedrock => {
            let reason = "the field depends on the model; set it in `additionalModelRequestFields`";
            let is_set = [("thinking", draft.request.options.thinking.is_some()), ("show_thinking", shown)];
            is_set.iter().filter(|(_, is_set)| *is_set).for_each(|(option, _)| draft.lose(option, reason));
            return;
        }
    }
    let is_responses = draft.format == ApiFormat::OpenAiResponses;
    if shown && is_responses {
        draft.set("/reasoning/summary", "auto");
    } else if shown {
        // Servers with this API either always return the reasoning or never do.
        draft.lose("show_thinking", "the API has no field for it");
    }
    let path = if is_responses { "/reasoning/effort" } else { "/reasoning_effort" };
    match draft.request.options.thinking {
        None => {}
        Some(Thinking::Off) => draft.set(path, "none"),
        Some(Thinking::Effort(effort)) => draft.set(path, effort.name()),
        Some(Thinking::Budget(tokens)) => {
            let effort = Effort::of_tokens(tokens).name();
            draft.set(path, effort);
            draft.lose(
                "thinking",
                format!("the API has no thinking budget; the effort is `{effort}` instead"),
            );
        }
    }
}

/// Returns whether the current turn has calls without their signed thinking. The native form of a message contains
/// it. A guardrail that changes a message drops the native form, and another API has no such thinking.
///
/// A turn begins with thinking. Later messages of the turn need not have any.
fn has_lost_thinking(request: &ModelRequest) -> bool {
    let turn = request.messages.iter().rev().take_while(|message| !matches!(message, Message::User(_)));
    let said = turn.filter_map(|message| match message {
        Message::Assistant(said) => Some(said),
        _ => None,
    });
    let said: Vec<&AssistantMessage> = said.collect();
    let native = |said: &AssistantMessage| {
        said.native.as_ref().is_some_and(|native| native.format == ApiFormat::Anthropic.name())
    };
    let has_calls = said.iter().any(|said| !said.calls.is_empty());
    has_calls && !said.last().is_some_and(|first| begins_with_thinking(first))
        || said.iter().any(|said| !said.calls.is_empty() && !native(said))
}

fn begins_with_thinking(said: &AssistantMessage) -> bool {
    let messages = said.native.as_ref().map_or(&[][..], |native| &native.messages);
    let first = messages.first().and_then(|message| message.pointer("/content/0/type")?.as_str());
    matches!(first, Some("thinking" | "redacted_thinking"))
}

fn anthropic_thinking(draft: &mut Draft<'_>) {
    let options = &draft.request.options;
    let thinking = match options.thinking {
        None | Some(Thinking::Off) => {
            if options.thinking.is_some() {
                draft.set("/thinking/type", "disabled");
            }
            if options.show_thinking {
                draft.lose("show_thinking", "the API shows thinking only if the option `thinking` is set");
            }
            return;
        }
        Some(thinking) => thinking,
    };
    let is_forced = match &draft.request.tool_use.choice {
        ToolChoice::Required | ToolChoice::Tool(_) => true,
        ToolChoice::Allowed { required, .. } => *required,
        _ => false,
    };
    if is_forced && !draft.request.tools.is_empty() {
        return draft.lose("thinking", "the API refuses thinking if the tool choice forces a call");
    }
    match thinking {
        Thinking::Budget(_) if has_lost_thinking(draft.request) => {
            return draft.lose("thinking", "the API needs the thinking of each call, and a call has lost it");
        }
        Thinking::Budget(tokens) => {
            let most = draft.body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
            let most = u32::try_from(most.saturating_sub(1)).unwrap_or(u32::MAX);
            if most < ANTHROPIC_THINKING_TOKENS {
                let reason = "`max_output_tokens` is too small for thinking, which needs 1,024 tokens more";
                return draft.lose("thinking", reason);
            }
            let allowed = tokens.clamp(ANTHROPIC_THINKING_TOKENS, most);
            if allowed != tokens {
                draft.lose("thinking", format!("the API allows a budget of {allowed} tokens here"));
            }
            draft.set("/thinking", json!({"type": "enabled", "budget_tokens": allowed}));
        }
        Thinking::Effort(effort) => {
            let allowed = effort.max(Effort::Low);
            if allowed != effort {
                draft.lose("thinking", "the lowest effort of the API is `low`");
            }
            draft.set("/thinking/type", "adaptive");
            draft.set("/output_config/effort", allowed.name());
        }
        Thinking::Off => {}
    }
    if draft.request.options.show_thinking {
        draft.set("/thinking/display", "summarized");
    }
    // With thinking, the service refuses a temperature below 1 and a `top_p` below 0.95.
    let is_refused = |name: &str, value: f64| match name {
        "temperature" => value < 1.0,
        _ => value < 0.95,
    };
    for name in ["temperature", "top_p"] {
        if draft.body.get(name).and_then(Value::as_f64).is_some_and(|value| is_refused(name, value)) {
            draft.body.shift_remove(name);
            draft.lose(name, "the API refuses it together with thinking");
        }
    }
}

/// Writes the option `thinking` for Gemini. Models before the third generation accept a token budget, and later models
/// accept a level.
fn gemini_thinking(draft: &mut Draft<'_>) {
    const LEVEL: &str = "/generationConfig/thinkingConfig/thinkingLevel";
    const BUDGET: &str = "/generationConfig/thinkingConfig/thinkingBudget";
    let has_levels = draft.format.model_generation(draft.model).is_none_or(|generation| generation >= 3);
    match draft.request.options.thinking {
        None => {}
        Some(Thinking::Budget(tokens)) => draft.set(BUDGET, tokens),
        Some(Thinking::Off) if has_levels => {
            draft.set(LEVEL, "MINIMAL");
            draft.lose("thinking", "the model always thinks; the level is `MINIMAL` instead");
        }
        Some(Thinking::Off) => draft.set(BUDGET, 0),
        Some(Thinking::Effort(effort)) if has_levels => {
            if effort == Effort::Max {
                draft.lose("thinking", "the highest level of the API is `XHIGH`");
            }
            draft.set(LEVEL, effort.min(Effort::XHigh).name().to_ascii_uppercase());
        }
        // The largest budget that all models of this generation accept.
        Some(Thinking::Effort(effort)) => draft.set(BUDGET, effort.tokens().min(Effort::High.tokens())),
    }
}

fn interactions_thinking(draft: &mut Draft<'_>) {
    const LEVEL: &str = "/generation_config/thinking_level";
    match draft.request.options.thinking {
        None => {}
        Some(Thinking::Off) => {
            draft.set(LEVEL, "minimal");
            draft.lose("thinking", "the model always thinks; the level is `minimal` instead");
        }
        Some(Thinking::Effort(effort)) => {
            let allowed = effort.min(Effort::XHigh);
            if allowed != effort {
                draft.lose("thinking", "the highest level of the API is `xhigh`");
            }
            draft.set(LEVEL, allowed.name());
        }
        Some(Thinking::Budget(tokens)) => {
            let level = Effort::of_tokens(tokens).min(Effort::XHigh).name();
            draft.set(LEVEL, level);
            draft.lose("thinking", format!("the API has no thinking budget; the level is `{level}` instead"));
        }
    }
}

fn cohere_thinking(draft: &mut Draft<'_>) {
    match draft.request.options.thinking {
        None => {}
        Some(Thinking::Off) => draft.set("/thinking/type", "disabled"),
        Some(Thinking::Budget(tokens)) => {
            draft.set("/thinking", json!({"type": "enabled", "token_budget": tokens}));
        }
        Some(Thinking::Effort(effort)) => {
            draft.set("/thinking", json!({"type": "enabled", "token_budget": effort.tokens()}));
            draft
                .lose("thinking", format!("the API has no effort; the budget is {} tokens", effort.tokens()));
        }
    }
}

fn ollama_thinking(draft: &mut Draft<'_>) {
    let Some(thinking) = draft.request.options.thinking else { return };
    match thinking {
        Thinking::Off => draft.set("/think", false),
        Thinking::Effort(effort) => {
            let allowed = effort.clamp(Effort::Low, Effort::High);
            if allowed != effort {
                draft.lose("thinking", format!("the level is `{}`, the nearest of the API", allowed.name()));
            }
            draft.set("/think", allowed.name());
        }
        Thinking::Budget(_) => {
            draft.set("/think", true);
            draft.lose("thinking", "the API has no thinking budget");
        }
    }
}
