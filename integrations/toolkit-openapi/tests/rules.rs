//! A server with rules that select no tool does not start.

use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::registry::IntoRegistrySource;
use toolkit_ai::{ClosureTool, Dispatcher, LiveRegistry, ToolRegistry};
use toolkit_openapi::OpenApiErrorKind;
use toolkit_openapi::server::OpenApiServer;

fn tools() -> ToolRegistry {
    let pay = ClosureTool::without_arguments("pay", "Pays.", || "paid").unwrap();
    ToolRegistry::from_tools([pay.map_metadata(|metadata| metadata.with_tags(["billing"]))]).unwrap()
}

fn server(tools: impl IntoRegistrySource, tag: &str) -> OpenApiServer {
    let rules = Permissions::new().rule(PermissionRule::ask("it costs money").for_tag(tag));
    Dispatcher::new(tools).unwrap().with_middleware(rules.rule(PermissionRule::allow())).into()
}

#[tokio::test]
async fn a_server_with_a_rule_that_selects_no_tool_does_not_start() {
    let errors = [
        server(tools(), "biling").bind("127.0.0.1:0").await.map(drop).unwrap_err(),
        server(tools(), "biling").serve("127.0.0.1:0").await.unwrap_err(),
    ];
    for error in errors {
        let expected = "rule `ask` for the tag `biling` selects no tool; did you mean `billing`?";
        assert_eq!((error.kind(), &*error.to_string()), (OpenApiErrorKind::Build, expected));
    }
    assert!(server(tools(), "billing").bind("127.0.0.1:0").await.is_ok());
    let live = LiveRegistry::new(tools()).unwrap();
    assert!(server(&live, "biling").bind("127.0.0.1:0").await.is_ok());
}
