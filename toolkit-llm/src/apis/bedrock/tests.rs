//! Tests of definitions, choices, calls, results and histories.

mod stream;

use super::FACTS;
use crate::ApiFormat::Bedrock;
use crate::{DefinitionOptions, HostedTool, StrictTools};
use serde_json::{Map, Value, json};
use toolkit_core::call::{ToolCall, ToolChoice, ToolConfig};
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolMetadata};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

fn weather() -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    json!({"toolSpec": {"name": "get_weather", "description": "d", "inputSchema": {"json": schema}}})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
}

fn asks(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn answers(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn answer(id: &str, text: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": text}]}})
}

fn body(message: Value, stop: &str) -> Value {
    json!({"output": {"message": message}, "stopReason": stop})
}

#[track_caller]
fn refuse(payload: &Value, path: &str, expected: &str) {
    let error = Bedrock.parse_calls(payload).unwrap_err();
    assert_eq!((error.path(), error.expected()), (path, expected), "{payload}");
}

#[test]
fn definitions_are_encoded() {
    let cache = json!({"cachePoint": {"type": "default"}});
    let search = json!({"systemTool": {"name": "nova_grounding"}});
    let tools = json!([weather(), cache, search]);
    let schema = weather()["toolSpec"]["inputSchema"]["json"].clone();
    let definition = ToolDefinition::new(ToolName::new("get_weather").unwrap(), "d", schema);
    let encoded =
        Bedrock.encode_definitions([&definition], &WireNames::default(), &DefinitionOptions::default());
    assert!(encoded.report().is_clean());
    let hosted = [cache, search].map(|tool| HostedTool::new(Bedrock, tool));
    assert_eq!(encoded.with_hosted(&hosted).to_value(), tools);
}

#[test]
fn strict_tools_and_empty_descriptions_are_written_as_the_service_accepts_them() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}, "required": ["a"]});
    let definition = ToolDefinition::new(ToolName::new("f").unwrap(), "", schema);
    let options = DefinitionOptions::default().with_strict(StrictTools::All);
    let tools = Bedrock.encode_definitions([&definition], &WireNames::default(), &options);
    let tool = &tools.to_value()[0]["toolSpec"];
    assert_eq!((&tool["strict"], tool.get("description")), (&json!(true), None));
    assert_eq!(tool["inputSchema"]["json"]["additionalProperties"], false);
    assert_eq!(tools.report().losses[0].loss.path, "/parameters/properties/a");
}

#[test]
fn settings_without_a_field_are_reported() {
    let name = || ToolName::new("fs.read").unwrap();
    let metadata = ToolMetadata::default()
        .with_input_examples([json!({})])
        .with_allowed_callers(["direct"])
        .with_defer(true);
    let full = ToolDefinition::new(name(), "", json!({"type": "object"}))
        .with_metadata(metadata)
        .with_output_schema(json!({"type": "string"}));
    let custom = ToolDefinition::custom(name(), "", TextFormat::Text);
    let names = WireNames::new(Bedrock.name_rule(), ["fs.read"]);
    let options = DefinitionOptions::default().with_output_schemas(true);
    let losses = |definition: &ToolDefinition| {
        let tools = Bedrock.encode_definitions([definition], &names, &options);
        assert_eq!(tools.to_value()[0]["toolSpec"]["name"], "fs_read");
        tools.report().losses.iter().map(|loss| loss.loss.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(losses(&full), ["/output_schema", "/input_examples", "/allowed_callers", "/defer"]);
    assert_eq!(losses(&custom), ["/kind"]);
}

#[test]
fn tool_choices_are_encoded_and_losses_reported() {
    let names = WireNames::new(FACTS.names, ["fs.read", "add"]);
    let allowed = |list: &[&str], required| ToolChoice::Allowed {
        names: list.iter().map(|name| (*name).to_owned()).collect(),
        required,
    };
    let tool = json!({"tool": {"name": "fs_read"}});
    for (choice, encoded, lost) in [
        (ToolChoice::Auto, json!(null), None),
        (ToolChoice::Required, json!({"any": {}}), None),
        (ToolChoice::Tool("fs.read".to_owned()), tool.clone(), None),
        (ToolChoice::None, json!(null), Some("none")),
        (allowed(&["fs.read"], true), tool, None),
        (allowed(&["fs.read", "add"], true), json!({"any": {}}), Some("allowed")),
        (allowed(&["add"], false), json!(null), Some("allowed")),
        (allowed(&[], false), json!(null), Some("none")),
    ] {
        let config = Bedrock.encode_tool_config(&choice.clone().into(), &names);
        let written = Value::from(config.fields.clone());
        assert_eq!(written.pointer("/toolConfig/toolChoice").unwrap_or(&Value::Null), &encoded, "{choice:?}");
        assert_eq!(config.losses.first().map(|loss| loss.keyword.as_str()), lost, "{choice:?}");
    }
    let one = Bedrock.encode_tool_config(&ToolConfig::default().with_parallel(false), &names);
    assert_eq!(one.losses[0].path, "/parallel");
}

#[test]
fn a_request_without_tools_has_no_tool_choice() {
    let mut request = Map::new();
    let names = WireNames::default();
    let none = Bedrock.encode_definitions([], &names, &DefinitionOptions::default());
    Bedrock.set_tools(&mut request, &none, &Bedrock.encode_tool_config(&ToolChoice::Required.into(), &names));
    assert!(request.is_empty());
}

#[test]
fn calls_are_parsed_from_every_payload() {
    let mut add = call("tooluse_1", "add", json!({"x": 1}));
    add["toolUse"]["beside"] = 2.into();
    let hosted =
        json!({"toolUse": {"toolUseId": "s", "name": "search", "input": {}, "type": "server_tool_use"}});
    let message = asks(json!([{"text": "hm"}, hosted, add, call("b", "now", json!({}))]));
    for payload in [body(message.clone(), "tool_use"), message.clone(), message["content"].clone()] {
        let calls = Bedrock.parse_calls(&payload).unwrap();
        let [first, second] = calls.as_slice() else { panic!("two calls") };
        assert_eq!((first.id.as_str(), first.arguments.as_str()), ("tooluse_1", r#"{"x":1}"#));
        assert_eq!(first.extras.get(FACTS.name, "beside"), Some(&json!(2)));
        assert_eq!((second.name.as_str(), second.arguments.as_str()), ("now", "{}"));
    }
    assert_eq!(Bedrock.parse_calls(&call("a", "now", json!({}))).unwrap().len(), 1);
    assert!(Bedrock.parse_calls(&json!([])).unwrap().is_empty());
}

#[test]
fn errors_state_the_path() {
    let blocks = "the content blocks of a message";
    let block = "a content block, such as one with `text` or `toolUse`";
    refuse(&json!(1), "", "a response, a message or a content block");
    refuse(&json!([{"type": "tool_use", "id": "a"}]), "[0]", block);
    refuse(&asks(json!([{"type": "text", "text": "hi"}])), "content[0]", block);
    refuse(&json!({"choices": []}), "content", blocks);
    refuse(&body(json!({"role": "assistant"}), "end_turn"), "output.message.content", blocks);
    let throttled = json!({"message": "Too many requests"});
    refuse(&throttled, "content", &format!("{blocks} (the service reported an error: Too many requests)"));
    refuse(&answers(json!([])), "role", "`assistant`, which marks messages of the model");
}

#[test]
fn messages_are_sent_back_with_all_blocks_that_the_service_accepts() {
    let reasoning = json!({"reasoningContent": {"reasoningText": {"text": "Sum.", "signature": "s"}}});
    let redacted = json!({"reasoningContent": {"redactedContent": "aGk="}});
    let cited =
        json!({"citationsContent": {"content": [{"text": "It rains."}], "citations": [{"title": "t"}]}});
    let message =
        asks(json!([reasoning, redacted, {"text": "I add."}, cited, call("a", "add", json!({"x": 1}))]));
    let response = Bedrock.parse_response(&body(message.clone(), "tool_use")).unwrap();
    assert_eq!(response.native, [message]);
    assert_eq!((response.text.as_str(), response.reasoning.as_str()), ("I add.It rains.", "Sum."));
    let ends = asks(json!([{"text": " "}, {"text": "a"}, reasoning]));
    assert_eq!(Bedrock.assistant_messages(&ends).unwrap(), [asks(json!([{"text": "a"}]))]);
    assert!(Bedrock.assistant_messages(&asks(json!([reasoning]))).unwrap().is_empty());
    let odd = asks(json!([call("a b", "a.b", json!("text"))]));
    let written = &Bedrock.assistant_messages(&odd).unwrap()[0]["content"][0]["toolUse"];
    assert_eq!((&written["name"], &written["input"]), (&json!("a_b"), &json!({"invalid_arguments": "text"})));
}

#[test]
fn results_of_every_kind_are_encoded() {
    let calls: Vec<ToolCall> = ["a", "b", "c"].map(|id| ToolCall::new(id, "f", "{}")).into();
    let json = ToolOutput::json(&json!({"sum": 3})).unwrap().with_message("The sum.");
    let picture = Content::from(Media::new("image/jpg", b"hi").with_name("a.jpg"));
    let report = |name: &str| Content::from(Media::new("application/pdf", b"hi").with_name(name));
    let stored = Content::from(Media::from_url("text/csv", "s3://bucket/a.csv"));
    let sound = Content::from(Media::new("audio/ogg", b"hi"));
    let all = vec![picture, report("Q1_report.pdf"), report("Q1 report pdf"), stored, sound];
    let outcomes = [Ok(json), Ok(ToolOutput::new(all)), Err(ToolError::new(ErrorKind::Failed, " "))];
    let results: Vec<ToolResult> =
        calls.iter().zip(outcomes).map(|(call, outcome)| ToolResult::of(call, outcome)).collect();
    let messages = Bedrock.encode_results(&results);
    let blocks: Vec<&Value> =
        messages[0]["content"].as_array().unwrap().iter().map(|block| &block["toolResult"]).collect();
    assert_eq!(messages.len(), 1);
    assert_eq!(blocks[0]["content"], json!([{"json": {"sum": 3}}, {"text": "The sum."}]));
    let document =
        |name: &str| json!({"document": {"format": "pdf", "name": name, "source": {"bytes": "aGk="}}});
    assert_eq!(blocks[1]["content"][0], json!({"image": {"format": "jpeg", "source": {"bytes": "aGk="}}}));
    assert_eq!(blocks[1]["content"][1], document("Q1 report pdf"));
    assert_eq!(blocks[1]["content"][2], document("Q1 report pdf (2)"));
    assert_eq!(blocks[1]["content"][3]["document"]["source"]["s3Location"]["uri"], "s3://bucket/a.csv");
    assert!(blocks[1]["content"][4]["text"].as_str().unwrap().contains("cannot be shown"));
    let failed = json!([{"text": "The call failed for an unknown reason."}]);
    assert_eq!((&blocks[2]["content"], &blocks[2]["status"]), (&failed, &json!("error")));
}

#[test]
fn a_document_of_the_user_has_a_name_and_a_text_beside_it() {
    let message = Bedrock.encode_user(&[Content::from(Media::new("application/pdf", b"hi"))]);
    let name = message["content"][0]["document"]["name"].as_str().unwrap();
    assert!(name.starts_with("document "), "{name}");
    assert_eq!(message["content"][1], json!({"text": "[file application/pdf]"}));
    assert_eq!(Bedrock.encode_user(&[]), answers(json!([{"text": "(empty message)"}])));
}

#[test]
fn histories_are_repaired() {
    let repair = |history: &[Value], repaired: &[Value]| {
        assert_eq!(Bedrock.repair_history(history.to_vec()), repaired);
        assert_eq!(Bedrock.repair_history(repaired.to_vec()), repaired, "repairing twice");
    };
    let none = "[No output available yet]";
    let hi = json!({"text": "hi"});
    let two = asks(json!([call("a", "f", json!({})), call("b", "g", json!({}))]));
    let both = answers(json!([answer("a", "1"), answer("b", "2")]));
    repair(&[], &[]);
    repair(&[two.clone(), both.clone()], &[two.clone(), both.clone()]);
    repair(
        &[two.clone(), answers(json!([answer("b", "2"), hi]))],
        &[two.clone(), answers(json!([answer("a", none), answer("b", "2"), hi]))],
    );
    repair(&[answers(json!([answer("a", "1"), hi]))], &[answers(json!([hi]))]);
    // The service requires alternating roles.
    repair(
        &[answers(json!([hi])), answers(json!([hi])), two.clone(), both, answers(json!([hi]))],
        &[answers(json!([hi, hi])), two, answers(json!([answer("a", "1"), answer("b", "2"), hi]))],
    );
}
