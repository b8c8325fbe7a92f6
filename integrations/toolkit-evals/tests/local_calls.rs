//! How many calls of a local model are right: as written, after coercion, and after error messages.
//!
//! Needs a server with Chat Completions, such as llama.cpp's, at `TOOLKIT_LOCAL_MODEL` (`http://127.0.0.1:8092`):
//! `cargo test -p toolkit-evals --test local_calls -- --ignored --nocapture`.
//!
//! The questions are the Berkeley Function Calling Leaderboard's, in the folder `TOOLKIT_BFCL` or
//! `tests/data/bfcl`. `TOOLKIT_LOCAL_QUESTIONS=40` asks that many, spread evenly, as is every beginning of
//! their order. Tools are in the instructions and calls are text, because the server would constrain calls by
//! a grammar; `TOOLKIT_LOCAL_GRAMMAR=1` has tools as usual. `TOOLKIT_LOCAL_MINUTES=11` sets when the last
//! question is asked. The temperature is 0, and requests are sent in sequence.
//!
//! A question is *accepted* if the tools accept all its calls, of which there are some, and *right* if they
//! are the leaderboard's. A call refused after coercion goes back to the model up to twice, in separate
//! conversations with the messages of the dispatcher, of serde, and with `invalid arguments`.

#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

#[path = "local_calls/serde_words.rs"]
mod serde_words;
#[path = "local_calls/text_tools.rs"]
mod text_tools;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};
use text_tools::TextTools;
use toolkit_ai::DynamicTool;
use toolkit_core::error::ViolationKind;
use toolkit_core::{Dispatcher, ErrorKind, ToolCall, ToolError, ToolRegistry, ToolResult};
use toolkit_evals::{Task, Transcript};
use toolkit_llm::ApiFormat;
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelOptions, ModelRequest, ScriptedModel, ToolMessage,
};
use toolkit_llm_http::{HttpLimits, OpenAi};

const ROUNDS: usize = 2;

/// The longest answer in tokens, enough for every question.
const MAX_TOKENS: u32 = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Ours,
    Serde,
    Bare,
}

const WORDS: [Words; 3] = [Words::Ours, Words::Serde, Words::Bare];

/// A question with its tools, as they are and without coercion.
struct Question {
    task: Task,
    tools: Arc<ToolRegistry>,
    strict: ToolRegistry,
}

impl Question {
    fn new(task: Task) -> Self {
        let tools = |coerce| {
            let list = task.data["tools"].as_array().unwrap();
            let tools = list.iter().map(|tool| {
                let text = |name: &str| tool[name].as_str().unwrap();
                // Tools made of functions refuse unknown arguments.
                let mut schema = tool["parameters"].clone();
                schema["additionalProperties"] = json!(false);
                let made = DynamicTool::new(text("name"), text("description"), schema, |_: Value| "done");
                made.unwrap().with_coerce(coerce)
            });
            ToolRegistry::from_tools(tools).unwrap()
        };
        let (tools, strict) = (Arc::new(tools(true)), tools(false));
        Self { task, tools, strict }
    }

    fn request(&self, messages: &[Message]) -> ModelRequest {
        let options = ModelOptions::new().with_temperature(0.0).with_max_output_tokens(MAX_TOKENS);
        ModelRequest::new(messages.iter().cloned()).with_tools(self.tools.clone()).with_options(options)
    }

    /// Returns the error of a call exactly as the model wrote it.
    fn strict_error(&self, call: &ToolCall) -> Option<ToolError> {
        let wire = self.strict.wire_names(&ApiFormat::OpenAiChat);
        let is_name = |name: &str| name == call.name || wire.spell(name) == call.name;
        if self.strict.names().any(is_name) {
            self.strict.validate(&call.name, call.arguments.as_str()).err()
        } else {
            Some(ToolError::not_found(&call.name, self.strict.names()))
        }
    }

    fn refusal(&self, call: &ToolCall, error: &ToolError, words: Words) -> String {
        let schema = self.tools.get(&call.name).map(|tool| &tool.definition().parameters);
        match (words, schema) {
            (Words::Ours, _) => error.message().to_owned(),
            (Words::Serde, Some(schema)) => {
                let message = serde_words::message(schema, call.arguments.as_str());
                message.unwrap_or_else(|| "invalid arguments".to_owned())
            }
            (Words::Serde, None) => format!("tool `{}` not found", call.name),
            (Words::Bare, _) => "invalid arguments".to_owned(),
        }
    }

    async fn is_right(&self, calls: &[ToolCall]) -> bool {
        let results = calls.iter().map(|call| ToolResult::of(call, Ok("done".into())));
        let results = Message::Tool(ToolMessage::new(results.collect()));
        let message = AssistantMessage::default().with_calls(calls.iter().cloned());
        let messages = [Message::Assistant(message), results];
        let transcript = Transcript::of_messages(&messages, self.tools.clone()).await;
        self.task.score(&transcript).await.iter().all(|score| score.passed)
    }
}

/// Whether calls are accepted and right, at each stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Outcome {
    strict: (bool, bool),
    coerced: (bool, bool),
    /// The outcome after each round, for each kind of words.
    rounds: [[(bool, bool); ROUNDS]; WORDS.len()],
    faults: Vec<&'static str>,
}

async fn ask(model: &impl ChatModel, question: &Question) -> Outcome {
    let user = Message::user(question.task.question.as_str());
    let first = match model.respond(question.request(std::slice::from_ref(&user))).await {
        Ok(response) => response.message,
        Err(error) => panic!("{}: {error}", question.task.id),
    };
    let mut outcome = Outcome::default();
    if first.calls.is_empty() {
        outcome.faults.push("no call");
        println!("{}: no call: {}", question.task.id, first.text.replace('\n', " "));
        return outcome;
    }
    let errors: Vec<Option<ToolError>> = first.calls.iter().map(|call| question.strict_error(call)).collect();
    for (call, error) in first.calls.iter().zip(&errors) {
        let Some(error) = error else { continue };
        outcome.faults.extend(faults(error));
        println!(
            "{}: {} {}: {}",
            question.task.id,
            call.name,
            call.arguments,
            error.message().replace('\n', " ")
        );
    }
    let is_right = question.is_right(&first.calls).await;
    let is_strict = errors.iter().all(Option::is_none);
    outcome.strict = (is_strict, is_strict && is_right);
    let dispatcher = Dispatcher::new(question.tools.clone()).unwrap();
    let results = dispatcher.dispatch(first.calls.clone()).await;
    let is_coerced = results.iter().all(|result| !result.is_error());
    outcome.coerced = (is_coerced, is_coerced && is_right);
    if is_coerced && !is_right {
        outcome.faults.push("accepted, but another call than expected");
        let calls = first.calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
        println!("{}: another call: {}", question.task.id, calls.collect::<Vec<_>>().join(" "));
    }
    if is_coerced {
        outcome.rounds = [[outcome.coerced; ROUNDS]; WORDS.len()];
        return outcome;
    }
    for (words, rounds) in WORDS.into_iter().zip(&mut outcome.rounds) {
        let mut messages = vec![user.clone()];
        let mut answer = first.clone();
        let mut results = results.clone();
        let mut accepted: Vec<ToolCall> = Vec::new();
        for round in 0..ROUNDS {
            for (call, result) in answer.calls.iter().zip(&mut results) {
                match &result.outcome {
                    Ok(_) => accepted.push(call.clone()),
                    Err(error) => {
                        let text = question.refusal(call, error, words);
                        result.outcome = Err(ToolError::new(error.kind(), text));
                    }
                }
            }
            messages.push(Message::Assistant(answer));
            messages.push(Message::Tool(ToolMessage::new(results)));
            answer = match model.respond(question.request(&messages)).await {
                Ok(response) => response.message,
                Err(error) => panic!("{}: {error}", question.task.id),
            };
            results = dispatcher.dispatch(answer.calls.clone()).await;
            let is_accepted = !results.is_empty() && results.iter().all(|result| !result.is_error());
            if is_accepted || answer.calls.is_empty() {
                let is_right = is_accepted && {
                    let mut calls = accepted.clone();
                    calls.extend(answer.calls.iter().cloned());
                    question.is_right(&answer.calls).await || question.is_right(&calls).await
                };
                rounds[round..].fill((is_accepted, is_right));
                break;
            }
        }
    }
    outcome
}

fn faults(error: &ToolError) -> Vec<&'static str> {
    match error.kind() {
        ErrorKind::NotFound => vec!["unknown tool"],
        ErrorKind::InvalidJson => vec!["invalid JSON"],
        _ => {
            let kinds = error.violations().iter().map(|violation| match violation.kind {
                ViolationKind::Missing => "missing argument",
                ViolationKind::Unknown => "invented argument",
                ViolationKind::WrongType => "value of another type",
                ViolationKind::Constraint => "value that is not allowed",
                _ => "other violation",
            });
            kinds.collect()
        }
    }
}

fn table(outcomes: &[Outcome]) -> String {
    let mut table = "| calls | accepted | right |\n| --- | --- | --- |\n".to_owned();
    let mut row = |name: &str, stage: &dyn Fn(&Outcome) -> (bool, bool)| {
        let accepted = outcomes.iter().filter(|outcome| stage(outcome).0).count();
        let right = outcomes.iter().filter(|outcome| stage(outcome).1).count();
        table.push_str(&format!("| {name} | {accepted} of {n} | {right} of {n} |\n", n = outcomes.len()));
    };
    row("as written, strict validation", &|outcome| outcome.strict);
    row("after coercion", &|outcome| outcome.coerced);
    for (index, words) in WORDS.into_iter().enumerate() {
        let name = match words {
            Words::Ours => "our messages",
            Words::Serde => "serde's messages (control)",
            Words::Bare => "`invalid arguments` (control)",
        };
        row(&format!("after one round of {name}"), &|outcome| outcome.rounds[index][0]);
        row(&format!("after two rounds of {name}"), &|outcome| outcome.rounds[index][1]);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    outcomes
        .iter()
        .flat_map(|outcome| &outcome.faults)
        .for_each(|fault| *counts.entry(fault).or_default() += 1);
    table.push_str("\n| fault of a first answer | times |\n| --- | --- |\n");
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.iter().for_each(|(fault, count)| table.push_str(&format!("| {fault} | {count} |\n")));
    table
}

fn questions(folder: &Path) -> Vec<Task> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files.iter().flat_map(|path| Task::from_json_lines(&fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// Returns `count` evenly spread items, in an order with evenly spread beginnings.
fn sample<T: Clone>(items: &[T], count: usize) -> Vec<T> {
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
    let count = count.clamp(1, items.len());
    let mut order: Vec<usize> = (0..count).collect();
    let place = |index: &usize| (*index as f64 * GOLDEN_RATIO).fract();
    order.sort_by(|a, b| place(a).total_cmp(&place(b)));
    order.into_iter().map(|index| items[index * items.len() / count].clone()).collect()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/bfcl")
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test]
#[ignore = "needs a model server"]
async fn calls_as_written_and_after_messages() {
    let url = env::var("TOOLKIT_LOCAL_MODEL").unwrap_or_else(|_| "http://127.0.0.1:8092".to_owned());
    let limits = HttpLimits::default().with_idle(Duration::from_secs(300));
    let model = OpenAi::new().with_base_url(format!("{url}/v1")).with_limits(limits).chat("local");
    let model = match env::var("TOOLKIT_LOCAL_GRAMMAR") {
        Ok(_) => model.boxed(),
        Err(_) => TextTools(model).boxed(),
    };
    let all = questions(&env::var("TOOLKIT_BFCL").map_or_else(|_| data(), PathBuf::from));
    let end = Instant::now() + Duration::from_secs(60 * number("TOOLKIT_LOCAL_MINUTES", 24 * 60));
    let mut outcomes = Vec::new();
    for task in sample(&all, number("TOOLKIT_LOCAL_QUESTIONS", 40) as usize) {
        if Instant::now() > end {
            println!("no time for further questions");
            break;
        }
        outcomes.push(ask(&model, &Question::new(task)).await);
    }
    println!("\n{}", table(&outcomes));
}

#[tokio::test]
async fn each_stage_is_counted() {
    let task = || {
        let line = json!({"id": "q", "question": "Area?", "calls": [{"name": "geo.area", "arguments": {"base": 10}}],
            "tools": [{"name": "geo.area", "description": "", "parameters": {"type": "object",
                "properties": {"base": {"type": "integer"}}, "required": ["base"]}}]});
        Question::new(Task::from_json_lines(&line.to_string()).unwrap().remove(0))
    };
    let script = |calls: &[(&str, &str)]| {
        let add =
            |model: ScriptedModel, (name, arguments): &(&str, &str)| model.call(*name, *arguments).then();
        calls.iter().fold(ScriptedModel::new(), add)
    };
    let ask = async |calls: &[(&str, &str)]| ask(&script(calls), &task()).await;
    let both = (true, true);
    let accepted = (true, false);
    let none = (false, false);

    let right = ("geo_area", r#"{"base": 10}"#);
    let outcome = ask(&[right]).await;
    assert_eq!((outcome.strict, outcome.coerced, outcome.rounds), (both, both, [[both; 2]; 3]));

    let outcome = ask(&[("geo.area", r#"{"base": "10"}"#)]).await;
    assert_eq!((outcome.strict, outcome.coerced, outcome.rounds), (none, both, [[both; 2]; 3]));
    assert_eq!(outcome.faults, ["value of another type"]);

    let outcome = ask(&[("geo.area", r#"{"base": 11}"#)]).await;
    assert_eq!((outcome.strict, outcome.coerced), (accepted, accepted));

    // The first words help at once, the second after two rounds, the third never.
    let wrong = ("geo.area", r#"{"height": 10}"#);
    let outcome = ask(&[wrong, right, wrong, right, ("area", "{}"), wrong]).await;
    assert_eq!((outcome.strict, outcome.coerced), (none, none));
    assert_eq!(outcome.rounds, [[both, both], [none, both], [none, none]]);
    assert_eq!(outcome.faults, ["invented argument", "missing argument"]);

    let question = Question::new(questions(&data()).remove(0));
    let outcome = self::ask(&ScriptedModel::new().text("I do not know."), &question).await;
    assert_eq!((outcome.strict, outcome.faults), (none, vec!["no call"]));

    let table = table(&[Outcome { coerced: both, faults: vec!["no call"], ..Outcome::default() }]);
    assert!(table.contains("| after coercion | 1 of 1 | 1 of 1 |\n"), "{table}");
    assert!(table.ends_with("| no call | 1 |\n"), "{table}");
}

#[test]
fn refusals_differ_in_their_words_only() {
    let line = json!({"id": "q", "question": "?", "calls": [], "tools": [{"name": "area", "description": "",
        "parameters": {"type": "object", "properties": {"base": {"type": "integer"}}, "required": ["base"]}}]});
    let question = Question::new(Task::from_json_lines(&line.to_string()).unwrap().remove(0));
    let call = ToolCall::new("c", "area", r#"{"base": "x"}"#);
    let error = question.tools.validate(&call.name, call.arguments.as_str()).unwrap_err();
    let texts = WORDS.map(|words| question.refusal(&call, &error, words));
    assert!(texts[0].contains("`base`"), "{}", texts[0]);
    assert_eq!(texts[1], "invalid type: string \"x\", expected i64 at line 1 column 12");
    assert_eq!(texts[2], "invalid arguments");
}

#[test]
fn questions_are_taken_at_equal_distances() {
    assert_eq!(sample(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4), [0, 5, 2, 7]);
    assert_eq!(sample(&[0, 1], 9), [0, 1]);
    let all = questions(&data());
    assert!(all.len() > 30 && all.iter().all(|task| task.calls.is_some()));
}
