//! Recognises the errors with which providers block a prompt or an answer.

use serde_json::Value;

/// The error codes and error types with which providers report a blocked prompt or a blocked answer.
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

/// The JSON pointers to the codes in an error object. LiteLLM moves Azure's inner error to another field.
const POINTERS: [&str; 5] =
    ["/code", "/type", "/status", "/innererror/code", "/provider_specific_fields/innererror/code"];

/// Fragments of error messages that report a blocked prompt or a blocked answer, in lowercase. They are needed for
/// errors without an error code.
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

/// Returns whether an error object with the given message reports a blocked prompt or a blocked answer.
pub(crate) fn is_reported(error: &Value, message: &str) -> bool {
    for pointer in POINTERS {
        if let Some(Value::String(code)) = error.pointer(pointer)
            && CODES.contains(&code.as_str())
        {
            return true;
        }
    }
    // OpenRouter, if its own check has flagged the input.
    if error.pointer("/metadata/flagged_input").is_some_and(|input| !input.is_null()) {
        return true;
    }
    let message = message.to_lowercase();
    MESSAGES.iter().any(|fragment| message.contains(fragment))
}
