//! Tests of everything that users see, in one binary.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod agreement;
mod always;
mod approvals;
mod argument_views;
mod arguments;
mod batches;
mod call_reason;
mod calling;
mod closures;
mod coercion;
mod constraints;
mod contract;
mod defaults;
mod directory;
mod dispatch;
mod events;
mod events_inside;
mod failures;
mod first_steps;
#[cfg(feature = "types")]
mod foreign_types;
mod hidden_arguments;
mod integers;
mod live;
mod live_registry;
mod merged_rules;
mod merged_state;
mod metadata;
mod middleware;
#[cfg(feature = "cache")]
mod middleware_cache;
mod middleware_context;
mod middleware_limits;
mod names;
mod newtypes;
mod normal_form;
mod one_result;
mod output_schemas;
mod outputs;
mod panics;
mod parameter_names;
mod patterns;
mod pending;
mod providers;
mod recorded;
mod registry;
mod registry_changes;
mod registry_views;
mod retries;
#[cfg(feature = "translate")]
mod round_trip;
mod rules_without_tools;
mod scheduling;
mod schema_diff;
mod schemas;
mod search;
mod search_catalogue;
mod session_approvals;
mod stack;
mod state;
mod stored;
mod strict;
mod testing;
mod time_limits;
mod too_deep;
mod tool_context;
mod tool_macro;
mod toolsets;
#[cfg(feature = "tower")]
mod tower_services;
mod truncation;
mod unknown_members;

fn merged(mut one: toolkit_ai::ToolRegistry, other: toolkit_ai::ToolRegistry) -> toolkit_ai::ToolRegistry {
    one.merge(other).expect("no tool has the name of another");
    one
}
