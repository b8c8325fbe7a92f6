//! The tools, the same work by hand, and the calls of the benchmarks.

#![allow(dead_code, reason = "each benchmark uses a part")]

pub(crate) mod agents;
pub(crate) mod by_hand;
pub(crate) mod mcp;
pub(crate) mod pages;
pub(crate) mod streams;
pub(crate) mod tools;

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use toolkit_ai::{ToolDefinition, ToolFuture, ToolName, ToolRegistry, prelude::*};

#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    /// The same tool with `async`.
    pub(crate) async_tool: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) result: &'static str,
}

/// Two integers.
pub(crate) const A: Call =
    Call { tool: "add", async_tool: "add_async", arguments: r#"{"a":17,"b":25}"#, result: "42" };

/// A text and an optional number, for a list.
pub(crate) const B: Call = Call {
    tool: "search_web",
    async_tool: "search_web_async",
    arguments: r#"{"query":"rust function calling","max_results":3}"#,
    result: r#"["https://example.com/rust function calling/0","https://example.com/rust function calling/1","https://example.com/rust function calling/2"]"#,
};

/// Ten fields with an enum, a list of three structs, and an address.
pub(crate) const C: Call = Call {
    tool: "create_order",
    async_tool: "create_order_async",
    arguments: concat!(
        r#"{"customer":"Ada Lovelace","email":"ada@example.com","priority":"express","items":["#,
        r#"{"sku":"BK-10234","quantity":2,"unit_price":19.5},{"sku":"PN-00871","quantity":12,"unit_price":1.25},"#,
        r#"{"sku":"NB-55310","quantity":3,"unit_price":7.5}],"shipping":{"street":"12 St James's Square","#,
        r#""city":"London","postal_code":"SW1Y 4JH","country":"GB"},"tags":["gift","newsletter"],"#,
        r#""note":"Leave the parcel with the porter if nobody answers.","express":true,"discount":0.25,"#,
        r#""placed_at":1735689600}"#
    ),
    result: r#"{"customer":"Ada Lovelace","quantity":17,"total":57.375}"#,
};

/// The arguments of C, for a tool with one struct.
pub(crate) const D: Call = Call { tool: "create_struct", async_tool: "create_struct_async", ..C };

/// The arguments of `count_items`.
pub(crate) fn items(count: usize) -> String {
    let item =
        |index: usize| format!(r#"{{"sku":"BK-{index:05}","quantity":{},"unit_price":19.5}}"#, index % 10);
    let items: Vec<String> = (0..count).map(item).collect();
    format!(r#"{{"items":[{}]}}"#, items.join(","))
}

impl Call {
    pub(crate) fn to_call(self, tool: &str) -> ToolCall {
        ToolCall::new("call_1", tool, self.arguments)
    }
}

/// The tools above and a few others.
pub(crate) fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::from_tools(tools::all()).unwrap();
    registry.register(tools::ForeignOrder::new()).unwrap();
    registry
}

/// A registry with definitions of about 220 bytes.
pub(crate) fn registry_of(count: usize) -> ToolRegistry {
    let template = tools::add_async::tool();
    ToolRegistry::from_tools((0..count).map(|index| named(template.definition(), index))).unwrap()
}

pub(crate) fn named(template: &ToolDefinition, index: usize) -> impl Tool + 'static {
    Named(template.clone()).with_index(index)
}

struct Named(ToolDefinition);

impl Named {
    fn with_index(mut self, index: usize) -> Self {
        self.0.name = ToolName::new(&format!("add_{index}")).unwrap();
        self
    }
}

impl Tool for Named {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(arguments)))
    }
}

/// Works once, to make what the first use needs, and then in [`counted_calls`].
pub(crate) fn repeat<T>(count: usize, mut work: impl FnMut() -> T) {
    drop(black_box(work()));
    counted_calls(count, &mut work);
}

/// `callgrind.sh` counts what runs inside.
#[inline(never)]
fn counted_calls<T>(count: usize, work: &mut impl FnMut() -> T) {
    for _ in 0..count {
        drop(black_box(work()));
    }
}

/// Runs a future that never waits, without a runtime's cost.
#[inline]
pub(crate) fn finish<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a tool of the benchmark waits"),
    }
}

/// Calls by name and reads the text.
#[inline]
pub(crate) fn call(registry: &ToolRegistry, tool: &str, arguments: &str) {
    let output = finish(registry.call(black_box(tool), black_box(arguments))).unwrap();
    black_box(output.to_text());
}

/// Dispatches one call and reads the text.
#[inline]
pub(crate) fn dispatch(dispatcher: &Dispatcher, call: ToolCall) {
    let results = finish(dispatcher.dispatch([call]));
    black_box(text(&results));
}

pub(crate) fn text(results: &[ToolResult]) -> &str {
    match results {
        [ToolResult { outcome: Ok(output), .. }] => match output.content() {
            [toolkit_ai::Content::Json(json)] => json.as_str(),
            _ => "",
        },
        _ => "",
    }
}

pub(crate) fn waiting_calls(count: u32) -> Vec<ToolCall> {
    let call = |index: u32| ToolCall::new(index.to_string(), "wait", format!(r#"{{"index":{index}}}"#));
    (0..count).map(call).collect()
}

pub(crate) fn check(call: Call) {
    let registry = registry();
    let map = by_hand::map();
    for tool in [call.tool, call.async_tool] {
        let output = finish(registry.call(tool, call.arguments)).unwrap();
        assert_eq!(output.to_text(), call.result);
        let dispatcher = Dispatcher::new(registry.clone()).unwrap();
        assert_eq!(text(&finish(dispatcher.dispatch([call.to_call(tool)]))), call.result);
    }
    assert_eq!(by_hand::by_match(call.tool, call.arguments).unwrap(), call.result);
    assert_eq!(finish(by_hand::by_map(&map, call.tool, call.arguments)).unwrap(), call.result);
}
