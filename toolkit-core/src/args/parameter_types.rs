//! The types that can be parameters.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// The type of a parameter, of all arguments of a tool, or of a model's typed answer. Every type with
/// `Deserialize` and `JsonSchema` implements this trait.
///
/// ```
/// use toolkit_ai::ToolParams;
/// use toolkit_ai::schemars::JsonSchema;
///
/// /// Where to look.
/// #[derive(ToolParams)]
/// struct Area {
///     /// The city.
///     city: String,
///     /// Kilometres around it.
///     #[param(range = 0.0..=500.0, default = 10.0)]
///     radius: f64,
/// }
///
/// fn name_of<T: ToolParams>() -> String {
///     T::schema_name().into_owned()
/// }
/// assert_eq!(name_of::<Area>(), "Area");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "a model cannot send this type",
    note = "if the model sends the value, also as a typed answer, add `#[derive(ToolParams)]` to the type, or to the type inside of it, in place of `Deserialize` and `JsonSchema`",
    note = "if the type is of `chrono`, `jiff`, `uuid`, `url`, `rust_decimal` or `bytes`, enable this feature of `toolkit-ai`",
    note = "if the program provides the value, write `#[state]` before the parameter and take `&T` or `Arc<T>`",
    note = "if the type has this derive and `#[serde(default)]`, its type arguments need `Default`"
)]
pub trait ToolParams: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolParams for T {}

/// The bound [`ToolParams`] with another compiler message, for `&T` and `Arc<T>`. Such a parameter is most
/// likely program state without `#[state]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "a model cannot send this type",
    note = "if the program provides the value, write `#[state]` before the parameter",
    note = "if the model sends the value, add `#[derive(ToolParams)]` to the type, or to the type inside of it, in place of `Deserialize` and `JsonSchema`",
    note = "an `Arc` that the model sends needs serde's feature `rc`"
)]
pub trait SharedParams: ToolParams {}

#[diagnostic::do_not_recommend]
impl<T: ToolParams> SharedParams for T {}
