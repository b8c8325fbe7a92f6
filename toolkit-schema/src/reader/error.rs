//! Why a value was not read.

use serde::de::{Error, Expected, Unexpected};
use std::fmt;

/// The error of a refused value, without a message if the text is no JSON or the plan does not accept it.
pub struct ReadError(Option<Box<ReadMessage>>);

/// A message behind a pointer, so that results of reading fit into registers.
struct ReadMessage(String);

impl ReadError {
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
