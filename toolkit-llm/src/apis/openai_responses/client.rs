//! The kinds of calls that the program answers.
//!
//! Some are calls of tools that the provider defines, such as `shell_call`. They become calls of an ordinary
//! tool with a fixed name. Its result becomes an item of the type that the provider expects.

use super::outputs::OutputForm;
use super::{CUSTOM, CUSTOM_OUTPUT, FACTS, FUNCTION, FUNCTION_OUTPUT};
use crate::json::fields::{Fields, kind, text};
use serde_json::Value;
use toolkit_core::call::ProviderExtras;

/// The registry's search tool, which answers the provider's tool search.
pub(super) const SEARCH: &str = "discover_tools";

/// The type of a request for approval of an MCP call.
pub(super) const APPROVAL: &str = "mcp_approval_request";

/// The fields of a function call that are repeated in its result.
pub(crate) const REPEATED: [&str; 2] = ["namespace", "caller"];

#[derive(Debug)]
pub(crate) struct CallKind {
    pub(crate) call: &'static str,
    pub(super) output: &'static str,
    /// The type of the tool in a request.
    ///
    /// Empty for the program's own tools.
    definition: &'static str,
    /// The name of the tool that answers the call.
    ///
    /// Empty if the call contains the name.
    pub(crate) tool: &'static str,
    /// The fields with the call's id, first in the call and then in the result.
    pub(super) ids: [&'static str; 2],
    /// The field with all arguments, or several fields of one argument each.
    pub(super) arguments: &'static [&'static str],
    pub(super) repeated: &'static [&'static str],
    /// Whether a call needs an `id` in requests.
    pub(super) needs_id: bool,
    /// The form of the other fields of a result.
    pub(super) form: OutputForm,
}

pub(super) static FUNCTION_CALL: CallKind = CallKind {
    call: FUNCTION,
    output: FUNCTION_OUTPUT,
    definition: "",
    tool: "",
    ids: ["call_id", "call_id"],
    arguments: &["arguments"],
    repeated: &REPEATED,
    needs_id: false,
    form: OutputForm::Function,
};

pub(super) static CUSTOM_CALL: CallKind = CallKind {
    call: CUSTOM,
    output: CUSTOM_OUTPUT,
    arguments: &["input"],
    // Results of custom calls have no namespace.
    repeated: &["caller"],
    form: OutputForm::Custom,
    ..FUNCTION_CALL
};

/// The calls of tools that the provider defines and the program runs.
pub(crate) static CLIENT: [CallKind; 6] = [
    CallKind {
        call: "shell_call",
        output: "shell_call_output",
        definition: "shell",
        tool: "shell",
        arguments: &["action"],
        repeated: &["caller", "max_output_length"],
        form: OutputForm::Shell,
        ..FUNCTION_CALL
    },
    CallKind {
        call: "local_shell_call",
        output: "local_shell_call_output",
        definition: "local_shell",
        tool: "local_shell",
        ids: ["call_id", "id"],
        arguments: &["action"],
        repeated: &[],
        needs_id: true,
        form: OutputForm::Text,
    },
    CallKind {
        call: "apply_patch_call",
        output: "apply_patch_call_output",
        definition: "apply_patch",
        tool: "apply_patch",
        arguments: &["operation"],
        repeated: &["caller"],
        form: OutputForm::Patched,
        ..FUNCTION_CALL
    },
    CallKind {
        call: "computer_call",
        output: "computer_call_output",
        definition: "computer",
        tool: "computer",
        arguments: &["action", "actions", "pending_safety_checks"],
        repeated: &[],
        needs_id: true,
        form: OutputForm::Screenshot,
        ..FUNCTION_CALL
    },
    CallKind {
        call: "tool_search_call",
        output: "tool_search_output",
        definition: "tool_search",
        tool: SEARCH,
        repeated: &[],
        form: OutputForm::Found,
        ..FUNCTION_CALL
    },
    CallKind {
        call: APPROVAL,
        output: "mcp_approval_response",
        definition: "mcp",
        tool: "mcp_approval",
        ids: ["id", "approval_request_id"],
        arguments: &["server_label", "name", "arguments"],
        repeated: &[],
        needs_id: true,
        form: OutputForm::Approval,
    },
];

impl CallKind {
    /// Returns the kind of a call.
    ///
    /// An item without a type must have the fields of a call.
    pub(super) fn of_item(item: &Fields) -> Option<&'static Self> {
        let has = |name| item.contains_key(name);
        match kind(item) {
            Some(FUNCTION) => Some(&FUNCTION_CALL),
            Some(CUSTOM) => Some(&CUSTOM_CALL),
            Some(_) => of_call(item),
            None if has("output") || !(has("call_id") || has("name") && has("arguments")) => None,
            None if has("input") && !has("arguments") => Some(&CUSTOM_CALL),
            None => Some(&FUNCTION_CALL),
        }
    }

    pub(super) fn of_extras(extras: &ProviderExtras) -> &'static Self {
        let Some(Value::String(kind)) = extras.get(FACTS.name, "type") else { return &FUNCTION_CALL };
        let mut kinds = CLIENT.iter().chain([&CUSTOM_CALL]);
        kinds.find(|known| kind == known.call).unwrap_or(&FUNCTION_CALL)
    }

    /// Returns whether the provider runs a call or a tool: in a container, with its own tool search, or
    /// without an approval.
    fn is_hosted(&self, json: &Fields) -> bool {
        let setting = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
        match self.definition {
            "shell" => {
                json.get("environment").is_some_and(|place| text(place, "type").starts_with("container"))
            }
            "tool_search" => setting("execution") != "client",
            "mcp" => setting("require_approval") == "never",
            _ => false,
        }
    }
}

/// Returns the kind of a call for the program to a tool that the provider defines.
pub(super) fn of_call(item: &Fields) -> Option<&'static CallKind> {
    let known = CLIENT.iter().find(|known| Some(known.call) == kind(item))?;
    if known.is_hosted(item) { None } else { Some(known) }
}

/// Returns the kind of the call that a result of the program answers.
///
/// It is `None` unless the provider defines the tool.
pub(crate) fn of_output(item: &Value) -> Option<&'static CallKind> {
    let known = CLIENT.iter().find(|known| known.output == text(item, "type"))?;
    if text(item, "execution") == "server" { None } else { Some(known) }
}

/// Returns the program's tool that runs the calls of `definition`.
pub(super) fn answered_by(definition: &Value) -> Option<&'static str> {
    let kind = match text(definition, "type") {
        "computer_use_preview" => "computer",
        kind => kind,
    };
    let known = CLIENT.iter().find(|known| known.definition == kind)?;
    if known.is_hosted(definition.as_object()?) { None } else { Some(known.tool) }
}

pub(crate) fn is_result(item: &Value) -> bool {
    matches!(text(item, "type"), FUNCTION_OUTPUT | CUSTOM_OUTPUT) || of_output(item).is_some()
}

/// Returns the id of the call, or of the call that a result answers.
pub(crate) fn answered(item: &Value) -> &str {
    let id = text(item, "call_id");
    if !id.is_empty() {
        return id;
    }
    let kind = text(item, "type");
    for known in &CLIENT {
        let [in_call, in_result] = known.ids;
        if known.call == kind {
            return text(item, in_call);
        }
        if known.output == kind {
            return text(item, in_result);
        }
    }
    ""
}
