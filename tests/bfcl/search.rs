//! How often a question's words find its tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolkit_ai::{Tool, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolOutput, ToolRegistry};

/// The percentage of these files' questions with their tool in the first five, as `bm25` reached with English
/// stemming and stop words on all tools.
const FLOORS: [(&str, usize); 4] =
    [("live_simple", 59), ("live_multiple", 72), ("simple", 91), ("multiple", 91)];

struct Listed(ToolDefinition);

impl Tool for Listed {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

/// Prints the table, and returns the number of files below their floor.
pub(crate) fn check(
    files: &[(String, PathBuf)],
    say: &mut impl FnMut(String) -> Result<(), String>,
) -> Result<usize, String> {
    let mut tools = BTreeMap::new();
    let mut questions = Vec::new();
    for (file, path) in files {
        let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let question: Value = serde_json::from_str(line).map_err(|error| format!("{file}: {error}"))?;
            for tool in question["tools"].as_array().into_iter().flatten() {
                let tool = definition(tool).map_err(|error| format!("{file}: {error}"))?;
                tools.entry(tool.name.as_str().to_owned()).or_insert(tool);
            }
            questions.push((file, question));
        }
    }
    let registry =
        ToolRegistry::from_tools(tools.into_values().map(Listed)).map_err(|error| error.to_string())?;
    say(format!("\nsearch among {} tools, found as 1st, in the first 5, in the first 10:", registry.len()))?;
    let mut below = 0;
    for (file, _) in files {
        let of_file = questions.iter().filter(|(name, _)| *name == file).map(|(_, question)| question);
        let found = hits(&registry, &of_file.collect::<Vec<_>>());
        let [asked, first, five, ten] = found;
        let percent = |hits: usize| 100.0 * hits as f64 / asked.max(1) as f64;
        let floor = FLOORS.iter().find(|(name, _)| file.starts_with(name)).map(|(_, floor)| *floor);
        let floor_text = floor.map_or(String::new(), |floor| format!(", at least {floor} %"));
        let [first_in, five_in, ten_in] = [first, five, ten].map(percent);
        say(format!("  {file}: {first_in:.1} / {five_in:.1} / {ten_in:.1} % of {asked}{floor_text}"))?;
        below += usize::from(floor.is_some_and(|floor| five * 100 < floor * asked));
    }
    Ok(below)
}

fn definition(tool: &Value) -> Result<ToolDefinition, String> {
    let text = |name: &str| tool[name].as_str().unwrap_or_default();
    let name = ToolName::new(text("name")).map_err(|error| error.to_string())?;
    Ok(ToolDefinition::new(name, text("description"), tool["parameters"].clone()))
}

/// The number of questions, and of those with a needed tool in the first one, five and ten.
fn hits(registry: &ToolRegistry, questions: &[&Value]) -> [usize; 4] {
    let mut hits = [0; 4];
    for question in questions {
        let calls = question["calls"].as_array().map_or(&[][..], Vec::as_slice);
        let is_needed = |name: &str| calls.iter().any(|call| call["name"] == name);
        let found = registry.search(question["question"].as_str().unwrap_or_default(), 10);
        let place = found.iter().position(|found| is_needed(found.tool.definition().name.as_str()));
        hits[0] += 1;
        for (at, most) in [1, 5, 10].into_iter().enumerate() {
            hits[at + 1] += usize::from(place.is_some_and(|place| place < most));
        }
    }
    hits
}
