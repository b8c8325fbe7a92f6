// Words that other crates use are answered with the words of this one.
use toolkit_ai::prelude::*;

#[tool(annotations(read_only = true))]
fn rmcp(a: i64) -> i64 {
    a
}

#[tool(params(a = "A number"), read_only(true), tags = {"a"})]
fn rig(a: i64) -> i64 {
    a
}

#[tool(timeout = Duration::from_secs(3))]
async fn std(#[param(ge = 1, regex = "a", default("x"))] a: String, #[tool(param)] b: i64) -> i64 {
    b
}

#[tool]
fn pydantic(#[arg(long)] a: i64, #[validate(range(min = 1))] b: i64) -> i64 {
    a + b
}

fn main() {}
