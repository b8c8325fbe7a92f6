//! What guardrails hide does not appear in the past of a conversation.

use crate::support::{Nothing, says};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::session::{ConversationEntry, EntryKind};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentOutput, RunEvent, RunStream, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolContext, ToolRegistry};
use toolkit_llm::{ModelResponse, ScriptedModel, StreamEvent, UserMessage};

fn hides_answers() -> Guardrail {
    Guardrail::new("answers", |output: &AgentOutput, _: &GuardContext| {
        let is_hidden = output.text.contains("secret");
        if is_hidden { Verdict::Block("It is hidden.".to_owned()) } else { Verdict::Pass }
    })
}

fn hides_inputs() -> Guardrail {
    Guardrail::new("inputs", |input: &UserMessage, _: &GuardContext| {
        let is_hidden = input.to_text().contains("secret");
        if is_hidden { Verdict::Block("Not that.".to_owned()) } else { Verdict::Pass }
    })
}

fn streams(text: &str) -> ScriptedModel {
    let pieces = text.split_inclusive(' ').map(|piece| Ok(StreamEvent::Text(piece.to_owned())));
    ScriptedModel::new().deltas(pieces.chain([Ok(StreamEvent::Done(Box::new(ModelResponse::text(text))))]))
}

fn agent(name: &str, model: ScriptedModel, guard: Guardrail) -> Agent {
    Agent::builder(model).name(name).guardrail(guard).build().unwrap()
}

fn calling(tool: impl toolkit_core::Tool + 'static) -> Agent {
    let name = tool.definition().name.to_string();
    let call = ToolCall::new("a", name, r#"{"request": "Tell."}"#);
    let model = ScriptedModel::new().response(ModelResponse::calls([call])).text("Done.");
    Agent::builder(model).name("lead").tools(ToolRegistry::from_tools([tool]).unwrap()).build().unwrap()
}

async fn texts(mut events: RunStream<'_>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        assert!(!serde_json::to_string(&event).unwrap().contains("secret"), "{event:?}");
        texts.extend(text(&event));
    }
    texts
}

fn text(event: &RunEvent) -> Option<(String, String)> {
    match event {
        RunEvent::Text { message_id, text, .. } => Some((message_id.to_string(), text.clone())),
        _ => None,
    }
}

/// Runs an agent, and returns what is shown afterwards. Both show the same texts, and no secret.
async fn shown(agent: &Agent, input: &str) -> Vec<ConversationEntry> {
    let saved = Sessions::default().user("ada").conversation("1");
    let live = texts(agent.run(input).on(&saved).stream()).await;
    let entries = saved.entries(None).await.unwrap();
    let json = serde_json::to_string(&entries).unwrap();
    assert!(!json.contains("secret"), "{json}");
    let past: Vec<_> = entries.iter().filter_map(|entry| entry.event().and_then(text)).collect();
    assert_eq!(past, live);
    let read: Vec<ConversationEntry> = serde_json::from_str(&json).unwrap();
    assert_eq!(read, entries);
    entries
}

fn has_text(entries: &[ConversationEntry], id: &str, text: &str) -> bool {
    let expected = (id.to_owned(), text.to_owned());
    entries.iter().filter_map(|entry| entry.event().and_then(self::text)).any(|shown| shown == expected)
}

#[tokio::test]
async fn a_hidden_answer_is_not_shown_afterwards() {
    let hiding = || agent("expert", streams("the secret text"), hides_answers());
    let alone = shown(&hiding(), "Tell.").await;
    assert!(has_text(&alone, "1.1", "It is hidden."));
    let nested = shown(&calling(hiding().to_tool().unwrap()), "Go.").await;
    assert!(has_text(&nested, "1.1.0/1.1", "It is hidden."));
    let team = Agent::from(ParallelAgent::new("team", [says("other", "Hello."), hiding()]));
    let branches = shown(&team, "Go.").await;
    assert!(has_text(&branches, "b1/1.1", "It is hidden."));
    assert!(has_text(&branches, "b0/1.1", "Hello."));
}

#[tokio::test]
async fn a_blocked_input_is_not_shown_afterwards() {
    for beside in [false, true] {
        let guard = if beside { hides_inputs().beside_model() } else { hides_inputs() };
        let alone = shown(&agent("expert", streams("a secret"), guard), "the secret").await;
        let inputs: Vec<String> = alone.iter().filter_map(input).collect();
        assert_eq!(inputs, ["(This message was removed.)"]);
        assert!(has_text(&alone, "1.1", "Not that."), "{alone:?}");
    }
}

fn input(entry: &ConversationEntry) -> Option<String> {
    match &entry.kind {
        EntryKind::Input { message, .. } => Some(message.to_text()),
        _ => None,
    }
}

#[tokio::test]
async fn a_blocked_input_of_parallel_agents_is_not_shown_after_them() {
    let guarded = || agent("expert", ScriptedModel::new().text("Never."), hides_inputs());
    let team = Agent::from(ParallelAgent::new("team", [guarded()]));
    let entries = shown(&team, "the secret").await;
    assert!(entries.iter().filter_map(input).all(|input| input == "(This message was removed.)"));
    assert!(has_text(&entries, "b0/1.1", "Not that."));
}

/// A tool's output that is the answer waits for its verdict, live too.
#[tokio::test]
async fn a_hidden_output_of_a_tool_is_not_shown() {
    let show = ClosureTool::new_with_context("show", "Shows.", |_: Nothing, context: ToolContext| {
        context.actions().skip_summarization();
        "the secret"
    });
    let model = ScriptedModel::new().call("show", "{}");
    let tools = ToolRegistry::from_tools([show.unwrap()]).unwrap();
    let hiding = Agent::builder(model).tools(tools).guardrail(hides_answers()).build().unwrap();
    let entries = shown(&hiding, "Show it.").await;
    let results = entries.iter().filter_map(|entry| match entry.event() {
        Some(RunEvent::Result { key, result, .. }) => Some((key.to_string(), result.to_text().into_owned())),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert_eq!(results, [("1.1.0".to_owned(), "It is hidden.".to_owned())]);
}
