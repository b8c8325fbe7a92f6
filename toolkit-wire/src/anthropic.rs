//! Anthropic Messages, as the service and the servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. Reading is tolerant; writing is what the strictest of
//! those servers accepts.

mod call;
mod choice;
mod definitions;
mod history;
mod media;
mod repair;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use toolkit_core::name::NameRule;

/// The format's name, under which fields that only this API has are kept.
pub(crate) const FORMAT: &str = "anthropic";
pub(crate) const ALIASES: &[&str] = &[];

/// `^[a-zA-Z0-9_-]{1,128}$`, from the service's error text; 64 before the middle of 2025.
pub(crate) const NAMES: NameRule = NameRule { max_length: 128, punctuation: "_-", letter_first: false };

/// `^[a-zA-Z0-9_-]+$`, from the service's error text; imitators take no more than 64 characters.
const IDS: NameRule = NameRule { max_length: 64, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct Anthropic;
