//! Requests of both APIs of OpenAI.

use crate::model::{Effort, PromptCache, Thinking};
use crate::request::{CacheSupport, OptionFields, OutputForm, RequestBuilder, RequestFacts, Tier};
use serde_json::{Value, json};
use toolkit_schema::SchemaDialect;

pub(crate) static OPENAI: RequestFacts = RequestFacts {
    provider: "openai",
    options: OptionFields {
        paths: [
            "temperature",
            "top_p",
            "max_completion_tokens",
            "stop",
            "seed",
            "metadata",
            "safety_identifier",
        ],
        ..OptionFields::PLAIN
    },
    output: OutputForm { dialect: SchemaDialect::OpenAiStrict, write: write_output, ..OutputForm::PLAIN },
    write_thinking,
    write_cache,
    tiers: Some(TIERS),
    write_own: write_usage,
    ..RequestFacts::PLAIN
};

pub(crate) const TIERS: (&str, [Tier; 4]) = (
    "/service_tier",
    [Tier::Named("auto"), Tier::Named("default"), Tier::Named("flex"), Tier::Named("priority")],
);

fn write_output(builder: &mut RequestBuilder<'_>, name: &str, schema: Value) {
    let format = json!({"name": name, "strict": true, "schema": schema});
    builder.set("/response_format", json!({"type": "json_schema", "json_schema": format}));
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    if builder.request.options.show_thinking {
        // Servers with this API either always return the reasoning or never do.
        builder.lose("show_thinking", builder.facts.options.no_field);
    }
    write_effort(builder, "/reasoning_effort");
}

/// Asks for the token usage, which streams otherwise lack.
fn write_usage(builder: &mut RequestBuilder<'_>, stream: bool) {
    if stream {
        builder.set("/stream_options/include_usage", true);
    }
}

pub(crate) fn write_effort(builder: &mut RequestBuilder<'_>, path: &str) {
    match builder.request.options.thinking {
        None => {}
        Some(Thinking::Off) => builder.set(path, "none"),
        Some(Thinking::Effort(effort)) => builder.set(path, effort.name()),
        Some(Thinking::Budget(tokens)) => {
            let effort = Effort::of_tokens(tokens).name();
            builder.set(path, effort);
            let reason = format!("the API has no thinking budget; the effort is `{effort}` instead");
            builder.lose("thinking", reason);
        }
    }
}

pub(crate) fn write_key(builder: &mut RequestBuilder<'_>, cache: &PromptCache) -> CacheSupport {
    if let Some(key) = &cache.key {
        builder.set("/prompt_cache_key", key.as_str());
    }
    CacheSupport { key: true, lifetime: true, points: false }
}

pub(crate) fn write_cache(builder: &mut RequestBuilder<'_>, cache: &PromptCache) -> CacheSupport {
    let support = write_key(builder, cache);
    if cache.long_lifetime {
        builder.set("/prompt_cache_retention", "24h");
    }
    support
}
