//! HTTP for the integrations of toolkit-ai.
