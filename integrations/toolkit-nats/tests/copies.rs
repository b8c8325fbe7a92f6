//! Messages that are delivered more than once.

use crate::postgres::Schema;
use crate::{Nothing, dispatcher, registry, server, until};
use async_nats::{Client, Message, Subscriber};
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Semaphore;
use toolkit_ai::{ClosureTool, RunContext, ToolCall};
use toolkit_nats::{CallLedger, FleetTools, Worker};

/// A tool that counts runs and waits for a permit to end.
struct Pay {
    runs: Arc<AtomicU32>,
    permits: Arc<Semaphore>,
}

impl Pay {
    fn new() -> Self {
        Self { runs: Arc::default(), permits: Arc::new(Semaphore::new(0)) }
    }

    fn tool(&self) -> ClosureTool {
        let (runs, permits) = (self.runs.clone(), self.permits.clone());
        let pay = move |_: Nothing| {
            let permits = permits.clone();
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move {
                permits.acquire().await.unwrap().forget();
                run
            }
        };
        ClosureTool::new("pay", "", pay).unwrap()
    }

    fn runs(&self) -> u32 {
        self.runs.load(Ordering::Relaxed)
    }
}

/// Delivers a message again, and waits until a new message behind it is answered.
async fn deliver_again(client: &Client, call: &Message) {
    let again = |reply| client.publish_with_reply(call.subject.clone(), reply, call.payload.clone());
    again(call.reply.clone().unwrap()).await.unwrap();
    let answered = client.new_inbox();
    let mut answers = client.subscribe(answered.clone()).await.unwrap();
    // No worker reads such a call.
    client.publish_with_reply(call.subject.clone(), answered, "malformed".into()).await.unwrap();
    answers.next().await.unwrap();
}

async fn message_of(calls: &mut Subscriber, id: &str) -> Message {
    loop {
        let message = calls.next().await.unwrap();
        if String::from_utf8_lossy(&message.payload).contains(&format!("\"run/{id}\"")) {
            return message;
        }
    }
}

/// Copies during a call, after it, and of a refused one.
#[tokio::test]
async fn a_message_that_comes_again_runs_nothing() {
    for has_ledger in [false, true] {
        let (Some(fleet), Some(schema)) = (server::fleet().await, Schema::new().await) else { return };
        let pay = Pay::new();
        let mut worker = Worker::new(registry([pay.tool()])).unwrap().with_max_calls(2);
        if has_ledger {
            worker = worker.with_ledger(CallLedger::connect(&schema.config()).await.unwrap());
        }
        let worker = worker.start(&fleet).await.unwrap();
        let tools = FleetTools::join(&fleet).await.unwrap();
        let (client, mut calls) = server::observe(worker.id()).await;

        let dispatcher = dispatcher(&tools).with_run(RunContext::new().with_invocation_id("run"));
        let call = |id: &str| {
            let (dispatcher, call) = (dispatcher.clone(), ToolCall::new(id, "pay", "{}"));
            tokio::spawn(async move { dispatcher.dispatch([call]).await.remove(0) })
        };
        let first = call("1");
        let run = message_of(&mut calls, "1").await;
        until(|| pay.runs() == 1).await;
        deliver_again(&client, &run).await;
        until(|| worker.statistics().in_flight == 1).await;

        // The worker is full, and refuses a call.
        let second = call("2");
        until(|| pay.runs() == 2).await;
        assert!(call("3").await.unwrap().is_error());
        let refused = message_of(&mut calls, "3").await;
        pay.permits.add_permits(2);
        assert_eq!(first.await.unwrap().to_text(), "0");
        assert_eq!(second.await.unwrap().to_text(), "1");
        until(|| worker.statistics().in_flight == 0).await;

        deliver_again(&client, &run).await;
        deliver_again(&client, &refused).await;
        until(|| worker.statistics().in_flight == 0).await;
        assert_eq!(pay.runs(), 2, "with a ledger: {has_ledger}");
        schema.drop().await;
    }
}
