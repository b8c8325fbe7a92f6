//! The regular expressions of `pattern` and `patternProperties`.

use regex_lite::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of cached patterns.
const CACHED: usize = 256;

/// The maximum size of a compiled pattern in bytes, on which the time of a match depends.
const LARGEST: usize = 1 << 18;

/// Returns whether `pattern` is valid, supported and not too large.
pub(crate) fn compiles(pattern: &str) -> bool {
    compiled(pattern).is_some()
}

/// Returns whether a text matches, or `None` if the pattern is unusable.
pub(crate) fn is_match(pattern: &str, text: &str) -> Option<bool> {
    compiled(pattern).map(|pattern| pattern.is_match(text))
}

/// A compiled regular expression.
enum Pattern {
    Plain(Regex),
    /// An expression that `regex-lite` does not support, as with look-around.
    #[cfg(feature = "jsonschema")]
    Any(Box<jsonschema::Validator>),
}

impl Pattern {
    fn new(pattern: &str) -> Option<Self> {
        if let Ok(regex) = RegexBuilder::new(pattern).size_limit(LARGEST).build() {
            return Some(Self::Plain(regex));
        }
        if Regex::new(pattern).is_ok() {
            return None;
        }
        #[cfg(feature = "jsonschema")]
        {
            let schema = serde_json::json!({"pattern": pattern});
            Some(Self::Any(Box::new(jsonschema::options().offline().build(&schema).ok()?)))
        }
        #[cfg(not(feature = "jsonschema"))]
        None
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Plain(regex) => regex.is_match(text),
            #[cfg(feature = "jsonschema")]
            Self::Any(validator) => validator.is_valid(&text.into()),
        }
    }
}

/// Returns the cached expression, or `None` if it is unusable.
fn compiled(pattern: &str) -> Option<Arc<Pattern>> {
    static CACHE: Mutex<Option<HashMap<String, Arc<Pattern>>>> = Mutex::new(None);
    let mut locked = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = locked.get_or_insert_default();
    if let Some(known) = cache.get(pattern) {
        return Some(known.clone());
    }
    let new = Arc::new(Pattern::new(pattern)?);
    if cache.len() < CACHED {
        cache.insert(pattern.to_owned(), new.clone());
    }
    Some(new)
}
