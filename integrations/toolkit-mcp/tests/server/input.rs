//! Input from the client: forms and approvals, with and without sessions.

use super::client::{Client, STATELESS, text};
use serde_json::{Value, json};
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::{Dispatcher, ToolError, ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, Elicited, ask_client};

/// Books a table.
#[tool]
async fn book(place: String, #[state] caller: &Caller) -> Result<String, ToolError> {
    let schema = |name: &str, kind: &str| json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]});
    let guests = caller.elicit("guests", "For how many guests?", schema("guests", "integer")).await?;
    let Elicited::Accepted(guests) = guests else { return Ok("not booked".to_owned()) };
    let name = caller.elicit("name", "In whose name?", schema("name", "string")).await?;
    let Elicited::Accepted(name) = name else { return Ok("without a name".to_owned()) };
    Ok(format!("{place}: {} for {}", guests["guests"], name["name"]))
}

/// Deletes everything.
#[tool]
fn delete(path: String) -> String {
    format!("deleted {path}")
}

/// Pays an amount.
#[tool]
fn pay(amount: u128) -> String {
    format!("paid {amount}")
}

fn server() -> McpServer {
    let registry = ToolRegistry::from_tools(tools![book, delete, pay]).expect("legal");
    let registry = registry.with_run_state::<Caller>();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it destroys data").for_tool("delete").expect("a pattern"))
        .rule(PermissionRule::ask("it costs money").for_tool("pay").expect("a pattern"))
        .rule(PermissionRule::allow())
        .with_handler(ask_client);
    McpServer::from(Dispatcher::new(registry).expect("complete").with_middleware(permissions))
}

async fn answer(client: &mut Client, result: Value) -> Value {
    let mut request = client.next("elicitation/create").await;
    client.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    request["params"].take()
}

#[tokio::test]
async fn a_session_is_asked_during_the_call() {
    let mut client = Client::session(server(), json!({"elicitation": {}})).await;
    let call = json!({"name": "book", "arguments": {"place": "Rome"}});
    let id = client.start("tools/call", call.clone()).await;
    let asked = answer(&mut client, json!({"action": "accept", "content": {"guests": 4}})).await;
    assert_eq!(asked["message"], "For how many guests?");
    let schema =
        json!({"type": "object", "properties": {"guests": {"type": "integer"}}, "required": ["guests"]});
    assert_eq!(asked["requestedSchema"], schema);
    answer(&mut client, json!({"action": "accept", "content": {"name": "Ada"}})).await;
    assert_eq!(text(&client.finish(id).await.expect("a result")), "Rome: 4 for \"Ada\"");

    let id = client.start("tools/call", call.clone()).await;
    answer(&mut client, json!({"action": "decline"})).await;
    assert_eq!(text(&client.finish(id).await.expect("a result")), "not booked");

    let id = client.start("tools/call", call).await;
    answer(&mut client, json!({"action": "accept", "content": {"guests": "many"}})).await;
    let result = client.finish(id).await.expect("a result");
    let expected = "Error running tool: the client's answer to `elicitation/create` is not valid";
    assert_eq!((&result["isError"], text(&result)), (&json!(true), expected));
}

#[tokio::test]
async fn a_client_without_forms_gets_an_error_and_no_approval() {
    let mut client = Client::session(server(), json!({})).await;
    let result = client.call("book", json!({"place": "Rome"})).await.expect("a result");
    assert_eq!(text(&result), "Error running tool: the client does not support `elicitation/create`");
    let result = client.call("delete", json!({"path": "/"})).await.expect("a result");
    let expected = "Tool `delete` was denied: the call needs approval, and the client cannot ask its user";
    assert_eq!((&result["isError"], text(&result)), (&json!(true), expected));

    let mut client = Client::stateless(server(), json!({}));
    let error = client.call("book", json!({"place": "Rome"})).await.expect_err("a capability is missing");
    assert_eq!(error["code"], -32021);
    assert_eq!(error["data"]["requiredCapabilities"], json!({"elicitation": {}}));
    let result = client.call("delete", json!({"path": "/"})).await.expect("a result");
    assert_eq!((&result["isError"], text(&result)), (&json!(true), expected));
}

#[tokio::test]
async fn the_user_of_a_session_approves_or_refuses() {
    let mut client = Client::session(server(), json!({"elicitation": {}})).await;
    for (action, expected) in [
        ("accept", "deleted /tmp"),
        ("decline", "Tool `delete` was denied: the user refused it"),
        ("cancel", "Tool `delete` was denied: the user did not decide"),
    ] {
        let id = client.start("tools/call", json!({"name": "delete", "arguments": {"path": "/tmp"}})).await;
        let asked = answer(&mut client, json!({"action": action, "content": {}})).await;
        let question =
            "Allow the tool `delete` to run? Reason: it destroys data. Arguments: {\"path\":\"/tmp\"}";
        assert_eq!(asked["message"], question);
        assert_eq!(text(&client.finish(id).await.expect("a result")), expected);
    }
}

#[tokio::test]
async fn a_stateless_call_is_repeated_with_the_answers() {
    let mut client = Client::stateless(server(), json!({"elicitation": {}}));
    let call = |more: Value| {
        let mut params = json!({"name": "book", "arguments": {"place": "Rome"}});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        params
    };
    let first = client.request("tools/call", call(json!({}))).await.expect("questions");
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"]["guests"]["params"]["message"], "For how many guests?");
    assert_eq!(first["inputRequests"].as_object().map(serde_json::Map::len), Some(1));

    // An answer that does not fit is asked for again.
    let wrong = json!({"guests": {"action": "accept", "content": {"guests": "many"}}});
    let again = call(json!({"inputResponses": wrong, "requestState": first["requestState"]}));
    let again = client.request("tools/call", again).await.expect("questions");
    assert!(again["inputRequests"]["guests"].is_object(), "{again}");

    let right = json!({"guests": {"action": "accept", "content": {"guests": 4}}});
    let second = call(json!({"inputResponses": right, "requestState": first["requestState"]}));
    let second = client.request("tools/call", second).await.expect("questions");
    assert!(second["inputRequests"]["name"].is_object(), "{second}");

    let name = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    let third = call(json!({"inputResponses": name, "requestState": second["requestState"]}));
    let third = client.request("tools/call", third).await.expect("a result");
    assert_eq!(text(&third), "Rome: 4 for \"Ada\"");
}

#[tokio::test]
async fn the_state_of_a_call_is_of_no_use_for_another() {
    let mut client = Client::stateless(server(), json!({"elicitation": {}}));
    let asked = client.call("delete", json!({"path": "/tmp"})).await.expect("questions");
    let state = asked["requestState"].as_str().expect("a state");
    let yes = json!({"toolkit.approval": {"action": "accept", "content": {}}});
    let repeat = |path: &str, state: &str| json!({"name": "delete", "arguments": {"path": path}, "inputResponses": yes, "requestState": state});
    for (path, state) in [("/", state), ("/tmp", &format!("{state}A")), ("/tmp", "forged")] {
        let error = client.request("tools/call", repeat(path, state)).await.expect_err("it is refused");
        assert_eq!(error, json!({"code": -32602, "message": "`requestState` is not valid for this call"}));
    }
    let mut other = Client::stateless(server(), json!({"elicitation": {}}));
    other.request("tools/call", repeat("/tmp", state)).await.expect_err("another server has another secret");
    let result = client.request("tools/call", repeat("/tmp", state)).await.expect("a result");
    assert_eq!(text(&result), "deleted /tmp");
}

#[tokio::test]
async fn an_approval_counts_only_after_its_question() {
    let mut client = Client::stateless(server(), json!({"elicitation": {}}));
    let yes = json!({"toolkit.approval": {"action": "accept", "content": {}}});
    let unasked = json!({"name": "delete", "arguments": {"path": "/tmp"}, "inputResponses": yes});
    let asked = client.request("tools/call", unasked).await.expect("questions");
    assert!(asked["inputRequests"]["toolkit.approval"].is_object(), "{asked}");
}

#[tokio::test]
async fn servers_with_one_secret_continue_the_calls_of_each_other() {
    let capabilities = json!({"elicitation": {}});
    let mut first = Client::stateless(server().with_secret("shared"), capabilities.clone());
    let asked = first.call("delete", json!({"path": "/tmp"})).await.expect("questions");
    let mut second = Client::stateless(server().with_secret("shared"), capabilities);
    let repeat = json!({
        "name": "delete",
        "arguments": {"path": "/tmp"},
        "inputResponses": {"toolkit.approval": {"action": "accept", "content": {}}},
        "requestState": asked["requestState"],
    });
    assert_eq!(text(&second.request("tools/call", repeat).await.expect("a result")), "deleted /tmp");
}

#[tokio::test]
async fn an_approval_is_for_the_exact_arguments() {
    let mut client = Client::stateless(server(), json!({"elicitation": {}}));
    // Both amounts are the same double.
    let approved = "18446744073709551615";
    let other = "18446744073709551614";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let line = |id: u64, amount: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{"amount":{amount}}}{more},"_meta":{meta}}}}}"#
        )
    };
    client.send_text(&line(7, approved, "")).await;
    let asked = client.finish(7).await.expect("questions");
    let yes = json!({"toolkit.approval": {"action": "accept", "content": {}}});
    let more = format!(r#","inputResponses":{yes},"requestState":{}"#, asked["requestState"]);
    client.send_text(&line(8, other, &more)).await;
    let error = client.finish(8).await.expect_err("another amount was approved");
    assert_eq!(error["message"], "`requestState` is not valid for this call");
    client.send_text(&line(9, approved, &more)).await;
    assert_eq!(text(&client.finish(9).await.expect("a result")), format!("paid {approved}"));
}

#[tokio::test]
async fn the_user_sees_every_digit_and_every_invisible_character() {
    let mut client = Client::session(server(), json!({"elicitation": {}})).await;
    let question = |tool: &str, reason: &str, arguments: &str| {
        format!("Allow the tool `{tool}` to run? Reason: {reason}. Arguments: {arguments}")
    };
    let big = "18446744073709551615";
    let line = |id: u64, name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    client.send_text(&line(100, "pay", &format!(r#"{{"amount":      {big}}}"#))).await;
    let asked = answer(&mut client, json!({"action": "accept", "content": {}})).await;
    assert_eq!(asked["message"], question("pay", "it costs money", &format!(r#"{{"amount":{big}}}"#)));
    assert_eq!(text(&client.finish(100).await.expect("a result")), format!("paid {big}"));

    let path = "/tmp/\u{202e}gpj\u{2066}.\u{200b}exe\u{e0041}";
    client.send_text(&line(101, "delete", &json!({ "path": path }).to_string())).await;
    let asked = answer(&mut client, json!({"action": "accept", "content": {}})).await;
    let shown = r#"{"path":"/tmp/\u202egpj\u2066.\u200bexe\udb40\udc41"}"#;
    assert_eq!(asked["message"], question("delete", "it destroys data", shown));
    assert_eq!(text(&client.finish(101).await.expect("a result")), format!("deleted {path}"));
}
