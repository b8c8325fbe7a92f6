//! The API formats, and their rules for tool names.

use std::fmt;
use std::str::FromStr;
use toolkit_core::name::NameRule;

/// Declares [`ApiFormat`] from rows of documentation, variant, name, other names, rule for tool names, and
/// feature.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $aliases:expr, $names:expr, if $feature:literal;)+) => {
        /// The JSON format of one provider API.
        ///
        /// ```
        /// use toolkit_ai::llm::ApiFormat;
        ///
        /// let format: ApiFormat = "openai-chat".parse()?;
        /// assert_eq!(format, ApiFormat::OpenAiChat);
        /// # Ok::<(), toolkit_ai::llm::UnknownApiFormat>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ApiFormat {
            $($(#[$doc])* #[cfg(feature = $feature)] $variant,)+
        }

        impl ApiFormat {
            /// All formats whose features are on.
            pub const ALL: &[Self] = &[$(#[cfg(feature = $feature)] Self::$variant),+];

            /// Returns the name of the format, as in `openai_chat`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => $name,)+
                }
            }

            /// Returns other accepted names, such as `google` for Gemini.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => &$aliases,)+
                }
            }

            /// Returns the provider's rule for tool names.
            #[must_use]
            pub const fn name_rule(self) -> NameRule {
                // Not a method of `Codec`: looking up a tool should not link all codecs into the program.
                match self {
                    $(#[cfg(feature = $feature)] Self::$variant => $names,)+
                }
            }
        }
    };
}

formats! {
    /// OpenAI's Chat Completions API, also offered by many other servers.
    // `^[a-zA-Z0-9_-]{1,64}$`, from the reference of both APIs of OpenAI.
    OpenAiChat = "openai_chat", ["openai-chat"], NameRule::DASHES, if "api-openai-chat";
    /// OpenAI's Responses API.
    OpenAiResponses = "openai_responses", ["openai-responses", "open_responses", "open-responses"],
        NameRule::DASHES, if "api-openai-responses";
    /// Anthropic's Messages API.
    // `^[a-zA-Z0-9_-]{1,128}$`, from the service's error text. Before the middle of 2025, the maximum was 64.
    Anthropic = "anthropic", [], NameRule::LONG_DASHES, if "api-anthropic";
    /// The `generateContent` API of Google's Gemini.
    // Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or `_`.
    Gemini = "gemini", ["google", "google-genai"], NameRule::DOTS, if "api-gemini";
    /// Ollama's API `/api/chat`.
    Ollama = "ollama", [], NameRule::DASHES, if "api-ollama";
    /// The Converse API of Amazon Bedrock.
    // The service model accepts `[a-zA-Z0-9_.:-]{1,64}`, but Anthropic's models only the characters of this
    // rule.
    Bedrock = "bedrock", [], NameRule::DASHES, if "api-bedrock";
    /// Cohere's Chat API, version 2.
    Cohere = "cohere", [], NameRule::DASHES, if "api-cohere";
    /// Gemini's Interactions API.
    // The same rule as for `generateContent`.
    GeminiInteractions = "gemini_interactions", ["gemini-interactions"], NameRule::DOTS,
        if "api-gemini-interactions";
}

impl fmt::Display for ApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApiFormat {
    type Err = UnknownApiFormat;

    fn from_str(text: &str) -> Result<Self, UnknownApiFormat> {
        for format in Self::ALL {
            if format.name() == text || format.aliases().contains(&text) {
                return Ok(*format);
            }
        }
        let names: Vec<&str> = Self::ALL.iter().copied().map(Self::name).collect();
        let mut aliases = Vec::new();
        for format in Self::ALL {
            aliases.extend(format.aliases().first().copied());
        }
        Err(UnknownApiFormat::new(text, &names, &aliases))
    }
}

/// Error when a string names no [`ApiFormat`].
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownApiFormat {
    message: String,
}

impl UnknownApiFormat {
    /// Creates the error for an unknown name. The message lists all formats, and one alias of each.
    ///
    /// Do not change the message: other libraries have the same one, and callers may compare it.
    pub(crate) fn new(text: &str, names: &[&str], aliases: &[&str]) -> Self {
        let names = names.join(", ");
        let aliases = aliases.join(", ");
        Self { message: format!("Unknown provider: '{text}'. Supported: {names} (aliases: {aliases})") }
    }
}

impl fmt::Debug for UnknownApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for UnknownApiFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnknownApiFormat {}
