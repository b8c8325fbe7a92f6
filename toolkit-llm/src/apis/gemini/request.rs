//! Requests of `generateContent`.

use crate::facts::Server;
use crate::model::{Effort, Thinking};
use crate::request::{
    AnswerFacts, InstructionsField, OptionFields, OutputForm, RequestBuilder, RequestFacts, Tier,
};
use serde_json::{Value, json};
use toolkit_schema::__private::LoopExits;

static FACTS: RequestFacts = RequestFacts {
    provider: "gcp.gemini",
    model: None,
    instructions: InstructionsField::Field("/systemInstruction", |text| json!({"parts": [{"text": text}]})),
    options: OptionFields {
        paths: [
            "generationConfig/temperature",
            "generationConfig/topP",
            "generationConfig/maxOutputTokens",
            "generationConfig/stopSequences",
            "generationConfig/seed",
            "labels",
            "",
        ],
        ..OptionFields::PLAIN
    },
    output: OutputForm {
        // "Cyclic references are unrolled to a limited degree and, as such, may only be used within non-required properties.
        // (Nullable properties are not sufficient.)", from the reference of `responseJsonSchema`.
        loops: Some(LoopExits::OptionalMembers),
        write: write_output,
        ..OutputForm::PLAIN
    },
    write_thinking,
    tiers: Some((
        "/serviceTier",
        [Tier::Omitted, Tier::Named("standard"), Tier::Named("flex"), Tier::Named("priority")],
    )),
    has_two_spellings: true,
    answers: AnswerFacts { blocks_beside_calls: true, ..AnswerFacts::PLAIN },
    ..RequestFacts::PLAIN
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

fn write_output(builder: &mut RequestBuilder<'_>, _name: &str, schema: Value) {
    builder.set("/generationConfig/responseMimeType", "application/json");
    builder.set("/generationConfig/responseJsonSchema", schema);
}

/// Writes the options for thinking: a level, or a token budget before the third generation.
fn write_thinking(builder: &mut RequestBuilder<'_>) {
    const LEVEL: &str = "/generationConfig/thinkingConfig/thinkingLevel";
    const BUDGET: &str = "/generationConfig/thinkingConfig/thinkingBudget";
    let generation = builder.format.model_generation(builder.model);
    let has_levels = generation.is_none_or(|generation| generation >= 3);
    match builder.request.options.thinking {
        None => {}
        Some(Thinking::Budget(tokens)) => builder.set(BUDGET, tokens),
        Some(Thinking::Off) if has_levels => {
            builder.set(LEVEL, "MINIMAL");
            builder.lose("thinking", "the model always thinks; the level is `MINIMAL` instead");
        }
        Some(Thinking::Off) => builder.set(BUDGET, 0),
        Some(Thinking::Effort(effort)) if has_levels => {
            if effort == Effort::Max {
                builder.lose("thinking", "the highest level of the API is `XHIGH`");
            }
            builder.set(LEVEL, effort.min(Effort::XHigh).name().to_ascii_uppercase());
        }
        // The largest budget that all models of this generation accept.
        Some(Thinking::Effort(effort)) => builder.set(BUDGET, effort.tokens().min(Effort::High.tokens())),
    }
    if builder.request.options.show_thinking {
        builder.set("/generationConfig/thinkingConfig/includeThoughts", true);
    }
}
