//! Ten tasks with tools for a local model, over three APIs, whole and streamed.
//!
//! Needs a server with all three APIs, such as llama.cpp's, at `TOOLKIT_LOCAL_MODEL` (`http://127.0.0.1:8092`):
//! `cargo test -p toolkit-agent --features anthropic,openai --test local_model -- --ignored --nocapture`.
//!
//! `TOOLKIT_LOCAL_TASKS=1,6,9` selects tasks, for slow models.
//!
//! Wrong answers of the model are counted; only errors of the provider, the wire or the loop fail the test.

#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolkit_agent::clients::{Anthropic, HttpLimits, OpenAi};
use toolkit_agent::{
    Agent, AgentBuilder, AgentError, FinishReason, Limits, Message, ModelOptions, ModelRetry, RunOutput,
};
use toolkit_core::{BuildError, ClosureTool, ToolRegistry};

/// A task, its expected tool calls, and the expected parts of its answer.
struct Task {
    prompt: &'static str,
    tools: &'static [&'static str],
    answer: &'static [&'static str],
}

const fn task(prompt: &'static str, tools: &'static [&'static str], answer: &'static [&'static str]) -> Task {
    Task { prompt, tools, answer }
}

const TASKS: [Task; 10] = [
    // One call.
    task("What is the weather in Paris?", &["get_weather Paris"], &["21"]),
    task("Add 17 and 25 with the tool, then tell me the sum.", &["add 17 25"], &["42"]),
    task("Multiply 12 by 12. Use the tool.", &["multiply 12 12"], &["144"]),
    task("How many people live in Norway? Use the tool.", &["get_population Norway"], &["5"]),
    task("Convert 100 USD to EUR with the tool.", &["convert_currency 100 USD EUR"], &["90"]),
    // Several calls at once.
    task("Weather in Oslo and Rome, please.", &["get_weather Oslo", "get_weather Rome"], &["21"]),
    task("Use the tools: what is 2 + 3, and what is 4 * 5?", &["add 2 3", "multiply 4 5"], &["5", "20"]),
    task(
        "Compare the population of Norway and Sweden. Use the tool for both.",
        &["get_population Norway", "get_population Sweden"],
        &["5", "10"],
    ),
    // One after another.
    task(
        "Multiply 6 by 7, and add 10 to the result. Use the tools.",
        &["multiply 6 7", "add 42 10"],
        &["52"],
    ),
    task("Add 1 and 2, then multiply the sum by 5. Use the tools.", &["add 1 2", "multiply 3 5"], &["15"]),
];

/// Returns the selected tasks with their numbers.
fn tasks() -> Vec<(usize, &'static Task)> {
    let wanted = env::var("TOOLKIT_LOCAL_TASKS").unwrap_or_default();
    let wanted: Vec<usize> = wanted.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let numbered = TASKS.iter().enumerate().map(|(at, task)| (at + 1, task));
    numbered.filter(|(number, _)| wanted.is_empty() || wanted.contains(number)).collect()
}

type Ran = Arc<Mutex<Vec<String>>>;

/// Creates the tools and the log of their calls.
fn tools() -> Result<(ToolRegistry, Ran), BuildError> {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Place {
        city: String,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Country {
        country: String,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Numbers {
        a: i64,
        b: i64,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Money {
        amount: f64,
        from: String,
        to: String,
    }
    let ran = Ran::default();
    let note = || {
        let ran = ran.clone();
        move |call: String| ran.lock().unwrap_or_else(PoisonError::into_inner).push(call)
    };
    let (weather, add, multiply, population, convert) = (note(), note(), note(), note(), note());
    let tools = ToolRegistry::from_tools([
        ClosureTool::new("get_weather", "Get the weather of a city", move |Place { city }: Place| {
            weather(format!("get_weather {city}"));
            format!("21 degrees celsius and clear sky in {city}")
        })?,
        ClosureTool::new("add", "Add two integers", move |Numbers { a, b }: Numbers| {
            add(format!("add {a} {b}"));
            a.saturating_add(b)
        })?,
        ClosureTool::new("multiply", "Multiply two integers", move |Numbers { a, b }: Numbers| {
            multiply(format!("multiply {a} {b}"));
            a.saturating_mul(b)
        })?,
        ClosureTool::new(
            "get_population",
            "Get the population of a country",
            move |Country { country }: Country| {
                let millions = if country == "Norway" { 5 } else { 10 };
                population(format!("get_population {country}"));
                format!("{millions} million people live in {country}")
            },
        )?,
        ClosureTool::new("convert_currency", "Convert money", move |Money { amount, from, to }: Money| {
            convert(format!("convert_currency {amount} {from} {to}"));
            format!("{} {to}", amount * 0.9)
        })?,
    ])?;
    Ok((tools, ran))
}

#[derive(Debug, Clone, Copy)]
enum Api {
    Chat,
    Responses,
    Messages,
}

impl Api {
    fn agent(self, url: &str) -> AgentBuilder {
        let limits = HttpLimits::default().with_idle(Duration::from_secs(300));
        let openai = OpenAi::new().with_base_url(format!("{url}/v1")).with_limits(limits.clone());
        match self {
            Self::Chat => Agent::builder(openai.chat("local")),
            Self::Responses => Agent::builder(openai.responses("local")),
            Self::Messages => {
                Agent::builder(Anthropic::new().with_base_url(url).with_limits(limits).model("local"))
            }
        }
    }
}

/// Returns the error of a run, unless it is the model's.
fn protocol_error(ended: &Result<RunOutput, AgentError>) -> Option<String> {
    let output = match ended {
        Ok(output) => output,
        // Small models may call without end.
        Err(AgentError::Limit(_)) => return None,
        Err(error) => return Some(error.to_string()),
    };
    if output.finish == FinishReason::Interrupted {
        return Some("the answer was cut".to_owned());
    }
    for pair in output.messages.windows(2) {
        if let [Message::Assistant(said), next] = pair
            && !said.calls.is_empty()
        {
            let answered = matches!(next, Message::Tool(given) if given.results.len() == said.calls.len());
            if !answered {
                return Some(format!("calls without results: {said:?}"));
            }
        }
    }
    let spent = output.usage;
    (spent.input_tokens == 0 || spent.output_tokens == 0).then(|| format!("no usage: {spent:?}"))
}

#[tokio::test]
#[ignore = "needs a model server"]
async fn ten_tasks_over_three_apis() {
    let url = env::var("TOOLKIT_LOCAL_MODEL").unwrap_or_else(|_| "http://127.0.0.1:8092".to_owned());
    let mut errors = Vec::new();
    let tasks = tasks();
    let mut table = vec![
        "| API | asked | tasks | called right | solved | model calls | tool calls | seconds |".to_owned(),
    ];
    table.push(format!("|{}", " --- |".repeat(8)));
    for api in [Api::Chat, Api::Responses, Api::Messages] {
        for streaming in [false, true] {
            let (mut right, mut solved, mut model_calls, mut tool_calls) = (0, 0, 0, 0);
            let started = Instant::now();
            let how = if streaming { "streamed" } else { "whole" };
            for (number, task) in &tasks {
                let (tools, ran) = tools().unwrap();
                let agent = api
                    .agent(&url)
                    .tools(tools)
                    .streaming(streaming)
                    .options(ModelOptions::new().with_temperature(0.0).with_max_output_tokens(160))
                    .limits(Limits::default().with_max_model_calls(4).with_max_tool_calls(8))
                    .retry(ModelRetry::never())
                    .build()
                    .unwrap();
                let ended = agent.run(task.prompt).await;
                errors.extend(
                    protocol_error(&ended).map(|error| format!("{api:?}, {how}, `{}`: {error}", task.prompt)),
                );
                let ran = ran.lock().unwrap().clone();
                let is_right = task.tools.iter().all(|call| ran.iter().any(|done| done == call));
                right += usize::from(is_right);
                let mut is_solved = false;
                if let Ok(output) = ended {
                    is_solved = is_right && task.answer.iter().all(|part| output.text.contains(part));
                    model_calls += output.model_calls;
                    tool_calls += output.tool_calls;
                }
                solved += usize::from(is_solved);
                println!("{api:?}, {how}, task {number}: called {ran:?}, solved: {is_solved}");
            }
            let (count, seconds) = (tasks.len(), started.elapsed().as_secs());
            table.push(format!(
                "| {api:?} | {how} | {count} | {right} | {solved} | {model_calls} | {tool_calls} | {seconds} |"
            ));
        }
    }
    println!("\n{}\n\n{} protocol errors", table.join("\n"), errors.len());
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
