//! The calls of one batch on their way to their results.

use super::execution::{Execution, is_scheduled, ordered};
use super::finish::Finish;
use super::span::CallSpan;
use super::turns::{Turn, Turns};
use super::{BatchHandle, Dispatcher};
use crate::call::{CallId, ProviderExtras, RawArguments, ToolCall};
use crate::context::{AboutCall, RunContext, State, ToolActions, ToolContext};
use crate::error::ToolError;
use crate::event::{Ending, EventCall, Teller};
use crate::middleware::{Stack, ToolRequest};
use crate::output::ToolOutput;
use crate::registry::{Resolved, ToolRegistry};
use crate::result::ToolResult;
use crate::tool::{Running, Tool, ToolFuture, panic_text, start};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use std::vec::IntoIter;
use tokio::task::{JoinError, JoinHandle};

/// What the calls of a batch have in common.
pub(super) struct Batch<'a> {
    dispatcher: Cow<'a, Dispatcher>,
    /// The tools as they were when the batch started.
    registry: Arc<ToolRegistry>,
    handle: Option<BatchHandle>,
    size: usize,
    /// The position of the next call.
    position: usize,
    number: Option<Arc<u64>>,
    /// Made when a call has to wait for its turn: an empty map is not for free.
    turns: Option<Turns>,
    /// Who tells of the calls that are still to be prepared; nobody if nobody listens.
    endings: IntoIter<Ending>,
}

/// What one call does before it runs.
struct Plan {
    execution: Arc<Execution>,
    turns: Vec<Turn>,
    middleware: Stack,
    batch: Arc<u64>,
}

/// Who is told how a call ends.
struct End {
    ending: Option<Ending>,
    span: CallSpan,
    /// Whether they are told what the output says.
    contents: bool,
}

/// What came of a call, and how long the tool ran.
type Timed = (Result<ToolOutput, ToolError>, Duration);

impl<'a> Batch<'a> {
    pub(super) fn new(dispatcher: &'a Dispatcher, calls: &[ToolCall], handle: Option<BatchHandle>) -> Self {
        let mut batch = Self::empty(Cow::Borrowed(dispatcher), calls.len(), handle);
        batch.tell(calls);
        batch
    }

    /// A batch whose calls come later, one after another.
    pub(super) fn open(dispatcher: Dispatcher, handle: Option<BatchHandle>) -> Batch<'static> {
        Batch::empty(Cow::Owned(dispatcher), usize::MAX, handle)
    }

    fn empty(dispatcher: Cow<'a, Dispatcher>, size: usize, handle: Option<BatchHandle>) -> Self {
        let registry = dispatcher.registry.snapshot();
        let endings = Vec::new().into_iter();
        Self { dispatcher, registry, handle, size, position: 0, number: None, turns: None, endings }
    }

    /// Tells of calls that are prepared next, if anybody listens.
    pub(super) fn tell(&mut self, calls: &[ToolCall]) {
        if self.dispatcher.hub.is_heard() {
            self.announce(calls);
        }
    }

    #[cold]
    fn announce(&mut self, calls: &[ToolCall]) {
        let batch = *self.number();
        let Dispatcher { finish, hub, .. } = &*self.dispatcher;
        let run = finish.run();
        let announce = |(position, call): (usize, &ToolCall)| {
            let position = self.position + position;
            let resolved = self.registry.resolve(&call.name, call.arguments.clone()).ok();
            let definition = resolved.as_ref().map(|resolved| resolved.tool.definition());
            let (arguments, reason) = match &resolved {
                Some(Resolved { tool, arguments, .. }) => {
                    self.registry.part_reason(tool.definition(), arguments.as_str())
                }
                None => (call.arguments.as_str().into(), None),
            };
            let call = EventCall {
                batch,
                position,
                call_id: call.id.clone(),
                tool: definition.map_or(&*call.name, |definition| definition.name.as_str()).to_owned(),
                invocation_id: run.as_deref().and_then(RunContext::invocation_id).map(str::to_owned),
                agent_name: run.as_deref().and_then(RunContext::agent_name).map(str::to_owned),
                reason,
                arguments_bytes: arguments.len(),
                arguments: hub.tells_contents().then(|| (*arguments).into()),
            };
            Ending::new(Teller::new(hub.clone(), call))
        };
        self.endings = calls.iter().enumerate().map(announce).collect::<Vec<_>>().into_iter();
    }

    /// The number of the batch, which it gets when it is first asked for.
    fn number(&mut self) -> Arc<u64> {
        let next = || Arc::new(self.dispatcher.gates.next_batch());
        self.number.get_or_insert_with(next).clone()
    }

    /// Looks the tool up now, so that a later change of the registry makes no difference, and
    /// returns the call ready to run.
    pub(super) fn prepare(&mut self, call: ToolCall) -> (Identity, Work) {
        let every_call_planned = self.dispatcher.every_call_planned;
        let position = self.position;
        self.position += 1;
        let ToolCall { id, name, arguments, extras, .. } = call;
        let (resolved, arguments, called_as) = match self.registry.resolve(&name, arguments) {
            Ok(Resolved { tool, arguments, called_as }) => {
                let limit = self.dispatcher.limit(&self.registry, &**tool);
                (Ok((tool.clone(), limit)), arguments, called_as)
            }
            Err(error) => (Err(self.dispatcher.finish.failure(&name, error)), RawArguments::default(), None),
        };
        let (arguments, reason) = match &resolved {
            Ok((tool, _)) => self.registry.part_reason_owned(tool.definition(), arguments),
            Err(_) => (arguments, None),
        };
        let plan = match &resolved {
            Ok((tool, limit)) if every_call_planned || is_scheduled(&tool.definition().metadata) => {
                Some(self.plan(tool, *limit, arguments.as_str()))
            }
            _ => None,
        };
        let contents = self.dispatcher.hub.tells_contents();
        let tool = resolved.as_ref().ok().map(|(tool, _)| &**tool);
        let span = CallSpan::new(tool, &name, &id, contents.then(|| arguments.as_str()));
        let end = End { ending: self.endings.next(), span, contents };
        let cancellation = self.handle.as_ref().map(|handle| handle.token(&id));
        let about = AboutCall { call_id: id.clone(), cancellation, called_as, reason: reason.clone() };
        let (state, finish) = (self.registry.state().cloned(), self.dispatcher.finish.clone());
        let work = Work { position, resolved, arguments, plan, about, state, finish, end };
        (Identity { position, call_id: id, name, reason, extras }, work)
    }

    #[cold]
    fn plan(&mut self, tool: &Arc<dyn Tool>, timeout: Option<Duration>, arguments: &str) -> Box<Plan> {
        let batch = self.number();
        // Nobody comes before the only call.
        let ordered = (self.size > 1).then(|| ordered(&**tool, arguments));
        let all_turns = self.turns.get_or_insert_default();
        let turns = ordered.into_iter().flatten().map(|resource| all_turns.next(resource)).collect();
        let Dispatcher { gates, max_concurrency, middleware, .. } = &*self.dispatcher;
        let execution = Execution {
            tool: tool.clone(),
            timeout,
            max_concurrency: *max_concurrency,
            gates: gates.clone(),
            batch: *batch,
            ran: AtomicU64::new(0),
        };
        Box::new(Plan { execution: Arc::new(execution), turns, middleware: middleware.clone(), batch })
    }
}

/// A call that is ready to run.
pub(super) struct Work {
    position: usize,
    resolved: Result<(Arc<dyn Tool>, Option<Duration>), ToolError>,
    arguments: RawArguments,
    plan: Option<Box<Plan>>,
    about: AboutCall,
    state: Option<Arc<State>>,
    finish: Arc<Finish>,
    end: End,
}

impl Work {
    /// Runs the call. It can be dropped at any time, and no panic comes out.
    #[inline]
    pub(super) fn run(self) -> impl Future<Output = Ended> + Send + 'static {
        let span = self.end.span.clone();
        span.around(self.run_in_span())
    }

    #[inline]
    async fn run_in_span(self) -> Ended {
        let Self { position, resolved, arguments, plan, about, state, finish, end } = self;
        let started = Instant::now();
        let (tool, limit) = match resolved {
            Ok(resolved) => resolved,
            Err(error) => return Ended::without_run(position, error).told(end),
        };
        let teller = end.ending.as_ref().map(Ending::teller);
        let context =
            ToolContext::of_call(tool.definition().name.clone(), about, state, finish.run(), teller);
        let (outcome, duration) = match plan {
            Some(plan) => plan.carry_out(arguments, &context, position).await,
            None => {
                let outcome = match start(&*tool, arguments.as_str(), &context, limit) {
                    Ok(outcome) => outcome,
                    Err(running) => running.await,
                };
                (outcome, started.elapsed())
            }
        };
        let actions = context.end(outcome.is_ok());
        let outcome = finish.outcome(&*tool, &context, outcome);
        Ended { position, outcome, actions, duration }.told(end)
    }
}

impl Plan {
    /// What came of the call, and how long the tool ran. It can be cancelled at any time, and no panic comes out.
    fn carry_out(
        self: Box<Self>,
        arguments: RawArguments,
        context: &ToolContext,
        position: usize,
    ) -> Pin<Box<dyn Future<Output = Timed> + Send + '_>> {
        Box::pin(async move {
            let Self { execution, mut turns, middleware, batch } = *self;
            if context.is_cancelled() {
                return (Err(ToolError::cancelled(context.known_name())), Duration::ZERO);
            }
            let steps = async {
                for turn in &mut turns {
                    turn.comes().await;
                }
                if middleware.is_empty() {
                    return execution.run(arguments.as_str(), context).await;
                }
                let tool = execution.tool.clone();
                let request = ToolRequest::new(tool, arguments, context.clone(), position, batch);
                middleware.before(execution.clone()).run(request).await
            };
            let outcome = Running::new(ToolFuture::running(steps, |outcome| outcome), context, None).await;
            (outcome, execution.ran())
        })
    }
}

/// Whose result it will be. It stays behind when the call goes to a task of its own.
pub(super) struct Identity {
    position: usize,
    call_id: CallId,
    name: String,
    reason: Option<String>,
    extras: ProviderExtras,
}

/// How a call ended.
pub(super) struct Ended {
    pub(super) position: usize,
    outcome: Result<ToolOutput, ToolError>,
    actions: ToolActions,
    duration: Duration,
}

impl Ended {
    /// The end of a call whose tool did not run.
    #[cold]
    fn without_run(position: usize, error: ToolError) -> Self {
        Self { position, outcome: Err(error), actions: ToolActions::default(), duration: Duration::ZERO }
    }

    /// The same, after whoever listens was told.
    #[inline]
    fn told(self, End { ending, span, contents }: End) -> Self {
        span.end(&self.outcome, contents);
        if let Some(ending) = ending {
            ending.tell(&self.outcome, self.duration);
        }
        self
    }
}

impl Identity {
    pub(super) fn result(self, Ended { outcome, actions, duration, .. }: Ended) -> ToolResult {
        let Self { position, call_id, name, reason, extras } = self;
        ToolResult { position, duration, reason, actions, extras, ..ToolResult::new(call_id, name, outcome) }
    }

    /// The result of a call whose task was taken away from us, by the runtime's end or by a panic that
    /// even the guards did not catch.
    #[cold]
    pub(super) fn lost(self, lost: JoinError) -> ToolResult {
        let error = match lost.try_into_panic() {
            Ok(payload) => ToolError::panicked(&self.name, panic_text(&*payload)),
            Err(_) => ToolError::cancelled(&self.name),
        };
        let position = self.position;
        self.result(Ended::without_run(position, error))
    }
}

/// A call on its way. Dropping it stops the call.
pub(super) struct Task(JoinHandle<Ended>);

impl Task {
    pub(super) fn spawn(work: Work) -> Self {
        Self(tokio::spawn(Box::pin(work.run())))
    }

    pub(super) async fn join(&mut self) -> Result<Ended, JoinError> {
        (&mut self.0).await
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
