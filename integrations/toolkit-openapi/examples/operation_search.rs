//! How well tool search finds operations: `operation_search DOCUMENT QUESTIONS` prints the place of the wanted operation among
//! the tools found for each question, and how many are among the first five.

#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::error::Error;
use std::{env, fs};
use toolkit_openapi::client::OpenApiTools;

/// The tools that a model gets for a question.
const FOUND: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [document, questions] = arguments.as_slice() else {
        println!("usage: operation_search DOCUMENT QUESTIONS");
        return Ok(());
    };
    let document = fs::read_to_string(document)?;
    let questions: Vec<Value> = serde_json::from_str(&fs::read_to_string(questions)?)?;
    let registry = OpenApiTools::from_document(&document)?.registry()?;
    let mut found = 0;
    for question in &questions {
        let text = question["question"].as_str().ok_or("a question has no text")?;
        let endpoint = question["endpoint"].as_str().ok_or("a question has no endpoint")?;
        let wanted = tool_of(&document, endpoint)?;
        let matches = registry.search(text, 50);
        let place = matches.iter().position(|found| found.tool.definition().name.as_str() == wanted);
        found += usize::from(place.is_some_and(|place| place < FOUND));
        println!("{:>3}  {wanted}  {text}", place.map_or("-".to_owned(), |place| (place + 1).to_string()));
    }
    println!("{found} of {} questions find their operation among the first {FOUND} tools", questions.len());
    Ok(())
}

/// Returns the name of the tool for an endpoint, such as `GET /users/{}`. The names of parameters do not matter.
fn tool_of(document: &str, endpoint: &str) -> Result<String, Box<dyn Error>> {
    let wanted = without_names(endpoint);
    let builder = OpenApiTools::builder();
    let toolset = builder
        .only(move |operation| without_names(&format!("{} {}", operation.method, operation.path)) == wanted)
        .read_document(document)?;
    let registry = toolset.registry()?;
    let name = registry.names().next().ok_or_else(|| format!("the document has no `{endpoint}`"))?;
    Ok(name.to_owned())
}

fn without_names(path: &str) -> String {
    let mut is_inside = false;
    path.chars()
        .filter(|c| {
            let was_inside = is_inside;
            is_inside = *c == '{' || is_inside && *c != '}';
            !(was_inside && is_inside)
        })
        .collect()
}
