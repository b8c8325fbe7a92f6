//! The tools of the chat.

use std::time::Duration;
use tokio::time::sleep;
use toolkit_ai::FunctionTool;
use toolkit_ai::prelude::*;

/// Returns all tools.
pub(crate) fn all() -> [FunctionTool; 3] {
    tools![weather, divide, remember]
}

/// Get the weather for a city.
///
/// :param city: The city, in English
#[tool(timeout = "5s")]
async fn weather(city: String, context: &ToolContext) -> String {
    for (step, what) in ["looking for a station", "asking it", "reading"].into_iter().enumerate() {
        context.progress((step as f64 + 1.0) / 4.0, what);
        sleep(Duration::from_millis(120 + 10 * city.len() as u64)).await;
    }
    format!("{city}: clear, {} °C", 12 + city.len() % 10)
}

/// Divide one number by another.
#[tool]
fn divide(dividend: f64, divisor: f64) -> Result<f64, String> {
    if divisor == 0.0 {
        return Err("nothing can be divided by 0".to_owned());
    }
    Ok(dividend / divisor)
}

/// Remember something about the user.
///
/// :param what: The kind of thing, in a word
/// :param value: What to remember
#[tool]
fn remember(what: String, value: String, context: &ToolContext) -> &'static str {
    context.session().set(format!("user:{what}"), value);
    "I will remember it"
}
