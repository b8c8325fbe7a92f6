#![deny(deprecated)]

use toolkit_ai::{ToolParams, tool};

macro_rules! text {
    () => {
        "Greet.\n\nArgs:\n    name: Who is greeted."
    };
}

#[doc = text!()]
#[tool]
fn greet(name: String) -> String {
    name
}

#[doc = text!()]
#[tool]
fn greet_described(
    /// Who.
    name: String,
) -> String {
    name
}

#[doc = text!()]
#[derive(ToolParams)]
struct Guest {
    name: String,
}

fn main() {
    let _ = |guest: Guest| guest.name;
}
