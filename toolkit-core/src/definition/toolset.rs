//! Toolsets: values with methods as tools.

use super::{FunctionTool, Tool, ToolDefinition};
use crate::name::ToolName;
use crate::schema::__private::sort_by;
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A value with methods as tools. `#[toolset]` on an `impl` block implements this trait.
///
/// ```
/// use std::sync::Arc;
/// use toolkit_ai::{Toolset, toolset};
///
/// struct Shop {
///     name: String,
/// }
///
/// /// A shop.
/// #[toolset]
/// impl Shop {
///     /// Greets a customer.
///     #[tool]
///     fn greet(&self, customer: String) -> String {
///         format!("Welcome to {}, {customer}.", self.name)
///     }
/// }
///
/// let shop = Arc::new(Shop { name: "Bits".to_owned() });
/// assert_eq!(shop.description(), "A shop.");
/// assert_eq!(shop.tools()[0].definition().name.as_str(), "shop-greet");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a toolset",
    note = "write `#[toolset]` without `extends` above an `impl` block of the type, and `#[tool]` above its methods"
)]
pub trait Toolset: Send + Sync + 'static {
    /// Returns the common description of the tools: the documentation of the `impl` block.
    fn description(&self) -> &'static str;

    /// Returns the tools with this value as the receiver of their methods.
    #[must_use]
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>>;
}

/// The implementation of [`Toolset`] generated for an `impl` block with `#[toolset]`.
///
/// If a type has two such blocks, the compiler reports two implementations of this trait. The trait's name tells the
/// programmer that the second block needs `extends`.
pub trait ToolsetWithoutExtends: Send + Sync + 'static {
    /// The documentation of the `impl` block.
    const DESCRIPTION: &'static str;
    /// The tools of the `impl` block.
    const TOOLS: BlockTools;
}

#[doc(hidden)]
#[diagnostic::do_not_recommend]
impl<T: ToolsetWithoutExtends> Toolset for T {
    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    /// Returns the methods of the block, then the methods of blocks with `#[toolset(extends)]`.
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let receiver: Receiver = self;
        let mut more = Vec::new();
        for block in inventory::iter::<MoreTools>() {
            if (block.owner)() == TypeId::of::<T>() {
                more.extend((block.tools)(&receiver));
            }
        }
        // The linker lists the blocks in varying order.
        sort_by(&mut more, |one, other| place(one.definition()).cmp(&place(other.definition())));
        let tools = (T::TOOLS)(&receiver).into_iter().chain(more);
        tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }
}

/// Returns where a tool is defined, and its name.
fn place(definition: &ToolDefinition) -> (Option<(&str, u32)>, &ToolName) {
    (definition.metadata.defined_at.map(|place| (place.file, place.line)), &definition.name)
}

/// The value of `self` for the methods, of any type.
type Receiver = Arc<dyn Any + Send + Sync>;

/// A function to create the tools of one `impl` block. Each tool calls its method on the given receiver.
pub type BlockTools = fn(&Receiver) -> Vec<FunctionTool>;

/// The tools of a block with `#[toolset(extends)]`, collected in a list by the linker.
#[derive(Debug)]
pub struct MoreTools {
    /// Returns the id of the type that the block belongs to.
    pub owner: fn() -> TypeId,
    /// Creates the tools of the block.
    pub tools: BlockTools,
}

inventory::collect!(MoreTools);
