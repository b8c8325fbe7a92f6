//! The transform of one tool argument.

use crate::context::ToolContext;
use crate::error::ToolError;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

pub(super) type Compute = dyn Fn(&ToolContext) -> Result<Value, ToolError> + Send + Sync;

/// A transform of one argument, for [`AdaptedTool::with_arguments`](super::AdaptedTool::with_arguments).
///
/// It can change the argument's name and description, hide it from the model, and supply a value.
///
/// Here, the model sees the arguments `query` and `limit` only:
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::{AdaptedTool, ArgumentTransform, ClosureTool, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Search { q: String, limit: u32, api_key: String }
///
/// let search = ClosureTool::new("search", "Searches.", |s: Search| format!("{}, {}", s.q, s.limit))?;
/// let search = AdaptedTool::new(search).with_arguments([
///     ArgumentTransform::new("q").with_name("query").with_description("What to look for."),
///     ArgumentTransform::new("limit").with_default(10),
///     ArgumentTransform::new("api_key").fixed("secret"),
/// ])?;
/// let schema = &search.definition().parameters;
/// assert_eq!(schema["properties"]["query"], json!({"type": "string", "description": "What to look for."}));
/// assert_eq!(schema["properties"]["limit"]["default"], 10);
/// assert_eq!(schema["required"], json!(["query"]));
/// # Ok::<(), toolkit_ai::BuildError>(())
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

/// The source of the value of an omitted argument.
#[derive(Clone)]
pub(super) enum Supply {
    Fixed(Value),
    Computed(Arc<Compute>),
}

impl ArgumentTransform {
    /// Creates a transform for `argument`, without changes.
    #[must_use]
    pub fn new(argument: impl Into<String>) -> Self {
        Self {
            argument: argument.into(),
            name: None,
            description: None,
            supply: None,
            required: false,
            hidden: false,
        }
    }

    /// Computes the value of the argument if the model omits it. Calls of the tool are then neither cached
    /// nor treated as duplicates.
    #[must_use]
    pub fn with_computed_default(
        mut self,
        compute: impl Fn(&ToolContext) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.supply = Some(Supply::Computed(Arc::new(compute)));
        self
    }

    /// Sets the value of the argument if the model omits it, shown as the schema's `default`.
    #[must_use]
    pub fn with_default(mut self, value: impl Into<Value>) -> Self {
        self.supply = Some(Supply::Fixed(value.into()));
        self
    }

    /// Makes the argument required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Hides the argument from the model. The tool receives it only if the transform supplies a value.
    ///
    /// An alias cannot set the argument either. If the type's aliases cannot be known, as for an enum or a
    /// struct with `#[serde(flatten)]`, every name missing from the schema is refused, or dropped if the
    /// tool [ignores](super::UnknownArguments::Ignore) unknown names. If such a type also collects other
    /// names in a map, hiding is a [`BuildError`](crate::BuildError).
    ///
    /// A tool built from a schema alone must [list](super::ToolDefinition::with_alias) its aliases, because
    /// it still receives every name allowed by its schema.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// Hides the argument from the model and always passes `value`.
    ///
    /// Errors and progress reports show `[hidden]` for each string of at least eight characters in the
    /// value, also where JSON escapes it. Shorter strings, numbers, parts of a string, other encodings and
    /// successful outputs are not redacted: a secret is better in the
    /// [state](crate::ToolRegistry::with_state). Computed values are hidden in the same way.
    #[must_use]
    pub fn fixed(self, value: impl Into<Value>) -> Self {
        self.with_default(value).hidden()
    }

    /// Hides the argument from the model and computes its value.
    ///
    /// `compute` can read the [state](ToolContext::state) or the [session](ToolContext::session). Its error
    /// becomes the result of the call. Middleware does not see the value, so calls are neither cached nor
    /// treated as duplicates.
    ///
    /// ```
    /// use toolkit_ai::{AdaptedTool, ArgumentTransform, ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Orders { customer: u64 }
    ///
    /// struct LoggedIn(u64);
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let orders = ClosureTool::new("orders", "Lists orders.", |Orders { customer }| customer)?;
    /// let own = AdaptedTool::new(orders).with_arguments([
    ///     ArgumentTransform::new("customer").computed(|context| match context.state::<LoggedIn>() {
    ///         Some(LoggedIn(customer)) => Ok((*customer).into()),
    ///         None => Err("no user is logged in".into()),
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

setters! { ArgumentTransform:
    /// Sets the argument's name for the model.
    with_name(name: impl Into<String>) = Some(name.into());
    /// Sets the argument's description for the model.
    with_description(description: impl Into<String>) = Some(description.into());
}

impl fmt::Debug for ArgumentTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Supplied values are left out, because they may be secrets.
        f.debug_struct("ArgumentTransform")
            .field("argument", &self.argument)
            .field("name", &self.name)
            .field("hidden", &self.hidden)
            .finish_non_exhaustive()
    }
}
