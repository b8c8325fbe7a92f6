use std::future::Future;
use std::pin::Pin;
use toolkit_ai::tool;

#[tool]
fn add(a: i64, b: i64) -> impl Future<Output = i64> + Send {
    async move { a + b }
}

#[tool]
fn wait() -> Pin<Box<dyn Future<Output = Vec<u8>> + Send>> {
    Box::pin(async { Vec::new() })
}

fn main() {}
