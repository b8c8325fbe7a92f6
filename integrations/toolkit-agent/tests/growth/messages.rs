//! Streamed messages of many pieces, also for `benches/growth.rs`.

use crate::speech::{self, Part};
use serde_json::Value;
use toolkit_llm::ApiFormat;

const FORMATS: [ApiFormat; 6] = [
    ApiFormat::Anthropic,
    ApiFormat::OpenAiResponses,
    ApiFormat::OpenAiChat,
    ApiFormat::Gemini,
    ApiFormat::Bedrock,
    ApiFormat::GeminiInteractions,
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pieces {
    Text,
    Arguments,
    /// Signed thinking, and calls.
    Calls,
    /// Calls without arguments.
    Blank,
    /// Calls of the provider's own tool.
    Hosted,
}

const PIECES: [Pieces; 5] = [Pieces::Text, Pieces::Arguments, Pieces::Calls, Pieces::Blank, Pieces::Hosted];

pub(crate) fn kinds() -> impl Iterator<Item = (ApiFormat, Pieces)> {
    let of_format = |format| PIECES.into_iter().map(move |pieces| (format, pieces));
    FORMATS.into_iter().flat_map(of_format).filter(|(format, pieces)| has(*format, *pieces))
}

fn has(format: ApiFormat, pieces: Pieces) -> bool {
    use ApiFormat::{Anthropic, Gemini, OpenAiResponses};
    match pieces {
        Pieces::Hosted => matches!(format, Anthropic | OpenAiResponses),
        Pieces::Arguments => format != Gemini,
        _ => true,
    }
}

pub(crate) fn events(format: ApiFormat, pieces: Pieces, count: usize) -> Value {
    let call = |number: usize, arguments: Vec<String>| Part::Call { id: format!("call_{number}"), arguments };
    let words = (0..count).map(|number| format!("piece {number:05} "));
    let parts = match pieces {
        Pieces::Text => vec![Part::Text(words.collect())],
        Pieces::Arguments => {
            let begin = r#"{"a": 1, "b": 1, "c": ""#.to_owned();
            vec![call(0, [begin].into_iter().chain(words).chain([r#""}"#.to_owned()]).collect())]
        }
        Pieces::Calls => {
            let arguments = |number: usize| vec![format!(r#"{{"a": {number}, "b": 1}}"#)];
            (0..count).map(|number| call(number, arguments(number))).collect()
        }
        Pieces::Blank => (0..count).map(|number| call(number, Vec::new())).collect(),
        Pieces::Hosted => (0..count).map(|number| Part::Search(format!("srvtoolu_{number}"))).collect(),
    };
    let parts: Vec<Part> = [Part::Thinking].into_iter().chain(parts).collect();
    speech::events(format, &parts).concat().into()
}
