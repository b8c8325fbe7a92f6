//! Token counts as servers report them: in several events, with zeros at the end, and with reasoning beside the output.

use super::parse;
use crate::fields::set_in;
use crate::{ApiFormat, Usage};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A body or the events of a stream, with the counts: input, output, cached input and reasoning.
#[rustfmt::skip]
fn reports() -> [(ApiFormat, Value, [u64; 4]); 8] {
    let chat = |usage: Value| json!([{"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]);
    let counts = json!({"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15});
    let zeros = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    let begun = json!({"input_tokens": 12, "output_tokens": 0, "cache_read_input_tokens": 5});
    [
        // xAI does not count reasoning as output, and other servers do.
        (ApiFormat::OpenAiChat, chat(json!({"prompt_tokens": 468, "completion_tokens": 82, "total_tokens": 870,
            "completion_tokens_details": {"reasoning_tokens": 320}})), [468, 402, 0, 320]),
        (ApiFormat::OpenAiChat, chat(json!({"prompt_tokens": 468, "completion_tokens": 402, "total_tokens": 870,
            "completion_tokens_details": {"reasoning_tokens": 320}})), [468, 402, 0, 320]),
        (ApiFormat::OpenAiResponses, json!([{"type": "response.completed", "response": {"output": [], "usage":
            {"input_tokens": 5, "output_tokens": 2, "total_tokens": 10, "output_tokens_details": {"reasoning_tokens": 3}}}}]),
            [5, 5, 0, 3]),
        // Mistral counts the tokens of audio only in the total.
        (ApiFormat::OpenAiChat, chat(json!({"prompt_audio_seconds": 203, "prompt_tokens": 4, "completion_tokens": 635,
            "total_tokens": 3264})), [2629, 635, 0, 0]),
        (ApiFormat::OpenAiChat, json!([{"choices": [], "usage": counts}, {"choices": [], "usage": zeros}]), [12, 3, 0, 0]),
        (ApiFormat::OpenAiChat, json!([{"choices": [{"index": 0, "delta": {}, "usage": counts, "finish_reason": "stop"}]},
            {"choices": [], "usage": zeros}]), [12, 3, 0, 0]),
        (ApiFormat::Anthropic, json!([{"type": "message_start", "message": {"usage": begun}},
            {"type": "message_delta", "usage": {"input_tokens": 0, "output_tokens": 3, "cache_read_input_tokens": 0}}]),
            [17, 3, 5, 0]),
        (ApiFormat::Anthropic, json!([{"type": "message_start", "message": {"usage": begun}},
            {"type": "message_delta", "usage": {"output_tokens": 3}}, {"type": "message_delta", "usage": null}]), [17, 3, 5, 0]),
    ]
}

#[test]
fn all_token_counts_are_read() {
    let chat = |usage: Value| json!({"id": "r1", "choices": [{"message": {"role": "assistant", "content": "hi"}}], "usage": usage});
    let item = json!({"type": "message", "role": "assistant", "content": []});
    for (format, body, usage) in [
        (
            ApiFormat::OpenAiChat,
            chat(json!({"prompt_tokens": 9, "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2}})),
            Usage::new(9, 5).with_cached_input(3).with_cache_write(2),
        ),
        // DeepSeek and Moonshot.
        (
            ApiFormat::OpenAiChat,
            chat(json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 3})),
            Usage::new(9, 5).with_cached_input(3),
        ),
        (
            ApiFormat::OpenAiChat,
            chat(json!({"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 3})),
            Usage::new(9, 5).with_cached_input(3),
        ),
        (
            ApiFormat::OpenAiResponses,
            json!({"id": "r1", "status": "completed", "output": [item], "usage": {"input_tokens": 9, "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2}}}),
            Usage::new(9, 5).with_cached_input(3).with_cache_write(2),
        ),
        (
            ApiFormat::Anthropic,
            json!({"id": "r1", "type": "message", "role": "assistant", "content": [],
                "usage": {"input_tokens": 4, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 5}}),
            Usage::new(9, 5).with_cached_input(3).with_cache_write(2),
        ),
        (
            ApiFormat::Gemini,
            json!({"responseId": "r1", "candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}],
                "usageMetadata": {"promptTokenCount": 7, "toolUsePromptTokenCount": 2, "candidatesTokenCount": 4,
                    "thoughtsTokenCount": 1, "cachedContentTokenCount": 3, "totalTokenCount": 14}}),
            Usage::new(9, 5).with_cached_input(3).with_reasoning(1).with_tool(2),
        ),
    ] {
        let response = parse(format, &body);
        assert_eq!((response.usage, response.id.as_str()), (usage, "r1"), "{format}");
        assert_eq!(usage.total(), 14);
        let read: Usage = serde_json::from_value(json!(usage)).unwrap();
        assert_eq!(read, usage);
    }
}

#[test]
fn counts_that_were_reported_stay_when_zeros_follow() {
    for (format, events, [input, output, cached, reasoning]) in reports() {
        let mut stream = format.accumulator();
        stream.push(&events).unwrap();
        let usage = Usage::new(input, output).with_cached_input(cached).with_reasoning(reasoning);
        let end = stream.finish();
        assert_eq!(format.parse_usage(&end.body), usage, "{events}");
    }
}

/// The ways of a server to report a count again.
#[derive(Debug, Clone, Copy)]
enum Habit {
    Repeats,
    SendsZero,
    SendsNull,
    LeavesOut,
}

/// Writes a usage as the event of an API. `is_apart` states whether the output lacks the reasoning, in APIs whose
/// servers differ. `part` turns each count, by its number, into the reported value. `None` leaves it out.
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
    let [of_input, of_output, of_cached, of_reasoning] = facts.usage;
    let counts = [
        (of_input, input),
        (of_output, output),
        (of_cached, usage.cached_input_tokens),
        (of_reasoning, usage.reasoning_tokens),
        (facts.total, usage.total()),
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
        for format in ApiFormat::ALL {
            let facts = format.codec().facts();
            let input = u64::from(input);
            let output = u64::from(output);
            let reports_reasoning = facts.usage[3] != "/none";
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
