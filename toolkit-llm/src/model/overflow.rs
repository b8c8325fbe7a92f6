//! Recognition of errors for requests that exceed the context window.

/// Error codes and types for an exceeded context window.
///
/// OpenAI, Azure, Groq and other servers send `context_length_exceeded`, llama.cpp
/// `exceed_context_size_error`, and OpenAI `string_above_max_length` for a single message.
pub(super) const CONTEXT_CODES: [&str; 3] =
    ["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"];

/// Parts of error messages in lowercase. A message matches an entry if it contains all its parts.
const MESSAGES: [&[&str]; 15] = [
    // OpenAI, Azure, Groq and vLLM.
    &["maximum context length"],
    &["exceeds the context window"],
    // Anthropic; also in validation errors of Bedrock.
    &["prompt is too long"],
    &["exceed context limit"],
    // Gemini and Vertex AI.
    &["input token count", "exceeds the maximum"],
    &["input token count", "only supports up to"],
    // Bedrock.
    &["input is too long for requested model"],
    &["too many input tokens"],
    &["input tokens exceeded"],
    &["input length", "exceeds", "context length"],
    // Mistral.
    &["prompt contains", "too large for model"],
    // Cohere.
    &["too many tokens", "prompt"],
    // The server of llama.cpp.
    &["exceeds the available context size"],
    // xAI.
    &["maximum prompt length"],
    // Together, and text-generation-inference of Hugging Face.
    &["inputs` tokens", "must be <="],
];

pub(super) fn is_reported(message: &str) -> bool {
    let message = message.to_lowercase();
    if CONTEXT_CODES.iter().any(|code| message.contains(code)) {
        return true;
    }
    for fragments in MESSAGES {
        if fragments.iter().all(|fragment| message.contains(fragment)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::model::{ModelError, ModelErrorKind};

    /// Messages for too long requests, shortened to the relevant part.
    const TOO_LONG: [&str; 17] = [
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130071 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.",
        "Input is too long for requested model.",
        "The model returned the following errors: prompt is too long: 216345 tokens > 204798 maximum",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "the input length exceeds the context length",
        "Prompt contains 33002 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292",
        "request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens",
        "code: context_length_exceeded",
    ];

    /// Messages about other limits.
    const OTHER: [&str; 7] = [
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens",
        "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000",
        "Your credit balance is too low to access the API",
        "messages: text content blocks must be non-empty",
        "The thinking budget is too long",
        "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
        "tool_use ids were found without tool_result blocks immediately after",
    ];

    #[test]
    fn messages_about_the_context_window_have_their_own_kind() {
        for message in TOO_LONG {
            let error = ModelError::from_status(400, message);
            assert_eq!(error.kind, ModelErrorKind::ContextTooLong, "{message}");
            assert!(!error.is_retryable());
        }
        for message in OTHER {
            assert_eq!(
                ModelError::from_status(400, message).kind,
                ModelErrorKind::InvalidRequest,
                "{message}"
            );
        }
    }

    #[test]
    fn clear_statuses_take_precedence_over_messages() {
        for (status, kind) in [
            (401, ModelErrorKind::Unauthorized),
            (429, ModelErrorKind::RateLimited),
            (413, ModelErrorKind::ContextTooLong),
            (500, ModelErrorKind::ContextTooLong),
        ] {
            assert_eq!(ModelError::from_status(status, "prompt is too long").kind, kind, "{status}");
        }
    }
}
