//! The clients, with expected requests and an answer.

use super::binary::message;
use serde_json::{Value, json};
use toolkit_llm::transport::WireModel;
use toolkit_llm_http::{
    Anthropic, AwsCredentials, AzureOpenAi, Bedrock, Cohere, Gemini, HttpTransport, Mistral, Vertex,
};

pub(super) type Model = WireModel<HttpTransport>;

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) model: fn(&str) -> Model,
    /// The first lines of requests, complete and streamed.
    pub(super) lines: [&'static str; 2],
    pub(super) header: &'static str,
    pub(super) secret: &'static str,
    /// Every body's fields, as pointers with values.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// The fields that no body may have.
    pub(super) missing: &'static [&'static str],
    pub(super) whole: Value,
    pub(super) streamed: Vec<u8>,
    pub(super) media_type: &'static str,
}

pub(super) const SSE: &str = "text/event-stream";
pub(super) const AWS: &str = "application/vnd.amazon.eventstream";

fn sse(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

pub(super) fn cases() -> Vec<Case> {
    let chat = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]});
    let chat_events = sse(&[
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "do"}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": "ne"}, "finish_reason": "stop"}]}),
    ]);
    let item = json!({"id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}]});
    let responses = json!({"id": "r", "object": "response", "status": "completed", "output": [item]});
    let responses_events = sse(&[
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": responses}),
    ]);
    let messages = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"});
    let messages_events = sse(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "done"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]);
    let gemini = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"}]});
    let converse = json!({"output": {"message": {"role": "assistant", "content": [{"text": "done"}]}}, "stopReason": "end_turn"});
    let converse_events = [
        message("messageStart", &json!({"role": "assistant"})),
        message("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": {"text": "do"}})),
        message("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": {"text": "ne"}})),
        message("contentBlockStop", &json!({"contentBlockIndex": 0})),
        message("messageStop", &json!({"stopReason": "end_turn"})),
    ]
    .concat();
    let cohere = json!({"id": "c", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}});
    let cohere_events = sse(&[
        json!({"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}}),
        json!({"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}}),
        json!({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "done"}}}}),
        json!({"type": "content-end", "index": 0}),
        json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
    ]);
    let steps = json!({"id": "i", "status": "completed", "steps": [{"type": "model_output", "content": [{"type": "text", "text": "done"}]}]});
    let steps_events = sse(&[
        json!({"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}),
        json!({"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "done"}}),
        json!({"event_type": "step.stop", "index": 0}),
        json!({"event_type": "interaction.completed", "interaction": {"id": "i", "status": "completed"}}),
    ]);
    let case = |name,
                model,
                lines,
                header,
                fields: &[(&'static str, &str)],
                missing,
                (whole, streamed): (&Value, &[u8])| Case {
        name,
        model,
        lines,
        header,
        secret: ["secret", "gcloud", "microsoft"]
            .into_iter()
            .find(|secret| header.contains(secret))
            .unwrap_or("session-token"),
        fields: fields.iter().map(|(path, value)| (*path, json!(value))).collect(),
        missing,
        whole: whole.clone(),
        streamed: streamed.to_vec(),
        media_type: if name.starts_with("Bedrock") { AWS } else { SSE },
    };
    vec![
        case(
            "AzureOpenAi, Responses",
            |url| AzureOpenAi::new(url).with_key("secret").responses("my-gpt"),
            ["POST /openai/v1/responses HTTP/1.1"; 2],
            "api-key: secret\r",
            &[("/model", "my-gpt")],
            &["messages"],
            (&responses, &responses_events),
        ),
        case(
            "AzureOpenAi, Chat Completions",
            // The portal shows the endpoint with its path.
            |url| AzureOpenAi::new(format!("{url}/openai/v1/")).with_key("secret").chat("my-gpt"),
            ["POST /openai/v1/chat/completions HTTP/1.1"; 2],
            "api-key: secret\r",
            &[("/model", "my-gpt")],
            &["input"],
            (&chat, &chat_events),
        ),
        case(
            "AzureOpenAi, preview",
            |url| AzureOpenAi::new(url).with_key("secret").with_api_version("preview").chat("m"),
            ["POST /openai/v1/chat/completions?api-version=preview HTTP/1.1"; 2],
            "api-key: secret\r",
            &[],
            &[],
            (&chat, &chat_events),
        ),
        case(
            "AzureOpenAi, Chat Completions with a dated version",
            |url| AzureOpenAi::new(url).with_key("secret").with_api_version("2024-10-21").chat("my gpt/4"),
            ["POST /openai/deployments/my%20gpt%2F4/chat/completions?api-version=2024-10-21 HTTP/1.1"; 2],
            "api-key: secret\r",
            &[],
            &[],
            (&chat, &chat_events),
        ),
        case(
            "AzureOpenAi, Responses with a dated version",
            |url| {
                let azure = AzureOpenAi::new(url).with_api_version("2025-03-01-preview");
                azure.with_token_source(|| async { Ok::<_, std::io::Error>("microsoft") }).responses("my-gpt")
            },
            ["POST /openai/responses?api-version=2025-03-01-preview HTTP/1.1"; 2],
            "authorization: bearer microsoft\r",
            &[("/model", "my-gpt")],
            &[],
            (&responses, &responses_events),
        ),
        case(
            "Vertex, Gemini",
            |url| vertex(url).gemini("gemini-3-flash"),
            [
                "POST /v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3-flash:generateContent HTTP/1.1",
                "POST /v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3-flash:streamGenerateContent?alt=sse HTTP/1.1",
            ],
            "authorization: bearer gcloud\r",
            &[],
            &["model", "stream"],
            (&gemini, &sse(std::slice::from_ref(&gemini))),
        ),
        case(
            "Vertex, a tuned Gemini",
            |url| vertex(url).gemini("endpoints/123"),
            [
                "POST /v1beta1/projects/my-project/locations/europe-west4/endpoints/123:generateContent HTTP/1.1",
                "POST /v1beta1/projects/my-project/locations/europe-west4/endpoints/123:streamGenerateContent?alt=sse HTTP/1.1",
            ],
            "authorization: bearer gcloud\r",
            &[],
            &["model", "stream"],
            (&gemini, &sse(std::slice::from_ref(&gemini))),
        ),
        case(
            "Vertex, a model of another project",
            |url| vertex(url).gemini("projects/p2/locations/us-central1/endpoints/7"),
            [
                "POST /v1beta1/projects/p2/locations/us-central1/endpoints/7:generateContent HTTP/1.1",
                "POST /v1beta1/projects/p2/locations/us-central1/endpoints/7:streamGenerateContent?alt=sse HTTP/1.1",
            ],
            "authorization: bearer gcloud\r",
            &[],
            &["model", "stream"],
            (&gemini, &sse(std::slice::from_ref(&gemini))),
        ),
        case(
            "Vertex, Anthropic",
            |url| vertex(url).anthropic("claude-sonnet-4-5@20250929"),
            [
                "POST /v1/projects/my-project/locations/europe-west4/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict HTTP/1.1",
                "POST /v1/projects/my-project/locations/europe-west4/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict HTTP/1.1",
            ],
            "authorization: bearer gcloud\r",
            &[("/anthropic_version", "vertex-2023-10-16")],
            &["model"],
            (&messages, &messages_events),
        ),
        case(
            "Vertex, Chat Completions",
            |url| vertex(url).chat("meta/llama-4"),
            ["POST /v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions HTTP/1.1";
                2],
            "authorization: bearer gcloud\r",
            &[("/model", "meta/llama-4")],
            &["anthropic_version"],
            (&chat, &chat_events),
        ),
        case(
            "Vertex with an API key",
            |url| Vertex::new("p", "global").with_base_url(url).with_key("secret").gemini("m"),
            [
                "POST /v1beta1/projects/p/locations/global/publishers/google/models/m:generateContent HTTP/1.1",
                "POST /v1beta1/projects/p/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse HTTP/1.1",
            ],
            "x-goog-api-key: secret\r",
            &[],
            &[],
            (&gemini, &sse(std::slice::from_ref(&gemini))),
        ),
        case(
            "Bedrock with an API key",
            |url| {
                Bedrock::new("us-east-1")
                    .with_base_url(url)
                    .with_key("secret")
                    .model("us.anthropic.claude-v1:0")
            },
            [
                "POST /model/us.anthropic.claude-v1%3A0/converse HTTP/1.1",
                "POST /model/us.anthropic.claude-v1%3A0/converse-stream HTTP/1.1",
            ],
            "authorization: bearer secret\r",
            &[("/messages/0/content/0/text", "hi")],
            &["model", "stream"],
            (&converse, &converse_events),
        ),
        case(
            "Bedrock with credentials",
            |url| {
                let credentials = AwsCredentials::new("AKID", "private").with_session_token("session-token");
                Bedrock::new("us-east-1")
                    .with_base_url(url)
                    .with_credentials(credentials)
                    .model("arn:aws:x/y")
            },
            [
                "POST /model/arn%3Aaws%3Ax%2Fy/converse HTTP/1.1",
                "POST /model/arn%3Aaws%3Ax%2Fy/converse-stream HTTP/1.1",
            ],
            "signedheaders=content-type;host;x-amz-date;x-amz-security-token, signature=",
            &[],
            &["model", "stream"],
            (&converse, &converse_events),
        ),
        case(
            "Cohere",
            |url| Cohere::new().with_base_url(url).with_key("secret").model("command-a"),
            ["POST /v2/chat HTTP/1.1"; 2],
            "authorization: bearer secret\r",
            &[("/model", "command-a")],
            &[],
            (&cohere, &cohere_events),
        ),
        case(
            "Gemini, Interactions",
            |url| {
                Gemini::new()
                    .with_base_url(format!("{url}/v1beta"))
                    .with_key("secret")
                    .interactions("gemini-3-flash")
            },
            ["POST /v1beta/interactions HTTP/1.1"; 2],
            "x-goog-api-key: secret\r",
            &[("/model", "gemini-3-flash")],
            &["contents"],
            (&steps, &steps_events),
        ),
        case(
            "Mistral",
            |url| Mistral::new().with_base_url(format!("{url}/v1")).with_key("secret").model("mistral-large"),
            ["POST /v1/chat/completions HTTP/1.1"; 2],
            "authorization: bearer secret\r",
            &[("/model", "mistral-large")],
            &["stream_options", "max_completion_tokens"],
            (&chat, &chat_events),
        ),
        case(
            "Anthropic at Microsoft Foundry",
            |url| {
                let foundry = Anthropic::new().with_base_url(format!("{url}/anthropic"));
                foundry.with_token_source(|| async { Ok::<_, std::io::Error>("microsoft\n") }).model("claude")
            },
            ["POST /anthropic/v1/messages HTTP/1.1"; 2],
            "authorization: bearer microsoft\r",
            &[("/model", "claude")],
            &["anthropic_version"],
            (&messages, &messages_events),
        ),
    ]
}

fn vertex(url: &str) -> Vertex {
    let vertex = Vertex::new("my-project", "europe-west4").with_base_url(url);
    vertex.with_token_source(|| async { Ok::<_, std::io::Error>("gcloud") })
}
