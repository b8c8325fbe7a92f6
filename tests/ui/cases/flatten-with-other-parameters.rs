use toolkit_ai::{tool, ToolParams};

#[derive(ToolParams)]
struct Place {
    city: String,
}

#[tool]
fn find(#[param(flatten)] place: Place, limit: u32) -> String {
    format!("{} {limit}", place.city)
}

#[tool]
fn show(#[param(flatten, rename = "where")] place: Place) -> String {
    place.city
}

fn main() {}
