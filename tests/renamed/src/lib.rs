//! A program that calls the facade `kit`, as `crate = ::kit` tells each macro.
//!
//! In its earlier edition, `gen` is a name.

use kit::{tool, ToolParams};

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

/// A generator.
#[derive(Debug, Clone, Copy, ToolParams)]
#[tool_params(crate = ::kit)]
#[serde(rename_all = "lowercase")]
#[allow(non_camel_case_types)]
pub enum Generator {
    /// Takes the word.
    gen,
    /// Takes another.
    Other {
        /// How many.
        gen: u8,
    },
}

/// Of the same name.
#[derive(Debug, Clone, ToolParams)]
#[tool_params(crate = ::kit)]
#[allow(non_camel_case_types)]
pub struct gen {
    /// The seed.
    #[param(range = 1..=9, default = 2)]
    pub gen: u8,
    /// The generator.
    pub generator: Generator,
}

/// Functions with that name.
pub mod functions {
    use kit::tool;

    /// Generates.
    #[must_use]
    #[tool(crate = ::kit)]
    pub fn gen(gen: super::gen) -> String {
        format!("{gen:?}")
    }
}

/// Tools of a type with that name.
#[kit::toolset(crate = ::kit)]
impl gen {
    /// Shows the seed.
    #[tool]
    async fn gen(&self, gen: u8) -> u8 {
        self.gen + gen
    }
}
