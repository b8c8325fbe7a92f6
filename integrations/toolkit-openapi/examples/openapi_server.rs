//! A registry as a service over HTTP.
//!
//! ```text
//! cargo run -p toolkit-openapi --all-features --example openapi_server                      # until Ctrl-C
//! cargo run -p toolkit-openapi --all-features --example openapi_server -- 127.0.0.1:8000    # at this address
//! curl http://127.0.0.1:8000/tools/add -H 'content-type: application/json' -d '{"a": 1, "b": 2}'
//! ```
//!
//! Without a terminal, the server ends with standard input. With a variable `TOKEN`, every request needs this token.

#![allow(clippy::print_stdout)]

use std::io::{IsTerminal, Read, stdin};
use std::time::Duration;
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_openapi::server::OpenApiServer;

/// Add two numbers.
#[tool(read_only, idempotent, input_examples = [serde_json::json!({"a": 1, "b": 2})])]
fn add(a: i64, #[param(range = 0..=10)] b: i64) -> i64 {
    a + b
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    city: String,
    degrees: f64,
}

/// Get the weather for a city.
///
/// :param city: The city, in English
#[tool(title = "Weather", read_only, open_world)]
async fn weather(city: String, context: &ToolContext) -> Weather {
    for step in 1..=4 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        context.progress(f64::from(step) / 4.0, format!("station {step}"));
    }
    Weather { city, degrees: 21.5 }
}

/// A folder with folders inside.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Folder {
    /// The name of the folder.
    name: String,
    folders: Vec<Self>,
}

/// Write the names of all folders.
#[tool(read_only)]
fn names(folder: Folder) -> String {
    let mut names = folder.name;
    for inner in folder.folders {
        names = format!("{names} {}", self::names(inner));
    }
    names
}

/// Delete all notes.
#[tool(destructive)]
fn delete_notes() -> &'static str {
    "all notes are gone"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = ToolRegistry::from_tools(tools![add, weather, names, delete_notes])?;
    let permissions = Permissions::new()
        .rule(PermissionRule::deny("this service only reads").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow());
    let dispatcher =
        Dispatcher::new(registry)?.with_timeout(Duration::from_secs(30)).with_middleware(permissions);
    let mut server = OpenApiServer::from(dispatcher)
        .with_name("Example", env!("CARGO_PKG_VERSION"))
        .with_description("Cities are named in English.");
    if let Ok(token) = std::env::var("TOKEN") {
        server = server.with_bearer_token(token);
    }

    let address = std::env::args().nth(1);
    let bound = server.bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    println!("{}", bound.url());
    if stdin().is_terminal() {
        bound.run().await;
    } else {
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let _ = stdin().read_to_end(&mut Vec::new());
            drop(ended);
        });
        bound.run_until(async { drop(end.await) }).await;
    }
    Ok(())
}
