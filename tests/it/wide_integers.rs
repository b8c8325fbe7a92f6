//! 128-bit integers in all forms of types: they arrive, or the call is refused.

use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::{ClosureTool, Tool, ToolRegistry};

use Outcome::{Refused, Runs};

/// Declares a type for each form, and a function that creates a tool of it.
macro_rules! forms {
    ($wide:ty) => {{
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Plain {
            n: $wide,
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Maybe {
            n: Option<$wide>,
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        enum External {
            Wide { n: $wide },
            Plain($wide),
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[allow(dead_code)]
        enum Internal {
            Wide { n: $wide },
            Empty,
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(tag = "kind", content = "it")]
        #[allow(dead_code)]
        enum Adjacent {
            Wide { n: $wide },
            Plain($wide),
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(untagged)]
        #[allow(dead_code)]
        enum Members {
            Wide { n: $wide },
            Text { s: String },
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(untagged)]
        #[allow(dead_code)]
        enum Bare {
            Wide($wide),
            Text(String),
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Flat<T> {
            #[serde(flatten)]
            inner: T,
        }
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct In<T> {
            it: T,
        }
        vec![
            (ClosureTool::new("plain", "", |it: Plain| format!("{it:?}")), r#"{"n": 5}"#, Runs),
            (ClosureTool::new("maybe", "", |it: Maybe| format!("{it:?}")), r#"{"n": 5}"#, Runs),
            (
                ClosureTool::new("external", "", |it: In<External>| format!("{it:?}")),
                r#"{"it": {"Wide": {"n": 5}}}"#,
                Runs,
            ),
            (
                ClosureTool::new("newtype", "", |it: In<External>| format!("{it:?}")),
                r#"{"it": {"Plain": 5}}"#,
                Runs,
            ),
            (
                ClosureTool::new("internal", "", |it: In<Internal>| format!("{it:?}")),
                r#"{"it": {"kind": "Wide", "n": 5}}"#,
                Refused,
            ),
            (
                ClosureTool::new("internal_last", "", |it: In<Internal>| format!("{it:?}")),
                r#"{"it": {"n": 5, "kind": "Wide"}}"#,
                Refused,
            ),
            (
                ClosureTool::new("adjacent", "", |it: In<Adjacent>| format!("{it:?}")),
                r#"{"it": {"kind": "Wide", "it": {"n": 5}}}"#,
                Runs,
            ),
            (
                ClosureTool::new("adjacent_last", "", |it: In<Adjacent>| format!("{it:?}")),
                r#"{"it": {"it": 5, "kind": "Plain"}}"#,
                Refused,
            ),
            (
                ClosureTool::new("members", "", |it: In<Members>| format!("{it:?}")),
                r#"{"it": {"n": 5}}"#,
                Refused,
            ),
            (
                ClosureTool::new("maybe_members", "", |it: In<Option<Members>>| format!("{it:?}")),
                r#"{"it": {"n": 5}}"#,
                Refused,
            ),
            (
                ClosureTool::new("list", "", |it: In<Vec<Members>>| format!("{it:?}")),
                r#"{"it": [{"n": 5}]}"#,
                Refused,
            ),
            (ClosureTool::new("bare", "", |it: In<Bare>| format!("{it:?}")), r#"{"it": 5}"#, Refused),
            (ClosureTool::new("flat", "", |it: Flat<Plain>| format!("{it:?}")), r#"{"n": 5}"#, Refused),
            (
                ClosureTool::new("flat_members", "", |it: Flat<Members>| format!("{it:?}")),
                r#"{"n": 5}"#,
                Refused,
            ),
            (
                ClosureTool::new("flat_external", "", |it: Flat<External>| format!("{it:?}")),
                r#"{"Wide": {"n": 5}}"#,
                Refused,
            ),
            (
                ClosureTool::new("flat_internal", "", |it: Flat<Internal>| format!("{it:?}")),
                r#"{"kind": "Wide", "n": 5}"#,
                Refused,
            ),
            (
                ClosureTool::new("flat_adjacent", "", |it: Flat<Adjacent>| format!("{it:?}")),
                r#"{"kind": "Plain", "it": 5}"#,
                Refused,
            ),
        ]
    }};
}

/// What becomes of a tool with the type of a form.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    /// The call runs, and the integer arrives.
    Runs,
    /// serde buffers the content without 128-bit integers, so the call is refused.
    Refused,
}

#[test]
fn wide_integers_arrive_or_are_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let forms = [forms!(u128), forms!(i128), forms!(Option<u128>), forms!(Vec<i128>)];
    for (index, forms) in forms.into_iter().enumerate() {
        for (tool, arguments, expected) in forms {
            let tool = tool.expect("a tool");
            let name = tool.definition().name.to_string();
            let arguments = if index == 3 { arguments.replace('5', "[5]") } else { arguments.to_owned() };
            let registry = ToolRegistry::from_tools([tool]).expect("a tool");
            let outcome = match runtime.block_on(registry.call(&name, arguments)) {
                Ok(output) => {
                    assert!(output.to_text().contains('5'), "{name}: {output:?}");
                    Runs
                }
                Err(_) => Refused,
            };
            assert_eq!(outcome, expected, "{name}, type {index}");
        }
    }
}
