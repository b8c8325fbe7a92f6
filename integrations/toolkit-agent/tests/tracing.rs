//! Spans of agents, model calls and tool calls, as a subscriber sees them.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentBuilder, AgentOutput, Conversation};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::{EventStream, Transport, WireModel};
use toolkit_llm::{
    ChatModel, ModelError, ModelErrorKind, ModelOptions, ModelResponse, ModelRetry, ScriptedModel,
    StreamEvent, Usage, UserMessage,
};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

#[derive(Debug, Default, Clone)]
struct Seen {
    id: u64,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
    is_closed: bool,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

impl Spans {
    fn with(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.0.lock().expect("no panic");
        // Ids of closed spans are used again.
        let seen = spans.iter_mut().rev().find(|seen| seen.id == id.into_u64());
        change(seen.expect("the span was created"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("the span was created");
        let mut spans = self.0.lock().expect("no panic");
        let parent = span.parent().map(|parent| parent.id().into_u64());
        // Ids are used again, so the parent's index identifies it.
        let parent = parent.and_then(|parent| spans.iter().rposition(|seen| seen.id == parent));
        let parent = parent.map(|index| index as u64);
        let mut seen = Seen { id: id.into_u64(), parent, ..Seen::default() };
        attributes.record(&mut seen);
        spans.push(seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.with(id, |seen| values.record(seen));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.with(&id, |seen| seen.is_closed = true);
    }
}

fn spans(agent: &Agent, traced_messages: bool) -> Vec<Seen> {
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut conversation = Conversation::new("talk 1");
        let run = agent.run("go").on(&mut conversation).traced_messages(traced_messages);
        let _ = runtime.block_on(run.into_future());
    });
    let seen = spans.0.lock().expect("no panic").clone();
    assert!(seen.iter().all(|seen| seen.is_closed), "{seen:?}");
    seen
}

/// Returns the spans as a tree, with error types.
fn tree(seen: &[Seen]) -> String {
    fn branch(seen: &[Seen], parent: Option<u64>, indent: usize, tree: &mut String) {
        for (index, span) in seen.iter().enumerate().filter(|(_, span)| span.parent == parent) {
            let error = span.fields.get("error.type").map(|error| format!(" ({error})"));
            let name = &span.fields["otel.name"];
            tree.push_str(&format!("{:indent$}{name}{}\n", "", error.unwrap_or_default()));
            branch(seen, Some(index as u64), indent + 2, tree);
        }
    }
    let mut text = String::new();
    branch(seen, None, 0, &mut text);
    text
}

#[derive(serde::Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

fn look() -> ClosureTool {
    ClosureTool::new("look", "Looks.", |_: Nothing| async {
        tokio::task::yield_now().await;
        "seen"
    })
    .unwrap()
}

fn agent(name: &str, model: impl ChatModel) -> AgentBuilder {
    Agent::builder(model).name(name).retry(ModelRetry::never())
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(id, tool, r#"{"request": "?"}"#)
}

#[test]
fn spans_form_the_tree_of_the_run() {
    let expert = || {
        let model = ScriptedModel::new().response(ModelResponse::calls([ToolCall::new("a", "look", "{}")]));
        agent("expert", model.text("done"))
            .tools(ToolRegistry::from_tools([look()]).unwrap())
            .build()
            .unwrap()
    };
    // Two calls at once: streamed, the first starts while the model answers.
    for is_streamed in [false, true] {
        let tools = || ToolRegistry::from_tools([expert().to_tool().unwrap()]).unwrap();
        let model =
            ScriptedModel::new().response(ModelResponse::calls([call("1", "expert"), call("2", "nope")]));
        let root = agent("root", model.text("done")).tools(tools()).streaming(is_streamed).build().unwrap();
        assert_eq!(
            tree(&spans(&root, false)),
            "invoke_agent root\n\
            \x20 chat scripted\n\
            \x20 execute_tool expert\n\
            \x20   invoke_agent expert\n\
            \x20     chat scripted\n\
            \x20     execute_tool look\n\
            \x20     chat scripted\n\
            \x20 execute_tool nope (not_found)\n\
            \x20 chat scripted\n"
        );
    }
    // Parallel agents take turns in one task.
    let failing = agent("failing", ScriptedModel::new().error(ModelError::from_status(429, "later")));
    let parallel = ParallelAgent::new("both", [expert(), failing.build().unwrap()]);
    let says = agent("last", ScriptedModel::new().text("done")).build().unwrap();
    let team = Agent::from(SequentialAgent::new("team", [parallel.into(), says]));
    assert_eq!(
        tree(&spans(&team, false)),
        "invoke_agent team\n\
        \x20 invoke_agent both\n\
        \x20   invoke_agent expert\n\
        \x20     chat scripted\n\
        \x20     execute_tool look\n\
        \x20     chat scripted\n\
        \x20   invoke_agent failing (rate_limited)\n\
        \x20     chat scripted (rate_limited)\n\
        \x20 invoke_agent last\n\
        \x20   chat scripted\n"
    );
    let spec = agent("spec", ScriptedModel::new().text("done")).build().unwrap();
    let model = ScriptedModel::new()
        .error(ModelError::from_status(503, "busy"))
        .call("transfer_to_agent", r#"{"agent_name": "spec"}"#);
    let pauses = ModelRetry::new(2).with_pauses(std::time::Duration::ZERO, std::time::Duration::ZERO);
    let root = agent("root", model).retry(pauses).sub_agent(spec).build().unwrap();
    assert_eq!(
        tree(&spans(&root, false)),
        "invoke_agent root\n\
        \x20 chat scripted (unavailable)\n\
        \x20 chat scripted\n\
        \x20 execute_tool transfer_to_agent\n\
        \x20 invoke_agent spec\n\
        \x20   chat scripted\n"
    );
}

#[test]
fn a_broken_stream_and_an_interruption_are_recorded() {
    let broken = ModelError::new(ModelErrorKind::Connection, "cut")
        .with_partial(ModelResponse::text("ha").with_usage(Usage::new(7, 1)));
    let model = ScriptedModel::new().deltas([Ok(StreamEvent::Text("ha".to_owned())), Err(broken)]);
    let seen = spans(&agent("root", model).build().unwrap(), false);
    assert_eq!(tree(&seen), "invoke_agent root (connection)\n  chat scripted (connection)\n");
    assert_eq!(seen[1].fields["gen_ai.usage.input_tokens"], "7");
    assert_eq!(seen[0].fields["otel.status_code"], "ERROR");
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| Err::<(), _>(ToolError::question("Well?")));
    let tools = ToolRegistry::from_tools([ask.unwrap()]).unwrap();
    let model = ScriptedModel::new().call("ask", "{}");
    let seen = spans(&agent("root", model).tools(tools).build().unwrap(), false);
    assert_eq!(
        tree(&seen),
        "invoke_agent root\n  chat scripted\n  execute_tool ask\n",
        "a run that waits has not failed"
    );
}

struct Anthropic;

impl Transport for Anthropic {
    async fn send(&self, _: Value) -> Result<Value, ModelError> {
        Ok(json!({
            "type": "message", "role": "assistant", "model": "claude-opus-4-8-20260101", "stop_reason": "end_turn",
            "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Hi."}],
            "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 100},
        }))
    }

    async fn stream(&self, _: Value) -> Result<EventStream, ModelError> {
        Err(ModelError::new(ModelErrorKind::Other, "does not stream"))
    }
}

#[test]
fn spans_have_the_attributes_of_open_telemetry() {
    let model = WireModel::new(ApiFormat::Anthropic, "claude-opus-4-8", Anthropic);
    let options = ModelOptions::new().with_temperature(0.5).with_max_output_tokens(100).with_stop("END");
    let agent = agent("clerk", model)
        .description("Answers.")
        .instructions("Be brief.")
        .options(options)
        .streaming(false)
        .build()
        .unwrap();
    let always = [
        ("gen_ai.agent.name", "clerk"),
        ("gen_ai.conversation.id", "talk 1"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "anthropic"),
        ("gen_ai.request.max_tokens", "100"),
        ("gen_ai.request.model", "claude-opus-4-8"),
        ("gen_ai.request.stop_sequences", r#"["END"]"#),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.response.finish_reasons", r#"["stop"]"#),
        ("gen_ai.response.model", "claude-opus-4-8-20260101"),
        ("gen_ai.usage.cache_read.input_tokens", "100"),
        ("gen_ai.usage.input_tokens", "105"),
        ("gen_ai.usage.output_tokens", "2"),
        ("otel.kind", "client"),
        ("otel.name", "chat claude-opus-4-8"),
    ];
    let on_demand = [
        ("gen_ai.input.messages", r#"[{"role":"user","parts":[{"type":"text","content":"go"}]}]"#),
        (
            "gen_ai.output.messages",
            r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"text","content":"Hi."}],"finish_reason":"stop"}]"#,
        ),
        ("gen_ai.system_instructions", r#"[{"type":"text","content":"Be brief."}]"#),
    ];
    let owned = |fields: &[(&'static str, &str)]| {
        fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect::<BTreeMap<_, _>>()
    };
    for is_on_demand in [false, true] {
        let seen = spans(&agent, is_on_demand);
        let [of_agent, of_model] = seen.as_slice() else { panic!("{seen:?}") };
        assert_eq!(
            of_agent.fields,
            owned(&[
                ("gen_ai.agent.description", "Answers."),
                ("gen_ai.agent.name", "clerk"),
                ("gen_ai.conversation.id", "talk 1"),
                ("gen_ai.operation.name", "invoke_agent"),
                ("gen_ai.provider.name", "anthropic"),
                ("gen_ai.request.model", "claude-opus-4-8"),
                ("gen_ai.usage.input_tokens", "105"),
                ("gen_ai.usage.output_tokens", "2"),
                ("otel.kind", "internal"),
                ("otel.name", "invoke_agent clerk"),
            ])
        );
        let mut expected = owned(&always);
        if is_on_demand {
            expected.extend(owned(&on_demand));
        }
        assert_eq!(of_model.fields, expected);
    }
}

#[test]
fn no_span_contains_what_a_guardrail_may_still_block() {
    let is_bad = |text: &str| text.contains("secret");
    let verdict = |is_bad: bool| if is_bad { Some("No.".to_owned()) } else { None };
    let input = Guardrail::new_async("input", move |input: UserMessage, _| async move {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        verdict(input.to_text() == "go").map_or(Verdict::Pass, Verdict::Block)
    });
    let response = Guardrail::new("response", move |response: &ModelResponse, _: &GuardContext| {
        verdict(is_bad(&response.message.text)).map_or(Verdict::Pass, Verdict::Block)
    });
    let answer = Guardrail::new("answer", move |answer: &AgentOutput, _: &GuardContext| {
        verdict(is_bad(&answer.text)).map_or(Verdict::Pass, Verdict::Block)
    });
    for (guard, is_input) in
        [(input.clone(), true), (input.beside_model(), true), (response, false), (answer, false)]
    {
        for streaming in [true, false] {
            let agent = agent("clerk", ScriptedModel::new().text("the secret")).guardrail(guard.clone());
            let agent = agent.streaming(streaming).build().unwrap();
            let seen = spans(&agent, true);
            for field in ["gen_ai.input.messages", "gen_ai.output.messages"] {
                let shown = seen.iter().any(|span| span.fields.contains_key(field));
                assert_eq!(
                    shown,
                    !is_input && field == "gen_ai.input.messages",
                    "{guard:?} {streaming} {seen:?}"
                );
            }
        }
    }
}

#[test]
fn the_span_of_an_agent_has_the_tokens_of_all_its_model_calls() {
    let says = |name: &str, tokens: u64| {
        let usage = Usage::new(tokens, tokens / 10);
        agent(name, ScriptedModel::new().response(ModelResponse::text("Done.").with_usage(usage)))
    };
    let tokens = |seen: &[Seen]| -> BTreeMap<String, Option<String>> {
        let of_agents = seen.iter().filter(|span| span.fields["gen_ai.operation.name"] == "invoke_agent");
        let sums = |span: &Seen| {
            let field = |name| span.fields.get(name).cloned();
            let input = field("gen_ai.usage.input_tokens")?;
            Some(format!("{input} {}", field("gen_ai.usage.output_tokens")?))
        };
        of_agents.map(|span| (span.fields["gen_ai.agent.name"].clone(), sums(span))).collect()
    };
    let expected = |sums: &[(&str, Option<&str>)]| -> BTreeMap<String, Option<String>> {
        sums.iter().map(|(name, sum)| ((*name).to_owned(), sum.map(ToOwned::to_owned))).collect()
    };

    // An agent as a tool, within an agent, within a sequence.
    let expert = says("expert", 100).build().unwrap();
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let asks = ModelResponse::calls([call("1", "expert")]).with_usage(Usage::new(10, 1));
    let last = ModelResponse::text("Done.").with_usage(Usage::new(20, 2));
    let model = ScriptedModel::new().response(asks).response(last);
    let asker = agent("asker", model).tools(tools).build().unwrap();
    let team = Agent::from(SequentialAgent::new("team", [says("first", 1_000).build().unwrap(), asker]));
    let sums = [
        ("asker", Some("130 13")),
        ("expert", Some("100 10")),
        ("first", Some("1000 100")),
        ("team", Some("1130 113")),
    ];
    assert_eq!(tokens(&spans(&team, false)), expected(&sums));

    // Parallel agents count for themselves, and a failing call has no tokens.
    let failing = agent("failing", ScriptedModel::new().error(ModelError::from_status(429, "later")));
    let members = [says("one", 100).build().unwrap(), says("two", 50).build().unwrap()];
    let members = members.into_iter().chain([failing.build().unwrap()]);
    let both = Agent::from(ParallelAgent::new("both", members));
    let sums = [("both", Some("150 15")), ("failing", None), ("one", Some("100 10")), ("two", Some("50 5"))];
    assert_eq!(tokens(&spans(&both, false)), expected(&sums));

    // A transfer's tokens belong to both agents, like its span.
    let spec = says("spec", 100).build().unwrap();
    let to = ToolCall::new("1", "transfer_to_agent", r#"{"agent_name": "spec"}"#);
    let model = ScriptedModel::new().response(ModelResponse::calls([to]).with_usage(Usage::new(10, 1)));
    let root = agent("root", model).sub_agent(spec).build().unwrap();
    let sums = [("root", Some("110 11")), ("spec", Some("100 10"))];
    assert_eq!(tokens(&spans(&root, false)), expected(&sums));

    // A broken answer's tokens count, too.
    let broken = ModelError::new(ModelErrorKind::Connection, "cut")
        .with_partial(ModelResponse::text("ha").with_usage(Usage::new(7, 1)));
    let model = ScriptedModel::new().deltas([Err(broken)]);
    let root = agent("root", model).build().unwrap();
    assert_eq!(tokens(&spans(&root, false)), expected(&[("root", Some("7 1"))]));
}
