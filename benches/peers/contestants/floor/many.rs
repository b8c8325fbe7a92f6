use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use std::collections::HashMap;
use std::pin::Pin;

type Outcome = Result<String, serde_json::Error>;
type Start = fn(&str) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>>;
type Tool = (&'static str, &'static str, Schema, Start);

async fn call(name: &str, text: &str) -> String {
    let starts: HashMap<_, _> = tools().into_iter().map(|(name, _, _, start)| (name, start)).collect();
    match starts[name](text).await {
        Ok(output) => output,
        Err(error) => error.to_string(),
    }
}

fn list() {
    for (name, description, schema, _) in tools() {
        println!("{name}: {description} {}", schema.as_value());
    }
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _entered = runtime.enter();
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(name), Some(text)) => println!("{}", runtime.block_on(call(&name, &text))),
        _ => list(),
    }
}

async fn pause() {}
