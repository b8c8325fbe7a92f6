//! A panic in foreign code costs no call its result, for every code, payload and way to dispatch.

use std::fmt;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit_ai::events::ToolEvent;
use toolkit_ai::middleware::{Approval, Next, PermissionRule, Permissions, ToolRequest};
use toolkit_ai::output::{FullOutput, Truncation};
use toolkit_ai::prelude::*;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, CancellationToken, ErrorKind, RunContext, Session, ToolDefinition,
    ToolFuture, ToolMetadata, ToolName,
};

/// A payload whose drop panics, too.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in the drop of a payload");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Definition,
    Call,
    Poll,
    DropFinished,
    DropRunning,
    Listener,
    Progress,
    FailureText,
    Sink,
    SinkPoll,
    SinkDrop,
    Middleware,
    MiddlewarePoll,
    MiddlewareDrop,
    Condition,
    Approver,
    ApproverPoll,
    ApproverDrop,
    Validate,
    Computed,
    Layer,
    LayerReady,
    LayerPoll,
    LayerDrop,
}

const PLACES: [Place; 24] = [
    Place::Definition,
    Place::Call,
    Place::Poll,
    Place::DropFinished,
    Place::DropRunning,
    Place::Listener,
    Place::Progress,
    Place::FailureText,
    Place::Sink,
    Place::SinkPoll,
    Place::SinkDrop,
    Place::Middleware,
    Place::MiddlewarePoll,
    Place::MiddlewareDrop,
    Place::Condition,
    Place::Approver,
    Place::ApproverPoll,
    Place::ApproverDrop,
    Place::Validate,
    Place::Computed,
    Place::Layer,
    Place::LayerReady,
    Place::LayerPoll,
    Place::LayerDrop,
];

#[derive(Clone)]
struct Fuse {
    place: Place,
    with_bomb: bool,
    armed: Arc<AtomicBool>,
}

impl Fuse {
    fn burn(&self, place: Place) {
        if self.place == place && self.armed.load(Ordering::SeqCst) && !std::thread::panicking() {
            if self.with_bomb {
                panic_any(Bomb);
            }
            panic!("on purpose");
        }
    }
}

/// A future that panics in its call, poll or drop.
struct Fused<T> {
    output: Option<T>,
    fuse: Fuse,
    poll: Place,
    drop: Place,
}

impl<T: Unpin> Future for Fused<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.fuse.burn(self.poll);
        self.output.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for Fused<T> {
    fn drop(&mut self) {
        self.fuse.burn(self.drop);
    }
}

struct Hostile(ToolDefinition, Fuse);

impl Tool for Hostile {
    fn definition(&self) -> &ToolDefinition {
        self.1.burn(Place::Definition);
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.1.burn(Place::Call);
        context.progress(0.5, "half");
        context.session().set("half", 0.5);
        let hangs = arguments.contains("hang") || self.1.place == Place::DropRunning;
        let fails = arguments.contains("fail");
        let output = if fails {
            Err(ToolError::failed("as asked"))
        } else {
            Ok(ToolOutput::text("long ".repeat(100)))
        };
        let drop = if hangs { Place::DropRunning } else { Place::DropFinished };
        let future =
            Fused { output: (!hangs).then_some(output), fuse: self.1.clone(), poll: Place::Poll, drop };
        ToolFuture::new(future)
    }

    fn validate(&self, _: &str, _: &ToolContext) -> Result<(), ToolError> {
        self.1.burn(Place::Validate);
        Ok(())
    }
}

impl fmt::Debug for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hostile")
    }
}

/// The tool, with a computed argument if that panics.
fn tool(fuse: &Fuse) -> Arc<dyn Tool> {
    let schema = serde_json::json!({"type": "object", "properties": {"computed": {}}});
    let definition = ToolDefinition::new(ToolName::new("hostile").unwrap(), "Panics.", schema);
    let tool: Arc<dyn Tool> = Arc::new(Hostile(definition, fuse.clone()));
    if fuse.place != Place::Computed {
        return tool;
    }
    let fuse = fuse.clone();
    let computed = ArgumentTransform::new("computed").computed(move |_| {
        fuse.burn(Place::Computed);
        Ok(1.into())
    });
    Arc::new(AdaptedTool::from_arc(tool).with_arguments([computed]).unwrap())
}

/// A `tower` service around a call.
#[cfg(feature = "tower")]
#[derive(Clone)]
struct Layered<S>(S, Fuse);

#[cfg(feature = "tower")]
impl<S> tower::Service<toolkit_ai::tower::ServiceRequest> for Layered<S>
where
    S: tower::Service<toolkit_ai::tower::ServiceRequest>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.1.burn(Place::LayerReady);
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: toolkit_ai::tower::ServiceRequest) -> Self::Future {
        self.1.burn(Place::Layer);
        let fuse = self.1.clone();
        let inner = self.0.call(request);
        Box::pin(async move {
            Fused { output: Some(()), fuse, poll: Place::LayerPoll, drop: Place::LayerDrop }.await;
            inner.await
        })
    }
}

#[cfg(feature = "tower")]
fn with_layer(dispatcher: Dispatcher, fuse: Fuse) -> Dispatcher {
    let layer = tower::layer::layer_fn(move |inner| Layered(inner, fuse.clone()));
    dispatcher.with_middleware(toolkit_ai::tower::TowerMiddleware::new(layer))
}

#[cfg(not(feature = "tower"))]
fn with_layer(dispatcher: Dispatcher, _: Fuse) -> Dispatcher {
    dispatcher
}

fn dispatcher(fuse: &Fuse, session: &Session) -> Dispatcher {
    let registry = ToolRegistry::from_tools([tool(fuse)]).unwrap();
    let fuses: [Fuse; 7] = std::array::from_fn(|_| fuse.clone());
    let [listener, progress, text, sink, middleware, condition, approver] = fuses;
    let around = move |request: ToolRequest, next: Next| {
        middleware.burn(Place::Middleware);
        let fuse = middleware.clone();
        async move {
            Fused { output: Some(()), fuse, poll: Place::MiddlewarePoll, drop: Place::MiddlewareDrop }.await;
            next.run(request).await
        }
    };
    let permissions = Permissions::new()
        .rule(PermissionRule::allow().when(move |_, _| {
            condition.burn(Place::Condition);
            false
        }))
        .rule(PermissionRule::ask("always"))
        .with_handler(move |_| {
            approver.burn(Place::Approver);
            let output = Some(Approval::Approve);
            Fused { output, fuse: approver.clone(), poll: Place::ApproverPoll, drop: Place::ApproverDrop }
        });
    let truncation = Truncation::new(60).with_sink(move |_: FullOutput| {
        sink.burn(Place::Sink);
        let output = Some(Ok("shelf".to_owned()));
        Fused { output, fuse: sink.clone(), poll: Place::SinkPoll, drop: Place::SinkDrop }
    });
    let run = RunContext::new().with_session(session.clone());
    with_layer(Dispatcher::new(registry).unwrap(), fuse.clone())
        .with_timeout(Duration::from_millis(20))
        .with_listener(move |_: &ToolEvent| listener.burn(Place::Listener))
        .with_run(run.on_progress(move |_| progress.burn(Place::Progress)))
        .with_failure_text(move |_, error| {
            text.burn(Place::FailureText);
            error.message().to_owned()
        })
        .with_truncation(truncation)
        .with_middleware(around)
        .with_middleware(permissions)
}

fn calls(count: usize) -> Vec<ToolCall> {
    let arguments = ["{}", r#"{"mode": "fail"}"#, r#"{"mode": "hang"}"#, "{"];
    let call = |n: usize| ToolCall::new(format!("{n}"), "hostile", arguments[n % arguments.len()]);
    (0..count).map(call).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_anywhere_costs_no_result() {
    for (place, with_bomb) in PLACES.into_iter().flat_map(|place| [(place, false), (place, true)]) {
        let fuse = Fuse { place, with_bomb, armed: Arc::default() };
        let session = Session::new("1");
        let dispatcher = dispatcher(&fuse, &session);
        fuse.armed.store(true, Ordering::SeqCst);
        for count in [1, 5] {
            let at_once = dispatcher.dispatch(calls(count)).await;
            assert_eq!(at_once.len(), count, "{place:?}");
            let mut batch = dispatcher.batch(calls(count));
            let mut streamed = 0;
            while let Some(result) = batch.next().await {
                streamed += 1;
                assert!(result.error().is_none_or(|error| error.kind() != ErrorKind::Cancelled), "{place:?}");
            }
            assert_eq!(streamed, count, "{place:?}");
            let token = CancellationToken::new();
            token.cancel();
            assert_eq!(dispatcher.dispatch_with(calls(count), token).await.len(), count, "{place:?}");
            // Abandoned calls do no harm.
            drop(tokio::time::timeout(Duration::from_millis(1), dispatcher.dispatch(calls(count))).await);
            drop(dispatcher.batch(calls(count)));
        }
        fuse.armed.store(false, Ordering::SeqCst);
        let works = dispatcher.dispatch(calls(1)).await;
        assert_eq!(works[0].is_error(), place == Place::DropRunning, "{place:?}: {:?}", works[0]);
        if place != Place::DropRunning {
            assert_eq!(session.get("half"), Some(0.5.into()), "{place:?}");
        }
    }
}

/// A tool with a lane, whose `panics_at`th reading of the definition panics.
#[derive(Debug)]
struct Laned {
    definition: ToolDefinition,
    asked: AtomicUsize,
    panics_at: usize,
}

impl Tool for Laned {
    fn definition(&self) -> &ToolDefinition {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        assert!(asked != self.panics_at, "asked too often");
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::new(async { Ok(ToolOutput::text("done")) })
    }
}

#[tokio::test]
async fn a_panic_at_any_look_at_a_definition_costs_no_result() {
    let schema = serde_json::json!({"type": "object", "properties": {"to": {"type": "string"}}});
    let mut panics = 0;
    for panics_at in 1..60 {
        let definition = ToolDefinition::new(ToolName::new("laned").unwrap(), "Waits.", schema.clone())
            .with_metadata(ToolMetadata::default().with_lane("to"));
        let tool = Arc::new(Laned { definition, asked: AtomicUsize::new(usize::MAX / 2), panics_at });
        let registry = ToolRegistry::from_tools([tool.clone() as Arc<dyn Tool>]).unwrap();
        let dispatcher = Dispatcher::new(registry).unwrap();
        tool.asked.store(0, Ordering::SeqCst);
        let calls = (0..3).map(|n| ToolCall::new(n.to_string(), "laned", r#"{"to": "a"}"#));
        let results = dispatcher.dispatch(calls).await;
        let failed = results.iter().filter(|result| result.is_error()).count();
        assert_eq!(results.len(), 3, "{panics_at}");
        assert!(failed <= 1, "{panics_at}: {results:?}");
        panics += failed;
    }
    assert!(panics > 3, "{panics} panics");
}
