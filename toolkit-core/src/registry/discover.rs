//! Discovery of `#[tool]` functions collected by the linker.

use super::ToolRegistry;
use crate::error::BuildError;
use crate::tool::FunctionTool;

/// The registration of a `#[tool]` function, collected by the linker.
#[derive(Debug)]
pub struct Registration(pub fn() -> FunctionTool);

inventory::collect!(Registration);

impl ToolRegistry {
    /// Creates a registry of every `#[tool]` function linked into the program.
    ///
    /// The linker drops a dependency that the program names nowhere, together with the tools of the
    /// dependency. Write `use my_tools as _;` to link such a crate, or list the tools with
    /// [`tools!`](crate::tools).
    ///
    /// # Errors
    /// Returns a [`BuildError`] listing every illegal or duplicate name.
    pub fn discover() -> Result<Self, BuildError> {
        let mut found: Vec<FunctionTool> =
            inventory::iter::<Registration>().map(|found| (found.0)()).collect();
        // The linker's order varies. Sorted, the tools in a duplicate name error always come in the same
        // order.
        found.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        Self::from_tools(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Location;
    use crate::tool::{Function, ToolCell, ToolFuture};

    fn long() -> FunctionTool {
        let name = "and_a_method_name_that_is_long_but_legal_on_its_own";
        let mut function = Function::new(name, "", &[], |_| ToolFuture::incomplete(), None).with_namespace(
            "a_namespace_that_is_much_too_long_for_any_model_to_read_or_for_any_provider_to_accept",
        );
        function.defined_at = Some(Location { file: "src/tools.rs", line: 7 });
        function.tool(&ToolCell::new())
    }

    /// The macro checks the name and the namespace separately, so only the registry can check the combined
    /// length.
    #[test]
    fn a_qualified_name_beyond_the_limit_is_refused_at_registration() {
        let error = ToolRegistry::from_tools([long()]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("characters; use at most 128"), "{text}");
        assert!(text.ends_with("(defined at src/tools.rs:7)"), "{text}");
    }
}
