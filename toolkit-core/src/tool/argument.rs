//! What is to be changed about one argument of a tool.

use crate::context::ToolContext;
use crate::error::ToolError;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Finds a value when a call is made.
pub(super) type Compute = dyn Fn(&ToolContext) -> Result<Value, ToolError> + Send + Sync;

/// How one argument of a tool is shown to the model, and where its value comes from; for
/// [`AdaptedTool::with_arguments`](super::AdaptedTool::with_arguments).
///
/// What is not said stays as the tool has it.
///
/// ```
/// use serde_json::json;
/// use toolkit::{AdaptedTool, ArgumentTransform, ClosureTool, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Search { q: String, limit: u32, api_key: String }
///
/// let search = ClosureTool::new("search", "Searches.", |s: Search| format!("{}, {}", s.q, s.limit))?;
/// let search = AdaptedTool::new(search).with_arguments([
///     ArgumentTransform::of("q").with_name("query").with_description("What to look for."),
///     ArgumentTransform::of("limit").with_default(10),
///     ArgumentTransform::of("api_key").fixed("secret"),
/// ])?;
/// let schema = &search.definition().parameters;
/// assert_eq!(schema["properties"]["query"], json!({"type": "string", "description": "What to look for."}));
/// assert_eq!(schema["properties"]["limit"]["default"], 10);
/// assert_eq!(schema["required"], json!(["query"]));
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Clone)]
pub struct ArgumentTransform {
    pub(super) argument: String,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) supply: Option<Supply>,
    pub(super) required: bool,
    pub(super) hidden: bool,
}

/// Where a value comes from that the model does not give.
#[derive(Clone)]
pub(super) enum Supply {
    Fixed(Value),
    Computed(Arc<Compute>),
}

impl ArgumentTransform {
    /// Changes nothing about the argument of this name yet.
    #[must_use]
    pub fn of(argument: impl Into<String>) -> Self {
        Self {
            argument: argument.into(),
            name: None,
            description: None,
            supply: None,
            required: false,
            hidden: false,
        }
    }

    /// Sets the name that the model uses.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets what the model reads about the argument.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Lets the model leave the argument out; the tool then gets this value. The schema shows it.
    #[must_use]
    pub fn with_default(mut self, value: impl Into<Value>) -> Self {
        self.supply = Some(Supply::Fixed(value.into()));
        self
    }

    /// Lets the model leave the argument out; the tool then gets what the function finds for this call.
    #[must_use]
    pub fn with_computed_default(
        mut self,
        compute: impl Fn(&ToolContext) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.supply = Some(Supply::Computed(Arc::new(compute)));
        self
    }

    /// Demands the argument of the model, also where the tool could do without.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Hides the argument from the model; the tool does without.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// Hides the argument from the model; the tool always gets this value.
    #[must_use]
    pub fn fixed(self, value: impl Into<Value>) -> Self {
        self.with_default(value).hidden()
    }

    /// Hides the argument from the model; the tool always gets what the function finds for the call, for
    /// instance in its [state](ToolContext::state) or its [session](ToolContext::session). An error of the function
    /// is the result of the call.
    ///
    /// What is decided from the arguments before the tool runs, such as whether a result is cached, is decided
    /// without the value.
    ///
    /// ```
    /// use toolkit::{AdaptedTool, ArgumentTransform, ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Orders { customer: u64 }
    ///
    /// struct LoggedIn(u64);
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let orders = ClosureTool::new("orders", "Lists orders.", |Orders { customer }| customer)?;
    /// let own = AdaptedTool::new(orders).with_arguments([
    ///     ArgumentTransform::of("customer").computed(|context| match context.state::<LoggedIn>() {
    ///         Some(LoggedIn(customer)) => Ok((*customer).into()),
    ///         None => Err("nobody is logged in".into()),
    ///     }),
    /// ])?;
    /// let registry = ToolRegistry::from_tools([own])?.with_state(LoggedIn(7));
    /// assert_eq!(registry.call("orders", "{}").await?.to_text(), "7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn computed(
        self,
        compute: impl Fn(&ToolContext) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.with_computed_default(compute).hidden()
    }
}

impl fmt::Debug for ArgumentTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values that the program gives may be secrets.
        f.debug_struct("ArgumentTransform")
            .field("argument", &self.argument)
            .field("name", &self.name)
            .field("hidden", &self.hidden)
            .finish_non_exhaustive()
    }
}
