//! Requests of Cohere's Chat API.

use crate::facts::Server;
use crate::model::Thinking;
use crate::request::{OptionFields, OutputForm, RequestBuilder, RequestFacts};
use serde_json::{Value, json};

static FACTS: RequestFacts = RequestFacts {
    provider: "cohere",
    options: OptionFields {
        paths: ["temperature", "p", "max_tokens", "stop_sequences", "seed", "", ""],
        ..OptionFields::PLAIN
    },
    output: OutputForm { write: write_output, ..OutputForm::PLAIN },
    write_thinking,
    ..RequestFacts::PLAIN
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

fn write_output(builder: &mut RequestBuilder<'_>, _name: &str, schema: Value) {
    builder.set("/response_format", json!({"type": "json_object", "json_schema": schema}));
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    match builder.request.options.thinking {
        None => {}
        Some(Thinking::Off) => builder.set("/thinking/type", "disabled"),
        Some(Thinking::Budget(tokens)) => {
            builder.set("/thinking", json!({"type": "enabled", "token_budget": tokens}));
        }
        Some(Thinking::Effort(effort)) => {
            let tokens = effort.tokens();
            builder.set("/thinking", json!({"type": "enabled", "token_budget": tokens}));
            builder.lose("thinking", format!("the API has no effort; the budget is {tokens} tokens"));
        }
    }
}
