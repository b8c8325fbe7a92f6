//! Requests of Ollama's own API.

use crate::facts::Server;
use crate::model::{Effort, Thinking};
use crate::request::{ModelField, OptionFields, OutputForm, RequestBuilder, RequestFacts};

static FACTS: RequestFacts = RequestFacts {
    provider: "ollama",
    model: Some(ModelField { streams_by_default: true, ..ModelField::PLAIN }),
    options: OptionFields {
        paths: [
            "options/temperature",
            "options/top_p",
            "options/num_predict",
            "options/stop",
            "options/seed",
            "",
            "",
        ],
        ..OptionFields::PLAIN
    },
    output: OutputForm { write: |builder, _, schema| builder.set("/format", schema), ..OutputForm::PLAIN },
    write_thinking,
    ..RequestFacts::PLAIN
};

pub(crate) fn facts(_: Server) -> &'static RequestFacts {
    &FACTS
}

fn write_thinking(builder: &mut RequestBuilder<'_>) {
    match builder.request.options.thinking {
        None => {}
        Some(Thinking::Off) => builder.set("/think", false),
        Some(Thinking::Effort(effort)) => {
            let allowed = effort.clamp(Effort::Low, Effort::High);
            if allowed != effort {
                let reason = format!("the level is `{}`, the nearest of the API", allowed.name());
                builder.lose("thinking", reason);
            }
            builder.set("/think", allowed.name());
        }
        Some(Thinking::Budget(_)) => {
            builder.set("/think", true);
            builder.lose("thinking", "the API has no thinking budget");
        }
    }
}
