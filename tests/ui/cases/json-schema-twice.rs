use toolkit_ai::{ToolParams, schemars, schemars::JsonSchema};

#[derive(JsonSchema, ToolParams)]
struct Place {
    city: String,
}

fn main() {}
