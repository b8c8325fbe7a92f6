//! The compiler's message where a macro does not know the facade's name, and macros that do.

#[path = "../../compiler.rs"]
mod compiler;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use kit::{Tool, ToolRegistry};
use toolkit_renamed::{functions, gen, weather, Generator};

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

/// Returns a ready call's text, or an empty one.
fn call(registry: &ToolRegistry, name: &str, arguments: &str) -> String {
    match pin!(registry.call(name, arguments)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(output)) => output.to_text().into_owned(),
        Poll::Ready(Err(_)) | Poll::Pending => String::new(),
    }
}

#[test]
fn a_keyword_of_a_later_edition_is_a_name() {
    let mut registry = ToolRegistry::from_tools(kit::tools![functions::gen]).expect("one tool");
    registry.register_all(Arc::new(gen { gen: 3, generator: Generator::gen })).expect("one toolset");
    let arguments = r#"{"gen": {"gen": 4, "generator": {"other": {"gen": 5}}}}"#;
    assert_eq!(call(&registry, "gen", arguments), "gen { gen: 4, generator: Other { gen: 5 } }");
    assert_eq!(call(&registry, "gen-gen", r#"{"gen": 6}"#), "9");
    let schema = functions::gen::tool().definition().parameters.clone();
    assert_eq!(schema["properties"]["gen"]["properties"]["gen"]["default"], 2);
}
