//! The loop between a model and its tools.

use crate::support::{Hesitant, agent, assert_sendable, events, kind, tools, transcript};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_agent::{Agent, Conversation, RunEvent};
use toolkit_core::{ToolCall, ToolError, ToolOutput};
use toolkit_llm::{
    AssistantMessage, Message, ModelError, ModelErrorKind, ModelResponse, ModelRetry, ScriptedModel,
    StreamEvent,
};

#[tokio::test(start_paused = true)]
async fn parallel_calls_return_results_in_call_order() {
    let model = ScriptedModel::new()
        .call("wait", r#"{"ms": 300}"#)
        .call("wait", r#"{"ms": 100}"#)
        .call("wait", r#"{"ms": 200}"#)
        .text("done");
    let started = tokio::time::Instant::now();
    let agent = agent(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let output = agent.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(300));
    assert_eq!(transcript(&output.messages)[2], "results: waited 300, waited 100, waited 200");
    assert_sendable(&conversation);
}

#[tokio::test(start_paused = true)]
async fn streamed_calls_run_before_the_response_ends() {
    let first = ToolCall::new("1", "wait", r#"{"ms": 1}"#);
    let second = ToolCall::new("2", "add", r#"{"a": 1, "b": 2}"#);
    let whole = ModelResponse::calls([first.clone(), second.clone()]);
    let model = ScriptedModel::new()
        .deltas([
            Ok(StreamEvent::Call(first)),
            Ok(StreamEvent::Text("Now I ".to_owned())),
            Ok(StreamEvent::Text("think ".to_owned())),
            Ok(StreamEvent::Text("long.".to_owned())),
            Ok(StreamEvent::Text(" Very.".to_owned())),
            Ok(StreamEvent::Call(second)),
            Ok(StreamEvent::Done(Box::new(whole))),
        ])
        .text("done");
    let early = agent(Hesitant(model.clone())).build().unwrap();
    let kinds: Vec<String> = events(&early).await.iter().map(kind).collect();
    let result = kinds.iter().position(|kind| kind == "result agent").unwrap();
    let message = kinds.iter().position(|kind| kind == "message").unwrap();
    assert!(result < message, "{kinds:?}");
    assert_eq!(kinds.last().unwrap(), "finished");
}

#[tokio::test]
async fn calls_with_the_same_id_are_distinct() {
    for streaming in [true, false] {
        let call = |a: i64| ToolCall::new("same", "add", format!(r#"{{"a": {a}, "b": 1}}"#));
        let model = ScriptedModel::new().response(ModelResponse::calls([call(1), call(2)])).text("done");
        let output = agent(model).streaming(streaming).build().unwrap().run("go").await.unwrap();
        assert_eq!(transcript(&output.messages)[2], "results: 2, 3", "{streaming}");
    }
}

#[tokio::test]
async fn the_model_corrects_failed_calls() {
    let model = ScriptedModel::new()
        .call("add", r#"{"a": "x", "b": 2}"#)
        .then()
        .call("add", r#"{"a": 1"#)
        .then()
        .call("plus", r#"{"a": 1, "b": 2}"#)
        .then()
        .call("fail", "{}")
        .then()
        .call("add", r#"{"a": 1, "b": 2}"#)
        .text("3");
    let output = agent(model.clone()).build().unwrap().run("1 + 2?").await.unwrap();
    let texts = transcript(&output.messages);
    for (position, part) in [
        (2, "Error validating JSON arguments"),
        (4, "Error parsing JSON arguments"),
        (6, "Tool `plus` not found"),
        (8, "Error running tool: no luck"),
        (10, "results: 3"),
    ] {
        assert!(texts[position].contains(part), "{texts:?}");
    }
    assert_eq!((output.text.as_str(), output.model_calls, output.tool_calls), ("3", 6, 5));
    assert_eq!(model.requests()[5].messages.len(), 11);
}

#[tokio::test]
async fn a_repeatedly_failing_call_is_refused() {
    let mut model = ScriptedModel::new();
    for _ in 0..4 {
        model = model.call("fail", "{}").then();
    }
    let model = model.call("add", r#"{"a": 1, "b": 2}"#).text("done");
    let events = events(&agent(model).build().unwrap()).await;
    let Some(RunEvent::Finished { output, .. }) = events.last() else { panic!("{events:?}") };
    let texts = transcript(&output.messages);
    // A refused call has a result.
    assert_eq!(events.iter().filter(|event| kind(event) == "result agent").count(), 5);
    assert_eq!(texts[6], "results: Error running tool: no luck");
    assert!(texts[8].contains("has failed 3 times and was not run again"), "{}", texts[8]);
    assert_eq!(texts[10], "results: 3");
}

#[tokio::test]
async fn model_callbacks_run_in_order_up_to_the_first_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let seen = seen.clone();
        move || seen.lock().unwrap().push(what)
    };
    let first = note("first");
    let second = note("second");
    let third = note("third");
    let after = note("after");
    let last = note("last");
    let model = ScriptedModel::new().text("from the model");
    let output = agent(model.clone())
        .before_model(move |request| {
            first();
            request.instructions.push_str("Be brief.");
            None
        })
        .before_model_async(move |request| {
            second();
            assert_eq!(request.instructions, "Be brief.");
            async { ControlFlow::Break(ModelResponse::text("from a callback")) }
        })
        .before_model(move |_| {
            third();
            None
        })
        .after_model(move |response| {
            after();
            ModelResponse::text(response.message.text + ", changed")
        })
        .after_model_async(move |response| {
            last();
            async move { ModelResponse::text(response.message.text + " twice") }
        })
        .build()
        .unwrap()
        .run("hi")
        .await
        .unwrap();
    assert_eq!(output.text, "from a callback, changed twice");
    assert_eq!(*seen.lock().unwrap(), ["first", "second", "after", "last"]);
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn a_callback_may_remove_calls_before_they_run() {
    let model = ScriptedModel::new().call("set", r#"{"key": "a", "value": "1"}"#).text("never asked");
    let mut conversation = Conversation::new("1");
    let agent = agent(model).after_model(|mut response| {
        response.message = AssistantMessage::text("I may not.");
        response
    });
    let output = agent.build().unwrap().run("go").on(&mut conversation).await.unwrap();
    assert_eq!((output.text.as_str(), output.tool_calls), ("I may not.", 0));
    assert_eq!(conversation.session().get("a"), None);
}

#[tokio::test]
async fn tool_callbacks_answer_change_and_fail_calls() {
    let model = || ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).text("done");
    let after = |_: &_, output: ToolOutput| Ok(ToolOutput::text(format!("<{}>", output.to_text())));
    let result = async |agent: toolkit_agent::AgentBuilder| {
        let output = agent.build().unwrap().run("go").await.unwrap();
        transcript(&output.messages)[2].clone()
    };
    assert_eq!(result(agent(model()).after_tool(after)).await, "results: <3>");
    let answered = agent(model()).before_tool(|_| Some(Ok("blocked".into()))).after_tool(after);
    assert_eq!(result(answered).await, "results: blocked");
    let changed = agent(model()).before_tool_async(|request| async {
        ControlFlow::Continue(request.with_arguments(r#"{"a": 1, "b": 1}"#))
    });
    assert_eq!(result(changed).await, "results: 2");
    let failed = agent(model()).before_tool(|_| Some(Err(ToolError::failed("no"))));
    assert_eq!(result(failed).await, "results: Error running tool: no");
}

#[tokio::test]
async fn instructions_may_depend_on_the_session() {
    let model =
        ScriptedModel::new().call("set", r#"{"key": "user:name", "value": "Ada"}"#).text("a").text("b");
    let agent = agent(model.clone())
        .name("helper")
        .instructions_with(|context| {
            let name = context.session.get("user:name").and_then(|name| name.as_str().map(str::to_owned));
            format!("You are {}. Talk to {}.", context.agent, name.unwrap_or("the user".to_owned()))
        })
        .output_key("answer")
        .build()
        .unwrap();
    let mut conversation = Conversation::new("1");
    agent.run("hi").on(&mut conversation).await.unwrap();
    let instructions: Vec<String> =
        model.requests().into_iter().map(|request| request.instructions).collect();
    assert_eq!(instructions, ["You are helper. Talk to the user.", "You are helper. Talk to Ada."]);
    assert_eq!(conversation.session().get("answer"), Some("a".into()));
}

#[tokio::test]
async fn temporary_values_last_for_one_run() {
    let model = ScriptedModel::new()
        .call("set", r#"{"key": "temp:step", "value": "1"}"#)
        .then()
        .call("get", "{}")
        .text("done")
        .call("get", "{}")
        .text("done");
    let mut tools = tools();
    let get = toolkit_core::ClosureTool::new_with_context(
        "get",
        "Reads.",
        |_: crate::support::Nothing, context: toolkit_core::ToolContext| {
            context.session().get("temp:step").unwrap_or("nothing".into())
        },
    );
    tools.register(get.unwrap()).unwrap();
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let mut conversation = Conversation::new("1");
    let output = agent.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(transcript(&output.messages)[4], "results: \"1\"");
    let output = agent.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(transcript(&output.messages)[2], "results: \"nothing\"");
}

#[tokio::test]
async fn history_limit_keeps_the_latest_messages() {
    let model = ScriptedModel::new().text("1").text("2").text("3");
    let agent = agent(model.clone()).history_limit(3).build().unwrap();
    let mut conversation = Conversation::new("1");
    for text in ["a", "b", "c"] {
        agent.run(text).on(&mut conversation).await.unwrap();
    }
    let seen: Vec<usize> = model.requests().iter().map(|request| request.messages.len()).collect();
    assert_eq!((seen, conversation.messages().len()), (vec![1, 3, 3], 6));
}

#[tokio::test]
async fn a_tool_may_answer_or_escalate() {
    let output = agent(ScriptedModel::new().call("answer", "{}")).build().unwrap().run("go").await.unwrap();
    assert_eq!((output.text.as_str(), output.model_calls), ("the answer", 1));
    let output = agent(ScriptedModel::new().call("enough", "{}").text("done"))
        .build()
        .unwrap()
        .run("go")
        .await
        .unwrap();
    assert_eq!((output.text.as_str(), output.escalate), ("done", true));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_answer_is_retried() {
    let broken = || ModelError::new(ModelErrorKind::Connection, "cut");
    let half = || Ok(StreamEvent::Text("Half of ".to_owned()));
    let model = ScriptedModel::new().deltas([half(), Err(broken())]).error(broken()).text("All of it.");
    let agent = agent(model).retry(ModelRetry::new(3)).build().unwrap();
    let events = events(&agent).await;
    let retried = events.iter().filter(|event| matches!(event, RunEvent::ModelRetried { .. })).count();
    let Some(RunEvent::Finished { output, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!((retried, output.text.as_str(), output.messages.len()), (2, "All of it.", 2));
}

#[tokio::test]
async fn an_agent_after_its_own_message_gets_a_prompt() {
    let model = ScriptedModel::new().text("Two.");
    let agent = agent(model.clone()).build().unwrap();
    let mut conversation = Conversation::new("1");
    conversation.push(Message::user("Count."));
    conversation.push(Message::assistant("One."));
    agent.resume(&mut conversation).await.unwrap();
    assert_eq!(transcript(&model.requests()[0].messages), ["user: Count.", ": One.", "user: Go on."]);
    assert_eq!(transcript(conversation.messages()), ["user: Count.", ": One.", "agent: Two."]);
}

#[tokio::test]
async fn a_finished_conversation_does_not_run_again() {
    let model = ScriptedModel::new().call("set", r#"{"key": "a", "value": "1"}"#).text("One.").text("Two.");
    let agent = agent(model.clone()).build().unwrap();
    let mut conversation = Conversation::new("1");
    let output = agent.run("Count.").on(&mut conversation).await.unwrap();
    let saved = serde_json::to_string(&conversation).unwrap();
    for mut finished in [conversation.clone(), serde_json::from_str(&saved).unwrap()] {
        let again = agent.resume(&mut finished).await.unwrap();
        assert_eq!(again, output);
        assert_eq!(serde_json::to_string(&finished).unwrap(), saved);
    }
    assert_eq!(model.requests().len(), 2);
    agent.run("Again.").on(&mut conversation).await.unwrap();
    assert_eq!(model.requests().len(), 3);
}
