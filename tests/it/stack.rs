//! No public function needs more than 2 MiB of stack for any input.
//!
//! An overflow ends the process, with function and input in the thread's name.

use super::agreement::random::Random;
use chains::chains;
use inputs::{Input, inputs};
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use toolkit_ai::ToolConfig;
use toolkit_ai::name::WireNames;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::{self, SchemaDialect, SchemaDiff, SchemaRef};
use toolkit_ai::serde_json::{Value, json};
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, LiveRegistry, ToolDefinition, ToolFuture, ToolName, testing,
};

mod chains;
mod inputs;

/// The default stack of a new thread.
const SMALL: usize = 2 << 20;

/// The stack for making and dropping inputs.
const LARGE: usize = 64 << 20;

/// The depth that a JSON parser accepts, less what the tests add.
const PARSED: usize = 120;

/// Calls `run` on a small stack, on a thread with a name for the message.
fn on_small_stack(name: &str, input: &dyn Debug, run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = Builder::new().name(format!("{name} {input:?}")).stack_size(SMALL);
        thread.spawn_scoped(scope, run).expect("a thread").join().expect("no panic");
    });
}

fn schemas(input: &dyn Debug, schema: &Value, value: &Value) {
    let run = |name: &str, run: &(dyn Fn() + Sync)| on_small_stack(name, input, run);
    run("violations", &|| drop(schema::violations(schema, value)));
    run("coerce", &|| _ = schema::coerce(schema, &mut value.clone()));
    run("describe", &|| drop(schema::describe(schema)));
    run("schema_hash", &|| drop(schema::schema_hash(schema)));
    run("canonical_json", &|| drop(schema::canonical_json(&json!(value.to_string()).to_string())));
    // A copy takes stack, too.
    let [tidied, visited] = [schema, schema].map(|schema| Mutex::new(schema.clone()));
    run("tidy", &|| schema::tidy(&mut tidied.lock().expect("no panic")));
    run("each_subschema", &|| {
        schema::keyword::each_subschema(&mut visited.lock().expect("no panic"), &mut |keywords| {
            keywords.clear();
        });
    });
    let defined = schema.pointer("/$defs/0").unwrap_or(schema);
    run("inner schemas", &|| {
        let inner = SchemaRef::new(schema, defined);
        drop((schema::violations(inner, value), schema::describe(inner)));
        let _ = schema::coerce(inner, &mut value.clone());
    });
    let mut other = schema.clone();
    let definitions = other.get_mut("$defs").and_then(Value::as_object_mut);
    if let Some((_, last)) = definitions.and_then(|definitions| definitions.iter_mut().last()) {
        *last = json!({"type": "string"});
    }
    let any = Value::Bool(true);
    for (old, new) in [(schema, &any), (&any, schema), (schema, &other)] {
        run("SchemaDiff", &|| drop(SchemaDiff::of_arguments(old, new).to_string()));
        run("SchemaDiff", &|| drop(SchemaDiff::of_results(old, new)));
    }
    use SchemaDialect::{Anthropic, AnthropicStrict, Gemini, Inlined, JsonSchema, OpenAi, OpenAiStrict};
    for dialect in [JsonSchema, Inlined, OpenAi, OpenAiStrict, Anthropic, AnthropicStrict, Gemini] {
        run(&format!("{dialect:?}"), &|| drop(dialect.convert(schema)));
    }
    #[cfg(feature = "jsonschema")]
    run("CompiledSchema", &|| {
        if let Ok(compiled) = schema::CompiledSchema::new(schema) {
            let _ = compiled.is_valid(value);
            drop(compiled.violations(value));
        }
    });
}

struct AnyTool(ToolDefinition);

impl Tool for AnyTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(self.0.parse_arguments(arguments).map(|value| ToolOutput::text(value.to_string())))
    }
}

fn tools(input: &dyn Debug, schema: &Value, value: &Value) {
    let name = || ToolName::new("tool").expect("a legal name");
    let definition = ToolDefinition::new(name(), "", schema.clone()).with_output_schema(schema.clone());
    let plain = ToolDefinition::new(name(), "", json!({"type": "object"}));
    let text = json!({"a": value}).to_string();
    let use_all = |tool: Arc<dyn Tool>| {
        let mut registry = ToolRegistry::new();
        if registry.register(AdaptedTool::from_arc(tool)).is_err() {
            return;
        }
        let _ = registry.check();
        drop(registry.search("a tool of words", 3));
        drop(testing::changes(&testing::record(&registry), &registry));
        ApiFormat::ALL.iter().copied().for_each(|format| drop(registry.definitions(format)));
        let _ = registry.validate("tool", &text);
        let live = LiveRegistry::new(registry).expect("a checked registry");
        let _ = live.change(|registry| registry.replace(AnyTool(plain.clone())));
        let _ = live.change(|registry| registry.replace(AnyTool(definition.clone())));
        let dispatcher = Dispatcher::new(live).expect("a checked registry");
        let dispatcher = dispatcher.with_middleware(toolkit_ai::middleware::Deduplicate::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(dispatcher.dispatch([ToolCall::new("1", "tool", text.clone())]));
    };
    on_small_stack("tools", input, || use_all(Arc::new(AnyTool(definition.clone()))));
    on_small_stack("adapted tools", input, || {
        let renamed = ArgumentTransform::new("a").with_name("b").with_default(value.clone());
        let adapted = AdaptedTool::new(AnyTool(definition.clone())).with_arguments([renamed]);
        adapted.into_iter().for_each(|tool| use_all(Arc::new(tool)));
    });
    #[cfg(feature = "jsonschema")]
    on_small_stack("dynamic tools", input, || {
        let tool = toolkit_ai::DynamicTool::new("tool", "", schema.clone(), |value: Value| value.to_string());
        tool.into_iter().for_each(|tool| use_all(Arc::new(tool.with_coerce(true))));
    });
}

fn formats(input: Input, schema: &Value, value: &Value) {
    let mut random = Random(input.seed);
    let payload = input.payload(&mut random, input.levels.min(PARSED / 2));
    let names = WireNames::default();
    let text = json!({"a": value}).to_string();
    for &format in ApiFormat::ALL {
        on_small_stack(format.name(), &input, || {
            let calls =
                [ToolCall::new("1", "tool", text.clone()), ToolCall::new("2", "tool", "[".repeat(10_000))];
            let output = ToolOutput::json(value).map_err(ToolError::invalid_output);
            let results = calls.each_ref().map(|call| ToolResult::of(call, output.clone()));
            let mut history = format.encode_calls(&calls, &names);
            history.extend(format.encode_results(&results));
            history.push(payload.clone());
            let tools = json!([{"type": "function", "name": "a", "parameters": schema, "input_schema": schema,
                "function": {"name": "a", "parameters": schema}}, payload]);
            for payload in history.iter().chain([&payload, &tools]) {
                drop((format.parse_calls(payload), format.parse_usage(payload)));
                drop((format.parse_response(payload), format.assistant_messages(payload)));
                let mut request = payload.as_object().cloned().unwrap_or_default();
                #[cfg(feature = "translate")]
                if let Some(reader) = toolkit_ai::llm::translate::RequestFormat::of(format) {
                    drop((reader.parse_definitions(payload), reader.hosted_tools(payload)));
                    drop((reader.parse_results(payload), reader.parse_tool_config(&request, &names)));
                }
                format.repair_request(&mut request);
                let mut stream = format.accumulator().with_argument_events();
                drop(stream.push(payload));
                drop(stream.push_bytes(format!("data: {payload}\n\n{payload}\n").as_bytes()));
                drop((stream.native(), stream.usage(), stream.finish()));
            }
            drop(format.history(&names).separate_results(history.clone()));
            let repaired = format.repair_history(history);
            let fields =
                ["messages", "contents", "input"].map(|field| (field.to_owned(), repaired.clone().into()));
            drop(format.repair_request(&mut fields.into_iter().collect()));
            let _ = format.encode_tool_config(&ToolConfig::default(), &names);
        });
    }
}

/// Calls `run` with random inputs on a large stack, for one in `share` of the usual cases.
fn with_inputs(share: u32, run: fn(Input, &Value)) {
    let default = ProptestConfig::default();
    let config = ProptestConfig { cases: default.cases.div_ceil(share), ..default };
    proptest!(config, |(input in inputs())| {
        let large = Builder::new().stack_size(LARGE).spawn(move || run(input, &input.schema()));
        prop_assert!(large.expect("a thread").join().is_ok());
    });
}

#[test]
fn functions_of_schemas_need_at_most_two_mebibytes_of_stack() {
    with_inputs(1, |input, schema| schemas(&input, schema, &input.value(usize::MAX)));
}

#[test]
fn tools_with_any_schema_need_at_most_two_mebibytes_of_stack() {
    with_inputs(4, |input, schema| tools(&input, schema, &input.value(PARSED)));
}

#[test]
fn formats_need_at_most_two_mebibytes_of_stack() {
    with_inputs(16, |input, schema| formats(input, schema, &input.value(PARSED)));
}

/// Calls `run` with every chain of references on a large stack.
fn with_chains(run: fn(&dyn Debug, &Value, &Value)) {
    let run_all = move || {
        for (index, chain) in chains().iter().enumerate() {
            let leaf = if index % 2 == 0 { json!(5) } else { json!("x") };
            run(chain, &chain.schema(), &json!({"a": chain.value(&leaf)}));
        }
    };
    let large = Builder::new().stack_size(LARGE).spawn(run_all);
    large.expect("a thread").join().expect("no panic");
}

#[test]
fn functions_of_schemas_need_no_stack_for_chains_of_references() {
    with_chains(schemas);
}

#[test]
fn tools_need_no_stack_for_chains_of_references() {
    with_chains(|input, schema, value| tools(input, schema, &value["a"]));
}
