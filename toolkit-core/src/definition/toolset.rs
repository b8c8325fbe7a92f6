//! Toolsets: values with methods as tools.

use super::{FunctionTool, Tool, ToolDefinition};
use crate::name::ToolName;
use crate::schema::__private::sort_by;
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A value with methods as tools, by `#[toolset]` on an `impl` block.
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
    /// Returns the documentation of the `impl` block, common to the tools.
    fn description(&self) -> &'static str;

    /// Returns the tools, with this value as the receiver.
    #[must_use]
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>>;
}

/// The [`Toolset`] implementation generated for an `impl` block with `#[toolset]`.
///
/// For two such blocks, the compiler reports two implementations of this trait. Its name says that the
/// second needs `extends`.
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

    /// Returns the methods of the block, then of blocks with `#[toolset(extends)]`.
    fn tools(self: Arc<Self>) -> Vec<Arc<dyn Tool>> {
        let receiver: Receiver = self;
        let mut more = Vec::new();
        for block in inventory::iter::<MoreTools>() {
            if (block.owner)() == TypeId::of::<T>() {
                more.extend((block.tools)(&receiver));
            }
        }
        // The linker's order varies.
        sort_by(&mut more, |one, other| place(one.definition()).cmp(&place(other.definition())));
        let tools = (T::TOOLS)(&receiver).into_iter().chain(more);
        tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }
}

fn place(definition: &ToolDefinition) -> (Option<(&str, u32)>, &ToolName) {
    (definition.metadata.defined_at.map(|place| (place.file, place.line)), &definition.name)
}

/// The value of `self` for the methods.
type Receiver = Arc<dyn Any + Send + Sync>;

/// Creates the tools of one `impl` block, which call their methods on the receiver.
pub type BlockTools = fn(&Receiver) -> Vec<FunctionTool>;

/// The tools of a block with `#[toolset(extends)]`, collected by the linker.
#[derive(Debug)]
pub struct MoreTools {
    /// Returns the id of the block's type.
    pub owner: fn() -> TypeId,
    /// Creates the tools of the block.
    pub tools: BlockTools,
}

inventory::collect!(MoreTools);
