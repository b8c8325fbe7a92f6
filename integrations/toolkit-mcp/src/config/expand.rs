//! Variables in configuration files.

use crate::client::{McpError, McpErrorKind};

/// Returns `text` with each `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced.
///
/// # Errors
/// [`McpError`] if a variable without default is missing. An unclosed `${` stays as it is.
pub(super) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, McpError> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let inside = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) =
            inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let value = lookup(name).filter(|value| default.is_none() || !value.is_empty());
        let Some(value) = value.or(default.map(str::to_owned)) else {
            let text = format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`");
            return Err(McpError::new(McpErrorKind::Config, text));
        };
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_once() {
        let lookup = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            // Variables inside of the value of a variable are not replaced.
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("plain $A $", "plain $A $"),
            ("${A}-${env:A}", "1-1"),
            ("${NONE:-x y}${EMPTY:-z}[${EMPTY}]", "x yz[]"),
            ("${NESTED}", "${A}"),
            ("${A} ${unclosed", "1 ${unclosed"),
        ] {
            assert_eq!(expand(text, &lookup).as_deref(), Ok(expected), "{text}");
        }
        assert!(expand("${NONE}", &lookup).is_err());
    }
}
