//! Agents with many calls, turns or agents, also for `benches/growth.rs`.

use crate::support::tools;
use futures_util::stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentBuilder, Limits};
use toolkit_core::{ToolCall, ToolRegistry};
use toolkit_llm::FinishReason;
use toolkit_llm::model::{OutputFormat, OutputLosses};
use toolkit_llm::{ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream, StreamEvent};

/// A name, the smaller size, and an agent for a size.
pub(crate) type Run = (&'static str, usize, fn(usize) -> Agent);

pub(crate) const RUNS: &[Run] = &[
    ("calls in another order at the end", 100, |size| {
        agent(Reversed(calls(size, "add", add))).build().unwrap()
    }),
    ("a group of agents", 10, group),
    ("agents called at once", 25, |size| {
        let tools = ToolRegistry::from_tools([helper().to_tool().unwrap()]).unwrap();
        calling(calls(size, "helper", |_| r#"{"request": "Help."}"#.to_owned()), tools)
    }),
    ("nested agents", 8, nested),
    ("transfers", 25, transfers),
    ("calls that fail", 50, |size| {
        calling(calls(size, "fail", |number| format!(r#"{{"number": {number}}}"#)), tools())
    }),
    ("calls that set values", 50, |size| {
        let arguments = |number| format!(r#"{{"key": "key {number}", "value": "v"}}"#);
        calling(calls(size, "set", arguments), tools())
    }),
];

/// A model that answers by its call's number, and keeps no request.
struct Steps<F> {
    respond: F,
    count: AtomicUsize,
}

pub(crate) fn steps(respond: impl Fn(usize) -> ModelResponse + Send + Sync + 'static) -> impl ChatModel {
    Steps { respond, count: AtomicUsize::new(0) }
}

impl<F: Fn(usize) -> ModelResponse + Send + Sync + 'static> ChatModel for Steps<F> {
    fn name(&self) -> &str {
        "steps"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok((self.respond)(self.count.fetch_add(1, Ordering::Relaxed)))
    }

    fn output_losses(&self, _: &OutputFormat) -> OutputLosses {
        OutputLosses::default()
    }
}

pub(crate) fn agent(model: impl ChatModel) -> AgentBuilder {
    without_tools(model).tools(tools())
}

fn without_tools(model: impl ChatModel) -> AgentBuilder {
    let limits = Limits::default()
        .with_max_model_calls(u32::MAX)
        .with_max_repeated_calls(u32::MAX)
        .with_max_repeated_failures(u32::MAX);
    Agent::builder(model).limits(limits)
}

pub(crate) fn call(number: usize, tool: &str, arguments: &str) -> ModelResponse {
    ModelResponse::calls([ToolCall::new(format!("call_{number}"), tool, arguments)])
}

pub(crate) fn calls(count: usize, tool: &str, arguments: impl Fn(usize) -> String) -> Vec<ToolCall> {
    (0..count).map(|number| ToolCall::new(format!("call_{number}"), tool, arguments(number))).collect()
}

pub(crate) fn add(number: usize) -> String {
    format!(r#"{{"a": {number}, "b": 1}}"#)
}

/// An agent that makes these calls at once, and then answers.
pub(crate) fn calling(calls: Vec<ToolCall>, tools: ToolRegistry) -> Agent {
    let model = steps(move |number| match number {
        0 => ModelResponse::calls(calls.clone()),
        _ => ModelResponse::text("Done."),
    });
    without_tools(model).tools(tools).build().unwrap()
}

pub(crate) fn helper() -> Agent {
    agent(steps(|_| ModelResponse::text("I see."))).name("helper").build().unwrap()
}

/// A model that streams calls, and at the end repeats them in reverse.
struct Reversed(Vec<ToolCall>);

impl ChatModel for Reversed {
    fn name(&self) -> &str {
        "reversed"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok(ModelResponse::text("Done."))
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        if request.messages.len() > 1 {
            return Ok(ModelResponse::text("Done.").into());
        }
        let mut deltas: Vec<_> = self.0.iter().cloned().map(|call| Ok(StreamEvent::Call(call))).collect();
        let response =
            ModelResponse::calls(self.0.iter().rev().cloned()).with_finish(FinishReason::ToolCalls);
        deltas.push(Ok(StreamEvent::Done(Box::new(response))));
        Ok(ModelStream::new(stream::iter(deltas)))
    }

    fn output_losses(&self, _: &OutputFormat) -> OutputLosses {
        OutputLosses::default()
    }
}

/// An agent that answers after `turns` calls.
fn patient(name: String, turns: usize) -> Agent {
    let respond = move |number| match number {
        number if number < turns => call(number, "add", &add(number)),
        _ => ModelResponse::text("Done."),
    };
    agent(steps(respond)).name(name).build().unwrap()
}

fn group(count: usize) -> Agent {
    let agents = (0..count).map(|number| patient(format!("agent_{number}"), 5));
    let limits = Limits::default().with_max_model_calls(u32::MAX).with_max_tool_calls(u32::MAX);
    ParallelAgent::new("group", agents).with_limits(limits).into()
}

fn nested(depth: usize) -> Agent {
    (0..depth).fold(helper(), |inner, _| {
        let tool = inner.name().to_owned();
        let tools = ToolRegistry::from_tools([inner.to_tool().unwrap()]).unwrap();
        let model = steps(move |number| match number % 2 {
            0 => call(number, &tool, r#"{"request": "Help."}"#),
            _ => ModelResponse::text("Done."),
        });
        agent(model).tools(tools).name("nested").build().unwrap()
    })
}

/// Two agents that transfer to one another `count` times.
fn transfers(count: usize) -> Agent {
    let made = Arc::new(AtomicUsize::new(0));
    let says = |to: &'static str| {
        let made = made.clone();
        let arguments = format!(r#"{{"agent_name": "{to}"}}"#);
        steps(move |_| match made.fetch_add(1, Ordering::Relaxed) {
            number if number < count => call(number, "transfer_to_agent", &arguments),
            _ => ModelResponse::text("Done."),
        })
    };
    let helper = agent(says("root")).name("helper").transfer_to("root", "").build().unwrap();
    agent(says("helper")).name("root").sub_agent(helper).build().unwrap()
}
