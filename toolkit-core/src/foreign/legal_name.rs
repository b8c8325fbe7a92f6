//! Legal names for tools from elsewhere.

use super::{Note, ToolIssueKind};
use crate::ToolName;
use crate::name::{MAX_NAME_LENGTH, NameError, Separator};
use crate::schema::schema_hash;

/// The length of the digest in a name, in characters.
const SUFFIX: usize = 6;

/// Returns the registered name of a tool: a legal name in `namespace`.
///
/// Several illegal names can become the same legal name, so such a name gets a digest of the foreign name
/// as a suffix. No name depends on other tools.
pub fn legal_name(name: &str, namespace: Option<&str>, notes: &mut Vec<Note>) -> Result<ToolName, Note> {
    let illegal = |error: NameError| (ToolIssueKind::IllegalName, format!("was left out: {error}"));

    if name.is_empty() || name.chars().count() > MAX_NAME_LENGTH {
        return ToolName::new(name).and(qualified(namespace, name)).map_err(illegal);
    }
    let Err(error) = ToolName::new(name) else { return qualified(namespace, name).map_err(illegal) };
    let digest: String = schema_hash(&name.into()).chars().take(SUFFIX).collect();
    let legal = qualified(namespace, &format!("{}_{digest}", error.suggestion())).map_err(illegal)?;
    let message = format!("has an illegal name and was registered as `{legal}`");
    notes.push((ToolIssueKind::Renamed, message));
    Ok(legal)
}

fn qualified(namespace: Option<&str>, method: &str) -> Result<ToolName, NameError> {
    match namespace {
        Some(namespace) => ToolName::qualified(namespace, method, Separator::default()),
        None => ToolName::new(method),
    }
}
