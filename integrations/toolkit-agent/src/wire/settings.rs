//! Writes the options of a request into the fields of each API, and reports the options that an API lacks.

use crate::model::{Effort, ModelRequest, ServiceTier, Thinking};
use serde_json::{Map, Value, json};
use toolkit_core::ToolChoice;
use toolkit_core::schema::SchemaLoss;
use toolkit_wire::ApiFormat;

/// The default output limit for Anthropic. The API requires a limit in every request.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 8_192;

/// The smallest thinking budget that Anthropic accepts.
const ANTHROPIC_THINKING_TOKENS: u32 = 1_024;

/// A request body that is being written, with the losses so far.
pub(super) struct Draft<'a> {
    pub(super) format: ApiFormat,
    pub(super) model: &'a str,
    pub(super) request: &'a ModelRequest,
    pub(super) body: Map<String, Value>,
    pub(super) losses: Vec<SchemaLoss>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(format: ApiFormat, model: &'a str, request: &'a ModelRequest) -> Self {
        Self { format, model, request, body: Map::new(), losses: Vec::new() }
    }

    /// Sets the value at `path`, names separated by `/`. Missing objects are created.
    pub(super) fn set(&mut self, path: &str, value: impl Into<Value>) {
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        let mut fields = &mut self.body;
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                fields.insert(name.to_owned(), value.into());
                return;
            }
            let inner = fields.entry(name).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            let Some(inner) = inner.as_object_mut() else { return };
            fields = inner;
        }
    }

    /// Reports that an option is lost or changed.
    pub(super) fn lose(&mut self, option: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(format!("/options/{option}"), option, reason));
    }
}

/// Returns the paths of the options that each API writes as they are: temperature, nucleus sampling, maximum
/// output tokens, stop sequences, seed, labels, and the id of the end user. If the API has no such field, the
/// path is empty.
const fn paths(format: ApiFormat) -> [(&'static str, &'static str); 7] {
    let [temperature, top_p, max_output_tokens, stop, seed, metadata, user_id] = match format {
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
        ApiFormat::Ollama => [
            "options/temperature",
            "options/top_p",
            "options/num_predict",
            "options/stop",
            "options/seed",
            "",
            "",
        ],
        _ => {
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

/// Writes all options except server state and the user's own fields.
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
    for ((option, path), value) in paths(draft.format).into_iter().zip(values) {
        match value {
            Some(value) if !path.is_empty() => draft.set(path, value),
            Some(_) => draft.lose(option, "the API has no field for it"),
            None => {}
        }
    }
    output(draft);
    thinking(draft);
    cache(draft);
    tier(draft);
}

/// Returns the default output limit, if the API requires a limit. The limit includes the thinking.
fn default_tokens(draft: &Draft<'_>) -> Option<u32> {
    let thought = match draft.request.options.thinking {
        Some(Thinking::Budget(tokens)) => tokens,
        Some(Thinking::Effort(effort)) if effort > Effort::Low => ANTHROPIC_OUTPUT_TOKENS,
        _ => 0,
    };
    (draft.format == ApiFormat::Anthropic).then(|| ANTHROPIC_OUTPUT_TOKENS.saturating_add(thought))
}

/// Writes the format of the answer.
fn output(draft: &mut Draft<'_>) {
    let Some(output) = &draft.request.options.output else { return };
    let (name, converted) = (&output.name, output.schema_for(draft.format));
    let schema = converted.schema;
    draft.losses.extend(converted.losses.into_iter().map(|mut loss| {
        loss.path.insert_str(0, "/options/output/schema");
        loss
    }));
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
        _ => {
            let format = json!({"name": name, "strict": true, "schema": schema});
            draft.set("/response_format", json!({"type": "json_schema", "json_schema": format}));
        }
    }
}

fn thinking(draft: &mut Draft<'_>) {
    let shown = draft.request.options.show_thinking;
    match draft.format {
        ApiFormat::Anthropic => return anthropic_thinking(draft),
        ApiFormat::Gemini => {
            gemini_thinking(draft);
            if shown {
                draft.set("/generationConfig/thinkingConfig/includeThoughts", true);
            }
            return;
        }
        ApiFormat::Ollama => return ollama_thinking(draft),
        ApiFormat::OpenAiResponses if shown => draft.set("/reasoning/summary", "auto"),
        // Servers with this API either always return the reasoning or never do.
        _ if shown => draft.lose("show_thinking", "the API has no field for it"),
        _ => {}
    }
    let path = match draft.format {
        ApiFormat::OpenAiResponses => "/reasoning/effort",
        _ => "/reasoning_effort",
    };
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
    // The service refuses other values together with thinking.
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

/// Writes the thinking for Gemini. Models before the third generation know budgets, and later models levels.
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

fn cache(draft: &mut Draft<'_>) {
    let Some(cache) = &draft.request.options.prompt_cache else { return };
    let mut has_key = false;
    let mut has_lifetime = false;
    match draft.format {
        ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses => {
            if let Some(key) = &cache.key {
                draft.set("/prompt_cache_key", key.as_str());
            }
            if cache.long_lifetime {
                draft.set("/prompt_cache_retention", "24h");
            }
            (has_key, has_lifetime) = (true, true);
        }
        ApiFormat::Anthropic => {
            draft.set("/cache_control/type", "ephemeral");
            if cache.long_lifetime {
                draft.set("/cache_control/ttl", "1h");
            }
            has_lifetime = true;
        }
        _ => {}
    }
    if cache.key.is_some() && !has_key {
        draft.lose("prompt_cache/key", "the API has no keys for caches");
    }
    if cache.long_lifetime && !has_lifetime {
        draft.lose("prompt_cache/long_lifetime", "the API has no lifetime for cached prompts");
    }
}

fn tier(draft: &mut Draft<'_>) {
    let Some(tier) = &draft.request.options.service_tier else { return };
    if let (ServiceTier::Other(name), false) = (tier, draft.format == ApiFormat::Ollama) {
        let path = if draft.format == ApiFormat::Gemini { "/serviceTier" } else { "/service_tier" };
        return draft.set(path, name.as_str());
    }
    match (draft.format, tier) {
        (ApiFormat::Ollama, _) => draft.lose("service_tier", "the API has no service tiers"),
        (ApiFormat::Anthropic, ServiceTier::Auto) => draft.set("/service_tier", "auto"),
        (ApiFormat::Anthropic, ServiceTier::Standard) => draft.set("/service_tier", "standard_only"),
        (ApiFormat::Anthropic, ServiceTier::Priority) => {
            draft.set("/service_tier", "auto");
            draft.lose("service_tier", "the tier is `auto`: the account decides about priority");
        }
        (ApiFormat::Anthropic, _) => draft.lose("service_tier", "the API has no such tier"),
        // The service chooses by default.
        (ApiFormat::Gemini, ServiceTier::Auto) => {}
        (ApiFormat::Gemini, ServiceTier::Standard) => draft.set("/serviceTier", "standard"),
        (ApiFormat::Gemini, ServiceTier::Flex) => draft.set("/serviceTier", "flex"),
        (ApiFormat::Gemini, _) => draft.set("/serviceTier", "priority"),
        (_, ServiceTier::Auto) => draft.set("/service_tier", "auto"),
        (_, ServiceTier::Standard) => draft.set("/service_tier", "default"),
        (_, ServiceTier::Flex) => draft.set("/service_tier", "flex"),
        (_, _) => draft.set("/service_tier", "priority"),
    }
}
