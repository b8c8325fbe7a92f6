//! The results of calls.

use super::UiEncoder;
use crate::ai_sdk::UiChunk;
use serde_json::Value;
use std::mem;
use toolkit_core::output::{Media, MediaData};
use toolkit_core::{Content, ErrorKind, ToolError, ToolOutput, ToolResult};

impl UiEncoder {
    pub(super) fn result(&mut self, key: &str, result: &ToolResult, chunks: &mut Vec<UiChunk>) {
        let call = self.calls.entry(key.to_owned()).or_default();
        call.has_result = true;
        if call.tool.is_empty() {
            call.tool.clone_from(&result.name);
        }
        self.complete_call(key, chunks);
        match &result.outcome {
            Ok(output) => {
                self.approved(key, chunks);
                let tool_call_id = key.into();
                let value = shown(output);
                chunks.push(UiChunk::ToolOutputAvailable { tool_call_id, output: value, preliminary: false });
                for content in output.content() {
                    if let Content::Image(media) | Content::Audio(media) | Content::File(media) = content {
                        chunks
                            .push(UiChunk::File { media_type: media.media_type.clone(), url: url_of(media) });
                    }
                }
            }
            Err(error) => self.failure(key, error, chunks),
        }
    }

    fn failure(&mut self, key: &str, error: &ToolError, chunks: &mut Vec<UiChunk>) {
        let waits = self.calls.get(key).is_some_and(|call| call.waits);
        let tool_call_id = key.into();
        if error.kind() != ErrorKind::Denied || !waits {
            self.approved(key, chunks);
            let error_text = error.message().to_owned();
            chunks.push(UiChunk::ToolOutputError { tool_call_id, error_text });
            return;
        }
        if let Some(call) = self.calls.get_mut(key) {
            mem::take(&mut call.waits);
        }
        chunks.push(UiChunk::ToolApprovalResponse {
            approval_id: key.into(),
            approved: false,
            reason: Some(error.message().to_owned()),
        });
        chunks.push(UiChunk::ToolOutputDenied { tool_call_id });
    }
}

/// Returns the JSON of an output, or its text.
fn shown(output: &ToolOutput) -> Value {
    if let Some(value) = output.structured() {
        return value.clone();
    }
    if let [Content::Json(json)] = output.content()
        && let Ok(value) = json.to_value()
    {
        return value;
    }
    Value::String(output.to_text().into_owned())
}

/// Returns the address of a medium, which has its bytes if the provider does not fetch them.
pub(in crate::ai_sdk) fn url_of(media: &Media) -> String {
    match &media.data {
        MediaData::Base64(data) => format!("data:{};base64,{data}", media.media_type),
        MediaData::Url(url) => url.clone(),
    }
}
