//! Reads the calls of tools run by the provider itself.

use super::call;
use crate::fields::text;
use crate::hosted::{HostedCall, HostedPart};
use serde_json::Value;

/// The known calls. Each row has the type of the item, the name of the tool, the field with the arguments,
/// and the field with the output. If the row has no name, the item itself contains the name.
const CALLS: [[&str; 4]; 9] = [
    ["web_search_call", "web_search", "action", ""],
    ["file_search_call", "file_search", "queries", "results"],
    ["code_interpreter_call", "code_interpreter", "code", "outputs"],
    ["image_generation_call", "image_generation", "revised_prompt", "result"],
    ["mcp_call", "", "arguments", "output"],
    ["mcp_list_tools", "mcp_list_tools", "", "tools"],
    ["tool_search_call", "tool_search", "arguments", ""],
    ["shell_call", "shell", "action", ""],
    ["program", "program", "code", ""],
];

/// The outputs of hosted tools that are items of their own, not fields of the call. Each row has the type of the item,
/// the name of the tool, and the field with the output.
const OUTPUTS: [[&str; 3]; 3] = [
    ["tool_search_output", "tool_search", "tools"],
    ["shell_call_output", "shell", "output"],
    ["program_output", "program", "result"],
];

/// Reads an item of a response as a call or an output of a hosted tool. Returns `None` for messages,
/// reasoning, and calls that the program runs. Calls of unknown tools are recognised by the end of their
/// type.
pub(super) fn read(item: &Value) -> Option<HostedPart> {
    let kind = text(item, "type");
    if let Some([_, name, field]) = OUTPUTS.iter().find(|[output, ..]| *output == kind) {
        return Some(HostedPart::Output(
            HostedCall::of(item, kind, name, None).with_output(item.get(*field)),
        ));
    }
    if call::read(item, false).is_some() {
        return None;
    }
    let [_, name, arguments, output] = match CALLS.iter().find(|[call, ..]| *call == kind) {
        Some(known) => *known,
        None => [kind, kind.strip_suffix("_call")?, "", ""],
    };
    let name = if name.is_empty() { text(item, "name") } else { name };
    let mut call = HostedCall::of(item, kind, name, item.get(arguments).filter(|_| !arguments.is_empty()));
    call.server = text(item, "server_label").to_owned();
    let failed = item.get("error").filter(|error| !error.is_null());
    Some(HostedPart::Call(call.with_output(failed.or_else(|| item.get(output)))))
}
