//! Changes names, ids and arguments in a history so that servers accept them.
//!
//! One refused call ends the conversation, because every request contains the history. llama.cpp answers with
//! status 500 to arguments that are not JSON, vLLM with 400 (vllm-project/vllm#48922). Templates such as
//! Qwen3-Coder's fail on arguments that are not an object ("Can only get item pairs from a mapping"), and
//! OpenAI refuses illegal names. Models write such calls at their token limit, or invent a name.

use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use toolkit_core::name::{NameRule, fnv1a};
use toolkit_schema::__private::extract_object;

/// Replaces illegal characters with `_` and shortens the name. Results refer to calls by id, so they still
/// match.
pub(crate) fn name(rule: NameRule, name: &str) -> Cow<'_, str> {
    if rule.accepts(name) {
        return Cow::Borrowed(name);
    }
    let mut legal = rule.plain(name);
    legal.truncate(rule.max_length());
    Cow::Owned(if legal.is_empty() { "_".to_owned() } else { legal })
}

/// Makes a call id legal.
///
/// Illegal characters are replaced, and a digest of the original id is added. So a call and its result get
/// the same new id, and different calls get different ids.
pub(crate) fn id(rule: NameRule, id: &str) -> Cow<'_, str> {
    if rule.accepts(id) { Cow::Borrowed(id) } else { Cow::Owned(rule.hashed(id, 0)) }
}

/// Returns legal and distinct ids for the calls of a turn, or for their results in the same order.
///
/// If `is_strict` is `false`, distinct ids stay unchanged, even if they are illegal.
pub(crate) fn ids<'a>(
    rule: NameRule,
    is_strict: bool,
    given: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let hashed = |given: &str, salt| rule.hashed(given, salt);
    if is_strict {
        distinct(given, |given| id(rule, given), hashed)
    } else {
        distinct(given, Cow::Borrowed, hashed)
    }
}

/// Returns distinct ids of exactly nine letters and digits. Other ids are replaced by a digest.
pub(crate) fn nine_character_ids<'a>(given: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    distinct(given, nine_character_id, nine_character_digest)
}

fn nine_character_id(id: &str) -> Cow<'_, str> {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(nine_character_digest(id, 0))
}

fn nine_character_digest(id: &str, salt: u64) -> String {
    let mut rest = fnv1a(id, salt);
    let mut digest = String::with_capacity(9);
    for _ in 0..9 {
        let digit = (rest % 36) as u8;
        rest /= 36;
        digest.push(char::from(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }));
    }
    digest
}

/// Returns a distinct id for each id in `given`, made by `legal`. If it is taken, `hashed` makes another one
/// with a salt.
fn distinct<'a>(
    given: impl IntoIterator<Item = &'a str>,
    legal: impl Fn(&'a str) -> Cow<'a, str>,
    hashed: impl Fn(&str, u64) -> String,
) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut uses: HashMap<&str, u64> = HashMap::new();
    let ids = given.into_iter();
    let mut distinct = Vec::with_capacity(ids.size_hint().0);
    for given in ids {
        let uses = uses.entry(given).or_default();
        loop {
            let id = match *uses {
                0 => legal(given),
                salt => Cow::Owned(hashed(given, salt)),
            };
            *uses += 1;
            if !taken.contains(&*id) {
                taken.insert(id.clone().into_owned());
                distinct.push(id.into_owned());
                break;
            }
        }
    }
    distinct
}

/// Converts arguments to the text of a JSON object.
///
/// An object stays exactly as the model wrote it. Missing arguments become `{}`. A JSON string, a list or a
/// fence around an object becomes this object, as the tool received it. Any other text becomes the value of
/// the member `invalid_arguments`, so the model sees it with the error result.
pub(crate) fn arguments(text: &str) -> Cow<'_, str> {
    match text.trim() {
        "" | "null" => Cow::Borrowed("{}"),
        _ if is_object(text) => Cow::Borrowed(text),
        _ => match extract_object(text) {
            Some(object) if is_object(&object) => object,
            _ => Cow::Owned(json!({"invalid_arguments": text}).to_string()),
        },
    }
}

/// Returns whether `text` is a valid JSON object.
///
/// The values are parsed too: lone surrogates and `1e999` pass a check of the syntax but fail in servers.
fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: NameRule = NameRule::DASHES;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(arguments(text), expected);
    }

    #[test]
    fn objects_are_unchanged_to_the_character() {
        for text in ["{}", " { \"b\" : 1.0,\n\"a\":\"\\u00e9é\" } ", r#"{"a": 1, "a": 2}"#] {
            check(text, text);
        }
    }

    #[test]
    fn missing_arguments_become_an_empty_object() {
        for text in ["", " \n", "null", " null "] {
            check(text, "{}");
        }
    }

    #[test]
    fn a_wrapped_object_becomes_the_object() {
        for text in [r#""{\"a\": 1}""#, r#"[{"a": 1}]"#, "```json\n{\"a\": 1}\n```", r#" "[{\"a\": 1}]" "#] {
            check(text, r#"{"a": 1}"#);
        }
    }

    #[test]
    fn anything_else_is_kept_as_text() {
        check(r#"{"a": "b"#, r#"{"invalid_arguments":"{\"a\": \"b"}"#);
        check("[1,2]", r#"{"invalid_arguments":"[1,2]"}"#);
        check("{} {}", r#"{"invalid_arguments":"{} {}"}"#);
        check(r#"{"a": 1e999}"#, r#"{"invalid_arguments":"{\"a\": 1e999}"}"#);
        check(r#"{"a": "\ud800"}"#, r#"{"invalid_arguments":"{\"a\": \"\\ud800\"}"}"#);
        check("Paris 日本", r#"{"invalid_arguments":"Paris 日本"}"#);
    }

    #[test]
    fn names_are_legal() {
        for (given, expected) in
            [("add", "add"), ("functions.add", "functions_add"), ("", "_"), ("$日", "__"), ("<|x|>", "__x__")]
        {
            assert_eq!(name(CHAT, given), expected);
        }
        assert_eq!(name(CHAT, &"n".repeat(99)), "n".repeat(64));
    }

    #[test]
    fn ids_within_a_turn_are_distinct() {
        let long = "y".repeat(99);
        let given = ["a", "b", "a", "c/d", "a", &long, ""];
        let lax = ids(CHAT, false, given);
        assert_eq!([&lax[0], &lax[1], &lax[3], &lax[5], &lax[6]], ["a", "b", "c/d", &long, ""]);
        let strict = ids(CHAT, true, given);
        assert_eq!((strict[0].as_str(), &strict[2]), ("a", &lax[2]));
        assert!(strict.iter().all(|id| CHAT.accepts(id)), "{strict:?}");
        for ids in [lax, strict] {
            assert_eq!(ids.iter().collect::<HashSet<_>>().len(), given.len(), "{ids:?}");
        }
        // Looks like the id that replaces a repeated id.
        let again = CHAT.hashed("a", 1);
        let ids = ids(CHAT, false, ["a", "a", &again]);
        assert_eq!(ids[1], again);
        assert_ne!(ids[2], again);
    }

    #[test]
    fn nine_character_ids_are_legal_distinct_and_stable() {
        let given = ["D681PevKs", "call_1", "call_2", "call_1", "", "toolu_01A09q90qw90lq917835lq9"];
        let ids = nine_character_ids(given);
        assert_eq!(ids[0], "D681PevKs");
        assert!(
            ids.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())),
            "{ids:?}"
        );
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), given.len(), "{ids:?}");
        assert_eq!(nine_character_ids(given), ids);
    }

    #[test]
    fn legal_ids_of_different_calls_are_distinct() {
        assert_eq!(id(CHAT, "call_1"), "call_1");
        assert_ne!(id(CHAT, "a/b"), id(CHAT, "a:b"));
        for refused in ["", "a/b", "é", &"y".repeat(99)] {
            assert!(CHAT.accepts(&id(CHAT, refused)));
        }
    }
}
