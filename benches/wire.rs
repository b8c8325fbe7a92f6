//! Definitions and calls in every format, against the same JSON by hand.
//!
//! A definition's floor is `json!` and its text, without a look at the schema.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails should stop")]

mod support;

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use support::{named, registry_of, tools};
use toolkit_ai::ToolDefinition;
use toolkit_ai::llm::StrictTools;
use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
use toolkit_ai::name::WireNames;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const FORMATS: &[ApiFormat] = ApiFormat::ALL;

fn definition() -> ToolDefinition {
    tools::create_order::tool().definition().clone()
}

fn by_hand(definition: &ToolDefinition, format: ApiFormat) -> Value {
    let name = definition.name.as_str();
    let ToolDefinition { description, parameters, .. } = definition;
    match format {
        ApiFormat::OpenAiResponses => {
            json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false})
        }
        ApiFormat::Anthropic => json!({"name": name, "description": description, "input_schema": parameters}),
        ApiFormat::Gemini => json!({"name": name, "description": description, "parameters": parameters}),
        _ => {
            let function = json!({"name": name, "description": description, "parameters": parameters});
            json!({"type": "function", "function": function})
        }
    }
}

/// A thousand tools as the `tools` of a request.
#[divan::bench_group(sample_size = 1)]
mod a_thousand_definitions {
    use super::*;

    const COUNT: usize = 1_000;

    #[divan::bench(args = FORMATS.iter().copied(), sample_count = 20)]
    fn first_floor_by_hand(bencher: Bencher<'_, '_>, format: ApiFormat) {
        bencher.with_inputs(|| registry_of(COUNT)).bench_local_refs(|registry| {
            let all: Vec<Value> =
                registry.iter_definitions().map(|definition| by_hand(definition, format)).collect();
            Value::from(all).to_string()
        });
    }

    #[divan::bench(args = FORMATS.iter().copied(), sample_count = 20)]
    fn first(bencher: Bencher<'_, '_>, format: ApiFormat) {
        bencher.with_inputs(|| registry_of(COUNT)).bench_local_refs(|registry| registry.definitions(format));
    }

    #[divan::bench(args = FORMATS.iter().copied(), sample_count = 20)]
    fn after_one_more_tool(bencher: Bencher<'_, '_>, format: ApiFormat) {
        let with_one_more = || {
            let mut registry = registry_of(COUNT);
            let _ = registry.definitions(format);
            registry.register(named(&definition(), COUNT)).unwrap();
            registry
        };
        bencher.with_inputs(with_one_more).bench_local_refs(|registry| registry.definitions(format));
    }

    #[divan::bench(args = FORMATS.iter().copied(), sample_size = 1000)]
    fn again(bencher: Bencher<'_, '_>, format: ApiFormat) {
        let registry = registry_of(COUNT);
        bencher.bench_local(|| registry.definitions(black_box(format)));
    }
}

/// Conversions of one tool with ten nested fields, as many a second as divan prints.
mod one_definition {
    use super::*;

    #[divan::bench(args = FORMATS.iter().copied())]
    fn floor_by_hand(bencher: Bencher<'_, '_>, format: ApiFormat) {
        let definition = definition();
        bencher
            .counter(ItemsCount::new(1_u32))
            .bench_local(|| by_hand(black_box(&definition), format).to_string());
    }

    #[divan::bench(args = FORMATS.iter().copied())]
    fn encoded(bencher: Bencher<'_, '_>, format: ApiFormat) {
        encode(bencher, format, StrictTools::Never);
    }

    #[divan::bench(args = FORMATS.iter().copied())]
    fn encoded_strict(bencher: Bencher<'_, '_>, format: ApiFormat) {
        encode(bencher, format, StrictTools::All);
    }

    fn encode(bencher: Bencher<'_, '_>, format: ApiFormat, strict: StrictTools) {
        let definition = definition();
        let names = WireNames::default();
        let options = DefinitionOptions::default().with_strict(strict);
        bencher
            .counter(ItemsCount::new(1_u32))
            .bench_local(|| format.encode_definitions([black_box(&definition)], &names, &options));
    }

    #[cfg(feature = "translate")]
    #[divan::bench(args = toolkit_ai::llm::translate::RequestFormat::ALL.iter().copied())]
    fn parsed(bencher: Bencher<'_, '_>, reader: toolkit_ai::llm::translate::RequestFormat) {
        let format = reader.api();
        let options = DefinitionOptions::default();
        let tools = format.encode_definitions([&definition()], &WireNames::default(), &options).to_value();
        bencher
            .counter(ItemsCount::new(1_u32))
            .bench_local(|| reader.parse_definitions(black_box(&tools)).unwrap());
    }
}

mod ten_calls {
    use super::*;

    fn calls() -> Vec<ToolCall> {
        (0..10).map(|index| support::C.to_call("create_order").with_index(index)).collect()
    }

    #[divan::bench(args = FORMATS.iter().copied())]
    fn parsed(bencher: Bencher<'_, '_>, format: ApiFormat) {
        let history = format.encode_calls(&calls(), &WireNames::default());
        let payload = if history.len() == 1 { history[0].clone() } else { Value::from(history) };
        bencher
            .counter(ItemsCount::new(10_u32))
            .bench_local(|| format.parse_calls(black_box(&payload)).unwrap());
    }
    /// The calls as a stream, with arguments in pieces of four characters.
    #[divan::bench(args = FORMATS.iter().copied())]
    fn streamed(bencher: Bencher<'_, '_>, format: ApiFormat) {
        let events: Vec<Value> = (0..10).flat_map(|index| events(format, index)).collect();
        bencher.counter(ItemsCount::new(10_u32)).bench_local(|| {
            let mut stream = format.accumulator();
            for event in black_box(&events) {
                black_box(stream.push(event).unwrap());
            }
            assert_eq!(stream.finish().response.unwrap().calls.len(), 10);
        });
    }

    fn events(format: ApiFormat, index: usize) -> Vec<Value> {
        let text = support::C.arguments;
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(4).map(String::from_iter);
        let id = format!("call_{index}");
        let name = "create_order";
        match format {
            ApiFormat::OpenAiChat => {
                let chunk = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
                let first = json!({"index": index, "id": id, "function": {"name": name, "arguments": ""}});
                let more = |piece| json!({"index": index, "function": {"arguments": piece}});
                std::iter::once(first).chain(pieces.map(more)).map(chunk).collect()
            }
            ApiFormat::OpenAiResponses => {
                let event = |kind: &str| json!({"type": format!("response.{kind}"), "output_index": index});
                let item = |kind: &str, arguments: &str| {
                    let mut event = event(kind);
                    event["item"] =
                        json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
                    event
                };
                let delta = |piece: String| {
                    let mut event = event("function_call_arguments.delta");
                    event["delta"] = piece.into();
                    event
                };
                let begin = item("output_item.added", "");
                let end = item("output_item.done", text);
                std::iter::once(begin).chain(pieces.map(delta)).chain([end]).collect()
            }
            ApiFormat::Anthropic => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let begin = json!({"type": "content_block_start", "index": index, "content_block": block});
                let delta = |piece| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}});
                let end = json!({"type": "content_block_stop", "index": index});
                std::iter::once(begin).chain(pieces.map(delta)).chain([end]).collect()
            }
            ApiFormat::Gemini => {
                let args: Value = serde_json::from_str(text).unwrap();
                let call = json!({"functionCall": {"name": name, "args": args}});
                vec![json!({"candidates": [{"content": {"parts": [call]}}]})]
            }
            _ => {
                let arguments: Value = serde_json::from_str(text).unwrap();
                let call = json!({"function": {"name": name, "arguments": arguments}});
                vec![
                    json!({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": false}),
                ]
            }
        }
    }
}
