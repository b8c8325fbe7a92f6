//! Requests of Bedrock's Converse API.

use crate::apis::claude::drop_sampling;
use crate::facts::Server;
use crate::model::{CachePoint, PromptCache};
use crate::request::cache::with_lifetime;
use crate::request::{
    AnswerFacts, CacheSupport, InstructionsField, OptionFields, OutputForm, RequestBuilder, RequestFacts,
    Tier,
};
use serde_json::{Value, json};
use toolkit_schema::SchemaDialect;

static FACTS: RequestFacts = RequestFacts {
    provider: "aws.bedrock",
    model: None,
    instructions: InstructionsField::Field("/system", |text| json!([{"text": text}])),
    options: OptionFields {
        paths: [
            "inferenceConfig/temperature",
            "inferenceConfig/topP",
            "inferenceConfig/maxTokens",
            "inferenceConfig/stopSequences",
            "",
            "requestMetadata",
            "",
        ],
        ..OptionFields::PLAIN
    },
    output: OutputForm {
        // The service accepts the same subset for the models of all providers.
        dialect: SchemaDialect::AnthropicStrict,
        write: write_output,
        ..OutputForm::PLAIN
    },
    write_thinking,
    write_cache,
    tiers: Some((
        "/serviceTier/type",
        [Tier::Omitted, Tier::Named("default"), Tier::Named("flex"), Tier::Named("priority")],
    )),
    answers: AnswerFacts { signs_thinking: true, ..AnswerFacts::PLAIN },
    ..RequestFacts::PLAIN
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

/// Writes the output schema, as a string of JSON.
fn write_output(builder: &mut RequestBuilder<'_>, name: &str, schema: Value) {
    let json_schema = json!({"name": name, "schema": schema.to_string()});
    let format = json!({"type": "json_schema", "structure": {"jsonSchema": json_schema}});
    builder.set("/outputConfig/textFormat", format);
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    drop_sampling(builder, ["inferenceConfig/temperature", "inferenceConfig/topP"]);
    builder.lose_thinking("the field depends on the model; set it in `additionalModelRequestFields`");
}

/// Adds a `cachePoint` block at each cache point.
fn write_cache(builder: &mut RequestBuilder<'_>, cache: &PromptCache) -> CacheSupport {
    let block = json!({"cachePoint": with_lifetime(json!({"type": "default"}), cache)});
    for point in &cache.points {
        let blocks = match point {
            CachePoint::Tools => {
                builder.body.get_mut("toolConfig").and_then(|config| config.get_mut("tools"))
            }
            CachePoint::System => builder.body.get_mut("system"),
            CachePoint::History => builder.last_content(),
        };
        if let Some(Value::Array(blocks)) = blocks
            && !blocks.is_empty()
        {
            blocks.push(block.clone());
        }
    }
    CacheSupport { key: false, lifetime: !cache.points.is_empty(), points: true }
}
