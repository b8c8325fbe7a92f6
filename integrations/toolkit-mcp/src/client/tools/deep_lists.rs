//! Lists of tools that no JSON parser reads, because a tool of them is nested too deep.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::from_str;
use toolkit_core::schema::__private::MAX_DEPTH;

/// The maximum nesting of a tool, in levels of JSON. The list and the result are around it.
pub(super) const MAX_TOOL_DEPTH: usize = MAX_DEPTH - 7;

/// The result of `tools/list`. Ignored values have any depth.
#[derive(Deserialize)]
struct ListedTools {
    #[serde(rename = "tools")]
    _tools: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct ListMessage {
    #[serde(rename = "result")]
    _result: ListedTools,
}

/// Returns a list of tools, or the message with it, with `null` in place of values nested deeper than parsers
/// read. Returns `None` for any other text, or without such a value. The tool around such a value is deeper
/// than [`MAX_TOOL_DEPTH`].
pub(crate) fn cut_deep_values(text: &str) -> Option<String> {
    let mut cut = String::new();
    let mut kept = 0;
    let mut start = 0;
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth == MAX_DEPTH {
                    start = at;
                }
            }
            b']' | b'}' => {
                if depth == MAX_DEPTH {
                    cut.extend([text.get(kept..start).unwrap_or_default(), "null"]);
                    kept = at + 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if kept == 0 {
        return None;
    }
    cut.push_str(text.get(kept..).unwrap_or_default());
    let is_list = from_str::<ListedTools>(text).is_ok() || from_str::<ListMessage>(text).is_ok();
    if is_list { Some(cut) } else { None }
}
