//! Ollama's own API.

use crate::settings::{PLAIN, Service, Settings, client};
use crate::transport::HttpTransport;
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;

static SERVICE: Service = Service {
    name: "Ollama",
    base_url: "http://127.0.0.1:11434",
    key_header: ("authorization", "Bearer "),
    url_variable: Some("OLLAMA_HOST"),
    ..PLAIN
};

client! {
    /// A client for Ollama's own API, `/api/chat`.
    ///
    /// A server on this machine needs no API key, but `https://ollama.com` does:
    ///
    /// ```no_run
    /// use toolkit_ai::llm::ChatModel;
    /// use toolkit_ai::llm_http::Ollama;
    ///
    /// # async fn ask(key: String) -> Result<(), toolkit_ai::llm::ModelError> {
    /// let answer = Ollama::new().model("qwen3").respond("Hello!".into()).await?;
    ///
    /// let cloud = Ollama::new().with_base_url("https://ollama.com").with_key(key);
    /// let answer = cloud.model("gpt-oss:120b").respond("Hello!".into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    Ollama(SERVICE);
    /// Creates a client for this machine, at port 11434.
    new;
}

impl Ollama {
    /// Creates a client for the server in `OLLAMA_HOST`, by default on this machine, at port 11434.
    ///
    /// The scheme and the port are optional, as in Ollama itself: `192.168.0.7` means
    /// `http://192.168.0.7:11434`.
    #[must_use]
    pub fn from_env() -> Self {
        let settings = Settings::from_env(&SERVICE);
        let base_url = address(&settings.base_url);
        Self { settings: Settings { base_url, ..settings } }
    }

    /// Creates the model with the given name.
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> WireModel<HttpTransport> {
        self.settings.model(ApiFormat::Ollama, name, "/api/chat")
    }
}

/// Adds `http://` and the port 11434 if `host` has no scheme.
fn address(host: &str) -> String {
    if host.contains("://") {
        return host.to_owned();
    }
    // Colons in the brackets of an IPv6 address do not begin a port.
    let after_brackets = host.rsplit(']').next().unwrap_or(host);
    let port = if after_brackets.contains(':') { "" } else { ":11434" };
    format!("http://{host}{port}")
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn scheme_and_port_are_optional() {
        for (host, url) in [
            ("192.168.0.7", "http://192.168.0.7:11434"),
            ("localhost:80", "http://localhost:80"),
            ("[::1]", "http://[::1]:11434"),
            ("[::1]:80", "http://[::1]:80"),
            ("https://ollama.com", "https://ollama.com"),
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ] {
            assert_eq!(address(host), url);
        }
    }
}
