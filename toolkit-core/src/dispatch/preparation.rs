//! The preparation of a call: its tool is found, its turn is taken, and its first event is emitted.

use super::execution::{Execution, ordered};
use super::prepared_call::{CallPath, PreparedCall, Work};
use super::scheduled_call::ScheduledCall;
use super::settings::Settings;
use super::span::CallSpan;
use super::turns::Turns;
use crate::call::{CallId, RawArguments, ToolCall};
use crate::context::RunContext;
use crate::definition::{Tool, ToolDefinition};
use crate::error::ToolError;
use crate::events::{CallGuard, EventCall};
use crate::guard::{PanicText, guarded};
use crate::middleware::{Approval, CallArguments, DecidedApprovals};
use crate::registry::{Target, ToolRegistry};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(super) struct Preparation<'a> {
    pub(super) settings: &'a Arc<Settings>,
    /// The tools at the start of the batch.
    pub(super) registry: &'a Arc<ToolRegistry>,
    pub(super) run: Option<&'a Arc<RunContext>>,
    /// The decided approval of the outer dispatcher's call.
    pub(super) decided: Option<Box<Approval>>,
    pub(super) numbering: &'a mut Numbering,
    /// `None` for a single call.
    pub(super) turns: Option<&'a mut Turns>,
}

/// Assigns an id to a batch, and positions to its calls.
#[derive(Default)]
pub(super) struct Numbering {
    position: usize,
    /// Assigned on first use.
    batch: Option<Arc<u64>>,
}

impl Preparation<'_> {
    fn batch(&mut self) -> Arc<u64> {
        self.numbering.batch.get_or_insert_with(|| Arc::new(self.settings.gates.next_batch())).clone()
    }

    /// Prepares a call, and queues it behind earlier calls for the same resource.
    pub(super) fn prepare(mut self, call: ToolCall, cancellation: Option<CancellationToken>) -> PreparedCall {
        let position = self.numbering.position;
        self.numbering.position += 1;
        let ToolCall { id, name, mut arguments, extras, .. } = call;
        let registry = self.registry;
        let decided = match self.run {
            Some(run) if self.decided.is_none() => decided(run, &id, &name, arguments.as_str()),
            _ => self.decided.take(),
        };
        let mut target = match guarded(|| registry.target(&name, arguments.as_str())) {
            Ok(target) => target,
            Err(PanicText(text)) => Err(ToolError::panicked(&name, &text)),
        };
        let mut rewritten = match &mut target {
            Ok(target) => target.rewritten.take(),
            Err(_) => None,
        };
        if let Some(rewritten) = &mut rewritten
            && let Some(text) = rewritten.arguments.take()
        {
            arguments = text.into();
        }
        let definition = match &target {
            Ok(target) => Some(target.definition),
            Err(_) => None,
        };
        let includes_contents = self.settings.bus.includes_contents();
        let contents = if includes_contents { Some(arguments.as_str()) } else { None };
        let span = CallSpan::new(definition, &name, &id, contents);
        let mut guard = None;
        if self.settings.bus.has_listeners() {
            let tool = definition.map_or(&*name, |definition| definition.name.as_str());
            let call_reason = rewritten.as_ref().and_then(|rewritten| rewritten.call_reason.as_deref());
            guard = Some(self.queued(position, tool, &id, &arguments, call_reason));
        }
        let work = target
            .and_then(|target| self.work(&target, arguments))
            .map_err(|error| self.settings.failure(&name, error));
        PreparedCall { position, id, name, extras, rewritten, decided, work, cancellation, guard, span }
    }

    #[inline]
    fn work(&mut self, target: &Target<'_>, arguments: RawArguments) -> Result<Work, ToolError> {
        let Target { tool, definition, .. } = *target;
        let metadata = &definition.metadata;
        let limit = self.settings.limit(metadata, self.registry.timeout());
        let path = if self.settings.needs_schedule(metadata) {
            // Reading the lane runs code of the tool, which may panic.
            match guarded(|| self.schedule(tool, definition, limit, arguments)) {
                Ok(scheduled) => CallPath::Scheduled(scheduled),
                Err(PanicText(text)) => return Err(ToolError::panicked(definition.name.as_str(), &text)),
            }
        } else {
            CallPath::Inline { tool: tool.clone(), limit, arguments }
        };
        let max_result_size = self.settings.max_result_size(metadata);
        Ok(Work { tool_name: definition.name.clone(), max_result_size, path })
    }

    #[cold]
    fn queued(
        &mut self,
        position: usize,
        tool: &str,
        id: &CallId,
        arguments: &RawArguments,
        call_reason: Option<&str>,
    ) -> CallGuard {
        let batch = *self.batch();
        let bus = &self.settings.bus;
        let run = self.run.map(|run| &**run);
        let call = EventCall {
            batch,
            position,
            call_id: id.clone(),
            tool: tool.to_owned(),
            invocation_id: run.and_then(RunContext::invocation_id).map(str::to_owned),
            agent_name: run.and_then(RunContext::agent_name).map(str::to_owned),
            call_reason: call_reason.map(str::to_owned),
            arguments_bytes: arguments.as_str().len(),
            arguments: if bus.includes_contents() { Some(arguments.as_str().into()) } else { None },
        };
        CallGuard::new(bus.clone(), call)
    }

    #[cold]
    fn schedule(
        &mut self,
        tool: &Arc<dyn Tool>,
        definition: &ToolDefinition,
        limit: Option<Duration>,
        arguments: RawArguments,
    ) -> ScheduledCall {
        let arguments = CallArguments::new(tool.clone(), arguments);
        let batch = self.batch();
        let mut turns = Vec::new();
        if let Some(earlier) = &mut self.turns {
            for resource in ordered(definition, &arguments) {
                turns.push(earlier.next(resource));
            }
        }
        let execution = Arc::new(Execution::new(tool.clone(), limit, self.settings.clone(), *batch));
        let fixed_registry = if self.settings.is_live { None } else { Some(self.registry.clone()) };
        ScheduledCall { execution, arguments, turns, batch, fixed_registry }
    }
}

#[inline(never)]
fn decided(run: &RunContext, id: &CallId, name: &str, arguments: &str) -> Option<Box<Approval>> {
    run.extension::<DecidedApprovals>()?.of(id, name, arguments).cloned().map(Box::new)
}
