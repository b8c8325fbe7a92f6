//! Requests of Chat Completions, to OpenAI and to servers that accept fewer fields.

use crate::apis::openai::request::{OPENAI, write_key};
use crate::facts::Server;
use crate::model::PromptCache;
use crate::request::{CacheSupport, OptionFields, RequestBuilder, RequestFacts};
use toolkit_schema::SchemaLoss;

/// The reason why some servers get no field for an option.
const STANDARD: &str = "only the standard fields of the API are sent";

/// A server that understands only the fields that all servers with the API have.
static STANDARD_ONLY: RequestFacts = RequestFacts {
    options: OptionFields {
        paths: ["temperature", "top_p", "max_tokens", "stop", "seed", "", ""],
        no_field: STANDARD,
        ..OPENAI.options
    },
    write_thinking: |builder| builder.lose_thinking(STANDARD),
    write_cache: lose_cache,
    tiers: None,
    write_own: lose_usage,
    ..OPENAI
};

fn lose_cache(builder: &mut RequestBuilder<'_>, _cache: &PromptCache) -> CacheSupport {
    builder.lose("prompt_cache", STANDARD);
    CacheSupport { key: true, lifetime: true, points: true }
}

fn lose_usage(builder: &mut RequestBuilder<'_>, stream: bool) {
    if stream {
        let reason = "only the standard fields of the API are sent: the stream may have no token counts";
        builder.losses.push(SchemaLoss::new("/stream_options/include_usage", "stream_options", reason));
    }
}

static MISTRAL: RequestFacts = RequestFacts {
    options: OptionFields {
        paths: ["temperature", "top_p", "max_tokens", "stop", "random_seed", "metadata", ""],
        ..OPENAI.options
    },
    write_cache: |builder, cache| CacheSupport { lifetime: false, ..write_key(builder, cache) },
    // Mistral always reports the usage.
    write_own: |_, _| {},
    ..OPENAI
};

pub(crate) fn facts(server: Server) -> &'static RequestFacts {
    match server {
        Server::Own | Server::Vertex => &OPENAI,
        Server::Standard => &STANDARD_ONLY,
        Server::Mistral => &MISTRAL,
    }
}
