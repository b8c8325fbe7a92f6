//! Tests of insertion: faults of schemas.

use super::*;
use crate::definition::{AdaptedTool, ClosureTool};
use schemars::JsonSchema;
use serde::Deserialize;

macro_rules! tool_with_pattern {
    ($pattern:literal) => {{
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct User {
            #[schemars(regex(pattern = $pattern))]
            name: String,
        }

        ClosureTool::new("users", "", |_: Users<User>| ()).expect("an object")
    }};
}

#[derive(Deserialize, JsonSchema)]
struct Users<T> {
    #[allow(dead_code)]
    list: Vec<Option<T>>,
}

#[test]
fn a_pattern_that_cannot_be_checked_is_a_build_error_that_names_the_feature() {
    for (pattern, tool) in [
        (r"^(?!root)\w+$", tool_with_pattern!(r"^(?!root)\w+$")),
        (r"^\p{Lu}", tool_with_pattern!(r"^\p{Lu}")),
        (r"^(a)\1$", tool_with_pattern!(r"^(a)\1$")),
    ] {
        let adapted = AdaptedTool::new(tool.clone()).with_name(ToolName::new("other").expect("a name"));
        let errors = [ToolRegistry::from_tools([tool]), ToolRegistry::from_tools([adapted])];
        for (name, error) in ["users", "other"].into_iter().zip(errors) {
            let error = error.expect_err(pattern).to_string();
            for part in [name, pattern, "feature `jsonschema`"] {
                assert!(error.contains(part), "`{part}` is in: {error}");
            }
        }
    }
    ToolRegistry::from_tools([tool_with_pattern!(r"^[a-z]+\d*$")]).expect("the pattern can be checked");
}
