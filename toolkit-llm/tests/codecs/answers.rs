//! The kinds of questions, each with the answer of a codec.

use super::Fields;
use super::values::{self, calls, contents, error, event, losses, read_calls, response, results, wire_names};
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_llm::translate::RequestFormat;
use toolkit_llm::{ApiFormat, HistoryWriter, HostedTool, StreamEnd, StreamEvent, WireError};

/// A question, with the fields that it expects in the answer.
#[derive(Clone, Copy)]
struct Question<'a> {
    format: ApiFormat,
    fields: &'a Fields,
}

/// Answers a question. The answer has the fields that the question expects, and those that may not be left out.
type Answer = fn(Question<'_>, &mut Fields);

/// The kinds of questions: the field by which a question is recognised, the fields of its input, and its answer.
const KINDS: [(&str, &[&str], Answer); 10] = [
    ("read", &["names", "mistral"], read),
    ("stream", &["pieces"], stream),
    ("repair", &[], repair),
    ("repair_request", &[], repair_request),
    ("say", &["calls", "names", "mistral", "model", "references"], say),
    ("user", &["names", "mistral", "model"], user),
    ("request", &["names"], request),
    ("tools", &["hosted", "options", "names", "into", "choice"], tools),
    ("choice", &["names"], choice),
    ("results", &["names", "mistral", "model", "references"], encode_results),
];

/// Returns the differences between the answer of a codec and the written answer.
pub(crate) fn differences(format: ApiFormat, fields: &Fields) -> Vec<String> {
    let Some((kind, inputs, answer)) = KINDS.iter().find(|(kind, ..)| fields.contains_key(*kind)) else {
        return vec!["no such kind of question".to_owned()];
    };
    let mut answered = Fields::new();
    answer(Question { format, fields }, &mut answered);
    // The steps of a stream are both the input and the answer.
    let is_input = |name: &str| (name == *kind && name != "stream") || inputs.contains(&name);
    let mut expected = fields.clone();
    expected.retain(|name, _| !is_input(name));
    difference(&expected.into(), &answered.into(), "").into_iter().collect()
}

/// Returns the first difference between two values, with its path.
fn difference(expected: &Value, answered: &Value, path: &str) -> Option<String> {
    let null = Value::Null;
    let unequal = || format!("at `{path}`\n  written:  {expected}\n  answered: {answered}");
    match (expected, answered) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            let mut found = names.filter(|name| one.get(*name) != other.get(*name));
            let name = found.next()?;
            let [one, other] = [one, other].map(|fields| fields.get(name).unwrap_or(&null));
            difference(one, other, &format!("{path}/{name}")).or_else(|| Some(unequal()))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let at = (0..one.len()).find(|at| one[*at] != other[*at])?;
            difference(&one[at], &other[at], &format!("{path}/{at}"))
        }
        _ => (expected != answered).then(unequal),
    }
}

impl<'a> Question<'a> {
    fn field(self, name: &str) -> &'a Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    fn list(self, name: &str) -> Vec<Value> {
        self.field(name).as_array().cloned().unwrap_or_else(|| panic!("`{name}` is no list"))
    }

    fn expects(self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Calls `body` with the writer that the question describes.
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

/// Writes a value, or the error in its place.
fn outcome<T>(outcome: &Result<T, WireError>, write: impl Fn(&T) -> Value) -> Value {
    match outcome {
        Ok(value) => write(value),
        Err(failure) => json!({"error": error(failure)}),
    }
}

/// Reads a payload: its calls, the messages for the history, and the whole response.
fn read(question: Question<'_>, answer: &mut Fields) {
    let format = question.format;
    let payload = question.field("read");
    let messages = question.write(|writer| writer.assistant_messages(payload));
    let parts = [
        ("calls", outcome(&format.parse_calls(payload), |read| calls(read))),
        ("messages", outcome(&messages, |messages| json!(messages))),
        ("response", outcome(&format.parse_response(payload), response)),
        ("usage", values::usage(&format.parse_usage(payload))),
    ];
    for (name, value) in parts {
        match value.get("error") {
            // A refused payload is refused by each method, for the same reason.
            Some(error) if answer.get("error").is_none_or(|known| known == error) => {
                answer.insert("error".to_owned(), error.clone());
            }
            None if !question.expects(name) => {}
            _ => drop(answer.insert(name.to_owned(), value)),
        }
    }
}

/// Passes events to a stream, one after the other.
fn stream(question: Question<'_>, answer: &mut Fields) {
    let mut stream = question.format.accumulator();
    if question.field("pieces") == true {
        stream = stream.with_argument_events();
    }
    let mut steps = Vec::new();
    let mut yielded = Vec::new();
    for mut step in question.list("stream") {
        let pushed = match step.get("bytes").and_then(Value::as_str) {
            Some(text) => stream.push_bytes(text.as_bytes()).into_iter().collect(),
            None => stream.push(&step["push"]),
        };
        let fields = step.as_object_mut().expect("a step");
        fields.retain(|name, _| ["push", "bytes"].contains(&name.as_str()));
        match pushed {
            Ok(events) => {
                set(fields, "gives", events.iter().map(event).collect());
                yielded.extend(events);
            }
            Err(failure) => set(fields, "fails", error(&failure)),
        }
        steps.push(step);
    }
    answer.insert("stream".to_owned(), steps.into());
    let end = stream.finish();
    yielded.extend(end.events.clone());
    answer.insert("end".to_owned(), ended(question, &end).into());
    if let Some(problem) = inconsistency(question.format, &end, &yielded) {
        answer.insert("inconsistent".to_owned(), problem.into());
    }
}

fn ended(question: Question<'_>, end: &StreamEnd) -> Fields {
    let mut answer = Fields::new();
    set(&mut answer, "gives", end.events.iter().map(event).collect());
    answer.insert("complete".to_owned(), end.is_complete.into());
    answer.extend(end.failure.iter().map(|failure| ("failure".to_owned(), error(failure))));
    let mut whole = outcome(&end.response, response);
    let fields = whole.as_object_mut().expect("a response");
    let native = fields.shift_remove("native");
    match fields.shift_remove("error") {
        Some(error) => drop(answer.insert("error".to_owned(), error)),
        None => drop(answer.insert("response".to_owned(), whole)),
    }
    let more = [
        ("body", end.body.clone()),
        ("messages", native.unwrap_or_else(|| json!([]))),
        ("usage", values::usage(&question.format.parse_usage(&end.body))),
    ];
    let is_expected = |name: &str| question.field("end").get(name).is_some();
    answer.extend(
        more.into_iter().filter(|(name, _)| is_expected(name)).map(|(name, value)| (name.to_owned(), value)),
    );
    answer
}

/// Checks what holds for all streams: each call is yielded once, and the body has the same response as the stream.
fn inconsistency(format: ApiFormat, end: &StreamEnd, events: &[StreamEvent]) -> Option<&'static str> {
    let response = end.response.as_ref().ok()?;
    let called = |call: &&ToolCall| {
        events.iter().filter(|event| matches!(event, StreamEvent::Call(done) if done == *call)).count()
    };
    let count = events.iter().filter(|event| matches!(event, StreamEvent::Call(_))).count();
    if count != response.calls.len() || response.calls.iter().any(|call| called(&call) == 0) {
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

fn repair(question: Question<'_>, answer: &mut Fields) {
    let history = question.list("repair");
    let repaired = question.format.repair_history(history.clone());
    if question.format.repair_history(repaired.clone()) != repaired {
        answer.insert("inconsistent".to_owned(), "repairing twice".into());
    }
    if repaired != history {
        answer.insert("repaired".to_owned(), repaired.into());
    }
}

fn repair_request(question: Question<'_>, answer: &mut Fields) {
    let request = question.field("repair_request").as_object().expect("a request");
    let mut repaired = request.clone();
    set(answer, "losses", losses(&question.format.repair_request(&mut repaired)));
    if repaired != *request {
        answer.insert("repaired".to_owned(), repaired.into());
    }
}

/// Writes a message of the model with a text and calls.
fn say(question: Question<'_>, answer: &mut Fields) {
    let text = question.field("say").as_str().expect("a text");
    let calls = read_calls(question.field("calls"));
    let messages = question.write(|writer| writer.encode_assistant(text, &calls));
    answer.insert("messages".to_owned(), messages.into());
}

fn user(question: Question<'_>, answer: &mut Fields) {
    let message = question.write(|writer| writer.encode_user(&contents(question.field("user"))));
    answer.insert("message".to_owned(), message);
}

fn encode_results(question: Question<'_>, answer: &mut Fields) {
    let results = results(question.field("results"));
    answer.insert("messages".to_owned(), question.write(|writer| writer.encode_results(&results)).into());
}

fn choice(question: Question<'_>, answer: &mut Fields) {
    let wanted = serde_json::from_value(question.field("choice").clone()).expect("a tool choice");
    let encoded = question.format.encode_tool_config(&wanted, &wire_names(question.format, question.fields));
    answer.insert("fields".to_owned(), encoded.fields.into());
    set(answer, "losses", losses(&encoded.losses));
}

/// Writes definitions, and sets them and the tool choice in the request `into`.
fn tools(question: Question<'_>, answer: &mut Fields) {
    let definitions: Vec<_> = question.list("tools").iter().map(values::definition).collect();
    let options = values::options(question.field("options"));
    let names = wire_names(question.format, question.fields);
    let hosted = question.field("hosted").as_array().into_iter().flatten();
    let hosted: Vec<_> = hosted.map(|tool| HostedTool::new(question.format, tool.clone())).collect();
    let encoded = question.format.encode_definitions(&definitions, &names, &options).with_hosted(&hosted);
    let report = encoded.report();
    answer.insert("json".to_owned(), encoded.to_value());
    set(answer, "losses", losses(report.losses.iter().map(|loss| &loss.loss)));
    set(answer, "not_strict", report.not_strict.iter().map(|tool| json!(tool.to_string())).collect());
    set(answer, "limits", report.limits.iter().map(|limit| json!(limit.to_string())).collect());
    if let Some(request) = question.field("into").as_object() {
        let choice = serde_json::from_value(question.field("choice").clone()).expect("a tool choice");
        let mut sent = request.clone();
        question.format.set_tools(&mut sent, &encoded, &question.format.encode_tool_config(&choice, &names));
        answer.insert("sent".to_owned(), sent.into());
    }
}

/// Reads a part of a request: definitions, hosted tools, results or the tool choice.
fn request(question: Question<'_>, answer: &mut Fields) {
    let reader = RequestFormat::of(question.format).expect("an API whose requests can be read");
    let payload = question.field("request");
    let names = wire_names(question.format, question.fields);
    let read = |name: &str| match name {
        "definitions" => outcome(&reader.parse_definitions(payload), |definitions| {
            definitions.iter().map(values::written_definition).collect()
        }),
        "hosted" => outcome(&reader.hosted_tools(payload), |tools| json!(tools)),
        "results" => outcome(&reader.parse_results(payload), |results| values::written_results(results)),
        _ => outcome(&reader.parse_tool_config(payload.as_object().expect("a request"), &names), |config| {
            json!(config)
        }),
    };
    for name in ["definitions", "hosted", "results", "choice"] {
        if question.expects(name) {
            answer.insert(name.to_owned(), read(name));
        }
    }
}
