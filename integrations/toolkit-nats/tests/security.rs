//! Who may connect, and who calls.

use crate::{Nothing, add, call, registry, server};
use futures_util::StreamExt as _;
use serde_json::Value;
use toolkit_ai::ClosureTool;
use toolkit_ai::prelude::*;
use toolkit_nats::{
    CallFailure, Fleet, FleetErrorKind, FleetTools, Identity, RemoteCaller, RunningWorker, Worker,
};

fn who() -> ClosureTool {
    let who = |_: Nothing, context: ToolContext| {
        let caller = context.extension::<RemoteCaller>().and_then(|caller| caller.identity.clone());
        caller.map_or_else(|| "anonymous".to_owned(), |identity| identity.as_str().to_owned())
    };
    ClosureTool::new_with_context("who", "", who).unwrap()
}

#[tokio::test]
async fn an_address_outside_of_this_machine_needs_tls_and_credentials() {
    for address in
        ["nats://192.0.2.1", "tls://192.0.2.1", "nats://127.0.0.1,nats://192.0.2.1", "nats://a:b@192.0.2.1"]
    {
        let error = Fleet::connect(address).await.unwrap_err();
        assert_eq!(error.kind(), FleetErrorKind::Insecure, "{address}");
        assert!(error.to_string().contains("`192.0.2.1`"), "{error}");
    }
    let error = Fleet::builder("nats://192.0.2.1").token("t").connect().await.unwrap_err();
    assert_eq!(error.kind(), FleetErrorKind::Insecure);
    for (address, fault) in [
        ("nats://[", "is invalid"),
        ("", "is empty, or empty between two commas"),
        ("nats://127.0.0.1, ", "is empty, or empty between two commas"),
        ("nats://", "has no host"),
    ] {
        let error = Fleet::connect(address).await.unwrap_err();
        assert_eq!(error.kind(), FleetErrorKind::Address, "{address}");
        let start = format!("the address of the fleet {fault}; write it as `nats://host:4222`");
        assert!(error.to_string().starts_with(&start), "{address}: {error}");
    }
    let prefix = Fleet::builder("nats://127.0.0.1").prefix("a.b").connect().await;
    assert_eq!(prefix.unwrap_err().kind(), FleetErrorKind::Prefix);
    // With `insecure`, the connection is tried.
    let refused = Fleet::builder("nats://0.0.0.0:1").insecure().connect().await.unwrap_err();
    assert_eq!(refused.kind(), FleetErrorKind::Connection);
}

/// Say who calls.
#[tool]
fn caller_as_state(#[state] caller: &RemoteCaller) -> String {
    caller.identity.as_ref().map_or("anonymous", |identity| identity.as_str()).to_owned()
}

#[tokio::test]
async fn a_tool_takes_its_caller_as_state() {
    let Some(fleet) = server::fleet().await else { return };
    let worker = Worker::new(tools![caller_as_state]).unwrap().trust_subjects();
    let _worker = worker.start(&fleet).await.unwrap();
    let tools = FleetTools::builder(&fleet).name("ada").join().await.unwrap();
    assert_eq!(call(&tools, "caller_as_state", "{}").await.to_text(), "ada");
    // A dispatcher's registry declares the state itself.
    let undeclared = Dispatcher::new(tools![caller_as_state]).map(drop).unwrap_err();
    assert!(undeclared.to_string().contains("RemoteCaller"), "{undeclared}");
    let registry = ToolRegistry::from_tools(tools![caller_as_state]).unwrap();
    assert!(Dispatcher::new(registry.with_run_state::<RemoteCaller>()).is_ok());
}

#[tokio::test]
async fn a_token_is_verified_by_the_worker() {
    let Some(fleet) = server::fleet().await else { return };
    let verify = |token: &str| match token.strip_prefix("signed by us: ") {
        Some(name) => Ok(Identity::new(name)),
        None => Err("the signature is wrong".to_owned()),
    };
    let _worker = Worker::new(registry([who()])).unwrap().with_verifier(verify).start(&fleet).await.unwrap();
    let join = |token: Option<&'static str>| {
        FleetTools::builder(&fleet).name("eve").token(move || token.map(str::to_owned)).join()
    };
    assert_eq!(call(&join(Some("signed by us: ada")).await.unwrap(), "who", "{}").await.to_text(), "ada");
    assert_eq!(call(&join(None).await.unwrap(), "who", "{}").await.to_text(), "anonymous");
    let error = call(&join(Some("forged")).await.unwrap(), "who", "{}").await.outcome.unwrap_err();
    assert_eq!(CallFailure::from_error(&error), Some(CallFailure::Refused));
    assert_eq!(error.message(), "Tool `who` was denied: the signature is wrong; use another tool");
}

#[tokio::test]
async fn a_worker_that_repeats_the_token_does_not_show_it() {
    const TOKEN: &str = "to/ken \"123456\"";
    let Some(fleet) = server::fleet().await else { return };
    let repeat = |_: Nothing, context: ToolContext| {
        context.progress(0.5, format!("got {TOKEN}"));
        format!("got {TOKEN}, {}", TOKEN.replace('/', "%2F"))
    };
    let repeat = ClosureTool::new_with_context("repeat", "", repeat).unwrap();
    let verify = |token: &str| {
        if token == TOKEN { Ok(Identity::new("ada")) } else { Err(format!("`{token}` is wrong")) }
    };
    let _worker = Worker::new(registry([repeat])).unwrap().with_verifier(verify).start(&fleet).await.unwrap();
    let join = |token: &'static str| FleetTools::builder(&fleet).token(move || Some(token.to_owned())).join();
    let tools = join(TOKEN).await.unwrap();
    let result = call(&tools, "repeat", "{}").await;
    assert_eq!(result.to_text(), "got …, …");
    let wrong = call(&join("wrong-token").await.unwrap(), "repeat", "{}").await;
    assert_eq!(
        wrong.outcome.unwrap_err().message(),
        "Tool `repeat` was denied: `…` is wrong; use another tool"
    );
}

/// Starts a worker and announces missing ones, and returns it with the fleet's tools.
async fn beside_ghosts(ghosts: &[&str]) -> Option<(RunningWorker, FleetTools)> {
    let address = tokio::task::spawn_blocking(server::address).await.unwrap()?;
    let prefix = server::new_prefix();
    let fleet = Fleet::builder(address).prefix(&prefix).connect().await.unwrap();
    let client = async_nats::connect(address).await.unwrap();
    let mut live = client.subscribe(format!("{prefix}.live.*")).await.unwrap();
    client.flush().await.unwrap();
    let read = add().map_metadata(|metadata| metadata.with_read_only(true));
    let worker = Worker::new(registry([read])).unwrap().start(&fleet).await.unwrap();
    let message = live.next().await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let mut announcement: Value = serde_json::from_slice(&message.payload).unwrap();
    for ghost in ghosts {
        announcement["worker"] = (*ghost).into();
        let body = announcement.to_string().into();
        client.publish(message.subject.clone(), body).await.unwrap();
    }
    client.flush().await.unwrap();
    Some((worker, tools))
}

#[tokio::test]
async fn what_announces_itself_and_cannot_be_reached_gets_no_calls() {
    let ghosts = ["_.ghost", "_.no subject", "_", "_.*", ">.x", "pay.ghost", ""];
    let Some((worker, tools)) = beside_ghosts(&ghosts).await else { return };
    for _ in 0..200 {
        assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
    }
    assert_eq!((tools.workers(), tools.statistics().repetitions), (vec![worker.id().to_owned()], 0));
}

#[tokio::test]
async fn a_caller_hears_only_the_workers_with_a_name() {
    let Some(fleet) = server::fleet().await else { return };
    let start = |name: &'static str| Worker::new(registry([who()])).unwrap().with_name(name).start(&fleet);
    let (pay, _other) = (start("pay").await.unwrap(), start("other").await.unwrap());
    assert!(pay.id().starts_with("pay."), "{}", pay.id());
    let join = |name: &str| FleetTools::builder(&fleet).workers_named(name).join();
    assert_eq!(join("pay").await.unwrap().workers(), [pay.id()]);
    assert!(join("none").await.unwrap().tools().is_empty());
    assert_eq!(join("p.*").await.map(drop).unwrap_err().kind(), FleetErrorKind::Prefix);
    assert_eq!(start("a b").await.map(drop).unwrap_err().kind(), FleetErrorKind::Prefix);
}

#[tokio::test]
async fn a_name_in_the_subject_counts_only_for_workers_that_trust_it() {
    for (trusts, expected) in [(false, "anonymous"), (true, "ada")] {
        let Some(fleet) = server::fleet().await else { return };
        let mut worker = Worker::new(registry([who()])).unwrap();
        if trusts {
            worker = worker.trust_subjects();
        }
        let _worker = worker.start(&fleet).await.unwrap();
        let tools = FleetTools::builder(&fleet).name("ada").join().await.unwrap();
        assert_eq!(call(&tools, "who", "{}").await.to_text(), expected);
    }
}
