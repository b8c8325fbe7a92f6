//! Recognises errors that report a blocked prompt or answer.

use serde_json::Value;

/// Error codes and types.
const CODES: [&str; 9] = [
    // OpenAI and Azure.
    "content_filter",
    "content_policy_violation",
    "moderation_blocked",
    "image_content_policy_violation",
    "bio_policy",
    "misalignment_policy_violation",
    // Azure, in the inner error.
    "ResponsibleAIPolicyViolation",
    // Model Studio of Alibaba Cloud, in its two APIs.
    "data_inspection_failed",
    "DataInspectionFailed",
];

/// The JSON pointers to codes. LiteLLM moves Azure's inner error to another field.
const POINTERS: [&str; 5] =
    ["/code", "/type", "/status", "/innererror/code", "/provider_specific_fields/innererror/code"];

/// Parts of messages in lowercase, for errors without a code.
const MESSAGES: [&str; 8] = [
    // Anthropic, also on Bedrock and Vertex AI.
    "blocked by content filtering policy",
    // Azure.
    "content management policy",
    // OpenAI, with the code `invalid_prompt`.
    "flagged as potentially violating",
    "rejected as a result of our safety system",
    // Models of Amazon on Bedrock.
    "blocked by our content filter",
    "responsible ai policy",
    // xAI.
    "content violates usage guidelines",
    // LiteLLM.
    "contentpolicyviolationerror",
];

pub(crate) fn is_reported(error: &Value, message: &str) -> bool {
    for pointer in POINTERS {
        if let Some(Value::String(code)) = error.pointer(pointer)
            && CODES.contains(&code.as_str())
        {
            return true;
        }
    }
    // If OpenRouter's own check has flagged the input.
    if error.pointer("/metadata/flagged_input").is_some_and(|input| !input.is_null()) {
        return true;
    }
    let message = message.to_lowercase();
    MESSAGES.iter().any(|fragment| message.contains(fragment))
}
