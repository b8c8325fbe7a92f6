//! The clients under test.

use super::speech::Speech;
use std::time::Duration;
use toolkit_agent::{Agent, AgentBuilder};
use toolkit_llm_http::{Anthropic, Gemini, GenAi, HttpLimits, Ollama, OpenAi};

/// The idle timeout, long enough for a healthy answer on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) speech: Speech,
    pub(crate) agent: fn(&str, &str, HttpLimits) -> AgentBuilder,
    pub(crate) is_bounded: bool,
    pub(crate) streams_calls: bool,
    pub(crate) calls_at_once: bool,
    /// A part of the expected head.
    pub(crate) expects: &'static [&'static str],
}

impl Client {
    pub(crate) fn agent(&self, url: &str) -> AgentBuilder {
        (self.agent)(url, "secret", HttpLimits::default().with_max_bytes(1 << 20))
    }

    pub(crate) fn hurried_agent(&self, url: &str) -> AgentBuilder {
        (self.agent)(url, "secret", HttpLimits::default().with_idle(PATIENCE).with_total(PATIENCE * 3))
    }

    pub(crate) fn agent_with_key(&self, url: &str, key: &str) -> AgentBuilder {
        (self.agent)(url, key, HttpLimits::default())
    }
}

macro_rules! client {
    ($client:expr, $base:expr, |$made:ident| $model:expr) => {{
        fn agent(url: &str, key: &str, limits: HttpLimits) -> AgentBuilder {
            let $made = $client
                .with_base_url(format!("{url}{}", $base))
                .with_key(key)
                .with_header("X-Extra", "yes")
                .with_limits(limits);
            Agent::builder($model)
        }
        agent as fn(&str, &str, HttpLimits) -> AgentBuilder
    }};
}

pub(crate) fn clients() -> Vec<Client> {
    let exact = |name, speech, agent, expects| Client {
        name,
        speech,
        agent,
        is_bounded: true,
        streams_calls: true,
        calls_at_once: true,
        expects,
    };
    let any = |name, speech, agent, streams_calls, expects| Client {
        is_bounded: false,
        streams_calls,
        calls_at_once: false,
        ..exact(name, speech, agent, expects)
    };
    vec![
        exact(
            "OpenAi::chat",
            Speech::Chat,
            client!(OpenAi::new().with_organization("us"), "/v1", |openai| openai.chat("m")),
            &["post /v1/chat/completions ", "authorization: bearer secret\r", "openai-organization: us\r"],
        ),
        exact(
            "OpenAi::responses",
            Speech::Responses,
            client!(OpenAi::new().with_project("p"), "/v1", |openai| openai.responses("m")),
            &["post /v1/responses ", "authorization: bearer secret\r", "openai-project: p\r"],
        ),
        exact(
            "Anthropic",
            Speech::Messages,
            client!(Anthropic::new().with_beta("one").with_beta("two"), "", |anthropic| anthropic.model("m")),
            &[
                "post /v1/messages ",
                "x-api-key: secret\r",
                "anthropic-version: 2023-06-01\r",
                "anthropic-beta: one,two\r",
            ],
        ),
        exact(
            "Gemini",
            Speech::Gemini,
            client!(Gemini::new(), "/v1beta", |gemini| gemini.model("m")),
            &["post /v1beta/models/m:", "x-goog-api-key: secret\r"],
        ),
        exact(
            "Ollama",
            Speech::Ollama,
            client!(Ollama::new(), "", |ollama| ollama.model("m")),
            &["post /api/chat ", "authorization: bearer secret\r"],
        ),
        any(
            "GenAi, Chat Completions",
            Speech::Chat,
            client!(GenAi::new(), "/v1", |genai| genai.model("openai::m")),
            true,
            &["post /v1/chat/completions ", "authorization: bearer secret\r"],
        ),
        any(
            "GenAi, Responses",
            Speech::Responses,
            client!(GenAi::new(), "/v1", |genai| genai.model("openai_resp::m")),
            false,
            &["post /v1/responses ", "authorization: bearer secret\r"],
        ),
        any(
            "GenAi, Messages",
            Speech::Messages,
            client!(GenAi::new(), "/v1", |genai| genai.model("anthropic::m")),
            false,
            &["post /v1/messages ", "x-api-key: secret\r"],
        ),
        any(
            "GenAi, Gemini",
            Speech::Gemini,
            client!(GenAi::new(), "/v1beta", |genai| genai.model("gemini::m")),
            true,
            &["post /v1beta/models/m:", "x-goog-api-key: secret\r"],
        ),
    ]
}
