//! Calls of tools defined by the provider and run by the program, such as `shell_call`.
//!
//! Each call becomes a call of an ordinary tool with a fixed name. The result of this tool becomes an item of
//! the type that the provider expects. The table [`CLIENT`] lists all these calls.

mod results;

use super::FACTS;
use crate::call::{Origin, OutgoingCall};
use crate::fields::{Fields, copy, kind, only, set, text};
use crate::results::{output_text, unsendable};
use results::{write_approval, write_computer, write_found, write_shell};
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ProviderExtras;

/// The name of the registry's search tool, which answers `tool_search_call`.
pub(super) const SEARCH: &str = "discover_tools";

/// The type of the provider's request for approval to call a tool of an MCP server.
const APPROVAL: &str = "mcp_approval_request";

/// A kind of call to a tool defined by the provider and run by the program.
#[derive(Debug)]
pub(crate) struct Client {
    /// The type of the call.
    pub(crate) call: &'static str,
    /// The type of the result.
    pub(super) output: &'static str,
    /// The type of the tool in a request.
    pub(super) definition: &'static str,
    /// The name of the tool that answers the call.
    pub(crate) tool: &'static str,
    /// The names of the fields with the call's id, first in the call and then in the result.
    ids: [&'static str; 2],
    arguments: Members,
    /// Writes the fields of a result, and returns the text that these fields cannot express.
    write: fn(&mut Fields, &ToolResult) -> Option<String>,
    /// Whether the item of a call needs an `id` in requests.
    needs_id: bool,
}

/// The fields of a call that become the arguments of the tool.
#[derive(Debug)]
enum Members {
    /// The arguments are the members of the object in this field.
    Of(&'static str),
    /// The arguments are these fields of the call.
    Fields(&'static [&'static str]),
}

/// All kinds of calls to tools that the provider defines and the program runs.
pub(super) static CLIENT: [Client; 6] = [
    Client {
        call: "shell_call",
        output: "shell_call_output",
        definition: "shell",
        tool: "shell",
        ids: ["call_id", "call_id"],
        arguments: Members::Of("action"),
        write: write_shell,
        needs_id: false,
    },
    Client {
        call: "local_shell_call",
        output: "local_shell_call_output",
        definition: "local_shell",
        tool: "local_shell",
        ids: ["call_id", "id"],
        arguments: Members::Of("action"),
        write: |item, result| {
            set(item, "output", message(result));
            None
        },
        needs_id: true,
    },
    Client {
        call: "apply_patch_call",
        output: "apply_patch_call_output",
        definition: "apply_patch",
        tool: "apply_patch",
        ids: ["call_id", "call_id"],
        arguments: Members::Of("operation"),
        write: |item, result| {
            set(item, "status", if result.is_error() { "failed" } else { "completed" });
            set(item, "output", message(result));
            None
        },
        needs_id: false,
    },
    Client {
        call: "computer_call",
        output: "computer_call_output",
        definition: "computer",
        tool: "computer",
        ids: ["call_id", "call_id"],
        arguments: Members::Fields(&["action", "actions", "pending_safety_checks"]),
        write: write_computer,
        needs_id: true,
    },
    Client {
        call: "tool_search_call",
        output: "tool_search_output",
        definition: "tool_search",
        tool: SEARCH,
        ids: ["call_id", "call_id"],
        arguments: Members::Of("arguments"),
        write: write_found,
        needs_id: false,
    },
    Client {
        call: APPROVAL,
        output: "mcp_approval_response",
        definition: "mcp",
        tool: "mcp_approval",
        ids: ["id", "approval_request_id"],
        arguments: Members::Fields(&["server_label", "name", "arguments"]),
        write: write_approval,
        needs_id: true,
    },
];

/// The fields of an item with a fixed meaning for every call. They are not returned as extras, except for an
/// `id` needed in requests.
const OWN: [&str; 5] = ["type", "call_id", "status", "created_by", "id"];

/// Returns the row of [`CLIENT`] for a call. Returns `None` if the provider runs the call itself, in a
/// container or with its own tool search.
pub(super) fn of_call(item: &Fields) -> Option<&'static Client> {
    let client = CLIENT.iter().find(|client| Some(client.call) == kind(item))?;
    let environment = item.get("environment").map_or("", |environment| text(environment, "type"));
    let is_hosted = match client.definition {
        "shell" => environment.starts_with("container"),
        "tool_search" => item.get("execution").is_none_or(|execution| execution != "client"),
        _ => false,
    };
    (!is_hosted).then_some(client)
}

/// Returns the row of [`CLIENT`] for a result. Returns `None` for the outputs of tools run by the provider
/// itself.
pub(crate) fn of_output(item: &Value) -> Option<&'static Client> {
    let client = CLIENT.iter().find(|client| client.output == text(item, "type"))?;
    let is_hosted = text(item, "execution") == "server";
    (!is_hosted).then_some(client)
}

/// Returns the row of [`CLIENT`] for the extras of a call or a result.
pub(super) fn of_extras(extras: &ProviderExtras) -> Option<&'static Client> {
    let kind = extras.get(FACTS.name, "type")?;
    CLIENT.iter().find(|client| kind == client.call)
}

/// Returns the name of the program's tool that runs the calls of the hosted tool `definition`. Returns `None` if the
/// provider runs the hosted tool itself.
pub(super) fn answered_by(definition: &Value) -> Option<&'static str> {
    let kind = text(definition, "type");
    let environment = definition.get("environment").map_or("", |environment| text(environment, "type"));
    let client = CLIENT.iter().find(|client| {
        client.definition == kind || client.definition == "computer" && kind == "computer_use_preview"
    })?;
    let is_hosted = match client.definition {
        "shell" => environment.starts_with("container"),
        "tool_search" => text(definition, "execution") != "client",
        "mcp" => text(definition, "require_approval") == "never",
        _ => false,
    };
    (!is_hosted).then_some(client.tool)
}

impl Client {
    /// Returns the field that contains all arguments. If there is no such field, returns the fields that are one
    /// argument each.
    pub(super) fn arguments(&self) -> (Option<&'static str>, &'static [&'static str]) {
        match self.arguments {
            Members::Of(field) => (Some(field), &[]),
            Members::Fields(fields) => (None, fields),
        }
    }

    /// Returns the fields of a received call that are needed to write the call or its result into the next request.
    pub(super) fn extras(&self, item: &Fields) -> Fields {
        let is_kept = |name: &str, value: &Value| {
            let is_argument = match self.arguments {
                Members::Of(field) => field == name,
                // The result repeats the safety checks.
                Members::Fields(fields) => fields.contains(&name) && name != "pending_safety_checks",
            };
            !is_argument && (!OWN.contains(&name) || name == "id" && self.needs_id) && !value.is_null()
        };
        let mut extras = only(item, is_kept);
        if let Some(length) = item.get("action").and_then(|action| action.get("max_output_length")) {
            set(&mut extras, "max_output_length", length.clone());
        }
        set(&mut extras, "type", self.call);
        extras
    }

    /// Writes a call for the next request.
    pub(super) fn write_call(&self, call: OutgoingCall<'_>) -> Fields {
        let mut item = call.fields(FACTS.name);
        set(&mut item, "type", self.call);
        set(&mut item, self.ids[0], call.id);
        if matches!(call.origin, Origin::Made(_)) {
            item.shift_remove("max_output_length");
            let arguments = call.arguments.into_object();
            match self.arguments {
                Members::Of(field) => set(&mut item, field, arguments),
                Members::Fields(fields) => {
                    let members =
                        arguments.as_object().map(|all| only(all, |name, _| fields.contains(&name)));
                    item.extend(members.unwrap_or_default());
                }
            }
            set(&mut item, "status", "completed");
        } else if let Members::Of(field) = self.arguments {
            // The field may be missing if generation stopped early.
            item.entry(field).or_insert_with(|| json!({}));
        }
        if self.call == "apply_patch_call" && item.get("status").is_none_or(|status| status != "in_progress")
        {
            set(&mut item, "status", "completed");
        }
        if self.call == APPROVAL {
            item.shift_remove("status");
        }
        item
    }

    /// Writes a result, followed by a message with the text that the item cannot express.
    pub(super) fn write_result(&self, result: &ToolResult, id: &str) -> Vec<Value> {
        let mut item = Fields::new();
        set(&mut item, "type", self.output);
        set(&mut item, self.ids[1], id);
        let rest = (self.write)(&mut item, result);
        if let Some(extras) = result.extras.of(FACTS.name) {
            let names: &[&str] = match self.call {
                "shell_call" => &["caller", "max_output_length"],
                "apply_patch_call" => &["caller"],
                _ => &[],
            };
            copy(extras, &mut item, names);
        }
        let rest = rest.filter(|text| !text.is_empty());
        let rest = rest.map(|text| {
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        });
        std::iter::once(Value::Object(item)).chain(rest).collect()
    }
}

/// Returns the call id in `item`. If `item` is a result, this is the id of the call that it answers.
pub(crate) fn answered(item: &Value) -> &str {
    let kind = text(item, "type");
    let field = CLIENT.iter().find_map(|client| match client.ids {
        [id, _] if client.call == kind => Some(id),
        [_, id] if client.output == kind => Some(id),
        _ => None,
    });
    match (text(item, "call_id"), field) {
        ("", Some(field)) => text(item, field),
        (id, _) => id,
    }
}

fn message(result: &ToolResult) -> String {
    match &result.outcome {
        Ok(output) => output_text(output, unsendable).into_owned(),
        Err(error) => error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests;
