//! What the compiler says where a macro is not told the name of the facade, and that told macros work.

#[path = "../../compiler.rs"]
mod compiler;

use kit::Tool;
use toolkit_renamed::weather;

#[test]
fn a_macro_that_is_not_told_the_name_is_an_error_at_the_macro() {
    if compiler::is_expected() {
        trybuild::TestCases::new().compile_fail("ui/*.rs");
    }
}

#[test]
fn a_told_macro_makes_a_tool() {
    let definition = weather::tool().definition().clone();
    assert_eq!(definition.name.as_str(), "weather");
    assert_eq!(definition.parameters["properties"]["place"]["type"], "object");
}
