//! Checks of tool definitions from elsewhere: from a server, a document, or another machine.
//!
//! They are for crates that import tools, and may change in each release, except [`ToolIssue`].
//!
//! Texts lose hidden characters, schemas are checked for size, depth, faults and references to other
//! documents, and names become legal. Whatever is changed or left out is a [`ToolIssue`].
//!
//! ```
//! use toolkit_core::foreign::{description, legal_name};
//!
//! let mut notes = Vec::new();
//! let name = legal_name("read file", Some("disk"), &mut notes).map_err(|(_, fault)| fault)?;
//! assert!(name.as_str().starts_with("disk-read_file_")); // with a digest of the foreign name
//! let text = description("Reads a file.\u{200b}\u{e0041}", 1_000, &mut notes);
//! assert_eq!(text, "Reads a file.");
//! assert_eq!(notes.len(), 2); // the name was changed, and the text has hidden characters
//! # Ok::<(), String>(())
//! ```

mod foreign_schema;
mod foreign_text;
mod invisible;
mod issue;
mod legal_name;

pub use foreign_schema::{checked_parameters, checked_schema, clean_texts};
pub use foreign_text::{description, shorten};
pub use invisible::{clean, hides_text, is_clean, show_invisible, without_hidden_text};
pub use issue::{ToolIssue, ToolIssueKind};
pub use legal_name::legal_name;

/// The kind of an issue and its description.
pub type Note = (ToolIssueKind, String);

/// The limits of foreign schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaLimits {
    /// The maximum size in bytes of compact JSON.
    pub bytes: usize,
    /// The maximum nesting in levels of JSON.
    pub depth: usize,
}
