use toolkit_ai::{ToolParams, serde::Deserialize};

#[derive(Deserialize, ToolParams)]
#[serde(crate = "toolkit_ai::serde")]
struct Place {
    city: String,
}

fn main() {}
