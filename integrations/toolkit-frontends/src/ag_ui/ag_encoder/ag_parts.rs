//! Messages, calls and subagents.

use super::{AgEncoder, AgVoice};
use crate::ag_ui::AgEvent;
use serde_json::{Value, json};
use std::mem;
use std::sync::Arc;
use toolkit_agent::{RunEvent, RunScope};
use toolkit_core::ToolResult;
use toolkit_core::events::ToolEventKind;
use toolkit_llm::AssistantMessage;

impl AgEncoder {
    /// Returns the agent that writes a message, which begins unless it has begun.
    pub(super) fn voice(
        &mut self,
        agent: &str,
        message: &str,
        within: &[RunScope],
        events: &mut Vec<AgEvent>,
    ) -> &mut AgVoice {
        let mut index = 0;
        while self.voices.get(index).is_some_and(|voice| voice.within != *within) {
            index += 1;
        }
        match self.voices.get_mut(index) {
            Some(voice) if *voice.message == *message => return &mut self.voices[index],
            Some(voice) => voice.close(events),
            None => {}
        }
        let subagent = if within.is_empty() { None } else { Some(self.subagent(message, agent, events)) };
        let new = AgVoice::new(within, message, subagent);
        if index < self.voices.len() {
            self.voices[index] = new;
        } else {
            self.voices.push(new);
        }
        &mut self.voices[index]
    }

    pub(super) fn message(
        &mut self,
        id: &str,
        message: &AssistantMessage,
        within: &[RunScope],
        events: &mut Vec<AgEvent>,
    ) {
        let voice = self.voice(&message.agent, id, within, events);
        voice.whole(message, events);
        voice.finish(events);
        let subagent = voice.subagent.clone();
        for (index, call) in message.calls.iter().enumerate() {
            let key = format!("{id}.{index}");
            let known = self.calls.entry(key.clone()).or_default();
            if !known.is_shown {
                known.tool.clone_from(&call.name);
                known.subagent.clone_from(&subagent);
                known.arguments = call.arguments.as_str().to_owned();
            }
            self.complete_call(&key, events);
            if let Some(result) = self.early.remove(&key) {
                self.result(&key, &result, events);
            }
        }
    }

    /// Returns the id of the subagent that writes a message, which begins with its first one.
    fn subagent(&mut self, message: &str, agent: &str, events: &mut Vec<AgEvent>) -> Arc<str> {
        let path = before(message, '/');
        if let Some(id) = self.subagents.get(path) {
            return id.clone();
        }
        let id: Arc<str> = match self.waits {
            0 => path.into(),
            waits => format!("{path}~{waits}").into(),
        };
        let parent_tool_call_id = self.calls.contains_key(path).then(|| Arc::<str>::from(path));
        if let Some(call) = &parent_tool_call_id {
            self.complete_call(call, events);
        }
        self.subagents.insert(path.to_owned(), id.clone());
        let (subagent_run_id, name) = (id.clone(), agent.to_owned());
        events.push(AgEvent::SubagentStarted { subagent_run_id, name, parent_tool_call_id });
        id
    }

    pub(super) fn end_subagents(&mut self, outcome: &Value, events: &mut Vec<AgEvent>) {
        for (_, subagent_run_id) in mem::take(&mut self.subagents).into_iter().rev() {
            events.push(AgEvent::SubagentFinished { subagent_run_id, outcome: outcome.clone() });
        }
    }

    pub(super) fn show_call(&mut self, key: &str, events: &mut Vec<AgEvent>) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if mem::replace(&mut call.is_shown, true) {
            return;
        }
        let parent = before(key, '.');
        events.push(AgEvent::ToolCallStart {
            tool_call_id: key.into(),
            tool_call_name: call.tool.clone(),
            parent_message_id: parent.into(),
            subagent_run_id: call.subagent.clone(),
        });
        let delta = mem::take(&mut call.arguments);
        if !delta.is_empty() {
            let (tool_call_id, subagent_run_id) = (key.into(), call.subagent.clone());
            events.push(AgEvent::ToolCallArgs { tool_call_id, delta, subagent_run_id });
        }
    }

    /// Shows a call with all its arguments, once.
    pub(super) fn complete_call(&mut self, key: &str, events: &mut Vec<AgEvent>) {
        self.show_call(key, events);
        let Some(call) = self.calls.get_mut(key) else { return };
        if !mem::replace(&mut call.is_complete, true) {
            let (tool_call_id, subagent_run_id) = (key.into(), call.subagent.clone());
            events.push(AgEvent::ToolCallEnd { tool_call_id, subagent_run_id });
        }
    }

    pub(super) fn result(&mut self, key: &str, result: &ToolResult, events: &mut Vec<AgEvent>) {
        let call = self.calls.entry(key.to_owned()).or_default();
        if call.tool.is_empty() {
            call.tool.clone_from(&result.name);
        }
        if !call.is_shown {
            call.subagent = self.subagents.get(before(key, '/')).cloned().filter(|_| key.contains('/'));
        }
        let subagent = call.subagent.clone();
        self.complete_call(key, events);
        if let Some(subagent_run_id) = self.subagents.remove(key) {
            events.push(match &result.outcome {
                Ok(_) => AgEvent::SubagentFinished { subagent_run_id, outcome: json!({"type": "success"}) },
                Err(error) => AgEvent::SubagentError { subagent_run_id, message: error.message().to_owned() },
            });
        }
        events.push(AgEvent::ToolCallResult {
            message_id: result_id(key),
            tool_call_id: key.into(),
            content: result.to_text().into_owned(),
            role: "tool".to_owned(),
            subagent_run_id: subagent,
        });
    }
}

/// Returns the path around the last part of a path or key, or all of it.
pub(super) fn before(path: &str, mark: char) -> &str {
    match path.rsplit_once(mark) {
        Some((before, _)) => before,
        None => path,
    }
}

/// Returns the id of the message with the result of a call.
pub(in crate::ag_ui) fn result_id(key: &str) -> Arc<str> {
    format!("{key}.result").into()
}

/// Returns the custom event for an event that is no part of a message.
pub(super) fn custom(event: &RunEvent) -> Option<AgEvent> {
    let (name, value) = match event {
        RunEvent::Tool { key: Some(key), event, .. } => {
            let ToolEventKind::Progress { fraction, message, .. } = &event.kind else { return None };
            ("progress", json!({"toolCallId": key, "fraction": fraction, "message": &**message}))
        }
        RunEvent::Transferred { from, to, .. } => ("transferred", json!({"from": from, "to": to})),
        RunEvent::HostedCall { call, .. } => {
            ("hosted_call", json!({"id": call.id, "name": call.name, "arguments": call.arguments}))
        }
        RunEvent::Custom { name, data, .. } => (name.as_str(), data.clone()),
        _ => return None,
    };
    Some(AgEvent::Custom { name: name.to_owned(), value })
}
