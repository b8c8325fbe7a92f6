//! `tower` layers around tools, and dispatchers inside of layers.

use std::fmt;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::prelude::*;
use toolkit_ai::tower::{ServiceRequest, TowerMiddleware};
use toolkit_ai::{ClosureTool, ErrorKind};
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wait {
    seconds: u64,
}

fn dispatcher() -> Dispatcher {
    let wait = |Wait { seconds }: Wait| async move {
        sleep(Duration::from_secs(seconds)).await;
        if seconds == 0 { Err(ToolError::denied("wait", "nothing to wait for")) } else { Ok(seconds) }
    };
    let wait = ClosureTool::new("wait", "", wait).unwrap();
    Dispatcher::new(ToolRegistry::from_tools([wait]).unwrap()).unwrap()
}

fn call(seconds: u64) -> ToolCall {
    ToolCall::new("1", "wait", format!(r#"{{"seconds": {seconds}}}"#))
}

#[tokio::test(start_paused = true)]
async fn state_shared_by_clones_of_a_layer_applies_to_all_calls() {
    let dispatcher = dispatcher().with_middleware(TowerMiddleware::new(ConcurrencyLimitLayer::new(2)));
    let started = Instant::now();
    let results = dispatcher.dispatch((0..6).map(|_| call(1))).await;
    assert!(results.iter().all(|result| result.to_text() == "1"));
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn errors_of_layers_and_of_tools_are_distinguished() {
    let layers = ServiceBuilder::new()
        .layer(TimeoutLayer::new(Duration::from_secs(5)))
        .map_request(|passage: ServiceRequest| {
            let ServiceRequest { request, next } = passage;
            let doubled = request.arguments().replace('2', "4");
            ServiceRequest { request: request.with_arguments(doubled), next }
        })
        .into_inner();
    let dispatcher = dispatcher().with_middleware(TowerMiddleware::new(layers));
    let results = dispatcher.dispatch([call(2), call(0), call(9)]).await;
    assert_eq!(results[0].to_text(), "4");
    assert_eq!(results[1].error().map(ToolError::kind), Some(ErrorKind::Denied));
    assert_eq!(results[2].to_text(), "Error running tool: request timed out");
}

#[tokio::test(start_paused = true)]
async fn a_layer_may_answer_itself() {
    struct Refuse;
    impl<S> Layer<S> for Refuse {
        type Service = tower::util::BoxCloneService<ServiceRequest, ToolOutput, fmt::Error>;

        fn layer(&self, _: S) -> Self::Service {
            service_fn(|_| async { Err(fmt::Error) }).boxed_clone()
        }
    }
    let results = dispatcher().with_middleware(TowerMiddleware::new(Refuse)).dispatch([call(1)]).await;
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Failed));
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_is_a_service() {
    let mut service = ServiceBuilder::new()
        .timeout(Duration::from_secs(5))
        .concurrency_limit(1)
        .service(dispatcher().into_service());
    let result = service.ready().await.unwrap().call(call(1)).await.unwrap();
    assert_eq!((result.call_id.as_str(), result.to_text().as_ref()), ("1", "1"));
    assert!(service.ready().await.unwrap().call(call(9)).await.is_err(), "the layer has no time");
}
