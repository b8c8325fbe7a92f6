//! The tools of the program that answer the calls of a hosted tool.

use crate::hosted::HostedTool;

impl HostedTool {
    /// Returns the name of the program's tool that answers the calls, such as `shell`.
    ///
    /// Returns `None` if the provider runs the tool, and for
    /// [`gemini::computer_use`](crate::hosted::gemini::computer_use), which calls several tools.
    ///
    /// Register an ordinary tool with this name. Its arguments are described in the provider's reference, and
    /// its results are converted to the provider's form.
    ///
    /// ```
    /// use toolkit_ai::llm::hosted::{anthropic, openai};
    ///
    /// assert_eq!(openai::shell().answered_by(), Some("shell"));
    /// assert_eq!(anthropic::text_editor().answered_by(), Some("str_replace_based_edit_tool"));
    /// assert_eq!(openai::web_search().answered_by(), None);
    /// ```
    #[must_use]
    pub fn answered_by(&self) -> Option<&str> {
        self.format.definition_codec().answered_by(&self.definition)
    }
}
