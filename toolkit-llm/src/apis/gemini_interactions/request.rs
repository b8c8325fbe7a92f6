//! Requests of Gemini's Interactions API.

use crate::facts::Server;
use crate::model::{Effort, Thinking};
use crate::request::{
    AnswerFacts, InstructionsField, OptionFields, OutputForm, RequestBuilder, RequestFacts,
};
use serde_json::{Value, json};
use toolkit_schema::__private::LoopExits;

static FACTS: RequestFacts = RequestFacts {
    provider: "gcp.gemini",
    instructions: InstructionsField::Field("/system_instruction", |text| text.into()),
    options: OptionFields {
        paths: [
            "generation_config/temperature",
            "generation_config/top_p",
            "generation_config/max_output_tokens",
            "generation_config/stop_sequences",
            "generation_config/seed",
            "",
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
    // The history contains all steps.
    write_own: |builder, _| builder.set("/store", false),
    answers: AnswerFacts { signs_thinking: true, ..AnswerFacts::PLAIN },
    ..RequestFacts::PLAIN
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

fn write_output(builder: &mut RequestBuilder<'_>, _name: &str, schema: Value) {
    let format = json!({"type": "text", "mime_type": "application/json", "schema": schema});
    builder.set("/response_format", format);
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    const LEVEL: &str = "/generation_config/thinking_level";
    match builder.request.options.thinking {
        None => {}
        Some(Thinking::Off) => {
            builder.set(LEVEL, "minimal");
            builder.lose("thinking", "the model always thinks; the level is `minimal` instead");
        }
        Some(Thinking::Effort(effort)) => {
            let allowed = effort.min(Effort::XHigh);
            if allowed != effort {
                builder.lose("thinking", "the highest level of the API is `xhigh`");
            }
            builder.set(LEVEL, allowed.name());
        }
        Some(Thinking::Budget(tokens)) => {
            let level = Effort::of_tokens(tokens).min(Effort::XHigh).name();
            builder.set(LEVEL, level);
            builder
                .lose("thinking", format!("the API has no thinking budget; the level is `{level}` instead"));
        }
    }
    if builder.request.options.show_thinking {
        builder.set("/generation_config/thinking_summaries", "auto");
    }
}
