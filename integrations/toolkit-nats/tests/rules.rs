//! A worker with rules that select no tool does not start.

use crate::{add, registry, server};
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::registry::IntoRegistrySource;
use toolkit_ai::{Dispatcher, LiveRegistry};
use toolkit_nats::{FleetErrorKind, Worker};

fn worker(tools: impl IntoRegistrySource, name: &str) -> Worker {
    let rules = Permissions::new().rule(PermissionRule::deny("not today").for_tool(name).unwrap());
    Dispatcher::new(tools).unwrap().with_middleware(rules.rule(PermissionRule::allow())).into()
}

#[tokio::test]
async fn a_worker_with_a_rule_that_selects_no_tool_does_not_start() {
    let Some(fleet) = server::fleet().await else { return };
    let tools = || registry([add()]);
    let errors = [
        worker(tools(), "ad").start(&fleet).await.map(drop).unwrap_err(),
        worker(tools(), "ad").serve(&fleet).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), FleetErrorKind::Build, "{error}");
        let expected =
            "the worker does not start: rule `deny` for the tool `ad` selects no tool; did you mean `add`?";
        assert_eq!(error.to_string(), expected);
    }
    assert!(worker(tools(), "add").start(&fleet).await.is_ok());
    let live = LiveRegistry::new(tools()).unwrap();
    assert!(worker(&live, "ad").start(&fleet).await.is_ok());
}
