//! The command line.

use crate::actor::Actor;
use toolkit_agent::{Agent, AgentBuilder};

const HELP: &str = "\
usage: chat [--demo] [--base-url URL] [--model NAME] [--format chat|responses|anthropic]

Without an address or a name, an actor plays the model. Keys are read from OPENAI_API_KEY and ANTHROPIC_API_KEY.";

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) demo: bool,
    base_url: Option<String>,
    model: Option<String>,
    format: Option<String>,
}

impl Options {
    /// Reads the options. Returns `None` after `--help`.
    pub(crate) fn read() -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let place = match word.as_str() {
                "--demo" => {
                    options.demo = true;
                    continue;
                }
                "--base-url" => &mut options.base_url,
                "--model" => &mut options.model,
                "--format" => &mut options.format,
                "--help" | "-h" => {
                    println!("{HELP}");
                    return Ok(None);
                }
                other => return Err(format!("`{other}` is not known\n{HELP}")),
            };
            *place = Some(words.next().ok_or_else(|| format!("`{word}` needs a value\n{HELP}"))?);
        }
        Ok(Some(options))
    }

    pub(crate) fn is_scripted(&self) -> bool {
        self.base_url.is_none() && self.model.is_none() && self.format.is_none()
    }

    pub(crate) fn model_name(&self) -> &str {
        match &self.model {
            Some(name) => name,
            None if self.is_scripted() => "an actor",
            None => "default",
        }
    }

    pub(crate) fn builder(&self) -> Result<AgentBuilder, String> {
        if self.is_scripted() {
            return Ok(Agent::builder(Actor::new()));
        }
        self.real(self.format.as_deref().unwrap_or("chat"))
    }

    /// Starts an agent with the model of a provider or a compatible server.
    fn real(&self, format: &str) -> Result<AgentBuilder, String> {
        match format {
            #[cfg(feature = "openai")]
            "chat" | "responses" => {
                let mut client = toolkit_llm_http::OpenAi::from_env();
                if let Some(url) = &self.base_url {
                    client = client.with_base_url(url);
                }
                let model = self.model_name();
                let is_chat = format == "chat";
                Ok(Agent::builder(if is_chat { client.chat(model) } else { client.responses(model) }))
            }
            #[cfg(feature = "anthropic")]
            "anthropic" => {
                let mut client = toolkit_llm_http::Anthropic::from_env();
                if let Some(url) = &self.base_url {
                    client = client.with_base_url(url);
                }
                Ok(Agent::builder(client.model(self.model_name())))
            }
            #[cfg(not(feature = "openai"))]
            "chat" | "responses" => Err("run it with `--features openai`".to_owned()),
            #[cfg(not(feature = "anthropic"))]
            "anthropic" => Err("run it with `--features anthropic`".to_owned()),
            other => Err(format!("the format `{other}` is not known\n{HELP}")),
        }
    }
}
