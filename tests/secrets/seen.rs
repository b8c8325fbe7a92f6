//! Everything seen by a program, its model and its logs.

use super::answers::{Repeated, forms};
use proptest::prelude::TestCaseError;
use std::fmt::{Debug, Display, Write};
use std::sync::{Arc, Mutex};
use tokio::runtime::Builder;
use toolkit_ai::events::{ExecutionLog, LogFilter};
use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// The beginning of a secret that may not be seen, in characters.
const BEGINNING: usize = 8;

#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<String>>);

impl Seen {
    /// Runs a program, and checks that no form of its secret was seen.
    pub(crate) fn check<F: Future<Output = ()>>(
        case: &Repeated,
        program: impl Fn(Repeated, Self) -> F,
    ) -> Result<(), TestCaseError> {
        let seen = Self::default();
        let subscriber = tracing_subscriber::registry().with(seen.clone());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        tracing::subscriber::with_default(subscriber, || {
            runtime.block_on(program(case.clone(), seen.clone()));
        });
        let seen = seen.0.lock().unwrap();
        assert!(!seen.is_empty());
        let beginning: String = case.secret.chars().take(BEGINNING).collect();
        for form in forms(&case.secret).into_iter().chain(forms(&beginning)) {
            let line = seen.lines().find(|line| line.contains(&form));
            if let Some(line) = line {
                return Err(TestCaseError::fail(format!("{form:?} is seen: {line}")));
            }
        }
        Ok(())
    }

    pub(crate) fn add(&self, place: &str, shown: impl Display) {
        writeln!(self.0.lock().unwrap(), "{place}: {shown}").unwrap();
    }

    /// Calls a tool, with and without contents of events.
    pub(crate) async fn call(&self, registry: &ToolRegistry, tool: &str) {
        for contents in [false, true] {
            let log = ExecutionLog::new(10);
            let listener = self.clone();
            let dispatcher =
                Dispatcher::new(registry.clone()).unwrap().with_log(&log).with_stored_details(true);
            let dispatcher = dispatcher.with_event_contents(contents).with_listener(move |event| {
                listener.add("event", format!("{event:?} {}", serde_json::to_string(event).unwrap()));
            });
            let result = dispatcher.dispatch([ToolCall::new("1", tool, "{}")]).await.remove(0);
            self.add("text", result.to_text());
            self.add("result", format!("{result:?} {}", serde_json::to_string(&result).unwrap()));
            match &result.outcome {
                Ok(output) => self.add("structured", format!("{:?}", output.structured())),
                Err(error) => self.add("error", format!("{error} {error:#} {:?}", error.details())),
            }
            for entry in log.entries(&LogFilter::new()) {
                self.add("log", format!("{entry:?} {}", serde_json::to_string(&entry).unwrap()));
            }
        }
    }
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        attributes.record(&mut self.clone());
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut self.clone());
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // The library for NATS logs its traffic in its own tasks.
        if !event.metadata().target().starts_with("async_nats") {
            event.record(&mut self.clone());
        }
    }
}
