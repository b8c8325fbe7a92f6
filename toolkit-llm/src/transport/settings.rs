//! Writes the options of a request into the fields of each API, and reports the options that an API lacks.

use super::draft::{Draft, Server};
use super::{cache, thinking};
use crate::ApiFormat;
use crate::model::{Effort, ServiceTier, Thinking};
use serde_json::{Value, json};

/// The default output limit for Anthropic. The API requires a limit in every request.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 8_192;

/// Returns the options that are copied without conversion, each with the path of its field in the request body. The
/// path is empty if the API has no field for the option.
const fn paths(format: ApiFormat, server: Server) -> [(&'static str, &'static str); 7] {
    let [temperature, top_p, max_output_tokens, stop, seed, metadata, user_id] = match format {
        ApiFormat::OpenAiChat if matches!(server, Server::Standard) => {
            ["temperature", "top_p", "max_tokens", "stop", "seed", "", ""]
        }
        ApiFormat::OpenAiChat if matches!(server, Server::Mistral) => {
            ["temperature", "top_p", "max_tokens", "stop", "random_seed", "metadata", ""]
        }
        ApiFormat::OpenAiResponses => {
            ["temperature", "top_p", "max_output_tokens", "", "", "metadata", "safety_identifier"]
        }
        ApiFormat::Anthropic => {
            ["temperature", "top_p", "max_tokens", "stop_sequences", "", "", "metadata/user_id"]
        }
        ApiFormat::Gemini => [
            "generationConfig/temperature",
            "generationConfig/topP",
            "generationConfig/maxOutputTokens",
            "generationConfig/stopSequences",
            "generationConfig/seed",
            "labels",
            "",
        ],
        ApiFormat::GeminiInteractions => [
            "generation_config/temperature",
            "generation_config/top_p",
            "generation_config/max_output_tokens",
            "generation_config/stop_sequences",
            "generation_config/seed",
            "",
            "",
        ],
        ApiFormat::Bedrock => [
            "inferenceConfig/temperature",
            "inferenceConfig/topP",
            "inferenceConfig/maxTokens",
            "inferenceConfig/stopSequences",
            "",
            "requestMetadata",
            "",
        ],
        ApiFormat::Cohere => ["temperature", "p", "max_tokens", "stop_sequences", "seed", "", ""],
        ApiFormat::Ollama => [
            "options/temperature",
            "options/top_p",
            "options/num_predict",
            "options/stop",
            "options/seed",
            "",
            "",
        ],
        ApiFormat::OpenAiChat => {
            ["temperature", "top_p", "max_completion_tokens", "stop", "seed", "metadata", "safety_identifier"]
        }
    };
    [
        ("temperature", temperature),
        ("top_p", top_p),
        ("max_output_tokens", max_output_tokens),
        ("stop", stop),
        ("seed", seed),
        ("metadata", metadata),
        ("user_id", user_id),
    ]
}

/// Writes all options into the request body, except server state and the user's own fields.
pub(super) fn write(draft: &mut Draft<'_>) {
    let options = &draft.request.options;
    let values = [
        options.temperature.map(Value::from),
        options.top_p.map(Value::from),
        options.max_output_tokens.or_else(|| default_tokens(draft)).map(Value::from),
        (!options.stop.is_empty()).then(|| options.stop.clone().into()),
        options.seed.map(Value::from),
        (!options.metadata.is_empty()).then(|| json!(options.metadata)),
        options.user_id.as_deref().map(Value::from),
    ];
    for ((option, path), value) in paths(draft.format, draft.server).into_iter().zip(values) {
        match value {
            Some(value) if !path.is_empty() => draft.set(path, value),
            Some(_) if draft.is_standard_chat() => draft.lose_as_extra(option),
            Some(_) => draft.lose(option, "the API has no field for it"),
            None => {}
        }
    }
    output(draft);
    thinking::write(draft);
    cache::write(draft);
    tier(draft);
}

/// Returns the default output limit, if the API requires a limit. The limit includes the thinking tokens.
fn default_tokens(draft: &Draft<'_>) -> Option<u32> {
    let thought = match draft.request.options.thinking {
        Some(Thinking::Budget(tokens)) => tokens,
        Some(Thinking::Effort(effort)) if effort > Effort::Low => ANTHROPIC_OUTPUT_TOKENS,
        _ => 0,
    };
    (draft.format == ApiFormat::Anthropic).then(|| ANTHROPIC_OUTPUT_TOKENS.saturating_add(thought))
}

/// Writes the output format: the JSON Schema that the model's answer has to follow.
fn output(draft: &mut Draft<'_>) {
    let Some(output) = &draft.request.options.output else { return };
    let name = &output.name;
    let converted = output.schema_for(draft.format);
    let schema = converted.schema;
    draft.losses.extend(converted.losses);
    match draft.format {
        ApiFormat::OpenAiResponses => {
            let format = json!({"type": "json_schema", "name": name, "strict": true, "schema": schema});
            draft.set("/text/format", format);
        }
        ApiFormat::Anthropic => {
            draft.set("/output_config/format", json!({"type": "json_schema", "schema": schema}));
        }
        ApiFormat::Gemini => {
            draft.set("/generationConfig/responseMimeType", "application/json");
            draft.set("/generationConfig/responseJsonSchema", schema);
        }
        ApiFormat::Ollama => draft.set("/format", schema),
        ApiFormat::GeminiInteractions => {
            let format = json!({"type": "text", "mime_type": "application/json", "schema": schema});
            draft.set("/response_format", format);
        }
        // Bedrock expects the schema as a string of JSON.
        ApiFormat::Bedrock => {
            let schema = json!({"name": name, "schema": schema.to_string()});
            draft.set(
                "/outputConfig/textFormat",
                json!({"type": "json_schema", "structure": {"jsonSchema": schema}}),
            );
        }
        ApiFormat::Cohere => {
            draft.set("/response_format", json!({"type": "json_object", "json_schema": schema}));
        }
        ApiFormat::OpenAiChat => {
            let format = json!({"name": name, "strict": true, "schema": schema});
            draft.set("/response_format", json!({"type": "json_schema", "json_schema": format}));
        }
    }
}

fn tier(draft: &mut Draft<'_>) {
    let Some(tier) = &draft.request.options.service_tier else { return };
    let path = match draft.format {
        _ if draft.is_standard_chat() => return draft.lose_as_extra("service_tier"),
        ApiFormat::Ollama | ApiFormat::Cohere | ApiFormat::GeminiInteractions => {
            return draft.lose("service_tier", "the API has no service tiers");
        }
        ApiFormat::Gemini => "/serviceTier",
        ApiFormat::Bedrock => "/serviceTier/type",
        ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses | ApiFormat::Anthropic => "/service_tier",
    };
    if let ServiceTier::Other(name) = tier {
        return draft.set(path, name.as_str());
    }
    match (draft.format, tier) {
        (ApiFormat::Anthropic, ServiceTier::Auto) => draft.set("/service_tier", "auto"),
        (ApiFormat::Anthropic, ServiceTier::Standard) => draft.set("/service_tier", "standard_only"),
        (ApiFormat::Anthropic, ServiceTier::Priority) => {
            draft.set("/service_tier", "auto");
            draft.lose("service_tier", "the tier is `auto`: the account decides about priority");
        }
        (ApiFormat::Anthropic, _) => draft.lose("service_tier", "the API has no such tier"),
        // Without the field, the service chooses the tier.
        (ApiFormat::Gemini | ApiFormat::Bedrock, ServiceTier::Auto) => {}
        (ApiFormat::Gemini, ServiceTier::Standard) => draft.set("/serviceTier", "standard"),
        (ApiFormat::Gemini, ServiceTier::Flex) => draft.set("/serviceTier", "flex"),
        (ApiFormat::Gemini, _) => draft.set("/serviceTier", "priority"),
        (_, ServiceTier::Auto) => draft.set(path, "auto"),
        (_, ServiceTier::Standard) => draft.set(path, "default"),
        (_, ServiceTier::Flex) => draft.set(path, "flex"),
        (_, _) => draft.set(path, "priority"),
    }
}
