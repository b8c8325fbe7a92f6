//! Twenty tasks for a local model, over three APIs, whole and streamed.
//!
//! Needs a server with all three APIs, such as llama.cpp's, at `TOOLKIT_LOCAL_MODEL`
//! (`http://127.0.0.1:8092`): `cargo test -p toolkit-evals --test local_model --
//! --ignored --nocapture`.
//!
//! For slow models, `TOOLKIT_LOCAL_TASKS=1,6,9` selects tasks, and `TOOLKIT_LOCAL_WAYS=streamed` or `"Chat,
//! whole"` ways. `TOOLKIT_LOCAL_REPETITIONS=3` asks each task three times. Task 20 exceeds 4,096 tokens, for
//! a server with this window.
//!
//! A second test has thirty questions in such a window.
//!
//! Wrong answers are counted, and only errors of the provider, the wire or the loop fail the test.

#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

#[path = "local_model/harder.rs"]
mod harder;

use serde_json::{Value, json};
use std::env;
use std::time::Duration;
use toolkit_agent::compaction::Compaction;
use toolkit_agent::{Agent, AgentError, Conversation, Limits, RunError, RunEvent};
use toolkit_core::{BuildError, ClosureTool, ToolRegistry};
use toolkit_evals::{CallMatch, Eval, Task, Trial, TrialReport};
use toolkit_llm::model::BoxModel;
use toolkit_llm::{ChatModel, FinishReason, Message, ModelOptions, ModelRetry};
use toolkit_llm_http::{Anthropic, HttpLimits, OpenAi};

fn task<const N: usize>(question: &str, calls: [(&str, Value); N], answer: &[&str]) -> Task {
    let task = Task::new("", question).with_call_match(CallMatch::Subset);
    let add = |task: Task, (tool, arguments)| task.with_call(tool, arguments);
    calls.into_iter().fold(task, add).with_answer_containing(answer.iter().copied())
}

fn city(name: &str) -> (&'static str, Value) {
    ("get_weather", json!({"city": name}))
}

fn country(name: &str) -> (&'static str, Value) {
    ("get_population", json!({"country": name}))
}

fn numbers(tool: &str, a: i64, b: i64) -> (&str, Value) {
    (tool, json!({"a": a, "b": b}))
}

fn simple_tasks() -> [Task; 10] {
    [
        task("What is the weather in Paris?", [city("Paris")], &["21"]),
        task("Add 17 and 25 with the tool, then tell me the sum.", [numbers("add", 17, 25)], &["42"]),
        task("Multiply 12 by 12. Use the tool.", [numbers("multiply", 12, 12)], &["144"]),
        task("How many people live in Norway? Use the tool.", [country("Norway")], &["5"]),
        task(
            "Convert 100 USD to EUR with the tool.",
            [("convert_currency", json!({"amount": 100, "from": "USD", "to": "EUR"}))],
            &["90"],
        ),
        task("Weather in Oslo and Rome, please.", [city("Oslo"), city("Rome")], &["21"]),
        task(
            "Use the tools: what is 2 + 3, and what is 4 * 5?",
            [numbers("add", 2, 3), numbers("multiply", 4, 5)],
            &["5", "20"],
        ),
        task(
            "Compare the population of Norway and Sweden. Use the tool for both.",
            [country("Norway"), country("Sweden")],
            &["5", "10"],
        ),
        task(
            "Multiply 6 by 7, and add 10 to the result. Use the tools.",
            [numbers("multiply", 6, 7), numbers("add", 42, 10)],
            &["52"],
        ),
        task(
            "Add 1 and 2, then multiply the sum by 5. Use the tools.",
            [numbers("add", 1, 2), numbers("multiply", 3, 5)],
            &["15"],
        ),
    ]
}

fn tasks() -> Vec<Task> {
    let wanted = env::var("TOOLKIT_LOCAL_TASKS").unwrap_or_default();
    let wanted: Vec<usize> = wanted.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let numbered = simple_tasks()
        .into_iter()
        .chain(harder::tasks())
        .zip(1..)
        .filter(|(_, number)| wanted.is_empty() || wanted.contains(number));
    let with_id = |(mut task, number): (Task, usize)| {
        task.id = number.to_string();
        task
    };
    numbered.map(with_id).collect()
}

fn tools() -> Result<ToolRegistry, BuildError> {
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
    ToolRegistry::from_tools([
        ClosureTool::new("get_weather", "Get the weather of a city", |Place { city }: Place| {
            format!("21 degrees celsius and clear sky in {city}")
        })?,
        ClosureTool::new("add", "Add two integers", |Numbers { a, b }: Numbers| a.saturating_add(b))?,
        ClosureTool::new("multiply", "Multiply two integers", |Numbers { a, b }: Numbers| {
            a.saturating_mul(b)
        })?,
        ClosureTool::new(
            "get_population",
            "Get the population of a country",
            |Country { country }: Country| {
                let millions = if country == "Norway" { 5 } else { 10 };
                format!("{millions} million people live in {country}")
            },
        )?,
        ClosureTool::new("convert_currency", "Convert money", |Money { amount, from, to }: Money| {
            drop(from);
            format!("{} {to}", amount * 0.9)
        })?,
    ])
}

fn models(url: &str) -> [(&'static str, BoxModel); 3] {
    let limits = HttpLimits::default().with_idle(Duration::from_secs(300));
    let openai = OpenAi::new().with_base_url(format!("{url}/v1")).with_limits(limits.clone());
    [
        ("Chat", openai.chat("local").boxed()),
        ("Responses", openai.responses("local").boxed()),
        ("Messages", Anthropic::new().with_base_url(url).with_limits(limits).model("local").boxed()),
    ]
}

fn agent(trial: Trial) -> Result<Agent, AgentError> {
    if let Some(number) = trial.task.id.parse().ok().filter(|number| *number > 10) {
        return harder::agent(&trial, number);
    }
    let agent = Agent::builder(trial.model)
        .tools(tools()?)
        .streaming(trial.model_name.ends_with("streamed"))
        .options(ModelOptions::new().with_temperature(0.0).with_max_output_tokens(160))
        .limits(Limits::default().with_max_model_calls(4).with_max_tool_calls(8))
        .retry(ModelRetry::never());
    Ok(agent.build()?)
}

/// Returns a trial's error, unless it is the model's.
fn protocol_error(trial: &TrialReport) -> Option<String> {
    let transcript = &trial.transcript;
    match &trial.error {
        // Small models may call without end, and fill no form.
        Some(error) if error.starts_with("exceeded") => return None,
        Some(error) if error.starts_with("the answer does not match the requested type") => return None,
        Some(error) => return Some(error.clone()),
        None if transcript.finish == FinishReason::Interrupted => {
            return Some("the answer was cut".to_owned());
        }
        None => {}
    }
    for pair in transcript.messages.windows(2) {
        if let [Message::Assistant(said), next] = pair
            && !said.calls.is_empty()
        {
            let answered = matches!(next, Message::Tool(given) if given.results.len() == said.calls.len());
            if !answered {
                return Some(format!("calls without results: {said:?}"));
            }
        }
    }
    let spent = trial.usage;
    (spent.input_tokens == 0 || spent.output_tokens == 0).then(|| format!("no usage: {spent:?}"))
}

#[tokio::test]
#[ignore = "needs a model server"]
async fn tasks_over_three_apis() {
    let url = env::var("TOOLKIT_LOCAL_MODEL").unwrap_or_else(|_| "http://127.0.0.1:8092".to_owned());
    let repetitions = env::var("TOOLKIT_LOCAL_REPETITIONS").ok().and_then(|text| text.parse().ok());
    let mut eval = Eval::new(tasks()).repetitions(repetitions.unwrap_or(1));
    let wanted = env::var("TOOLKIT_LOCAL_WAYS").unwrap_or_default();
    for (api, model) in models(&url) {
        let ways = ["whole", "streamed"].map(|how| format!("{api}, {how}"));
        for way in ways.into_iter().filter(|way| way.contains(&wanted)) {
            eval = eval.model(way, model.clone());
        }
    }
    let report = eval.run(agent).await;
    let named = |trial: &TrialReport| {
        let error = protocol_error(trial)?;
        Some(format!("{}, task {}: {error}", trial.model, trial.task))
    };
    let errors: Vec<String> = report.trials.iter().filter_map(named).collect();
    println!("\n{report}\n{} protocol errors", errors.len());
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The window, of which the server may have a larger one.
const WINDOW: u64 = 4_096;

#[tokio::test]
#[ignore = "needs a model server"]
async fn thirty_questions_in_a_small_window() {
    let url = env::var("TOOLKIT_LOCAL_MODEL").unwrap_or_else(|_| "http://127.0.0.1:8092".to_owned());
    for (api, model) in models(&url) {
        let agent = Agent::builder(model.clone())
            .instructions("You keep a list for the user. Answer in a few sentences.")
            .tools(tools().unwrap())
            .options(ModelOptions::new().with_temperature(0.0).with_max_output_tokens(160))
            .limits(Limits::default().with_max_model_calls(8).with_max_tool_calls(8))
            .retry(ModelRetry::never())
            .compaction(Compaction::new(WINDOW).with_summary_model(model))
            .build()
            .unwrap();
        let mut conversation = Conversation::new("1");
        let mut compactions = 0;
        let mut failed = 0;
        let mut right = 0;
        let mut errors = Vec::new();
        for number in 1..=30_i64 {
            let note = "Please take your time and think about all entries of the list. ".repeat(6);
            let question =
                format!("{note}What is {number} + {number}? Use the tool `add`, and tell me the sum.");
            let mut run = agent.run(question).on(&mut conversation).stream();
            while let Some(event) = run.next().await {
                match event {
                    Ok(RunEvent::Compacted { summary_error, .. }) => {
                        compactions += 1;
                        failed += u32::from(summary_error.is_some());
                    }
                    Ok(RunEvent::Finished { output, .. }) => {
                        right += u32::from(output.text.contains(&(number * 2).to_string()));
                    }
                    Ok(_) => {}
                    Err(RunError { error: AgentError::Limit(_), .. }) => {}
                    Err(error) => errors.push(format!("{api}, question {number}: {error}")),
                }
            }
        }
        let used = conversation.messages().iter().map(|message| match message {
            Message::Assistant(said) => said.usage.input_tokens,
            _ => 0,
        });
        let most = used.max().unwrap_or_default();
        println!(
            "{api}: {right} of 30 right, {compactions} compactions, {failed} summaries failed, at most {most} tokens"
        );
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        assert!(most <= WINDOW && compactions > 0, "{most} tokens, {compactions} compactions");
    }
}
