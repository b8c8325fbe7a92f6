//! Random types and texts: without coercion a tool accepts only what serde accepts. With coercion it accepts more, but
//! never reads another value. No value is too complex.

mod shapes;

use proptest::prelude::*;
use proptest::sample::select;
use serde::de::DeserializeOwned;
use shapes::{Beside, Closed, Inside, Outside, Plain, Untagged};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use toolkit::FunctionTool;
use toolkit::prelude::*;

/// A type, with its tools and its decoding by serde as text.
struct Type {
    name: &'static str,
    strictly: FunctionTool,
    leniently: FunctionTool,
    decode: fn(&str) -> Option<String>,
}

fn decode<T: DeserializeOwned + Debug>(text: &str) -> Option<String> {
    serde_json::from_str::<T>(text).ok().map(|value| format!("{value:?}"))
}

macro_rules! types {
    ($($name:ident: $ty:ty;)*) => {
        mod strictly {
            use super::*;
            $(
                /// Takes a value as it is.
                #[tool(register = false, coerce = false)]
                pub(super) fn $name(p: $ty) -> String {
                    format!("{p:?}")
                }
            )*
        }
        mod leniently {
            use super::*;
            $(
                /// Takes a value after coercion.
                #[tool(register = false)]
                pub(super) fn $name(p: $ty) -> String {
                    format!("{p:?}")
                }
            )*
        }
        fn types() -> Vec<Type> {
            vec![$(Type {
                name: stringify!($name),
                strictly: strictly::$name::tool(),
                leniently: leniently::$name::tool(),
                decode: decode::<$ty>,
            }),*]
        }
    };
}

types! {
    of_u8: u8; of_i8: i8; of_u16: u16; of_i32: i32; of_i64: i64; of_u64: u64; of_i128: i128; of_u128: u128;
    of_f32: f32; of_f64: f64; of_bool: bool; of_char: char; of_text: String; of_unit: ();
    of_nonzero: std::num::NonZeroU16; of_optional: Option<i64>; of_list: Vec<i64>; of_wide_list: Vec<i128>;
    of_reals: Vec<f64>; of_flags: Vec<bool>; of_set: BTreeSet<u8>; of_pair: (i64, String); of_three: [u8; 3];
    of_map: BTreeMap<String, i64>; of_keyed: BTreeMap<i32, bool>; of_lists: Vec<Vec<Option<i32>>>;
    of_plain: Plain; of_closed: Closed; of_outside: Outside; of_inside: Inside; of_beside: Beside;
    of_untagged: Untagged; of_plains: Vec<Plain>; of_insides: Option<Vec<Inside>>; of_any: serde_json::Value;
}

/// Texts of numbers, exact and not, small and beyond every type.
fn number() -> impl Strategy<Value = String> {
    let digits = prop_oneof![
        4 => (0_u32..300).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<u128>().prop_map(|number| number.to_string()),
        1 => Just("9007199254740993".to_owned()),
    ];
    let fraction =
        select(vec!["", "", "", ".0", ".000", ".5", ".00000000000000000001", ".99999999999999999999"]);
    let exponent = select(vec![
        "",
        "",
        "",
        "e0",
        "e2",
        "E+3",
        "e-2",
        "e18",
        "e400",
        "e-400",
        "e2147483648",
        "e-2147483648",
    ]);
    (select(vec!["", "", "-"]), digits, fraction, exponent)
        .prop_map(|(sign, digits, fraction, exponent)| format!("{sign}{digits}{fraction}{exponent}"))
}

fn text() -> impl Strategy<Value = String> {
    let words =
        ["true", "yes", "No", "x", "", "One", "one", "two words", "Two-Words", "a", "null", "[1]", "{}"];
    let quoted = |text: String| serde_json::to_string(&text).expect("a string is written");
    let leaf = prop_oneof![
        4 => number(),
        2 => number().prop_map(quoted),
        1 => number().prop_map(move |number| quoted(format!(" {number} "))),
        2 => select(words.to_vec()).prop_map(move |word| quoted(word.to_owned())),
        1 => select(vec!["true", "false", "null"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 16, 4, move |inner| {
        let name = select(vec!["a", "b", "c", "One", "Two", "1"]);
        let member = (name, inner.clone()).prop_map(|(name, value)| format!(r#""{name}": {value}"#));
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            3 => prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
            1 => inner.prop_map(quoted),
        ]
    })
}

fn call(tool: &FunctionTool, text: &str) -> Result<String, ToolError> {
    let context = ToolContext::new(tool.definition().name.clone());
    let arguments = format!(r#"{{"p": {text}}}"#);
    let outcome = tool.call(&arguments, &context).try_ready().expect("the tool is synchronous");
    outcome.map(|output| output.to_text().into_owned())
}

/// Returns the digits of an exact integer, computed on the text of the number.
fn integer(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| c == '"' || c == ' ').to_lowercase();
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |text| ("-", text));
    let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
    let mut digits: Vec<char> = format!("{whole}{fraction}").chars().collect();
    let mut behind = fraction.len() as i64 - exponent;
    while behind > 0 && !digits.is_empty() {
        (digits.pop() == Some('0')).then_some(())?;
        behind -= 1;
    }
    while behind < 0 && digits.len() < 60 {
        digits.push('0');
        behind += 1;
    }
    let digits: String = digits.into_iter().collect();
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_taken_value_is_the_one_that_serde_decodes(text in text()) {
        for Type { name, strictly, leniently, decode } in types() {
            let decoded = decode(&text);
            let strict = call(&strictly, &text);
            if let Ok(taken) = &strict {
                prop_assert_eq!(Some(taken), decoded.as_ref(), "{} {}", name, text);
                let lenient = call(&leniently, &text);
                prop_assert_eq!(lenient.as_ref().ok(), Some(taken), "{} {}: {:?}", name, text, lenient);
            }
            let lenient = call(&leniently, &text);
            for refusal in [strict.as_ref(), lenient.as_ref()].into_iter().filter_map(Result::err) {
                prop_assert!(!refusal.message().contains("too complex"), "{} {}: {}", name, text, refusal);
                prop_assert!(!refusal.violations().is_empty(), "{} {}: {}", name, text, refusal);
            }
        }
    }

    #[test]
    fn coerced_integers_are_exact(number in number(), quoted: bool) {
        let text = if quoted { format!("\" {number}\"") } else { number };
        let exact = integer(&text);
        for Type { name, leniently, .. } in types().into_iter().take(8) {
            if let Ok(taken) = call(&leniently, &text) {
                prop_assert_eq!(Some(&taken), exact.as_ref(), "{} {}", name, text);
            }
        }
        for (name, around) in [("of_list", "[]"), ("of_wide_list", "[]"), ("of_plain", "{}")] {
            let tool = types().into_iter().find(|ty| ty.name == name).expect("it is there").leniently;
            let text = if around == "[]" { format!("[{text}]") } else { format!(r#"{{"a": {text}}}"#) };
            let expected = exact.as_ref().map(|exact| match around {
                "[]" => format!("[{exact}]"),
                _ => format!("Plain {{ a: Some({exact}), b: [] }}"),
            });
            if let Ok(taken) = call(&tool, &text) {
                prop_assert_eq!(Some(taken), expected, "{} {}", name, text);
            }
        }
    }
}
