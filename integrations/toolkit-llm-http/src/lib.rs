//! Clients for language models, each behind a feature with the name of the provider.
//!
//! A client makes models, which implement [`ChatModel`](toolkit_llm::ChatModel).
//!
//! ```no_run
//! use toolkit_ai::llm::ChatModel;
//! use toolkit_ai::llm_http::OpenAi;
//!
//! # async fn ask() -> Result<(), toolkit_ai::llm::ModelError> {
//! let model = OpenAi::from_env().responses("gpt-5"); // the key is in `OPENAI_API_KEY`
//! let answer = model.respond("Why is the sky blue?".into()).await?;
//! println!("{}", answer.message.text);
//! # Ok(())
//! # }
//! ```
//!
//! An API key comes from an environment variable or from `with_key`. `with_token_source` sets a function for
//! access tokens that expire. Neither `Debug` nor the error of a refused request shows keys and tokens, even
//! if the server repeats them.
//!
//! | models of | at | client |
//! | --- | --- | --- |
//! | OpenAI | OpenAI, servers with the same API | `OpenAi` |
//! | OpenAI and others | Azure | `AzureOpenAi` |
//! | Anthropic | Anthropic, Microsoft Foundry | `Anthropic` |
//! | Google | the Gemini API | `Gemini` |
//! | Google, Anthropic and others | Vertex AI of Google Cloud | `Vertex` |
//! | Anthropic, Amazon, Meta and others | Amazon Bedrock | `Bedrock` |
//! | Cohere | Cohere | `Cohere` |
//! | Mistral | Mistral | `Mistral` |
//! | open weights | Ollama | `Ollama` |
//! | some forty providers | the crate `genai` | `GenAi` |
//!
//! The clients do not retry failed requests; agents and [`Retrying`](toolkit_llm::model::Retrying) do. They
//! do not follow redirects, so that an API key reaches only the intended server. They connect through the
//! proxy in the environment variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. A proxy with
//! another URL than `http://…` is an error; `NO_PROXY` excludes hosts.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Without a client, the crate is empty.
#![cfg(feature = "_http")]
// With some features off, parts of the shared code are unused.
#![cfg_attr(
    not(all(
        feature = "anthropic",
        feature = "azure",
        feature = "bedrock",
        feature = "cohere",
        feature = "gemini",
        feature = "genai",
        feature = "mistral",
        feature = "ollama",
        feature = "openai",
        feature = "vertex"
    )),
    allow(dead_code, unreachable_pub, unused_imports, unused_macros)
)]

#[macro_use]
mod helpers;

#[cfg(feature = "anthropic")]
mod anthropic;
mod auth;
#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "bedrock")]
mod bedrock;
#[cfg(feature = "cohere")]
mod cohere;
mod fault;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "genai")]
mod genai;
mod http;
#[cfg(feature = "mistral")]
mod mistral;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai")]
mod openai;
mod secret;
mod settings;
#[cfg(feature = "bedrock")]
mod sigv4;
#[cfg(feature = "_json")]
mod transport;
#[cfg(feature = "vertex")]
mod vertex;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
pub use auth::AccessToken;
#[cfg(feature = "azure")]
pub use azure::AzureOpenAi;
#[cfg(feature = "bedrock")]
pub use bedrock::Bedrock;
#[cfg(feature = "cohere")]
pub use cohere::Cohere;
#[cfg(feature = "gemini")]
pub use gemini::Gemini;
#[cfg(feature = "genai")]
pub use genai::{GenAi, GenAiModel};
#[cfg(feature = "mistral")]
pub use mistral::Mistral;
#[cfg(feature = "ollama")]
pub use ollama::Ollama;
#[cfg(feature = "openai")]
pub use openai::OpenAi;
#[cfg(feature = "bedrock")]
pub use sigv4::AwsCredentials;
pub use toolkit_http::client::HttpLimits;
#[cfg(feature = "_json")]
pub use transport::HttpTransport;
#[cfg(feature = "vertex")]
pub use vertex::Vertex;

/// The README's examples, compiled as doc tests.
#[cfg(all(doctest, feature = "openai"))]
#[doc = include_str!("../../../toolkit-llm/README.md")]
pub struct Readme;
