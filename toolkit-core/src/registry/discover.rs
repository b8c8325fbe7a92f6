//! Finding the tools that the linker has collected.

use super::ToolRegistry;
use crate::error::BuildError;
use crate::tool::FunctionTool;
use std::sync::Arc;

/// What a `#[tool]` function hands to the linker.
#[derive(Debug)]
pub struct Registration(pub fn() -> FunctionTool);

inventory::collect!(Registration);

impl ToolRegistry {
    /// A registry of every `#[tool]` function that is linked into the program.
    ///
    /// A crate that is a dependency, but is named nowhere in the source, is not linked; write
    /// `use my_tools as _;`, or list its tools with [`tools!`](crate::tools).
    ///
    /// # Errors
    /// [`BuildError`] with every name that is not legal or is there twice.
    pub fn discover() -> Result<Self, BuildError> {
        let mut found: Vec<FunctionTool> =
            inventory::iter::<Registration>().map(|found| (found.0)()).collect();
        // The linker's order is not fixed; with this one a collision always names the same tool first.
        found.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let mut registry = Self::new();
        for tool in found {
            registry.admit(Arc::new(tool));
        }
        registry.check().map(|()| registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Function, ToolCell, ToolFuture};

    fn long() -> FunctionTool {
        let name = "and_a_method_name_that_is_long_but_legal_on_its_own";
        Function::new(name, "", &[], |_| ToolFuture::incomplete(), None)
            .with_namespace(
                "a_namespace_that_is_much_too_long_for_any_model_to_read_or_for_any_provider_to_accept",
            )
            .with_location("src/tools.rs", 7)
            .tool(&ToolCell::new())
    }

    /// The macro looks at name and namespace one by one, so only their length together is left.
    #[test]
    fn a_name_that_is_too_long_with_its_namespace_is_refused_before_the_program_serves() {
        let error = ToolRegistry::from_tools([long()]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("characters, at most 128 are allowed"), "{text}");
        assert!(text.ends_with("(defined at src/tools.rs:7)"), "{text}");
    }
}
