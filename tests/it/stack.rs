//! No public function needs more than 2 MiB of stack, whatever schema, value, text or history it gets.
//!
//! An overflow ends the process. Its message names the thread: the function and its input.

use super::agreement::random::Random;
use proptest::prelude::*;
use std::sync::Arc;
use std::thread::Builder;
use toolkit::call::ToolConfig;
use toolkit::name::WireNames;
use toolkit::prelude::*;
use toolkit::schema::{self, SchemaDialect, SchemaDiff, SchemaRef};
use toolkit::serde_json::{Map, Value, json};
use toolkit::wire::realtime::RealtimeApi;
use toolkit::{AdaptedTool, ArgumentTransform, LiveRegistry, ToolDefinition, ToolFuture, ToolName, testing};

/// The stack of a thread that a program starts without a setting of its own.
const SMALL: usize = 2 << 20;

/// The stack on which inputs are made and dropped.
const LARGE: usize = 64 << 20;

/// The maximum depth of values that a JSON parser accepts, less those that the tests put around them.
const PARSED: usize = 120;

/// The size and the shape of one input. Everything else follows from the seed.
#[derive(Debug, Clone, Copy)]
struct Input {
    seed: u64,
    /// The number of definitions, which refer to one another.
    definitions: usize,
    /// The number of schemas around the first reference.
    nesting: usize,
    /// The depth of the value.
    levels: usize,
    /// The number of equal items or members at the top of the value.
    width: usize,
}

fn inputs() -> impl Strategy<Value = Input> {
    let definitions = prop::sample::select(vec![1_usize, 1, 2, 2, 3, 3, 6, 6, 25, 60, 60, 1000]);
    let nesting = prop::sample::select(vec![0_usize, 0, 2, 20, 60, 100, 600]);
    let levels = prop::sample::select(vec![0_usize, 1, 3, 40, 124, 600]);
    let width = prop::sample::select(vec![1_usize, 1, 1, 40, 300]);
    (any::<u64>(), definitions, nesting, levels, width).prop_map(
        |(seed, definitions, nesting, levels, width)| Input { seed, definitions, nesting, levels, width },
    )
}

const KEYWORDS: &str = "$ref $ref allOf anyOf oneOf not if then else properties properties patternProperties \
    additionalProperties propertyNames unevaluatedProperties dependentSchemas items items prefixItems \
    unevaluatedItems contains contentSchema";
const TYPES: [&str; 6] = ["integer", "string", "object", "array", "null", "boolean"];

/// Returns the value of a keyword that holds the schema `inner`.
fn holding(keyword: &str, inner: Value) -> Value {
    match (keyword, inner) {
        ("$ref", inner) => inner.get("$ref").cloned().unwrap_or_default(),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", inner) => Value::Array(vec![inner]),
        ("properties" | "patternProperties" | "dependentSchemas", inner) => member("a", inner),
        (_, inner) => inner,
    }
}

/// Returns an object with one member. The value is moved, not cloned.
fn member(name: &str, value: Value) -> Value {
    Value::Object([(name.to_owned(), value)].into_iter().collect())
}

impl Input {
    fn schema(&self) -> Value {
        let mut random = Random(self.seed);
        let all: Vec<&str> = KEYWORDS.split_whitespace().collect();
        let palette: Vec<&str> = (0..1 + random.below(6)).map(|_| random.one(&all)).collect();
        let order = random.below(3);
        let is_typed = random.once_in(2);
        let mut definition = |index: usize| {
            let mut keywords = Map::new();
            if is_typed && random.once_in(2) {
                keywords.insert("type".to_owned(), random.one(&TYPES).into());
            }
            for _ in 0..1 + random.below(3) {
                let target = match order {
                    0 => index + 1,
                    1 => (index + self.definitions - 1) % self.definitions,
                    _ => random.below(self.definitions + 1),
                };
                let inner = match random.below(6) {
                    0 => json!({"type": random.one(&TYPES)}),
                    1 => json!(random.once_in(2)),
                    _ => json!({"$ref": format!("#/$defs/{target}")}),
                };
                let keyword = random.one(&palette);
                match keywords.get_mut(keyword) {
                    Some(Value::Array(list)) => list.push(inner),
                    _ => drop(keywords.insert(keyword.to_owned(), holding(keyword, inner))),
                }
            }
            keywords
        };
        let mut definitions: Map<String, Value> =
            (0..self.definitions).map(|index| (index.to_string(), definition(index).into())).collect();
        definitions.insert(self.definitions.to_string(), json!({"type": "integer", "enum": [1, [[2]]]}));
        let mut root = json!({"$ref": "#/$defs/0"});
        for _ in 0..self.nesting {
            let keyword = random.one(&palette);
            root = member(keyword, holding(keyword, root));
        }
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), definitions.into());
            keywords.insert("type".to_owned(), "object".into());
        }
        root
    }

    /// Returns a value of at most `deepest` levels: arrays, objects, and strings with the JSON text of a value.
    fn value(&self, deepest: usize) -> Value {
        let mut random = Random(!self.seed);
        let leaf = random.one(&[json!(5), json!("5"), json!(null), json!("x"), json!({}), json!("[\"1\"]")]);
        let kind = random.below(3);
        let mut value = leaf;
        for level in 0..self.levels.min(deepest) {
            value = match (kind, level % 2) {
                (0, _) | (2, 0) => Value::Array(vec![value]),
                _ => member("a", value),
            };
        }
        if random.once_in(3) && self.levels < deepest {
            value = value.to_string().into();
        }
        // The number of values stays the same, however deep they are.
        let width = self.width / (1 + self.levels.min(deepest));
        let name = |index: usize| if index == 0 { "a".to_owned() } else { format!("a{index}") };
        match kind {
            _ if width < 2 => value,
            0 => vec![value; width].into(),
            _ => (0..width).map(|index| (name(index), value.clone())).collect::<Map<_, _>>().into(),
        }
    }

    /// Returns a part of a payload, with the field names and the type names of all APIs in random places.
    fn payload(&self, random: &mut Random, levels: usize) -> Value {
        const FIELDS: &str = "choices candidates content output message tool_calls toolUse delta steps tools \
            messages input contents arguments functionCall function parts response item usage error text id name role \
            args tool_use result parameters schema index call_id type";
        const WORDS: &str = "function function_call tool_use tool_call tool_result text assistant user message \
            content_block_delta response.output_item.done response.completed input_json_delta message_start model 0 c";
        let fields: Vec<&str> = FIELDS.split_whitespace().collect();
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        if levels == 0 {
            return self.value(2);
        }
        let mut members = Map::new();
        members.insert("type".to_owned(), random.one(&words).into());
        members.insert(random.one(&fields).to_owned(), random.one(&words).into());
        let inner = self.payload(random, levels - 1);
        let inner = if random.once_in(2) { vec![inner].into() } else { inner };
        members.insert(random.one(&fields).to_owned(), inner);
        members.into()
    }
}

/// Calls `run` on a thread with a small stack. The thread's name is in the message of an overflow.
fn on_small_stack(name: &str, input: Input, run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = Builder::new().name(format!("{name} {input:?}")).stack_size(SMALL);
        thread.spawn_scoped(scope, run).expect("a thread").join().expect("no panic");
    });
}

/// Calls every function of the schemas' crate.
fn schemas(input: Input, schema: &Value, value: &Value) {
    let run = |name: &str, run: &(dyn Fn() + Sync)| on_small_stack(name, input, run);
    run("violations", &|| drop(schema::violations(schema, value)));
    run("coerce", &|| _ = schema::coerce(schema, &mut value.clone()));
    run("describe", &|| drop(schema::describe(schema)));
    run("schema_hash", &|| drop(schema::schema_hash(schema)));
    run("canonical_json", &|| drop(schema::canonical_json(&json!(value.to_string()).to_string())));
    run("tidy", &|| schema::tidy(&mut schema.clone()));
    run("each_subschema", &|| schema::each_subschema(&mut schema.clone(), &mut |keywords| keywords.clear()));
    let defined = schema.pointer("/$defs/0").unwrap_or(schema);
    run("inner schemas", &|| {
        let inner = SchemaRef::new(schema, defined);
        drop((schema::violations(inner, value), schema::describe(inner)));
        let _ = schema::coerce(inner, &mut value.clone());
    });
    let mut other = schema.clone();
    if let Some(Value::Object(definitions)) = other.get_mut("$defs") {
        definitions.insert(input.definitions.to_string(), json!({"type": "string"}));
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

/// A tool with any schema.
struct AnyTool(ToolDefinition);

impl Tool for AnyTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(self.0.parse_arguments(arguments).map(|value| ToolOutput::text(value.to_string())))
    }
}

/// Publishes, compares, calls and records tools with the schema.
fn tools(input: Input, schema: &Value, value: &Value) {
    let name = || ToolName::new("tool").expect("a legal name");
    let definition = ToolDefinition::new(name(), "", schema.clone()).with_output_schema(schema.clone());
    let plain = ToolDefinition::new(name(), "", json!({"type": "object"}));
    let text = json!({"a": value}).to_string();
    let use_all = |tool: Arc<dyn Tool>| {
        let mut registry = ToolRegistry::new();
        if registry.register(AdaptedTool::of(tool)).is_err() {
            return;
        }
        let _ = registry.check();
        drop(registry.search("a tool of words", 3));
        drop(testing::changes(&testing::record(&registry), &registry));
        ApiFormat::ALL.into_iter().for_each(|format| drop(registry.definitions(format)));
        let _ = registry.validate("tool", &text);
        let live = LiveRegistry::new(registry).expect("a checked registry");
        let _ = live.change(|registry| registry.replace(AnyTool(plain.clone())));
        let _ = live.change(|registry| registry.replace(AnyTool(definition.clone())));
        let dispatcher = Dispatcher::new(live).expect("a checked registry");
        let dispatcher = dispatcher.with_middleware(toolkit::middleware::Deduplicate::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(dispatcher.dispatch([ToolCall::new("1", "tool", text.clone())]));
    };
    on_small_stack("tools", input, || use_all(Arc::new(AnyTool(definition.clone()))));
    on_small_stack("adapted tools", input, || {
        let renamed = ArgumentTransform::of("a").with_name("b").with_default(value.clone());
        let adapted = AdaptedTool::new(AnyTool(definition.clone())).with_arguments([renamed]);
        adapted.into_iter().for_each(|tool| use_all(Arc::new(tool)));
    });
    #[cfg(feature = "jsonschema")]
    on_small_stack("dynamic tools", input, || {
        let tool = toolkit::DynamicTool::new("tool", "", schema.clone(), |value: Value| value.to_string());
        tool.into_iter().for_each(|tool| use_all(Arc::new(tool.with_coerce(true))));
    });
}

/// Calls every function of each API's format.
fn formats(input: Input, schema: &Value, value: &Value) {
    let mut random = Random(input.seed);
    let payload = input.payload(&mut random, input.levels.min(PARSED / 2));
    let names = WireNames::default();
    let text = json!({"a": value}).to_string();
    for format in ApiFormat::ALL {
        on_small_stack(format.name(), input, || {
            let calls =
                [ToolCall::new("1", "tool", text.clone()), ToolCall::new("2", "tool", "[".repeat(100_000))];
            let output = ToolOutput::json(value).map_err(ToolError::invalid_output);
            let results = calls.each_ref().map(|call| ToolResult::of(call, output.clone()));
            let mut history = format.encode_calls(&calls, &names);
            history.extend(format.encode_results(&results));
            history.push(payload.clone());
            let tools = json!([{"type": "function", "name": "a", "parameters": schema, "input_schema": schema,
                "function": {"name": "a", "parameters": schema}}, payload]);
            for payload in history.iter().chain([&payload, &tools]) {
                drop((format.parse_definitions(payload), format.hosted_tools(payload)));
                drop((format.parse_calls(payload), format.parse_usage(payload)));
                drop((format.parse_response(payload), format.assistant_messages(payload)));
                let request = payload.as_object().cloned().unwrap_or_default();
                drop((format.parse_results(payload), format.parse_tool_config(&request, &names)));
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
    for api in [RealtimeApi::OpenAi, RealtimeApi::GeminiLive] {
        on_small_stack("realtime", input, || drop(api.calls().push(&payload)));
    }
    let neutral = json!({"name": "a", "parameters": schema, "input_schema": schema});
    on_small_stack("neutral", input, || {
        drop(toolkit::wire::interop::definition_from_neutral(&neutral));
    });
}

/// Calls `run` with random inputs on a thread with a large stack. Of the usual number of cases, one in `share` is tried.
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
    with_inputs(1, |input, schema| schemas(input, schema, &input.value(usize::MAX)));
}

#[test]
fn tools_with_any_schema_need_at_most_two_mebibytes_of_stack() {
    with_inputs(4, |input, schema| tools(input, schema, &input.value(PARSED)));
}

#[test]
fn formats_need_at_most_two_mebibytes_of_stack() {
    with_inputs(16, |input, schema| formats(input, schema, &input.value(PARSED)));
}
