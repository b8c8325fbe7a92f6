//! Runs many conversations at once in each store, and prints the seconds and the number of threads.
//!
//! `cargo run --release -p toolkit-agent-stores --all-features --example load -- 500`. PostgreSQL is measured if
//! `TOOLKIT_POSTGRES` is a connection string.

#![allow(clippy::print_stdout, reason = "the output of the program")]

use serde::Deserialize;
use std::error::Error;
use std::time::Instant;
use tokio::task::JoinSet;
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::{Agent, Sessions};
use toolkit_agent_stores::{FileStore, PostgresStore, SqliteStore};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::ScriptedModel;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Add {
    a: i64,
    b: i64,
}

/// Creates an agent that calls a tool in each of three turns, and then answers.
fn agent() -> Result<Agent, Box<dyn Error + Send + Sync>> {
    let tool = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
    let mut model = ScriptedModel::new();
    for _ in 0..3 {
        model = model.call("add", r#"{"a": 17, "b": 25}"#).then();
    }
    let model = model.text("Done.");
    let tools = ToolRegistry::from_tools([tool])?;
    Ok(Agent::builder(model).tools(tools).build()?)
}

/// Returns the number of threads of this process, or 0 on systems without `/proc`.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

async fn measure(
    name: &str,
    runs: usize,
    store: impl ConversationStore,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let sessions = Sessions::new(store);
    let started = Instant::now();
    let mut running = JoinSet::new();
    for number in 0..runs {
        let sessions = sessions.clone();
        let agent = agent()?;
        running.spawn(async move {
            agent.run("Add.").on(sessions.user("ada").conversation(number.to_string())).await
        });
    }
    let mut most = 0;
    while let Some(ended) = running.join_next().await {
        ended??;
        most = most.max(threads());
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{name}: {runs} runs in {seconds:.2} s, up to {most} threads");
    for number in 0..runs {
        sessions.user("ada").conversation(number.to_string()).delete().await?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let runs = std::env::args().nth(1).map_or(Ok(20), |runs| runs.parse())?;
    let folder = tempfile::tempdir()?;
    measure("memory", runs, MemoryStore::new()).await?;
    measure("SQLite", runs, SqliteStore::open(folder.path().join("a.db")).await?).await?;
    match std::env::var("TOOLKIT_POSTGRES") {
        Ok(server) => measure("PostgreSQL", runs, PostgresStore::connect(&server).await?).await?,
        Err(_) => println!("PostgreSQL: `TOOLKIT_POSTGRES` is not set"),
    }
    measure("files", runs, FileStore::new(folder.path().join("files"))).await?;
    Ok(())
}
