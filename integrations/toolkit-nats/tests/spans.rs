//! The spans of calls, as a subscriber sees them.

use crate::{Nothing, dispatcher, registry, server};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use toolkit_ai::{ClosureTool, RunContext, ToolCall, ToolError};
use toolkit_core::context::TraceContext;
use toolkit_nats::{FleetTools, Worker};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::Registry;

type Fields = BTreeMap<String, String>;

#[derive(Clone, Default)]
struct Spans(Arc<Mutex<BTreeMap<u64, Fields>>>);

struct Collect<'a>(&'a mut Fields);

impl Visit for Collect<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Layer<Registry> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, Registry>) {
        if attributes.metadata().name() == "fleet_call" {
            let mut fields = Fields::new();
            attributes.record(&mut Collect(&mut fields));
            self.0.lock().unwrap().insert(id.into_u64(), fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, Registry>) {
        if let Some(fields) = self.0.lock().unwrap().get_mut(&id.into_u64()) {
            values.record(&mut Collect(fields));
        }
    }
}

#[tokio::test]
async fn caller_and_worker_have_a_span_with_the_names_of_opentelemetry_and_the_trace_of_the_caller() {
    let spans = Spans::default();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(spans.clone())).unwrap();
    let Some(fleet) = server::fleet().await else { return };
    let failing = |_: Nothing| Err::<String, _>(ToolError::failed("closed"));
    let traced = ClosureTool::new("traced", "", failing).unwrap();
    let _worker = Worker::new(registry([traced])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let run = RunContext::new().with_invocation_id("run 7").with_extension(TraceContext::new(parent));
    let call = ToolCall::new("call_1", "traced", "{}");
    assert!(dispatcher(&tools).with_run(run).dispatch([call]).await[0].is_error());

    let spans = spans.0.lock().unwrap();
    let spans: Vec<&Fields> =
        spans.values().filter(|fields| fields["gen_ai.tool.name"] == "traced").collect();
    assert_eq!(spans.len(), 2);
    for (kind, operation) in [("client", "send"), ("consumer", "process")] {
        let span = spans.iter().find(|span| span["otel.kind"] == kind).unwrap();
        assert_eq!(span["otel.name"], format!("{operation} traced"));
        assert_eq!(span["messaging.system"], "nats");
        assert_eq!(span["messaging.operation.type"], operation);
        assert_eq!(span["messaging.message.conversation_id"], "run 7/call_1");
        assert_eq!(span["traceparent"], parent);
        assert_eq!(span["error.type"], "failed");
    }
}
