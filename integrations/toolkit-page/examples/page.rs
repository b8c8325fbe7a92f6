//! A page over six tools, calls that wait for each other, and two orders of an agent that wait for approval.
//!
//! ```text
//! cargo run -p toolkit-page --all-features --example page -- --serve    # prints an address; open it in a browser
//! cargo run -p toolkit-page --all-features --example page -- --fixed    # also runs the calls that checks expect
//! cargo run -p toolkit-page --all-features --example page -- --many     # 1,000 tools, 100,000 calls, and 1,000 more for each
//!                                                                        # line of the standard input
//! ```

#![allow(clippy::print_stdout)]

use serde_json::json;
use std::error::Error;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::sleep;
use toolkit_ai::agent::runs::{LocalRuns, RunInput, Runs as _};
use toolkit_ai::agent::session::ConversationKey;
use toolkit_ai::agent::{Agent, Sessions};
use toolkit_ai::llm::ScriptedModel;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_ai::{ClosureTool, LiveRegistry, Media};
use toolkit_page::ToolPage;

/// Get the weather for a city.
///
/// Args:
///     city: The city, in English
///     days: How many days, from today
#[tool(namespace = "weather", read_only)]
async fn forecast(city: String, #[param(default = 3, range = 1..=14)] days: u8) -> String {
    sleep(Duration::from_millis(80)).await;
    format!("{city}: clear for {days} days")
}

/// Write lines into a file. Calls for one file run in their order.
#[tool(namespace = "files", lane = "path")]
async fn write(path: String, lines: Vec<String>) -> String {
    sleep(Duration::from_millis(300)).await;
    format!("{} lines in {path}", lines.len())
}

/// Delete a file.
#[tool(namespace = "files", destructive)]
async fn delete(path: String) -> String {
    format!("deleted {path}")
}

/// Compile the project. It runs alone.
#[tool(namespace = "project", exclusive)]
async fn build(context: &ToolContext, #[param(default = false)] release: bool) -> String {
    for step in 1..=4_u8 {
        sleep(Duration::from_millis(120)).await;
        context.progress(f64::from(step) / 4.0, format!("step {step} of 4"));
    }
    format!("built, release: {release}")
}

/// A place of an order.
#[derive(ToolParams)]
struct Address {
    /// Street and number
    street: String,
    /// Five digits
    #[param(pattern = "^[0-9]{5}$")]
    postcode: String,
}

/// How an order is sent.
#[derive(ToolParams)]
enum Shipping {
    /// In three days
    Normal,
    /// Tomorrow
    Express,
}

/// Order a product.
///
/// Args:
///     product: The number of the product
///     pieces: How many
///     to: Where it is sent
///     shipping: How it is sent
///     gifts: Texts for cards, one for each gift
#[tool(namespace = "shop", retries = 2, idempotent)]
async fn order(
    product: u32,
    #[param(default = 1, range = 1..=20)] pieces: u8,
    to: Address,
    shipping: Option<Shipping>,
    #[param(default)] gifts: Vec<String>,
) -> Result<String, String> {
    sleep(Duration::from_millis(40)).await;
    if product == 13 {
        return Err("the warehouse does not answer".to_owned());
    }
    let by = if matches!(shipping, Some(Shipping::Express)) { "express" } else { "normal post" };
    Ok(format!("{pieces} of {product} to {} {} by {by}, {} cards", to.street, to.postcode, gifts.len()))
}

/// Draw a dot.
#[tool(namespace = "drawing", read_only)]
fn dot() -> Media {
    const PNG: &[u8] = &[
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0,
        144, 119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 8, 215, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 24, 221,
        141, 176, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ];
    Media::new("image/png", PNG).with_name("dot.png")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let is_fixed = std::env::args().any(|argument| argument == "--fixed");
    let is_many = std::env::args().any(|argument| argument == "--many");
    let mut tools = ToolRegistry::from_tools(tools![forecast, write, delete, build, order, dot])?;
    let more_tools = if is_many { 1_000 } else { 0 };
    for number in 0..more_tools {
        let name = format!("tool_{number}");
        tools.register(ClosureTool::without_arguments(&name, "Does nothing, as many others.", || ())?)?;
    }
    let rules = Permissions::new()
        .rule(PermissionRule::deny("nothing is deleted here").for_tool("files-delete")?)
        .rule(PermissionRule::allow().for_tool("*")?);
    let dispatcher =
        Dispatcher::new(LiveRegistry::new(tools)?)?.with_max_concurrency(4).with_middleware(rules);
    let page = ToolPage::new(dispatcher).with_title("Example").with_contents(true);
    let page = if is_many { page.with_kept_calls(100_000, 512 << 20) } else { page };
    let dispatcher = page.dispatcher();
    let runs = LocalRuns::new(clerk(&dispatcher)?, Sessions::default());
    for (user, id) in [("ada", "1"), ("grace", "2")] {
        let key = ConversationKey { user, id };
        runs.submit(key, RunInput::new("Order three of number 7 for me.").with_run("first")).await?;
    }
    let page = page.with_runs(runs);
    let bound = page.bind("127.0.0.1:0".parse()?).await?;
    println!("{}", bound.new_address());
    let server = tokio::spawn(bound.run());
    if is_many {
        for _ in 0..100 {
            dispatcher.dispatch(dots()).await;
        }
        println!("ready");
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while lines.next_line().await?.is_some() {
            dispatcher.dispatch(dots()).await;
        }
    } else if is_fixed {
        dispatcher.dispatch(calls()).await;
        println!("ready");
    } else if !std::env::args().any(|argument| argument == "--serve") {
        dispatcher.dispatch(calls()).await;
        return Ok(());
    } else {
        loop {
            dispatcher.dispatch(calls()).await;
            sleep(Duration::from_secs(4)).await;
        }
    }
    server.await?;
    Ok(())
}

fn dots() -> impl Iterator<Item = ToolCall> {
    (0..1_000).map(|number| ToolCall::new(format!("dot_{number}"), "drawing-dot", "{}"))
}

/// Returns an agent that orders what a user asks for, if a person approves.
fn clerk(dispatcher: &Dispatcher) -> Result<Agent, Box<dyn Error>> {
    let arguments = json!({"product": 7, "pieces": 3, "to": address()}).to_string();
    let model = ScriptedModel::new()
        .call("shop-order", arguments.as_str())
        .call("shop-order", arguments.as_str())
        .text("It is ordered.")
        .text("It is ordered.");
    let mut tools = ToolRegistry::new();
    tools.register_provider(dispatcher.clone())?;
    let rules = Permissions::new()
        .rule(PermissionRule::ask("an order costs money").for_tool("shop-order")?)
        .rule(PermissionRule::allow())
        .decide_later();
    Ok(Agent::builder(model).name("clerk").tools(tools).middleware(rules).build()?)
}

fn address() -> serde_json::Value {
    json!({"street": "Long Road 1", "postcode": "12345"})
}

fn calls() -> Vec<ToolCall> {
    let address = address();
    let mut calls = Vec::new();
    for (name, arguments) in [
        ("weather-forecast", json!({"city": "Oslo", "days": "5"})),
        ("files-write", json!({"path": "notes.txt", "lines": ["one"]})),
        ("files-write", json!({"path": "notes.txt", "lines": ["two", "three"]})),
        ("files-delete", json!({"path": "notes.txt"})),
        ("project-build", json!({})),
        ("project-build", json!({"release": true})),
        ("shop-order", json!({"product": 7, "to": address})),
        ("shop-order", json!({"product": 13, "to": address})),
        ("weather-forecats", json!({"city": "Rome"})),
    ] {
        let id = format!("call_{}", calls.len() + 1);
        calls.push(ToolCall::new(id, name, arguments.to_string()));
    }
    calls
}
