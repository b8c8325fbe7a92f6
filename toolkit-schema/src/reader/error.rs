//! Why a value was not read.

use serde::de::{Error, Expected, Unexpected};
use std::fmt;

/// The error of a type that refuses a value. Without a message, the text is no JSON, or the plan does not accept the value.
pub struct ReadError(Option<Box<ReadMessage>>);

/// A message behind a pointer: results of reading are small enough for registers.
struct ReadMessage(String);

impl ReadError {
    /// An error without a message, which costs nothing.
    pub(super) const REFUSED: Self = Self(None);
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("invalid value", |message| &message.0))
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Some(Box::new(ReadMessage(message.to_string()))))
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::Unit => Self::custom(format_args!("invalid type: null, expected {expected}")),
            other => Self::custom(format_args!("invalid type: {other}, expected {expected}")),
        }
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::Unit => Self::custom(format_args!("invalid value: null, expected {expected}")),
            other => Self::custom(format_args!("invalid value: {other}, expected {expected}")),
        }
    }
}
