//! Methods as tools: two values of one type, each in its own namespace.
//!
//! Run `cargo run --example toolset`.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::{AdaptedTool, ToolName};

struct Account {
    cents: AtomicI64,
}

/// An account.
#[toolset]
impl Account {
    /// Pay in, and return the balance.
    #[tool]
    fn pay_in(&self, #[param(range = 1..=100_000)] cents: i64) -> i64 {
        self.cents.fetch_add(cents, Ordering::Relaxed) + cents
    }

    /// Read the balance.
    #[tool(read_only)]
    fn balance(&self) -> i64 {
        self.cents.load(Ordering::Relaxed)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = ToolRegistry::new();
    for (namespace, cents) in [("household", 5_000), ("travel", 0)] {
        let account = Arc::new(Account { cents: AtomicI64::new(cents) });
        for tool in account.tools() {
            let name = ToolName::qualified(namespace, tool.definition().name.method_name(), Separator::Dash)?;
            registry.register(AdaptedTool::from_arc(tool).with_name(name))?;
        }
    }
    for definition in registry.iter_definitions() {
        println!("{:<20} {}", definition.name, definition.description);
    }

    for (tool, arguments) in [
        ("travel-pay_in", r#"{"cents": 1200}"#),
        ("travel-pay_in", r#"{"cents": 0}"#),
        ("travel-balance", "{}"),
        ("household-balance", "{}"),
    ] {
        match registry.call(tool, arguments).await {
            Ok(output) => println!("{tool} {arguments}: {}", output.to_text()),
            Err(error) => println!("{tool} {arguments}: {}", error.message()),
        }
    }
    Ok(())
}
