//! Calls operations of a document by hand: `openapi_calls DOCUMENT BASE_URL`.
//!
//! First prints a line of JSON for each operation: its id, its tool and the names of its arguments. Then reads calls from
//! the standard input, a line of JSON each with `tool` and `arguments`, and prints a line with `output` or `error`.
#![allow(clippy::print_stdout)]

use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::{BufRead, stdin};
use std::sync::{Arc, Mutex, PoisonError};
use toolkit_ai::{State, ToolContext, ToolName, ToolProvider};
use toolkit_openapi::client::{Attachments, HttpLimits, Namespaces, OpenApiTools};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(document), Some(base_url)) = (arguments.next(), arguments.next()) else {
        println!("usage: openapi_calls DOCUMENT BASE_URL");
        return Ok(());
    };
    let ids: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = ids.clone();
    let toolset = OpenApiTools::builder()
        .namespaces(Namespaces::None)
        .base_url(base_url)
        .limits(HttpLimits::default())
        .only(move |operation| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(operation.id.to_owned());
            true
        })
        .read_document(&fs::read_to_string(document)?)?;
    for issue in toolset.issues() {
        println!("{}", json!({"issue": issue.to_string()}));
    }
    let ids = ids.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let tools = toolset.tools();
    if ids.len() != tools.len() {
        return Err(format!("{} of {} operations are tools", tools.len(), ids.len()).into());
    }
    for (id, tool) in ids.iter().zip(&tools) {
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let names: Vec<&String> = properties.into_iter().flatten().map(|(name, _)| name).collect();
        println!("{}", json!({"operation": id, "tool": tool.name.as_str(), "arguments": names}));
    }
    println!("{}", json!({"tools": tools.len()}));

    let registry = toolset.registry()?;
    let state = Arc::new(State::new().with(Attachments::new().with("note.txt", "text/plain", "a note")));
    for line in stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        let name = call["tool"].as_str().unwrap_or_default();
        let context = ToolContext::new(ToolName::new(name)?).with_state(state.clone());
        let arguments = call["arguments"].to_string();
        let outcome = match registry.get(name) {
            Some(tool) => match tool.validate(&arguments, &context) {
                Ok(()) => tool.call(&arguments, &context).await.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            },
            None => Err("there is no such tool".to_owned()),
        };
        match outcome {
            Ok(output) => println!("{}", json!({"output": output.to_text(), "message": output.message()})),
            Err(error) => println!("{}", json!({ "error": error })),
        }
    }
    Ok(())
}
