//! 128-bit integers in all forms of types: a tool that builds can decode them.

use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::{ClosureTool, Tool, ToolRegistry};

use Outcome::{Refused, Runs, Unusable};

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
                Unusable,
            ),
            (
                ClosureTool::new("internal_last", "", |it: In<Internal>| format!("{it:?}")),
                r#"{"it": {"n": 5, "kind": "Wide"}}"#,
                Unusable,
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
                Unusable,
            ),
            (
                ClosureTool::new("maybe_members", "", |it: In<Option<Members>>| format!("{it:?}")),
                r#"{"it": {"n": 5}}"#,
                Unusable,
            ),
            (
                ClosureTool::new("list", "", |it: In<Vec<Members>>| format!("{it:?}")),
                r#"{"it": [{"n": 5}]}"#,
                Unusable,
            ),
            (ClosureTool::new("bare", "", |it: In<Bare>| format!("{it:?}")), r#"{"it": 5}"#, Unusable),
            (ClosureTool::new("flat", "", |it: Flat<Plain>| format!("{it:?}")), r#"{"n": 5}"#, Unusable),
            (
                ClosureTool::new("flat_maybe", "", |it: Flat<Option<Plain>>| format!("{it:?}")),
                r#"{"n": 5}"#,
                Unusable,
            ),
            (
                ClosureTool::new("flat_members", "", |it: Flat<Members>| format!("{it:?}")),
                r#"{"n": 5}"#,
                Unusable,
            ),
            (
                ClosureTool::new("flat_external", "", |it: Flat<External>| format!("{it:?}")),
                r#"{"Wide": {"n": 5}}"#,
                Unusable,
            ),
            (
                ClosureTool::new("flat_internal", "", |it: Flat<Internal>| format!("{it:?}")),
                r#"{"kind": "Wide", "n": 5}"#,
                Unusable,
            ),
            (
                ClosureTool::new("flat_adjacent", "", |it: Flat<Adjacent>| format!("{it:?}")),
                r#"{"kind": "Plain", "it": 5}"#,
                Unusable,
            ),
        ]
    }};
}

/// What becomes of a tool with the type of a form.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    /// The call runs, and the integer arrives.
    Runs,
    /// The tool does not build.
    Unusable,
    /// serde buffers the content before it knows the tag, so the call is refused.
    Refused,
}

#[test]
fn a_tool_with_wide_integers_builds_only_if_it_can_decode_them() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let forms = [forms!(u128), forms!(i128), forms!(Option<u128>), forms!(Vec<i128>)];
    for (index, forms) in forms.into_iter().enumerate() {
        for (tool, arguments, expected) in forms {
            let tool = tool.expect("a tool");
            let name = tool.definition().name.to_string();
            let arguments = if index == 3 { arguments.replace('5', "[5]") } else { arguments.to_owned() };
            let outcome = match ToolRegistry::from_tools([tool]) {
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("128") && error.contains(&name), "{error}");
                    Unusable
                }
                Ok(registry) => match runtime.block_on(registry.call(&name, arguments)) {
                    Ok(output) => {
                        assert!(output.to_text().contains('5'), "{name}: {output:?}");
                        Runs
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(
                            error.contains("the member that names the variant must come first"),
                            "{error}"
                        );
                        Refused
                    }
                },
            };
            assert_eq!(outcome, expected, "{name}, type {index}");
        }
    }
}
