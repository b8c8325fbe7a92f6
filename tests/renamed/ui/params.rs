//! The derive is not told the other name of the facade: `#[tool_params(crate = ::kit)]` is needed.

use kit::ToolParams;

#[derive(ToolParams)]
struct Place {
    city: String,
}

fn main() {}
