//! Calls whose lane argument means the same share a lane, and other calls do not, over random types.
//!
//! A lane is observed: the calls of one lane run one after another, and the calls of different lanes run beside each
//! other.

use super::equal::Writer;
use super::made;
use super::random::Random;
use super::values::Values;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use toolkit::middleware::{Next, ToolRequest};
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value};
use toolkit::{
    AdaptedTool, ArgumentTransform, ClosureTool, DynamicTool, FunctionTool, ToolMetadata, ToolName,
};

/// How many values are made for each lane.
const VALUES: usize = 8;

/// How many texts are written for each value.
const TEXTS: usize = 4;

/// How many values differ from each value only in the lane argument.
const OTHERS: usize = 6;

/// The name of the lane parameter for the model, in a tool that renames it.
const SHOWN: &str = "shown";

/// A tool with a lane, and the same tool with another name for the lane parameter.
struct Lanes<'a> {
    tools: [Arc<dyn Tool>; 2],
    dispatcher: Dispatcher,
    most: Arc<AtomicUsize>,
    runtime: &'a Runtime,
}

impl<'a> Lanes<'a> {
    fn new(tool: Arc<dyn Tool>, lane: &str, runtime: &'a Runtime) -> Self {
        let renamed = AdaptedTool::new(tool.clone())
            .with_name(ToolName::new("renamed").expect("a legal name"))
            .with_arguments([ArgumentTransform::of(lane).with_name(SHOWN)])
            .expect("a legal change");
        let tools: [Arc<dyn Tool>; 2] = [tool, Arc::new(renamed)];
        let most: Arc<AtomicUsize> = Arc::default();
        let (running, most_running): (Arc<AtomicUsize>, _) = (Arc::default(), most.clone());
        let middleware = move |_: ToolRequest, _: Next| {
            let running = running.clone();
            let most = most_running.clone();
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..4 {
                    yield_now().await;
                }
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolOutput::text(""))
            }
        };
        let registry = ToolRegistry::from_tools(tools.clone()).expect("two tools");
        let dispatcher = Dispatcher::new(registry).expect("two tools").with_middleware(middleware);
        Self { tools, dispatcher, most, runtime }
    }

    /// Returns what a tool decodes, or `None` if it refuses the arguments.
    fn decoded(&self, tool: usize, text: &str) -> Option<String> {
        let tool = &self.tools[tool];
        let context = ToolContext::new(tool.definition().name.clone());
        let outcome = self.runtime.block_on(async { tool.call(text, &context).await });
        outcome.ok().map(|output| output.to_text().into_owned())
    }

    /// Returns whether two calls, each of the tool with this index, are in one lane.
    fn is_one(&self, calls: [(usize, &str); 2]) -> bool {
        self.most.store(0, Ordering::SeqCst);
        let call = |(tool, text): (usize, &str)| {
            ToolCall::new(text, self.tools[tool].definition().name.as_str(), text)
        };
        self.runtime.block_on(self.dispatcher.dispatch(calls.map(call)));
        self.most.load(Ordering::SeqCst) == 1
    }
}

fn renamed(value: &Value, lane: &str) -> Value {
    let members = value.as_object().into_iter().flatten();
    let name = |name: &String| if name == lane { SHOWN.to_owned() } else { name.clone() };
    members.map(|(own, value)| (name(own), value.clone())).collect::<Map<_, _>>().into()
}

/// What the outputs of the tools show. A dynamic tool does not insert defaults, so its output differs for arguments
/// that mean the same.
#[derive(Clone, Copy, PartialEq)]
enum Shows {
    Meaning,
    Text,
}

#[track_caller]
fn check<T: Tool + 'static>(tools: impl IntoIterator<Item = T>, shows: Shows, with: Change<T>) {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let mut found = Vec::new();
    let mut equal = 0;
    let mut different = 0;
    for (seed, tool) in (0_u64..).zip(tools) {
        let names = tool.definition().parameters.get("properties").and_then(Value::as_object);
        for lane in names.into_iter().flat_map(Map::keys) {
            let tool = with(&tool, &|it| it.with_coerce(true).with_lane(lane));
            let lanes = Lanes::new(Arc::new(tool), lane, &runtime);
            let [schema, other_schema] = [0, 1].map(|tool| &lanes.tools[tool].definition().parameters);
            // The values of a hash set have no order.
            if schema.to_string().contains("uniqueItems") {
                continue;
            }
            let mut values = Values::new(schema, seed);
            let mut writer = Writer { root: schema, random: Random(seed) };
            let mut other_writer = Writer { root: other_schema, random: Random(seed) };
            let mut wrong = Vec::new();
            for _ in 0..VALUES {
                let value = values.fitting(schema, 4);
                let plain = value.to_string();
                let Some(meaning) = lanes.decoded(0, &plain) else { continue };
                for _ in 0..TEXTS {
                    let text = writer.call(&value);
                    let other = other_writer.call(&renamed(&value, lane));
                    for second in [(0, &*text), (1, &*other)] {
                        let decoded = lanes.decoded(second.0, second.1);
                        let is_equal = decoded.is_some_and(|it| shows == Shows::Text || it == meaning);
                        equal += usize::from(is_equal);
                        if is_equal && !lanes.is_one([(0, &plain), second]) {
                            wrong.push(format!("one value, two lanes: {plain}\n  {}", second.1));
                        }
                    }
                }
                for _ in 0..OTHERS {
                    let mut other = value.clone();
                    let mut of_lane = other.get(lane).cloned().unwrap_or_default();
                    values.spoil(&mut of_lane);
                    other[lane] = of_lane;
                    let text = other.to_string();
                    let decoded = lanes.decoded(0, &text);
                    if decoded.is_none_or(|decoded| decoded == meaning) {
                        continue;
                    }
                    let is_one = lanes.is_one([(0, &plain), (0, &text)]);
                    different += usize::from(!is_one);
                    if is_one && shows == Shows::Meaning {
                        wrong.push(format!("two values, one lane: {plain}\n  {text}"));
                    }
                }
            }
            found.extend(wrong.first().map(|wrong| format!("{wrong}\n  {lane} of {schema}")));
        }
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert!(equal > 1000 && different > 100, "{equal} and {different} texts");
}

/// Returns a tool with other metadata.
type Change<T> = fn(&T, &dyn Fn(ToolMetadata) -> ToolMetadata) -> T;

#[test]
fn functions_have_a_lane_for_each_value_of_the_lane_parameter() {
    let change: Change<FunctionTool> = |tool, change| tool.clone().with_metadata(change);
    check(made::functions(), Shows::Meaning, change);
}

#[test]
fn closures_have_a_lane_for_each_value_of_the_lane_parameter() {
    let change: Change<ClosureTool> = |tool, change| tool.clone().with_metadata(change);
    check(made::types().into_iter().map(|(tool, _)| tool), Shows::Meaning, change);
}

#[test]
fn dynamic_tools_have_a_lane_for_each_value_of_the_lane_parameter() {
    let dynamic = |tool: FunctionTool| {
        let mut schema = tool.definition().parameters.clone();
        // The defaults of a dynamic tool are remarks.
        toolkit::schema::each_subschema(&mut schema, &mut |keywords| drop(keywords.remove("default")));
        DynamicTool::new("dynamic", "", schema, |arguments: Value| arguments.to_string()).expect("legal")
    };
    let change: Change<DynamicTool> = |tool, change| tool.clone().with_metadata(change);
    check(made::functions().into_iter().map(dynamic), Shows::Text, change);
}
