//! A program that calls the facade `kit`: each macro is told so with `crate = ::kit`.

use kit::{ToolParams, tool};

/// A place on the map.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::kit)]
pub struct Place {
    /// The name of the city.
    pub city: String,
}

/// Returns the weather of a place.
#[must_use]
#[tool(crate = ::kit)]
pub fn weather(place: Place) -> String {
    format!("Sunny in {}.", place.city)
}
