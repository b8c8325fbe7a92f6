//! The form of a tool's output.

/// The form of all outputs of a tool, as far as its return type tells.
///
/// ```
/// use toolkit_ai::output::OutputForm;
/// use toolkit_ai::{Tool, tool};
///
/// #[tool]
/// fn greet(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// assert_eq!(greet::tool().definition().output_form(), Some(OutputForm::Text));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputForm {
    /// JSON.
    Json,
    /// One text.
    Text,
    /// One image, audio or file, whose media type only the output tells.
    Media,
}
