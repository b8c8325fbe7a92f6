//! Recorded runs of a reference implementation, compared with this crate.

mod tools;

use serde_json::{Map, Value, json};
use std::time::Duration;
use toolkit_agent::{Agent, AgentError, Limit, Limits, RunEvent};
use toolkit_core::{
    Content, Dispatcher, ErrorKind, Tool, ToolCall, ToolDefinition, ToolError, ToolName, ToolOutput,
    ToolRegistry, ToolResult,
};
use toolkit_llm::{Message, ModelError, ModelErrorKind, ModelResponse, ModelRetry, ScriptedModel};
use tools::{Dozing, Recorded, known, recorded};

/// The intended differences and reasons, which comparisons below implement.
const DIFFERENCES: [(&str, &str); 7] = [
    ("an unknown tool", "the model also reads which names are most like it"),
    ("a missing argument", "all violations are reported at once, in other words"),
    ("a timeout", "the name of the tool is in backticks, as in every message"),
    ("a failure", "its kind stands before it: `Error running tool: `"),
    ("the end after too many questions", "it is an error of its own type; its words are ours"),
    ("a name such as `<lambda>`", "no provider takes it, so no tool has it: it is written without the signs"),
    ("a schema", "it says more: whether other arguments are refused, and what the default is"),
];

fn records() -> Value {
    serde_json::from_str(include_str!("data/soulbot.json")).unwrap()
}

/// Returns a call's output as in the records.
fn response(result: &ToolResult) -> Value {
    let value = match &result.outcome {
        Ok(output) => match output.content() {
            [] => Value::Null,
            [Content::Json(json)] => json.to_value().unwrap(),
            _ => output.to_text().into(),
        },
        Err(error) => {
            let text = error.message();
            let text = match error.kind() {
                ErrorKind::NotFound => format!("Unknown tool: {}", result.name),
                ErrorKind::InvalidArguments if text.contains("required") => {
                    let missing = error.violations().iter().map(|violation| violation.path.as_str());
                    format!("Missing required parameters: {}", missing.collect::<Vec<_>>().join(", "))
                }
                ErrorKind::TimedOut => text.replace('`', "'"),
                _ => text.strip_prefix("Error running tool: ").unwrap_or(text).to_owned(),
            };
            return json!({"error": text});
        }
    };
    if value.is_object() { value } else { json!({"result": value}) }
}

fn legal(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c)).collect()
}

fn parts<'a>(event: &'a Value, kind: &str) -> Vec<&'a Value> {
    let parts = event["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part.get(kind)).collect()
}

fn events(row: &Value) -> &[Value] {
    row["events"].as_array().unwrap()
}

fn model(row: &Value, agent: &str) -> ScriptedModel {
    let is_said = |event: &&Value| event["author"] == agent && event["content"]["role"] == "model";
    let mut model = ScriptedModel::new();
    for event in events(row).iter().filter(is_said) {
        let calls = parts(event, "function_call").into_iter().map(|call| {
            let name = legal(call["name"].as_str().unwrap());
            ToolCall::new(call["id"].as_str().unwrap_or_default(), name, call["args"].to_string())
        });
        let mut response = ModelResponse::calls(calls);
        response.message.text = parts(event, "text").iter().filter_map(|text| text.as_str()).collect();
        model = model.response(response);
    }
    match failure(row).map(|(code, _)| code) {
        Some("NO_RESPONSE") => model.error(ModelError::new(ModelErrorKind::Empty, "")),
        Some("TIMEOUT") => model,
        _ => model.fallback(|_| panic!("the record ends here")),
    }
}

/// Returns each recorded result with its turn's actions.
fn results(row: &Value) -> Vec<(&Value, &Value)> {
    let of_event =
        |event| parts(event, "function_response").into_iter().map(|given| (given, &event["actions"]));
    events(row).iter().flat_map(of_event).collect()
}

fn failure(row: &Value) -> Option<(&str, &str)> {
    let failed = events(row).iter().find_map(|event| Some((event["error_code"].as_str()?, event)));
    failed.map(|(code, event)| (code, event["error_message"].as_str().unwrap_or_default()))
}

fn seconds(text: &str) -> Option<Duration> {
    let (_, seconds) = text.split_once(" timed out after ")?;
    seconds.strip_suffix('s')?.parse().ok().map(Duration::from_secs_f64)
}

fn agent(row: &Value) -> Agent {
    let scenario = row["scenario"].as_str().unwrap();
    let mut registry = ToolRegistry::new();
    let mut timeout = None;
    for (given, actions) in results(row) {
        let name = legal(given["name"].as_str().unwrap());
        let response = &given["response"];
        let error = response["error"].as_str().unwrap_or_default();
        timeout = timeout.or(seconds(error));
        let is_there =
            registry.contains(&name) || error.starts_with("Unknown tool") || name == "transfer_to_agent";
        if is_there {
            continue;
        }
        match (known(&name), response["response"].as_str()) {
            (Some(tool), _) => {
                let mut tool = tool.unwrap();
                if let (Some(limit), true) = (seconds(error), scenario.contains("per-tool")) {
                    tool = tool.with_timeout(limit);
                }
                registry.register(tool).unwrap();
            }
            (None, Some(text)) => {
                let agent = Agent::builder(ScriptedModel::new().text(text)).name(name).build().unwrap();
                registry.register(agent.to_tool().unwrap()).unwrap();
            }
            (None, None) => {
                let definition =
                    ToolDefinition::new(ToolName::new(&name).unwrap(), "", json!({"type": "object"}));
                let tool = Recorded { definition, response: response.clone(), actions: actions.clone() };
                registry.register(tool).unwrap();
            }
        }
    }
    let mut dispatcher = Dispatcher::new(registry).unwrap();
    if let (Some(limit), false) = (timeout, scenario.contains("per-tool")) {
        dispatcher = dispatcher.with_timeout(limit);
    }
    let mut agent = Agent::builder(Dozing(model(row, "root")))
        .name("root")
        .dispatcher(dispatcher)
        .retry(ModelRetry::never())
        .streaming(false);
    let callback = results(row).first().map(|(given, _)| given["response"].clone()).unwrap_or_default();
    if scenario.starts_with("before callback") {
        agent = agent.before_tool(move |_| Some(recorded(&callback)));
    } else if scenario.starts_with("after callback") {
        agent = agent.after_tool(move |_, output| match callback.get("after") {
            Some(_) => {
                ToolOutput::json(&json!({"after": output.to_text()})).map_err(ToolError::invalid_output)
            }
            None => Ok(output),
        });
    }
    let mut others: Vec<&str> = events(row).iter().filter_map(|event| event["author"].as_str()).collect();
    others.retain(|name| *name != "root");
    others.dedup();
    for name in others {
        agent =
            agent.sub_agent(Agent::builder(model(row, name)).name(name).streaming(false).build().unwrap());
    }
    agent.build().unwrap()
}

fn transcript(messages: &[Message]) -> Vec<Value> {
    let events = messages.iter().filter_map(|message| match message {
        Message::Assistant(said) => {
            let calls = said.calls.iter().map(|call| {
                let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
                json!([call.name, call.id, arguments])
            });
            Some(json!({"author": said.agent, "text": said.text, "calls": calls.collect::<Vec<_>>()}))
        }
        Message::Tool(given) => {
            let results = given.results.iter().map(|result| json!([result.name, result.call_id, response(result)]));
            let actions = json!(ToolResult::merged_actions(&given.results));
            Some(json!({"author": given.agent, "results": results.collect::<Vec<_>>(), "actions": wanted(&actions)}))
        }
        _ => None,
    });
    events.collect()
}

fn wanted(actions: &Value) -> Map<String, Value> {
    let mut actions = actions.as_object().cloned().unwrap_or_default();
    actions.retain(|_, value| !(value.is_null() || *value == json!(false) || *value == json!({})));
    actions
}

fn theirs(row: &Value) -> Vec<Value> {
    let events = events(row).iter().filter(|event| event["error_code"].is_null()).map(|event| {
        let author = &event["author"];
        if event["content"]["role"] == "model" {
            let text: String = parts(event, "text").iter().filter_map(|text| text.as_str()).collect();
            let calls = parts(event, "function_call").into_iter();
            let calls = calls.map(|call| json!([legal(call["name"].as_str().unwrap()), call["id"], call["args"]]));
            return json!({"author": author, "text": text, "calls": calls.collect::<Vec<_>>()});
        }
        let given = parts(event, "function_response").into_iter();
        let results =
            given.map(|given| json!([legal(given["name"].as_str().unwrap()), given["id"], given["response"]]));
        json!({"author": author, "results": results.collect::<Vec<_>>(), "actions": wanted(&event["actions"])})
    });
    events.collect()
}

/// Returns an event by its name in the reference.
fn bus_event(event: &RunEvent) -> Option<[String; 2]> {
    let (kind, subject) = match event {
        RunEvent::AgentStarted { agent, .. } => ("agent.start", agent.clone()),
        RunEvent::ModelCalled { .. } => ("llm.request", String::new()),
        RunEvent::Message { .. } => ("llm.response", String::new()),
        RunEvent::Tool { event, .. } if format!("{:?}", event.kind) == "Called" => {
            ("tool.call", event.call.tool.clone())
        }
        RunEvent::Result { result, .. } => ("tool.result", result.name.clone()),
        RunEvent::Transferred { to, .. } => ("agent.transfer", to.clone()),
        _ => return None,
    };
    Some([kind.to_owned(), subject])
}

fn bus(row: &Value) -> Vec<[String; 2]> {
    let events = row["bus"].as_array().unwrap().iter().map(|event| {
        let kind = event[0].as_str().unwrap();
        let data = &event[1];
        let subject = ["agent", "tool", "to"].iter().find_map(|key| data[*key].as_str()).unwrap_or_default();
        [kind.to_owned(), legal(subject)]
    });
    events.collect()
}

fn in_any_order(mut events: Vec<[String; 2]>) -> Vec<[String; 2]> {
    events.chunk_by_mut(|one, other| one[0] == other[0]).for_each(<[_]>::sort);
    events
}

#[tokio::test(start_paused = true)]
async fn the_loop_agrees_with_the_reference() {
    let file = records();
    let rows = file["loop"].as_array().unwrap();
    for row in rows.iter().filter(|row| row["quirks"].as_array().is_none_or(Vec::is_empty)) {
        let raised = row["raised"].as_str();
        let most = raised.and_then(|text| text.split_once('(')?.1.split_once(')')?.0.parse().ok());
        let mut limits = Limits::default();
        limits.max_model_calls = most.unwrap_or(limits.max_model_calls);
        let failed = failure(row);
        limits.model_timeout = failed.and_then(|(_, text)| seconds(text));
        let mut conversation = toolkit_agent::Conversation::new("1");
        let mut stream = agent(row).run("go").on(&mut conversation).limits(limits).stream();
        let mut observed = Vec::new();
        let mut ended = None;
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => observed.extend(bus_event(&event)),
                Err(failed) => ended = Some(failed.error),
            }
        }
        drop(stream);
        assert_eq!(transcript(conversation.messages()), theirs(row), "{row}");
        // Only our agent tools emit events.
        if !events(row).iter().any(|event| event.to_string().contains("\"response\":{\"response\":")) {
            assert_eq!(in_any_order(observed), in_any_order(bus(row)), "{row}");
        }
        match (raised, failed, most) {
            (None, None, _) => assert_eq!(ended, None, "{row}"),
            (Some(_), _, Some(most)) => {
                assert_eq!(ended, Some(AgentError::Limit(Limit::ModelCalls(most))), "{row}");
            }
            (_, Some((code, text)), _) => {
                let Some(AgentError::Model(error)) = ended else { panic!("{row}\n{ended:?}") };
                let expected = match code {
                    "TIMEOUT" => ModelErrorKind::TimedOut,
                    _ => ModelErrorKind::Empty,
                };
                assert_eq!(error.kind(), expected, "{row}");
                assert!(code != "TIMEOUT" || error.message() == text, "{row}\n{error}");
            }
            _ => assert!(ended.is_some(), "{row}"),
        }
    }
    println!("{} scenarios; differences on purpose:", rows.len());
    DIFFERENCES.iter().for_each(|(what, why)| println!("- {what}: {why}"));
}

/// Returns a schema without our keywords.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Bool(true) => json!({}),
        Value::Object(fields) => {
            let more = ["additionalProperties", "title", "default", "description"];
            let is_meant = |name: &str, value: &Value| !more.contains(&name) || value.is_object();
            let fields = fields.iter().filter(|(name, value)| is_meant(name, value));
            fields.map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

#[test]
fn declarations_agree_with_the_reference() {
    let file = records();
    for (name, declared) in file["declarations"].as_object().unwrap() {
        let tool = known(name).unwrap_or_else(|| panic!("there is no tool `{name}` here")).unwrap();
        let definition = tool.definition();
        assert_eq!((definition.name.as_str(), &*definition.description), (name.as_str(), ""));
        assert_eq!(plain(&definition.parameters), plain(&declared["parameters"]), "{name}");
    }
}

fn declared(definition: &ToolDefinition) -> Value {
    let mut parameters = definition.parameters.clone();
    parameters.as_object_mut().unwrap().remove("additionalProperties");
    json!({"name": definition.name.as_str(), "description": definition.description, "parameters": parameters})
}

#[test]
fn agent_tools_are_declared_as_in_the_reference() {
    let file = records();
    let expected = &file["agent_tool_declaration"];
    let agent =
        Agent::builder(ScriptedModel::new()).name(expected["name"].as_str().unwrap()).build().unwrap();
    assert_eq!(&declared(agent.to_tool().unwrap().definition()), expected);
}

#[tokio::test]
async fn transfers_are_declared_as_in_the_reference() {
    let file = records();
    let expected = &file["transfer_declaration"];
    let model = ScriptedModel::new().text("done");
    let mut agent = Agent::builder(model.clone());
    for line in expected["description"].as_str().unwrap().lines().filter_map(|line| line.strip_prefix("- ")) {
        let (name, description) = line.split_once(": ").unwrap();
        let description = if description == "No description" { "" } else { description };
        let below = Agent::builder(ScriptedModel::new()).name(name).description(description);
        agent = agent.sub_agent(below.build().unwrap());
    }
    agent.build().unwrap().run("go").await.unwrap();
    let tools = model.requests()[0].tools.clone();
    assert_eq!(&declared(tools.get("transfer_to_agent").unwrap().definition()), expected);
}
