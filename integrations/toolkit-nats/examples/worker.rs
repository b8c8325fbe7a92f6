//! A worker: serves two tools until it is asked to end, or for two seconds in this example.
//!
//! `cargo run -p toolkit-nats --all-features --example worker -- nats://127.0.0.1:4222` joins the fleet of a running server
//! and serves until SIGTERM. Without an address, the example starts a server for itself.

#![allow(clippy::print_stdout, reason = "the output of the program")]

mod local_server;

use local_server::LocalServer;
use std::error::Error;
use std::time::Duration;
use toolkit_ai::prelude::*;
use toolkit_nats::{Fleet, Worker};

/// Add two numbers.
#[tool(idempotent)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Count down from a number of steps, and report each of them.
#[tool]
async fn count_down(steps: u32, context: &ToolContext) -> String {
    for step in 0..steps {
        context.progress(f64::from(step) / f64::from(steps), format!("step {step}"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "done".to_owned()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let worker = Worker::new(ToolRegistry::from_tools(tools![add, count_down])?)?.with_max_calls(64);
    if let Some(address) = std::env::args().nth(1) {
        worker.serve(&Fleet::connect(&address).await?).await?;
        return Ok(());
    }
    let Some(server) = LocalServer::start() else { return Ok(()) };
    let worker = worker.start(&Fleet::connect(&server.address).await?).await?;
    println!("the worker {} serves at {}", worker.id(), server.address);
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("{:?}", worker.statistics());
    worker.drain().await;
    Ok(())
}
