//! Token counts as servers report them: in several events, with zeros at the end, and with reasoning beside
//! the output.

use crate::facts::ApiFormat;
use crate::json::fields::set_in;
use crate::response::Usage;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
enum Habit {
    Repeats,
    SendsZero,
    SendsNull,
    LeavesOut,
}

/// Writes a usage as the event of an API, with each count as `part` reports it, or without it.
///
/// `is_apart` states whether the output lacks the reasoning, in APIs whose servers differ.
fn report(
    format: ApiFormat,
    usage: &Usage,
    is_apart: bool,
    part: impl Fn(usize, u64) -> Option<Value>,
) -> Value {
    let facts = format.codec().facts();
    let mut input = usage.input_tokens;
    let mut output = usage.output_tokens;
    match format {
        ApiFormat::Anthropic | ApiFormat::Bedrock => input -= usage.cached_input_tokens,
        ApiFormat::Gemini | ApiFormat::GeminiInteractions => output -= usage.reasoning_tokens,
        _ if is_apart => output -= usage.reasoning_tokens,
        _ => {}
    }
    let counts = [
        (facts.usage.input, input),
        (facts.usage.output, output),
        (facts.usage.cached_input, usage.cached_input_tokens),
        (facts.usage.reasoning, usage.reasoning_tokens),
        (facts.usage.total, usage.total()),
    ];
    let mut fields = Map::new();
    for (at, (pointer, count)) in
        counts.into_iter().enumerate().filter(|(_, (pointer, _))| !pointer.is_empty())
    {
        let path: Vec<&str> = pointer.split('/').skip(1).collect();
        if let Some(value) = part(at, count) {
            set_in(&mut fields, &path, value);
        }
    }
    let with = |name: &str, value: Value| {
        let mut fields = fields.clone();
        fields.insert(name.to_owned(), value);
        Value::Object(fields)
    };
    match format {
        ApiFormat::OpenAiChat => with("choices", json!([])),
        ApiFormat::OpenAiResponses => json!({"type": "response.in_progress", "response": fields}),
        ApiFormat::Anthropic => with("type", json!("message_delta")),
        ApiFormat::Gemini => fields.into(),
        ApiFormat::GeminiInteractions => with("event_type", json!("interaction.status_update")),
        ApiFormat::Ollama => with("done", json!(true)),
        ApiFormat::Bedrock => json!({"metadata": fields}),
        ApiFormat::Cohere => json!({"type": "message-end", "delta": fields}),
    }
}

fn habits() -> impl Strategy<Value = [Habit; 5]> {
    prop::array::uniform5(select(vec![Habit::Repeats, Habit::SendsZero, Habit::SendsNull, Habit::LeavesOut]))
}

proptest! {
    /// A server reports growing counts, then the true ones, then some of them again, or zeros, or nothing.
    #[test]
    fn the_true_counts_are_read_whatever_the_server_repeats(
        [input, output] in any::<[u16; 2]>(),
        [cached, reasoning] in prop::array::uniform2(0..=100_u64),
        growing in vec(1..4_u64, 0..3),
        later in vec(habits(), 0..4),
        is_apart in any::<bool>(),
    ) {
        for &format in ApiFormat::ALL {
            let facts = format.codec().facts();
            let input = u64::from(input);
            let output = u64::from(output);
            let reports_reasoning = !facts.usage.reasoning.is_empty();
            let usage = Usage::new(input, output)
                .with_cached_input(input * cached / 100)
                .with_reasoning(if reports_reasoning { output * reasoning / 100 } else { 0 });
            let mut stream = format.accumulator();
            for share in &growing {
                stream.push(&report(format, &usage, is_apart, |_, count| Some((count / (share + 1)).into())))?;
            }
            stream.push(&report(format, &usage, is_apart, |_, count| Some(count.into())))?;
            for habits in &later {
                let part = |at: usize, count: u64| match habits[at] {
                    Habit::Repeats => Some(count.into()),
                    Habit::SendsZero => Some(0.into()),
                    Habit::SendsNull => Some(Value::Null),
                    Habit::LeavesOut => None,
                };
                stream.push(&report(format, &usage, is_apart, part))?;
            }
            prop_assert_eq!(stream.usage(), usage, "{}", format);
        }
    }
}

#[test]
fn counts_are_integers_floats_or_strings() {
    for (input, output) in [(json!(11), json!(2)), (json!(11.0), json!(2.0)), (json!("11"), json!("2"))] {
        let body = json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}],
            "usage": {"prompt_tokens": input, "completion_tokens": output, "cached_tokens": input}});
        let usage = ApiFormat::OpenAiChat.parse_response(&body).unwrap().usage;
        assert_eq!(usage, Usage::new(11, 2).with_cached_input(11), "{body}");
        let body = json!({"role": "assistant", "type": "message", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Hi."}], "usage": {"input_tokens": input, "output_tokens": output}});
        assert_eq!(ApiFormat::Anthropic.parse_response(&body).unwrap().usage, Usage::new(11, 2), "{body}");
    }
}
