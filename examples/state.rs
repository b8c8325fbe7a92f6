//! State for tools: found by type, never seen by the model.
//!
//! Run `cargo run --example state`.

#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use toolkit_ai::prelude::*;

/// It is only read, without a lock.
struct Prices(BTreeMap<&'static str, u32>);

/// Simultaneous calls change it, so it has a lock, and no order.
type Basket = Mutex<BTreeSet<String>>;

/// Put something into the basket.
///
/// :param article: What
#[tool]
fn put(
    article: String,
    #[state] prices: &Prices,
    #[state] basket: Arc<Basket>,
    context: &ToolContext,
) -> Result<String, String> {
    let Some(price) = prices.0.get(article.as_str()) else {
        let known: Vec<&str> = prices.0.keys().copied().collect();
        return Err(format!("there is no {article}; there is {}", known.join(", ")));
    };
    let mut basket = basket.lock().map_err(|_| "the basket is broken")?;
    basket.insert(article);
    Ok(format!("`{}` took it for {price} cents", context.tool_name()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = || ToolRegistry::from_tools(tools![put]);
    if let Err(error) = Dispatcher::new(tools()?) {
        println!("Without states no dispatcher is made:\n{error}\n");
    }

    let basket = Arc::new(Basket::default());
    let prices = Prices(BTreeMap::from([("bread", 250), ("milk", 120)]));
    let dispatcher = Dispatcher::new(tools()?.with_state(prices).with_shared_state(basket.clone()))?;
    let calls = ["bread", "cake", "milk"].map(|article| {
        ToolCall::new(format!("call of {article}"), "put", format!(r#"{{"article": "{article}"}}"#))
    });
    for result in dispatcher.dispatch(calls).await {
        match result.outcome {
            Ok(output) => println!("done:   {}", output.to_text()),
            Err(error) => println!("failed: {}", error.message()),
        }
    }
    println!("The basket: {:?}", basket.lock().map_err(|_| "the basket is broken")?);
    Ok(())
}
