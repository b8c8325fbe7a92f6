//! A name pattern means the same in rules, limits, caches and filters.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::Instant;
use toolkit::middleware::{AttemptLimit, Permission, PermissionRule, Permissions, RateLimit};
use toolkit::name::normalize;
use toolkit::prelude::*;
use toolkit::serde_json::{Value, json};
use toolkit::{ClosureTool, ErrorKind, ToolDefinition, ToolFilter, ToolName};

fn definition(name: &str) -> ToolDefinition {
    ToolDefinition::new(ToolName::new(name).unwrap(), "", json!({"type": "object"}))
}

#[test]
fn a_question_mark_in_a_deny_rule_matches() {
    let rule = PermissionRule::deny("closed").for_tool("fs-delete?").unwrap();
    let permissions = Permissions::new().rule(rule).otherwise(Permission::Allow);
    let decide = |name: &str| permissions.decide(&definition(name), &Value::Null).clone();
    assert_eq!(decide("fs-delete2"), Permission::Deny("closed".to_owned()));
    assert_eq!(decide("fs-delete"), Permission::Allow);
}

#[test]
fn a_pattern_without_a_possible_match_is_a_build_error() {
    let too_long = "a".repeat(129);
    for (pattern, fault) in [
        ("", "pattern `` matches no tool: no name is empty; `*` matches every name"),
        (
            "fs/*",
            "pattern `fs/*` matches no tool: names have no '/'; use letters, digits, `_`, `.`, `-`, `*` and `?`",
        ),
        (
            "größe",
            "pattern `größe` matches no tool: names have no 'ö'; use letters, digits, `_`, `.`, `-`, `*` and `?`",
        ),
        (&too_long, "names have at most 128 characters; shorten it"),
    ] {
        let second = Duration::from_secs(1);
        let mut results = vec![
            PermissionRule::allow().for_tool(pattern).map(drop),
            AttemptLimit::new(1).for_tool(pattern, 1).map(drop),
            RateLimit::new().for_tool(pattern, 1, second).map(drop),
            ToolFilter::new().include([pattern]).map(drop),
            ToolFilter::new().exclude(["*", pattern]).map(drop),
        ];
        #[cfg(feature = "cache")]
        results.push(toolkit::middleware::Cache::new(1).for_tool(pattern).map(drop));
        for result in results.drain(..) {
            let error = result.unwrap_err().to_string();
            assert!(error.ends_with(fault), "{error}");
        }
    }
}

/// What two equal calls of a tool have shown.
#[derive(Debug, PartialEq)]
struct Seen {
    runs: usize,
    second_waited: bool,
    first_was_last_attempt: bool,
}

/// Calls a tool twice with equal arguments, through one middleware.
fn two_calls(name: &str, fails: bool, middleware: impl toolkit::middleware::Middleware) -> Seen {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let tool = ClosureTool::new(name, "", move |_: BTreeMap<String, Value>| {
        counter.fetch_add(1, Ordering::Relaxed);
        if fails { Err(ToolError::retry("no luck")) } else { Ok("done") }
    });
    let registry = ToolRegistry::from_tools([tool.unwrap()]).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(middleware);
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let start = Instant::now();
        let first = dispatcher.dispatch([ToolCall::new("1", name, "{}")]).await;
        dispatcher.dispatch([ToolCall::new("2", name, "{}")]).await;
        Seen {
            runs: runs.load(Ordering::Relaxed),
            second_waited: start.elapsed() > Duration::ZERO,
            first_was_last_attempt: first[0].error().map(ToolError::kind) == Some(ErrorKind::Exhausted),
        }
    })
}

proptest! {
    #[test]
    fn rules_filters_limits_and_caches_agree(pattern in "[ab?*_]{1,6}", name in "[ab]{1,3}(_[ab]{1,3})?") {
        prop_assume!(normalize(&name) == name);
        let definition = definition(&name);
        let rule = PermissionRule::allow().for_tool(pattern.as_str()).unwrap();
        let allowed = Permissions::new().rule(rule).decide(&definition, &Value::Null) == &Permission::Allow;
        let included = ToolFilter::new().include([pattern.as_str()]).unwrap().matches(&definition);
        let excluded = !ToolFilter::new().exclude([pattern.as_str()]).unwrap().matches(&definition);
        prop_assert_eq!([included, excluded], [allowed; 2]);
        let rate = RateLimit::new().for_tool(pattern.as_str(), 1, Duration::from_secs(1)).unwrap();
        let limited = two_calls(&name, false, rate);
        prop_assert_eq!(limited, Seen { runs: 2, second_waited: allowed, first_was_last_attempt: false });
        let attempts = AttemptLimit::new(9).for_tool(pattern.as_str(), 1).unwrap();
        let limited = two_calls(&name, true, attempts);
        prop_assert_eq!(limited, Seen { runs: 2, second_waited: false, first_was_last_attempt: allowed });
        #[cfg(feature = "cache")]
        {
            let cache = toolkit::middleware::Cache::new(9).for_tool(pattern.as_str()).unwrap();
            let cached = two_calls(&name, false, cache);
            let runs = if allowed { 1 } else { 2 };
            prop_assert_eq!(cached, Seen { runs, second_waited: false, first_was_last_attempt: false });
        }
    }
}

#[test]
fn a_pattern_for_calls_of_deferred_tools_is_a_build_error() {
    // Such a call counts as a call of its target, so the pattern would match no call.
    let error = PermissionRule::deny("no").for_tool("call_deferred").map(drop).unwrap_err().to_string();
    assert!(error.contains("name the target tools"), "{error}");
    assert!(ToolFilter::new().include(["call_deferred"]).is_err());
    assert!(ToolFilter::new().exclude(["a", "call_deferred"]).is_err());
    assert!(PermissionRule::deny("no").for_tool("call_*").is_ok());
    assert!(PermissionRule::deny("no").for_tool("discover_tools").is_ok());
}
