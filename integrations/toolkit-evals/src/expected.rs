//! Expected tool calls and answers, and their comparison with a transcript.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_llm::model::answer;

/// A tool call that a task expects.
///
/// ```
/// use serde_json::json;
/// use toolkit_evals::{ExpectedCall, Task};
///
/// let task = Task::new("trip", "Is it clear in Oslo, and when does a train go there?").with_calls([
///     ExpectedCall::new("weather", json!({"city": "Oslo"})),
///     ExpectedCall::any_arguments("trains"),
/// ]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedCall {
    /// The name of the tool.
    pub name: String,
    /// The expected arguments. `None` accepts any arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

impl ExpectedCall {
    /// Creates an expected call with these arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self { name: name.into(), arguments: Some(arguments.into()) }
    }

    /// Creates an expected call with any arguments.
    #[must_use]
    pub fn any_arguments(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None }
    }
}

/// How an agent's calls are compared with the expected ones.
///
/// Calls that mean the same to the tool are equal, whatever the order of members, the spelling of numbers,
/// aliases, default values and coerced near misses.
///
/// Calls that have not [reached their tool](super::CalledTool::reached_tool) are ignored, so a model may
/// correct itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallMatch {
    /// Exactly the expected calls, in any order.
    #[default]
    Set,
    /// Exactly the expected calls, in order.
    Sequence,
    /// The expected calls in any order, among others.
    Subset,
    /// The expected calls in order, among others.
    Subsequence,
}

impl CallMatch {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A tool's name and canonical arguments. In an expected call, `None` accepts any arguments.
pub(crate) type ComparableCall = (String, Option<String>);

/// Compares an agent's calls with the expected ones. The error describes the first difference.
pub(crate) fn compare_calls(
    how: CallMatch,
    expected: &[ComparableCall],
    actual: &[ComparableCall],
) -> Result<(), String> {
    let is_ordered = matches!(how, CallMatch::Sequence | CallMatch::Subsequence);
    let is_complete = matches!(how, CallMatch::Set | CallMatch::Sequence);
    let mut left: Vec<&ComparableCall> = actual.iter().collect();
    // In any order, match expected calls with arguments first, or one that accepts any could take their
    // place.
    let mut wanted: Vec<&ComparableCall> = expected.iter().collect();
    if !is_ordered {
        wanted.sort_by_key(|(_, arguments)| arguments.is_none());
    }
    let mut from = 0;
    for call in wanted {
        let found = left.iter().skip(from).position(|actual| is_match(call, actual)).map(|at| at + from);
        match found {
            Some(at) if is_complete && is_ordered && at != from => {
                return Err(format!("expected {} before {}", shown(call), shown(left[from])));
            }
            Some(at) if is_ordered => from = at + 1,
            Some(at) => drop(left.remove(at)),
            None => return Err(format!("expected {}, got {}", shown(call), all_shown(actual))),
        }
    }
    let extra = if is_ordered { left.get(from) } else { left.first() };
    match extra.filter(|_| is_complete) {
        Some(extra) => Err(format!("unexpected call {}", shown(extra))),
        None => Ok(()),
    }
}

fn is_match((name, arguments): &ComparableCall, (actual_name, actual): &ComparableCall) -> bool {
    name == actual_name && (arguments.is_none() || arguments == actual)
}

fn shown((name, arguments): &ComparableCall) -> String {
    format!("`{name} {}`", arguments.as_deref().unwrap_or("…"))
}

fn all_shown(calls: &[ComparableCall]) -> String {
    match calls {
        [] => "no such call".to_owned(),
        calls => calls.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

/// A rule for the answer that a task expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExpectedAnswer {
    /// The answer contains all these strings.
    Contains(Vec<String>),
    /// The answer is this string, apart from white space around it.
    Equals(String),
    /// The last JSON value in the answer equals this one. The order of members and the spelling of numbers
    /// do not matter.
    Json(Value),
}

impl ExpectedAnswer {
    /// Compares `answer` with the expected one. The error describes the first difference.
    pub(crate) fn compare(&self, answer: &str) -> Result<(), String> {
        let answer = answer.trim();
        match self {
            Self::Contains(parts) => match parts.iter().find(|part| !answer.contains(part.as_str())) {
                Some(part) => Err(format!("expected `{part}` in the answer, got `{answer}`")),
                None => Ok(()),
            },
            Self::Equals(text) if answer == text.trim() => Ok(()),
            Self::Equals(text) => Err(format!("expected the answer `{text}`, got `{answer}`")),
            Self::Json(expected) => match last_json(answer) {
                Some(value) if is_equal(expected, &value) => Ok(()),
                Some(value) => Err(format!("expected the value {expected}, got {value}")),
                None => Err(format!("expected the value {expected}, got no JSON: `{answer}`")),
            },
        }
    }
}

/// Returns the last JSON value in a text.
fn last_json(text: &str) -> Option<Value> {
    answer::find(text).into_iter().rev().find_map(|json| serde_json::from_str(json).ok())
}

/// Returns whether two values are equal. Numbers are compared by value: 21 equals 21.0.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            if one.len() != other.len() {
                return false;
            }
            for (name, value) in one {
                let Some(counterpart) = other.get(name) else { return false };
                if !is_equal(value, counterpart) {
                    return false;
                }
            }
            true
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn calls(names: &str) -> Vec<ComparableCall> {
        let call = |name: char| {
            let arguments = name.is_lowercase().then(|| "{}".to_owned());
            (name.to_lowercase().to_string(), arguments)
        };
        names.chars().map(call).collect()
    }

    #[test]
    fn calls_are_compared_as_sets_and_sequences() {
        use CallMatch::{Sequence, Set, Subsequence, Subset};
        // An uppercase letter is an expected call that accepts any arguments.
        for (expected, actual, matches) in [
            ("", "", &[Set, Sequence, Subset, Subsequence][..]),
            ("ab", "ab", &[Set, Sequence, Subset, Subsequence]),
            ("ab", "ba", &[Set, Subset]),
            ("ab", "axb", &[Subset, Subsequence]),
            ("ab", "bxa", &[Subset]),
            ("", "a", &[Subset, Subsequence]),
            ("aa", "a", &[]),
            ("a", "aa", &[Subset, Subsequence]),
            ("Aa", "aa", &[Set, Sequence, Subset, Subsequence]),
            ("A", "b", &[]),
            ("ab", "a", &[]),
        ] {
            for how in [Set, Sequence, Subset, Subsequence] {
                let result = compare_calls(how, &calls(expected), &calls(actual));
                assert_eq!(result.is_ok(), matches.contains(&how), "{expected} {actual} {how:?}: {result:?}");
            }
        }
    }

    #[test]
    fn values_are_equal_in_any_spelling() {
        let expected = ExpectedAnswer::Json(json!({"city": "Oslo", "celsius": [21, {"a": null}]}));
        for text in [
            r#"{"city": "Oslo", "celsius": [21.0, {"a": null}]}"#,
            "Here:\n```json\n{\"celsius\": [2.1e1, {\"a\": null}], \"city\": \"Oslo\"}\n```",
        ] {
            assert_eq!(expected.compare(text), Ok(()), "{text}");
        }
        for text in ["", "Oslo", r#"{"city": "Oslo"}"#, r#"{"city": "Oslo", "celsius": [21, {"a": 0}]}"#] {
            assert!(expected.compare(text).is_err(), "{text}");
        }
    }

    proptest! {
        /// Calls that match in `Sequence` mode also match in `Set` and `Subsequence`, and calls that match
        /// in either of these also match in `Subset`.
        #[test]
        fn stricter_comparisons_imply_weaker_ones(expected in "[abA]{0,4}", actual in "[ab]{0,4}") {
            let expected = calls(&expected);
            let actual = calls(&actual);
            let fits = |how| compare_calls(how, &expected, &actual).is_ok();
            prop_assert!(!fits(CallMatch::Sequence) || fits(CallMatch::Set) && fits(CallMatch::Subsequence));
            prop_assert!(!fits(CallMatch::Set) && !fits(CallMatch::Subsequence) || fits(CallMatch::Subset));
            prop_assert_eq!(fits(CallMatch::Set), fits(CallMatch::Subset) && expected.len() == actual.len());
        }
    }
}
