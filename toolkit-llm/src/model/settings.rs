//! Settings of model requests that providers express differently: thinking, caching, service tier and server
//! state.

use serde::{Deserialize, Serialize};

/// The amount of thinking (reasoning) before a model answers.
///
/// A provider supports levels of effort, a number of tokens, or both. An unsupported setting becomes the
/// nearest supported one, reported as a loss.
///
/// ```
/// use toolkit_ai::llm::ModelOptions;
/// use toolkit_ai::llm::model::{Effort, Thinking};
///
/// let options = ModelOptions::new().with_thinking(Effort::High);
/// assert_eq!(options.thinking, Some(Thinking::Effort(Effort::High)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Thinking {
    /// The model answers without thinking.
    Off,
    /// The model thinks with this effort.
    Effort(Effort),
    /// The model thinks with at most this number of tokens.
    Budget(u32),
}

impl From<Effort> for Thinking {
    fn from(effort: Effort) -> Self {
        Self::Effort(effort)
    }
}

/// A level of thinking effort.
///
/// ```
/// use toolkit_ai::llm::ModelOptions;
/// use toolkit_ai::llm::model::Effort;
///
/// let options = ModelOptions::new().with_thinking(Effort::Low);
/// assert!(options.thinking.is_some());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// Almost no thinking.
    Minimal,
    /// Little thinking.
    Low,
    /// Balanced thinking.
    Medium,
    /// Thorough thinking.
    High,
    /// Even more thorough thinking.
    XHigh,
    /// The most thorough thinking that the model supports.
    Max,
}

impl Effort {
    /// The levels from low to high, each with its name and a comparable number of tokens.
    const LEVELS: [(Self, &'static str, u32); 6] = [
        (Self::Minimal, "minimal", 1_024),
        (Self::Low, "low", 2_048),
        (Self::Medium, "medium", 8_192),
        (Self::High, "high", 24_576),
        (Self::XHigh, "xhigh", 32_768),
        (Self::Max, "max", 65_536),
    ];

    /// Returns the name of the level, such as `low`.
    #[must_use]
    pub fn name(self) -> &'static str {
        for (level, name, _) in Self::LEVELS {
            if level == self {
                return name;
            }
        }
        "medium"
    }

    /// Returns a comparable number of tokens, for models without levels.
    #[must_use]
    pub fn tokens(self) -> u32 {
        for (level, _, tokens) in Self::LEVELS {
            if level == self {
                return tokens;
            }
        }
        8_192
    }

    /// Returns the lowest level comparable with at least this number of tokens, for models that
    /// support only levels.
    #[must_use]
    pub fn of_tokens(tokens: u32) -> Self {
        for (level, _, most) in Self::LEVELS {
            if tokens <= most {
                return level;
            }
        }
        Self::Max
    }
}

/// The settings for prompt caching: the reuse of the unchanged beginning of a request, which saves
/// cost and time.
///
/// OpenAI and Gemini cache prompts automatically. Anthropic caches them only on request, and
/// chooses the cached part unless there are [cache points](CachePoint).
///
/// Some providers charge extra for input tokens written into a cache. [`Price`](crate::Price) and
/// [`Usage`](crate::Usage) have them separately.
///
/// ```
/// use toolkit_ai::llm::ModelOptions;
/// use toolkit_ai::llm::model::PromptCache;
///
/// let cache = PromptCache::new().with_key("support-bot").with_long_lifetime(true);
/// let options = ModelOptions::new().with_prompt_cache(cache);
/// assert!(options.prompt_cache.is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PromptCache {
    /// A key shared by requests with the same beginning. OpenAI sends them to the same cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether prompts stay cached for a long time: one hour at Anthropic, up to 24 hours at
    /// OpenAI. The default is some minutes.
    pub long_lifetime: bool,
    /// The cache points, for Anthropic and Bedrock.
    ///
    /// Without cache points, Anthropic chooses the cached part, and Bedrock caches only for models that cache
    /// automatically.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<CachePoint>,
}

/// A place up to which a request is cached. The order is tools, instructions, messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CachePoint {
    /// After the tool definitions. Useful if agents with different instructions have the same tools.
    Tools,
    /// After the instructions. Useful for conversations with the same instructions.
    System,
    /// After the last message. Each request of a conversation then reads what the previous one
    /// wrote.
    History,
}

impl PromptCache {
    /// Creates cache settings with the provider's default lifetime.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { PromptCache:
    /// Sets the cache points.
    ///
    /// ```
    /// use toolkit_ai::llm::model::{CachePoint, PromptCache};
    ///
    /// let cache = PromptCache::new().with_points([CachePoint::System, CachePoint::History]);
    /// assert_eq!(cache.points.len(), 2);
    /// ```
    with_points(points: impl IntoIterator<Item = CachePoint>) = points.into_iter().collect();
    /// Sets the key shared by requests with the same beginning.
    with_key(key: impl Into<String>) = Some(key.into());
    /// Sets whether prompts stay cached for a long time.
    with_long_lifetime(long_lifetime: bool) = long_lifetime;
}

/// The provider's processing tier, which determines price and speed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServiceTier {
    /// The provider chooses, as configured for the account.
    Auto,
    /// Standard price and speed.
    Standard,
    /// Cheaper and slower.
    Flex,
    /// Faster and more expensive.
    Priority,
    /// Another tier, by the provider's name.
    Other(String),
}

/// How the provider stores the conversation. Requests contain only the messages after the latest
/// stored response.
///
/// Only the Responses API stores conversations. For other APIs, the whole history is sent, and a
/// loss is reported.
///
/// ```
/// use toolkit_ai::llm::ModelOptions;
/// use toolkit_ai::llm::model::ServerState;
///
/// let options = ModelOptions::new().with_server_state(ServerState::Responses);
/// assert!(options.server_state.is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerState {
    /// The provider stores each response. A request contains the id of the latest one.
    Responses,
    /// The provider adds all messages to the conversation with this id. The program creates the
    /// conversation.
    ///
    /// After a compaction, or after a guardrail has changed an answer, the conversation still
    /// contains the originals. An agent then continues as with [`Responses`](Self::Responses).
    Conversation(String),
}
