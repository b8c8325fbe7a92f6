//! What events make of a page's messages.

use super::{AgEvent, AgMessage};
use serde_json::{Value, json};

impl AgEvent {
    /// Changes a list of messages as the client does.
    ///
    /// ```
    /// use toolkit_frontends::ag_ui::{AgEvent, AgMessage};
    ///
    /// let mut messages = vec![AgMessage::assistant("1.1", "Hel")];
    /// let (message_id, delta) = ("1.1".into(), "lo.".to_owned());
    /// AgEvent::TextMessageContent { message_id, delta, subagent_run_id: None }.apply_to(&mut messages);
    /// assert_eq!(messages, [AgMessage::assistant("1.1", "Hello.")]);
    /// ```
    pub fn apply_to(&self, messages: &mut Vec<AgMessage>) {
        match self {
            Self::TextMessageStart { message_id, role, subagent_run_id } => {
                begin(messages, message_id, role, subagent_run_id.as_deref());
            }
            Self::ReasoningMessageStart { message_id, role } => begin(messages, message_id, role, None),
            Self::TextMessageContent { message_id, delta, .. }
            | Self::ReasoningMessageContent { message_id, delta } => {
                if let Value::String(text) = &mut find(messages, message_id, "assistant", None)["content"] {
                    text.push_str(delta);
                }
            }
            Self::ToolCallStart { tool_call_id, tool_call_name, parent_message_id, subagent_run_id } => {
                let message = find(messages, parent_message_id, "assistant", subagent_run_id.as_deref());
                let function = json!({"name": tool_call_name, "arguments": ""});
                let call = json!({"id": tool_call_id, "type": "function", "function": function});
                match &mut message["toolCalls"] {
                    Value::Array(calls) => calls.push(call),
                    calls => *calls = json!([call]),
                }
            }
            Self::ToolCallArgs { tool_call_id, delta, .. } => add_arguments(messages, tool_call_id, delta),
            Self::ToolCallResult { message_id, tool_call_id, content, role, subagent_run_id } => {
                let message = find(messages, message_id, role, subagent_run_id.as_deref());
                message["toolCallId"] = json!(tool_call_id);
                message["content"] = json!(content);
            }
            Self::MessagesSnapshot { messages: all } => messages.clone_from(all),
            _ => {}
        }
    }
}

/// Begins a message, or goes on with it.
fn begin(messages: &mut Vec<AgMessage>, id: &str, role: &str, subagent: Option<&str>) {
    let content = &mut find(messages, id, role, subagent)["content"];
    if content.is_null() {
        *content = json!("");
    }
}

/// Returns the message with this id, which is added if there is none.
fn find<'a>(messages: &'a mut Vec<AgMessage>, id: &str, role: &str, subagent: Option<&str>) -> &'a mut Value {
    let index = messages.iter().rposition(|message| message.0["id"] == id).unwrap_or(messages.len());
    if index == messages.len() {
        let mut message = json!({"id": id, "role": role});
        if let Some(subagent) = subagent {
            message["subagentRunId"] = json!(subagent);
        }
        messages.push(AgMessage(message));
    }
    &mut messages[index].0
}

fn add_arguments(messages: &mut [AgMessage], call: &str, delta: &str) {
    for message in messages.iter_mut().rev() {
        let Some(Value::Array(calls)) = message.0.get_mut("toolCalls") else { continue };
        for known in calls {
            if known["id"] == call
                && let Value::String(arguments) = &mut known["function"]["arguments"]
            {
                arguments.push_str(delta);
                return;
            }
        }
    }
}
