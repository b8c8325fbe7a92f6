//! Tools for the properties.

use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_core::{ClosureTool, Tool, ToolError, ToolRegistry};

#[derive(Debug, Default)]
pub(super) struct Executions(pub(super) AtomicU32);

impl Executions {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Called names, of which the last two are unknown.
pub(super) const NAMES: &[&str] = &["ok", "fail", "panic", "nap", "late", "never", "ghost", "böse !"];

#[derive(Debug, Deserialize, JsonSchema)]
struct Number {
    n: Option<i64>,
}

pub(super) fn registry(executions: &Arc<Executions>) -> ToolRegistry {
    let counted = || {
        let executions = executions.clone();
        move || executions.count()
    };
    let nap = |count: Box<dyn Fn() + Send + Sync>, time: Duration| {
        move |_: Number| {
            count();
            async move {
                sleep(time).await;
                "rested"
            }
        }
    };
    let ok = counted();
    let fail = counted();
    let panic = counted();
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(
            ClosureTool::new("ok", "Works.", move |number: Number| {
                ok();
                format!("{:?}", number.n)
            })
            .unwrap(),
        ),
        Arc::new(
            ClosureTool::new("fail", "Fails.", move |_: Number| {
                fail();
                Err::<(), _>(ToolError::failed("it does not work"))
            })
            .unwrap(),
        ),
        Arc::new(
            ClosureTool::new("panic", "Panics.", move |number: Number| {
                panic();
                if number.n != Some(i64::MIN) {
                    std::panic::panic_any("oh");
                }
            })
            .unwrap(),
        ),
        Arc::new(
            ClosureTool::new("nap", "Rests.", nap(Box::new(counted()), Duration::from_millis(30))).unwrap(),
        ),
        Arc::new(
            ClosureTool::new("late", "Too late.", nap(Box::new(counted()), Duration::from_secs(9)))
                .unwrap()
                .with_timeout(Duration::from_millis(50)),
        ),
        Arc::new(ClosureTool::new("never", "Never ends.", nap(Box::new(counted()), Duration::MAX)).unwrap()),
    ];
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    registry
}
