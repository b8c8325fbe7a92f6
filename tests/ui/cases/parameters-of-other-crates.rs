// Parameters as axum and rmcp write them.
use std::sync::Arc;
use toolkit_ai::prelude::*;

struct Db;
struct State<T>(T);
struct Parameters<T>(T);

#[derive(ToolParams)]
struct Query {
    a: i64,
}

#[tool]
fn axum(State(db): State<Db>) {}

#[tool]
fn rmcp(Parameters(Query { a }): Parameters<Query>) {}

#[tool]
fn context(context: Arc<ToolContext>, run: &toolkit_ai::RunContext) {}

fn main() {}
