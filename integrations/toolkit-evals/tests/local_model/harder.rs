//! Ten harder tasks: steps, corrected arguments, typed answers, teams, and a long conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use toolkit_agent::compaction::Compaction;
use toolkit_agent::{Agent, AgentBuilder, AgentError, AgentOutput, Conversation, Limits, Run, RunAgent};
use toolkit_core::{BuildError, ClosureTool, ToolConfig, ToolError, ToolFilter, ToolParams, ToolRegistry};
use toolkit_evals::{CallMatch, Task, Transcript, Trial};
use toolkit_llm::{Message, ModelOptions, ModelRetry};

const WINDOW: u64 = 4_096;

/// The number of questions, together longer than the window.
const TURNS: usize = 30;

pub(crate) fn tasks() -> [Task; 10] {
    let task = |question: &str| Task::new("", question).with_call_match(CallMatch::Subset);
    [
        task("Use the tools: add 3 and 4, multiply the sum by 2, then add 6 to the product.")
            .with_call("add", json!({"a": 3, "b": 4}))
            .with_call("multiply", json!({"a": 7, "b": 2}))
            .with_call("add", json!({"a": 14, "b": 6}))
            .with_answer_containing(["20"]),
        task("Where is the latest order of the customer Ada? Find the order first, then its status.")
            .with_call("find_order", json!({"customer": "Ada"}))
            .with_call("order_status", json!({"order": "A-17"}))
            .with_answer_containing(["Bergen"]),
        // The date needs another form than in the question.
        task("Book a table for 4 people on December 24, 2026.")
            .with_call("book_table", json!({"date": "2026-12-24", "people": 4}))
            .with_answer_containing(["24"]),
        // The tool refuses names, and says which code to take.
        task("What is the exchange rate of the Euro? Use the tool.")
            .with_call("exchange_rate", json!({"currency": "EUR"}))
            .with_answer_containing(["1.1"]),
        task("Ada Lovelace is 36 years old. She lives in London, in the street Marylebone Road. Her cats are Tom and Kit.")
            .with_check(|transcript| {
                is_answer(transcript, &json!({
                    "name": "Ada Lovelace", "age": 36,
                    "address": {"city": "London", "street": "Marylebone Road"},
                    "cats": ["Tom", "Kit"],
                }))
            }),
        task("In the store are 3 apples, 5 pears and 7 plums.").with_check(|transcript| {
            is_answer(transcript, &json!({"items": {"apples": 3, "pears": 5, "plums": 7}}))
        }),
        task("What is the weather in Oslo? Use the tool.")
            .with_call("get_weather", json!({"city": "Oslo"}))
            .with_check(|transcript| is_answer(transcript, &json!({"city": "Oslo", "celsius": 21.0}))),
        task("I want my money back for invoice 12.")
            .with_call("transfer_to_agent", json!({"agent_name": "billing"}))
            .with_call("refund", json!({"invoice": 12}))
            .with_answer_containing(["12"]),
        task("Ask the statistician how many people live in Norway, and tell me the number.")
            .with_answer_containing(["5"]),
        task("What is the code of the door? Answer with the number only.").with_answer_containing(["4711"]),
    ]
}

/// Compares a typed answer, without regard to case.
fn is_answer(transcript: &Transcript, expected: &Value) -> Result<(), String> {
    let lower = |value: &Value| value.to_string().to_lowercase();
    let answer: Value = serde_json::from_str(&transcript.answer).map_err(|error| error.to_string())?;
    (lower(&answer) == lower(expected)).then_some(()).ok_or_else(|| format!("the answer is {answer}"))
}

#[derive(Debug, Deserialize, Serialize, schemars::JsonSchema)]
struct Address {
    city: String,
    street: String,
}

#[derive(Debug, Deserialize, Serialize, schemars::JsonSchema)]
struct Person {
    name: String,
    age: u32,
    address: Address,
    cats: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize, schemars::JsonSchema)]
struct Stock {
    /// The number of each item, by its name.
    items: BTreeMap<String, u32>,
}

#[derive(Debug, Deserialize, Serialize, schemars::JsonSchema)]
struct Weather {
    city: String,
    celsius: f64,
}

/// An agent whose typed answer becomes JSON.
struct Typed<T>(Agent, PhantomData<fn() -> T>);

impl<T: ToolParams + Serialize + Send + 'static> RunAgent for Typed<T> {
    fn name(&self) -> &str {
        "typed"
    }

    async fn run(&self, conversation: &mut Conversation, _: &Run) -> Result<AgentOutput, AgentError> {
        let question = conversation.messages().last().map(Message::to_text).unwrap_or_default();
        let mut inner = Conversation::default();
        let answer = self.0.run(question).on(&mut inner).typed::<T>().await.map(|answer| answer.value);
        inner.messages().iter().skip(1).for_each(|message| conversation.push(message.clone()));
        let text = serde_json::to_string(&answer?).unwrap();
        Ok(AgentOutput::new(self.name(), text))
    }
}

/// An agent told a secret, other things, and then the question.
struct Long(Agent);

impl RunAgent for Long {
    fn name(&self) -> &str {
        "long"
    }

    async fn run(&self, conversation: &mut Conversation, _: &Run) -> Result<AgentOutput, AgentError> {
        let question = conversation.messages().last().map(Message::to_text).unwrap_or_default();
        let mut inner = Conversation::default();
        self.0.run("Remember: the code of the door is 4711. Answer with OK.").on(&mut inner).await?;
        for turn in 2..TURNS {
            let facts = (0..12).map(|fact| format!("Box {turn}-{fact} is red and weighs {fact} kg."));
            let facts = facts.collect::<Vec<_>>().join(" ");
            self.0.run(format!("Note: {facts} Answer with OK.")).on(&mut inner).await?;
        }
        let output = self.0.run(question).on(&mut inner).await?;
        inner.messages().iter().skip(1).for_each(|message| conversation.push(message.clone()));
        Ok(AgentOutput::new(self.name(), output.text))
    }
}

fn tools(names: &[&str]) -> Result<ToolRegistry, BuildError> {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Customer {
        customer: String,
    }
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Order {
        /// The number of the order, such as B-12.
        order: String,
    }
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Table {
        /// The day, as in 2026-01-31.
        #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
        date: String,
        #[schemars(range(min = 1, max = 8))]
        people: u32,
    }
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Currency {
        currency: String,
    }
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Invoice {
        invoice: u32,
    }
    let own = [
        ClosureTool::new(
            "find_order",
            "Find the latest order of a customer",
            |Customer { customer }: Customer| format!("The latest order of {customer} is A-17"),
        )?,
        ClosureTool::new("order_status", "Get the status of an order", |Order { order }: Order| match order
            .as_str()
        {
            "A-17" => Ok("A-17 is on its way in Bergen".to_owned()),
            _ => Err(ToolError::retry("there is no such order; find the order of the customer first")),
        })?,
        ClosureTool::new("book_table", "Book a table", |Table { date, people }: Table| {
            format!("A table for {people} is booked on {date}")
        })?,
        ClosureTool::new(
            "exchange_rate",
            "Get the rate of a currency in USD",
            |Currency { currency }: Currency| match currency.as_str() {
                "EUR" => Ok("1 EUR is 1.1 USD".to_owned()),
                _ => Err(ToolError::retry("the currency must be a code of three letters, such as EUR")),
            },
        )?,
        ClosureTool::new("refund", "Pay the money of an invoice back", |Invoice { invoice }: Invoice| {
            format!("The money of invoice {invoice} is paid back")
        })?,
    ];
    let mut all = super::tools()?;
    all.merge(ToolRegistry::from_tools(own)?)?;
    Ok(all.filtered(&ToolFilter::new().include(names.iter().copied())?))
}

fn builder(trial: &Trial, name: &str) -> AgentBuilder {
    Agent::builder(trial.model.clone())
        .name(name)
        .streaming(trial.model_name.ends_with("streamed"))
        .options(ModelOptions::new().with_temperature(0.0).with_max_output_tokens(160))
        .limits(Limits::default().with_max_model_calls(6).with_max_tool_calls(8))
        .retry(ModelRetry::never())
}

/// Builds the agent of a task, from 11 on.
pub(crate) fn agent(trial: &Trial, number: usize) -> Result<Agent, AgentError> {
    let with_tools = |names: &[&str]| Ok::<_, AgentError>(builder(trial, "agent").tools(tools(names)?));
    let extracting = || builder(trial, "agent").instructions("Extract the facts of the text.").build();
    Ok(match number {
        11 => with_tools(&["add", "multiply"])?.build()?,
        // A small model would call both at once, with an order that it made up.
        12 => with_tools(&["find_order", "order_status"])?
            .tool_config(ToolConfig::default().with_parallel(false))
            .build()?,
        13 => with_tools(&["book_table"])?.build()?,
        14 => with_tools(&["exchange_rate"])?.build()?,
        15 => Typed::<Person>(extracting()?, PhantomData).into(),
        16 => Typed::<Stock>(extracting()?, PhantomData).into(),
        17 => Typed::<Weather>(with_tools(&["get_weather"])?.build()?, PhantomData).into(),
        18 => {
            let billing = builder(trial, "billing").description("Pays money back").tools(tools(&["refund"])?);
            builder(trial, "desk")
                .instructions("You cannot pay money back yourself: transfer to the agent `billing`.")
                .sub_agent(billing.build()?)
                .build()?
        }
        19 => {
            let statistician = builder(trial, "statistician")
                .description("Knows the population of each country")
                .tools(tools(&["get_population"])?)
                .build()?;
            builder(trial, "agent").tools(ToolRegistry::from_tools([statistician.to_tool()?])?).build()?
        }
        _ => {
            let compaction =
                Compaction::new(WINDOW).with_answer_tokens(160).with_summary_model(trial.model.clone());
            Long(builder(trial, "agent").compaction(compaction).build()?).into()
        }
    })
}
