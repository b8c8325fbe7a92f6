//! Healthy responses in the API formats.

use super::server::{Step, chunk, respond, stream_end, stream_head};
use crate::speech::{Part, events, whole};
use serde_json::{Value, json};
use toolkit_llm::ApiFormat;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Chat,
    Responses,
    Messages,
    Gemini,
    Ollama,
}

/// The cut of a stream with two calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    BeforeTheFirstCall,
    InArguments,
    AfterTheFirstCall,
}

fn text() -> [Part; 1] {
    [Part::Text(vec!["do".to_owned(), "ne".to_owned()])]
}

/// Returns two calls of `add`, with arguments in two pieces.
fn calls() -> [Part; 2] {
    [("call_1", 1, 2), ("call_2", 3, 4)].map(|(id, a, b)| {
        let arguments = json!({"a": a, "b": b}).to_string();
        let (head, tail) = arguments.split_at(arguments.len() / 2);
        Part::Call { id: id.to_owned(), arguments: vec![head.to_owned(), tail.to_owned()] }
    })
}

impl Speech {
    fn format(self) -> ApiFormat {
        match self {
            Self::Chat => ApiFormat::OpenAiChat,
            Self::Responses => ApiFormat::OpenAiResponses,
            Self::Messages => ApiFormat::Anthropic,
            Self::Gemini => ApiFormat::Gemini,
            Self::Ollama => ApiFormat::Ollama,
        }
    }

    pub(crate) fn text(self, stream: bool) -> Vec<Step> {
        self.answer(&text(), stream)
    }

    pub(crate) fn calls(self, stream: bool) -> Vec<Step> {
        self.answer(&calls(), stream)
    }

    fn answer(self, parts: &[Part], stream: bool) -> Vec<Step> {
        if !stream {
            let body = whole(self.format(), parts).to_string();
            return respond("200 OK", "content-type: application/json\r\n", body);
        }
        let mut steps = self.begun(&events(self.format(), parts).concat());
        if self == Self::Chat {
            steps.push(chunk("data: [DONE]\n\n"));
        }
        steps.push(stream_end());
        steps
    }

    pub(crate) fn body_and_events(self) -> (Value, Vec<Value>) {
        (whole(self.format(), &text()), events(self.format(), &text()).concat())
    }

    fn begun(self, events: &[Value]) -> Vec<Step> {
        let events = events.iter().map(|event| chunk(&self.event(event)));
        [stream_head()].into_iter().chain(events).collect()
    }

    pub(crate) fn event(self, event: &Value) -> String {
        match event["type"].as_str() {
            _ if self == Self::Ollama => format!("{event}\n"),
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        }
    }

    pub(crate) fn cut_calls(self, cut: Cut) -> Vec<Step> {
        let [start, first, second, _] = &events(self.format(), &calls())[..] else { unreachable!() };
        self.begun(&match cut {
            Cut::BeforeTheFirstCall => start.clone(),
            Cut::InArguments => [start, &first[..first.len() / 2]].concat(),
            Cut::AfterTheFirstCall => [start, &first[..], &second[..second.len() / 2]].concat(),
        })
    }

    pub(crate) fn half_a_text(self) -> Vec<Step> {
        let events = self.body_and_events().1;
        self.begun(&events[..events.len() / 2])
    }

    pub(crate) fn error_event(self) -> String {
        let error = json!({"message": "overloaded", "type": "overloaded_error", "code": 503});
        self.event(&match self {
            Self::Responses => json!({"type": "error", "code": "server_error", "message": "overloaded"}),
            Self::Messages => json!({"type": "error", "error": error}),
            Self::Ollama => json!({"error": "overloaded"}),
            _ => json!({"error": error}),
        })
    }
}
