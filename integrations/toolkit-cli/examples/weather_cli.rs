//! A command line for four tools, with approvals, a server and an entry in the files of clients.
//!
//! ```text
//! cargo run -p toolkit-cli --all-features --example weather_cli -- list
//! cargo run -p toolkit-cli --all-features --example weather_cli -- call weather-forecast --city Rome --days 2
//! cargo run -p toolkit-cli --all-features --example weather_cli -- serve mcp
//! ```

use std::process::ExitCode;
use std::time::Duration;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};
use toolkit_ai::{Media, ToolTag};
use toolkit_cli::CommandLine;

/// Get the weather for a city.
///
/// Args:
///     city: The city, in English
///     days: How many days, from today
///     units: The units of the temperatures
#[tool(namespace = "weather", read_only)]
fn forecast(
    city: &str,
    #[param(default = 3, range = 1..=14)] days: u8,
    units: Option<Units>,
) -> Result<Value, String> {
    if city == "Atlantis" {
        return Err("there is no station in Atlantis; there is Rome, Oslo".to_owned());
    }
    let warmest = if matches!(units, Some(Units::Fahrenheit)) { 75 } else { 24 };
    Ok(json!({"city": city, "days": days, "sky": "clear", "warmest": warmest}))
}

/// The units of temperatures.
#[derive(Debug, Clone, Copy, ToolParams)]
#[serde(rename_all = "lowercase")]
enum Units {
    Celsius,
    Fahrenheit,
}

/// A place on a map.
#[derive(Debug, ToolParams)]
struct Place {
    /// Degrees to the north
    lat: f64,
    /// Degrees to the east
    lon: f64,
}

/// Draw a map of the rain around a place.
///
/// Args:
///     place: The middle of the map
///     layers: What the map shows
///     format: The words of the legend
#[tool(namespace = "weather", read_only)]
async fn map(
    place: Place,
    #[param(default)] layers: Vec<String>,
    format: Option<String>,
    context: &ToolContext,
) -> ToolOutput {
    context.progress(0.5, "drawing");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let legend = format.unwrap_or_else(|| "rain".to_owned());
    let picture = Media::new("image/png", b"not really a picture").with_name("map.png");
    ToolOutput::text(format!("{legend} at {}, {}: {}", place.lat, place.lon, layers.join(", ")))
        .with_content(picture)
}

/// Send an alarm to all subscribers of a city.
///
/// Args:
///     city: The city, in English
///     urgent: Whether telephones ring
///     reply_to: Where answers are sent
#[tool(destructive)]
fn alarm(
    city: &str,
    #[param(default)] urgent: bool,
    #[param(format = "email")] reply_to: Option<String>,
) -> String {
    let copy = reply_to.map(|address| format!(", answers go to {address}")).unwrap_or_default();
    format!("The alarm for {city} is sent{}{copy}.", if urgent { ", and telephones ring" } else { "" })
}

/// Wait.
#[tool]
async fn wait(seconds: f64) -> &'static str {
    tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 60.0))).await;
    "done"
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let rules = Permissions::new()
        .rule(PermissionRule::ask("telephones may ring").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow())
        .decide_later(); // the command line asks
    let dispatcher = Dispatcher::new(tools![forecast, map, alarm, wait])?.with_middleware(rules.clone());
    let line = CommandLine::new(dispatcher).with_name("weather").with_version("1.2.0");
    #[cfg(feature = "chat")]
    let line = {
        use toolkit_ai::agent::Agent;
        use toolkit_ai::llm::ScriptedModel;

        // A program with a key asks a real model here.
        let model = ScriptedModel::every_tool();
        line.with_agent(Agent::builder(model).tools(tools![forecast, alarm]).middleware(rules).build()?)
    };
    Ok(line.with_about("The weather, for people, models and programs.").run().await)
}
