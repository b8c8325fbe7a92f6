//! Writes the options of a request for each API, and reports those that it lacks.

use crate::model::{Effort, PromptCache, ServiceTier, Thinking};
use crate::request::{NO_FIELD, OPTIONS, RequestBuilder, Tier};
use serde_json::{Value, json};

/// Writes all options except server state and extra fields.
pub(super) fn write(builder: &mut RequestBuilder<'_>) {
    let options = &builder.request.options;
    let values = [
        options.temperature.map(Value::from),
        options.top_p.map(Value::from),
        options.max_output_tokens.or_else(|| default_tokens(builder)).map(Value::from),
        if options.stop.is_empty() { None } else { Some(options.stop.clone().into()) },
        options.seed.map(Value::from),
        if options.metadata.is_empty() { None } else { Some(json!(options.metadata)) },
        options.user_id.as_deref().map(Value::from),
    ];
    for ((option, path), value) in OPTIONS.into_iter().zip(builder.facts.options.paths).zip(values) {
        match value {
            Some(value) if !path.is_empty() => builder.set(path, value),
            Some(_) => builder.lose(option, builder.facts.options.no_field),
            None => {}
        }
    }
    if !builder.facts.stored.keeps_conversations {
        if options.server_state.is_some() {
            builder.lose("server_state", "the API keeps no conversations, so the whole history is sent");
        }
        if options.background {
            builder.lose("background", "the API has no background mode");
        }
    }
    if let Some(output) = &options.output {
        let converted = output.schema_for(builder.format);
        builder.losses.extend(converted.losses);
        (builder.facts.output.write)(builder, &output.name, converted.schema);
    }
    (builder.facts.write_thinking)(builder);
    if let Some(cache) = &options.prompt_cache {
        write_cache(builder, cache);
    }
    if let Some(tier) = &options.service_tier {
        write_tier(builder, tier);
    }
}

/// Returns the default output limit with thinking tokens, if the API requires a limit.
fn default_tokens(builder: &RequestBuilder<'_>) -> Option<u32> {
    let required = builder.facts.options.required_output_tokens?;
    let thinking = match builder.request.options.thinking {
        Some(Thinking::Budget(tokens)) => tokens,
        Some(Thinking::Effort(effort)) if effort > Effort::Low => required,
        _ => 0,
    };
    Some(required.saturating_add(thinking))
}

fn write_cache(builder: &mut RequestBuilder<'_>, cache: &PromptCache) {
    let support = (builder.facts.write_cache)(builder, cache);
    if cache.key.is_some() && !support.key {
        builder.lose("prompt_cache/key", "the API has no keys for caches");
    }
    if cache.long_lifetime && !support.lifetime {
        builder.lose("prompt_cache/long_lifetime", "the API has no lifetime for cached prompts");
    }
    if !cache.points.is_empty() && !support.points {
        builder
            .lose("prompt_cache/points", "the API has no cache points; the provider decides what is cached");
    }
}

fn write_tier(builder: &mut RequestBuilder<'_>, tier: &ServiceTier) {
    let Some((path, [auto, standard, flex, priority])) = builder.facts.tiers else {
        return builder.lose("service_tier", builder.facts.options.no_field);
    };
    let tier = match tier {
        ServiceTier::Auto => auto,
        ServiceTier::Standard => standard,
        ServiceTier::Flex => flex,
        ServiceTier::Priority => priority,
        ServiceTier::Other(name) => return builder.set(path, name.as_str()),
    };
    match tier {
        Tier::Named(name) => builder.set(path, name),
        Tier::Omitted => {}
        Tier::Nearest(name, reason) => {
            builder.set(path, name);
            builder.lose("service_tier", reason);
        }
        Tier::Missing => builder.lose("service_tier", NO_FIELD),
    }
}
