//! An agent with rules that select no tool is not built.

use toolkit_agent::{Agent, AgentBuilder};
use toolkit_core::definition::{ClosureTool, ToolTag};
use toolkit_core::middleware::{Middleware, PermissionRule, Permissions};
use toolkit_core::{Dispatcher, LiveRegistry, ToolRegistry};
use toolkit_llm::ScriptedModel;

fn tool(name: &str, tag: &str) -> ClosureTool {
    let tool = ClosureTool::without_arguments(name, "", || "done").unwrap();
    tool.map_metadata(|metadata| metadata.with_tags([tag]))
}

fn tools() -> ToolRegistry {
    ToolRegistry::from_tools([tool("pay", "billing"), tool("look", "public")]).unwrap()
}

fn agent() -> AgentBuilder {
    Agent::builder(ScriptedModel::new().call("pay", "{}").text("Paid."))
}

fn rules(rule: PermissionRule) -> Permissions {
    Permissions::new().rule(rule).rule(PermissionRule::allow())
}

fn ask() -> PermissionRule {
    PermissionRule::ask("it costs money")
}

fn other() -> Agent {
    Agent::builder(ScriptedModel::new()).name("other").build().unwrap()
}

#[test]
fn an_agent_with_a_rule_that_selects_no_tool_is_not_built() {
    let typo = || rules(ask().for_tag("biling"));
    let expected = "rule `ask` for the tag `biling` selects no tool; did you mean `billing`?";
    for builder in [
        agent().tools(tools()).middleware(typo()),
        agent().middleware(typo()).tools(tools()),
        agent().tools(tools()).middleware(typo()).sub_agent(other()),
        agent().tools(tools()).middleware(Middleware::boxed(typo())),
        agent().tools(tools()).middleware(rules(PermissionRule::allow())).middleware(typo()),
        agent().dispatcher(Dispatcher::new(tools()).unwrap().with_middleware(typo())),
        agent().tools(tools()).middleware(typo()).before_tool(|_| None),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), expected);
    }
    let transfer = || rules(ask().for_tool("transfer_to_agent").unwrap());
    let error = agent().tools(tools()).middleware(transfer()).build().unwrap_err().to_string();
    assert!(error.starts_with("rule `ask` for the tool `transfer_to_agent` selects no tool"), "{error}");
    assert!(agent().tools(tools()).middleware(transfer()).sub_agent(other()).build().is_ok());
}

#[tokio::test]
async fn rules_of_an_agent_select_tools_of_all_its_sources() {
    let mut all = tools();
    all.register_provider(Dispatcher::new([tool("refund", "money_back")]).unwrap()).unwrap();
    let rule = ask().for_tag("money_back");
    assert!(agent().tools(all).middleware(rules(rule)).build().is_ok());
    // Rules for a library's tags, or for a live registry, may wait for their tools.
    let live = LiveRegistry::new(tools()).unwrap();
    for builder in [
        agent().tools(tools()).middleware(rules(ask().for_tag(ToolTag::Destructive))),
        agent().tools(&live).middleware(rules(ask().for_tag("biling"))),
        agent().tools(&live).middleware(rules(ask().for_tag("biling"))).sub_agent(other()),
    ] {
        let agent = builder.build().unwrap();
        let output = agent.run("go").await.unwrap();
        assert_eq!((output.text.as_str(), output.tool_calls), ("Paid.", 1));
        let name = format!("new_{}", live.version());
        live.change(|registry| registry.register(tool(&name, "new"))).unwrap();
    }
}

#[tokio::test]
async fn rules_of_the_agent_and_of_its_dispatcher_hold_in_any_order() {
    let refused = || rules(PermissionRule::deny("not today").for_tag("billing"));
    let own = || Dispatcher::new(tools()).unwrap();
    let open = || own().with_middleware(rules(PermissionRule::allow()));
    let empty = || Dispatcher::new(ToolRegistry::new()).unwrap();
    for (number, builder) in [
        agent().middleware(refused()).dispatcher(own()),
        agent().middleware(refused()).dispatcher(open()),
        agent().dispatcher(open()).middleware(refused()),
        agent().middleware(rules(PermissionRule::allow())).dispatcher(own().with_middleware(refused())),
        agent().tools(tools()).middleware(refused()).dispatcher(empty()),
        agent().middleware(refused()).dispatcher(empty()).tools(tools()),
    ]
    .into_iter()
    .enumerate()
    {
        let output = builder.build().unwrap().run("Pay.").await.unwrap();
        let result = output.messages[2].to_text();
        assert!(result.contains("not today"), "builder {number}: {result}");
    }
}
