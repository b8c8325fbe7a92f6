//! The kinds of questions, each with the answer of a codec.

use super::Fields;
use super::values::{self, calls, error, event, losses, parse, response, wire_names};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolConfig;
use toolkit_llm::hosted::HostedTool;
use toolkit_llm::translate::RequestFormat;
use toolkit_llm::{ApiFormat, HistoryWriter, StreamEnd, StreamEvent, WireError};

/// A question, with the fields that it expects in the answer.
#[derive(Clone, Copy)]
struct Question<'a> {
    format: ApiFormat,
    fields: &'a Fields,
}

/// Answers a question with the expected fields, and those that may not be left out.
///
/// # Errors
/// An input of the question cannot be read.
type Answer = fn(Question<'_>) -> Result<Fields, String>;

/// The kinds of questions: the field of the question, the fields of its input, and its answer.
const KINDS: [(&str, &[&str], Answer); 10] = [
    ("read", &["names", "mistral"], read),
    ("stream", &["pieces"], stream),
    ("repair", &[], repair),
    ("repair_request", &[], repair_request),
    ("assistant", &["calls", "names", "mistral", "model", "references"], assistant),
    ("user", &["names", "mistral", "model"], user),
    ("request", &["names"], request),
    ("tools", &["hosted", "options", "names", "into", "choice"], tools),
    ("choice", &["names"], choice),
    ("results", &["names", "mistral", "model", "references"], results),
];

/// Returns the first difference between the answers of a codec and of the file.
pub(crate) fn difference(format: ApiFormat, fields: &Fields) -> Option<String> {
    let Some((kind, inputs, answer)) = KINDS.iter().find(|(kind, ..)| fields.contains_key(*kind)) else {
        return Some("no such kind of question".to_owned());
    };
    let answer = match answer(Question { format, fields }) {
        Ok(answer) => answer,
        Err(error) => return Some(error),
    };
    let is_input = |name: &str| (name == *kind && name != "stream") || inputs.contains(&name);
    let mut expected = fields.clone();
    expected.retain(|name, _| !is_input(name));
    first_difference(&expected.into(), &answer.into(), "")
}

fn first_difference(written: &Value, answer: &Value, path: &str) -> Option<String> {
    if written == answer {
        return None;
    }
    match (written, answer) {
        (Value::Object(one), Value::Object(other)) => {
            let name = one.keys().chain(other.keys()).find(|name| one.get(*name) != other.get(*name))?;
            match (one.get(name), other.get(name)) {
                (Some(one), Some(other)) => first_difference(one, other, &format!("{path}/{name}")),
                (Some(one), None) => Some(format!("`{path}/{name}` is missing: {one}")),
                (None, other) => Some(format!("`{path}/{name}` is not written: {}", json!(other))),
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(at, (one, other))| first_difference(one, other, &format!("{path}/{at}")))
        }
        _ => Some(format!("at `{path}`\n  written: {written}\n  answer:  {answer}")),
    }
}

impl<'a> Question<'a> {
    fn field(self, name: &str) -> &'a Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    fn parse<T: DeserializeOwned>(self, name: &str) -> Result<T, String> {
        parse(self.field(name))
    }

    fn expects(self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    fn write<T>(self, body: impl FnOnce(HistoryWriter<'_>) -> T) -> T {
        let names = wire_names(self.format, self.fields);
        let mut writer = self.format.history(&names);
        if self.field("mistral") == true {
            writer = writer.with_mistral(true);
        }
        if let Some(model) = self.field("model").as_str() {
            writer = writer.with_model(model);
        }
        body(writer.with_tool_references(self.field("references") == true))
    }
}

/// Sets a field of an answer, unless its value is an empty list.
fn set(answer: &mut Fields, name: &str, value: Value) {
    if value != json!([]) {
        answer.insert(name.to_owned(), value);
    }
}

fn one(name: &str, value: impl Into<Value>) -> Fields {
    Fields::from_iter([(name.to_owned(), value.into())])
}

/// Writes a value, or the error in its place.
fn outcome<T>(outcome: &Result<T, WireError>, write: impl Fn(&T) -> Value) -> Value {
    match outcome {
        Ok(value) => write(value),
        Err(failure) => json!({"error": error(failure)}),
    }
}

/// Reads the calls of a payload, the messages for the history, and the whole response.
fn read(question: Question<'_>) -> Result<Fields, String> {
    let format = question.format;
    let payload = question.field("read");
    let messages = question.write(|writer| writer.assistant_messages(payload));
    let parts = [
        ("calls", outcome(&format.parse_calls(payload), |list| calls(list))),
        ("messages", outcome(&messages, |messages| json!(messages))),
        ("response", outcome(&format.parse_response(payload), response)),
        ("usage", values::usage(&format.parse_usage(payload))),
    ];
    let mut answer = Fields::new();
    for (name, value) in parts {
        match value.get("error") {
            // Each method refuses a payload for the same reason.
            Some(error) if answer.get("error").is_none_or(|known| known == error) => {
                answer.insert("error".to_owned(), error.clone());
            }
            None if !question.expects(name) => {}
            _ => drop(answer.insert(name.to_owned(), value)),
        }
    }
    Ok(answer)
}

/// Passes events to a stream, one after the other.
fn stream(question: Question<'_>) -> Result<Fields, String> {
    let mut stream = question.format.accumulator();
    if question.field("pieces") == true {
        stream = stream.with_argument_events();
    }
    let mut steps: Vec<Fields> = question.parse("stream")?;
    let mut all = Vec::new();
    for step in &mut steps {
        step.retain(|name, _| ["push", "bytes"].contains(&name.as_str()));
        let pushed = match step.get("bytes").and_then(Value::as_str) {
            Some(text) => stream.push_bytes(text.as_bytes()).into_iter().collect(),
            None => stream.push(step.get("push").ok_or("a step without `push` or `bytes`")?),
        };
        match pushed {
            Ok(events) => {
                set(step, "events", events.iter().map(event).collect());
                all.extend(events);
            }
            Err(failure) => set(step, "error", error(&failure)),
        }
    }
    let end = stream.finish();
    all.extend(end.events.clone());
    let mut answer = one("stream", json!(steps));
    answer.insert("end".to_owned(), stream_end(question, &end).into());
    if let Some(problem) = inconsistency(question.format, &end, &all) {
        answer.insert("inconsistent".to_owned(), problem.into());
    }
    Ok(answer)
}

fn stream_end(question: Question<'_>, end: &StreamEnd) -> Fields {
    let mut answer = one("complete", end.is_complete);
    set(&mut answer, "events", end.events.iter().map(event).collect());
    answer.extend(end.failure.iter().map(|failure| ("failure".to_owned(), error(failure))));
    match &end.response {
        Ok(whole) => {
            let mut written = response(whole);
            if let Some(fields) = written.as_object_mut() {
                fields.shift_remove("native");
            }
            answer.insert("response".to_owned(), written);
        }
        Err(failure) => drop(answer.insert("error".to_owned(), error(failure))),
    }
    let native = end.response.as_ref().map(|whole| whole.native.clone()).unwrap_or_default();
    for (name, value) in [
        ("body", end.body.clone()),
        ("messages", native.into()),
        ("usage", values::usage(&question.format.parse_usage(&end.body))),
    ] {
        if question.field("end").get(name).is_some() {
            answer.insert(name.to_owned(), value);
        }
    }
    answer
}

/// Checks that a stream returns each call once, and has the same response as the body.
fn inconsistency(format: ApiFormat, end: &StreamEnd, events: &[StreamEvent]) -> Option<&'static str> {
    let response = end.response.as_ref().ok()?;
    let calls: Vec<_> = events.iter().filter(|event| matches!(event, StreamEvent::Call(_))).collect();
    let is_returned = |call| calls.contains(&&StreamEvent::Call(call));
    if calls.len() != response.calls.len() || !response.calls.iter().cloned().all(is_returned) {
        return Some("the response has other calls than the events");
    }
    match format.parse_response(&end.body) {
        Ok(read) if read.calls != response.calls => Some("the body has other calls than the stream"),
        Ok(read) if end.is_complete && read != *response => {
            Some("the body has another response than the stream")
        }
        Ok(_) => None,
        Err(_) => Some("the body is refused"),
    }
}

fn repair(question: Question<'_>) -> Result<Fields, String> {
    let history: Vec<Value> = question.parse("repair")?;
    let repaired = question.format.repair_history(history.clone());
    if question.format.repair_history(repaired.clone()) != repaired {
        return Err("repairing twice changes the history again".to_owned());
    }
    Ok(if repaired == history { Fields::new() } else { one("repaired", repaired) })
}

fn repair_request(question: Question<'_>) -> Result<Fields, String> {
    let request: Fields = question.parse("repair_request")?;
    let mut repaired = request.clone();
    let mut answer = Fields::new();
    set(&mut answer, "losses", losses(&question.format.repair_request(&mut repaired)));
    if repaired != request {
        answer.insert("repaired".to_owned(), repaired.into());
    }
    Ok(answer)
}

fn assistant(question: Question<'_>) -> Result<Fields, String> {
    let text: String = question.parse("assistant")?;
    let calls = values::parse_calls(question.field("calls"))?;
    Ok(one("messages", question.write(|writer| writer.encode_assistant(&text, &calls))))
}

fn user(question: Question<'_>) -> Result<Fields, String> {
    let contents = values::parse_contents(question.field("user"))?;
    Ok(one("message", question.write(|writer| writer.encode_user(&contents))))
}

fn results(question: Question<'_>) -> Result<Fields, String> {
    let results: Vec<ToolResult> = question.parse("results")?;
    Ok(one("messages", question.write(|writer| writer.encode_results(&results))))
}

fn choice(question: Question<'_>) -> Result<Fields, String> {
    let config: ToolConfig = question.parse("choice")?;
    let encoded = question.format.encode_tool_config(&config, &wire_names(question.format, question.fields));
    let mut answer = one("fields", encoded.fields);
    set(&mut answer, "losses", losses(&encoded.losses));
    Ok(answer)
}

/// Writes definitions, and sets them and the tool choice in the request `into`.
fn tools(question: Question<'_>) -> Result<Fields, String> {
    let format = question.format;
    let tools: Vec<Value> = question.parse("tools")?;
    let definitions = tools.iter().map(values::parse_definition).collect::<Result<Vec<_>, _>>()?;
    let options = values::options(question.field("options"));
    let names = wire_names(format, question.fields);
    let hosted = question.field("hosted").as_array().into_iter().flatten();
    let hosted: Vec<_> = hosted.map(|tool| HostedTool::new(format, tool.clone())).collect();
    let encoded = format.encode_definitions(&definitions, &names, &options).with_hosted(&hosted);
    let report = encoded.report();
    let mut answer = one("json", encoded.to_value());
    set(&mut answer, "losses", losses(report.losses.iter().map(|loss| &loss.loss)));
    set(&mut answer, "not_strict", report.not_strict.iter().map(|tool| json!(tool.to_string())).collect());
    set(&mut answer, "limits", report.limits.iter().map(|limit| json!(limit.to_string())).collect());
    if question.expects("into") {
        let config: ToolConfig = question.parse("choice")?;
        let mut sent: Fields = question.parse("into")?;
        format.set_tools(&mut sent, &encoded, &format.encode_tool_config(&config, &names));
        answer.insert("sent".to_owned(), sent.into());
    }
    Ok(answer)
}

/// Reads a part of a request: definitions, hosted tools, results or the tool choice.
fn request(question: Question<'_>) -> Result<Fields, String> {
    let reader = RequestFormat::of(question.format).ok_or("requests of this API are not read")?;
    let payload = question.field("request");
    let names = wire_names(question.format, question.fields);
    let mut answer = Fields::new();
    for name in
        ["definitions", "hosted", "results", "choice"].into_iter().filter(|name| question.expects(name))
    {
        let value = match name {
            "definitions" => outcome(&reader.parse_definitions(payload), |definitions| {
                definitions.iter().map(values::definition).collect()
            }),
            "hosted" => outcome(&reader.hosted_tools(payload), |tools| json!(tools)),
            "results" => outcome(&reader.parse_results(payload), |results| values::results(results)),
            _ => outcome(&reader.parse_tool_config(&question.parse("request")?, &names), |config| {
                json!(config)
            }),
        };
        answer.insert(name.to_owned(), value);
    }
    Ok(answer)
}
