//! What a user of agents sees.

#[cfg(all(feature = "anthropic", feature = "genai", feature = "google", feature = "openai"))]
mod faults;
