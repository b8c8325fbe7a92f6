//! Boxed futures, and the depth of JSON.

use toolkit_schema::__private::MAX_DEPTH;

/// The maximum nesting depth of a value that `serde_json` can parse.
pub const MAX_NESTING: usize = MAX_DEPTH;

/// Checks that valid JSON is not nested deeper than `max` levels. Otherwise, returns an error message.
pub fn check_nesting(json: &str, max: usize) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest <= max {
        return Ok(());
    }
    Err(format!("is nested {deepest} levels deep, and could not be read again; flatten it to {max} levels"))
}

/// A boxed `Send` future.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
