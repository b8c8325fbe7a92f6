//! The task that works on one conversation, as long as there is work.

use super::ClientTool;
use super::active::{Active, Current, LocalInner};
use super::hub::Place;
use super::item::{DecisionItem, Inbox, InputItem, Item, Numbered, name_of_decision};
use super::past::missed;
use super::step::{Step, next_step};
use crate::agent::{RunOwner, SteeredInput};
use crate::conversation::{Conversation, InputId};
use crate::error::{AgentError, RunError};
use crate::event::RunEvent;
use crate::helpers::{BoxFuture, lock};
use crate::output::RunOutput;
use crate::pending::Decisions;
use crate::session::sessions::Sessions;
use crate::session::{RunStatus, StoreError};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{sleep, timeout};
use toolkit_core::CancellationToken;

/// How often a run is continued after its store has failed, each time after a longer pause.
const MAX_FAILURES: u32 = 8;

/// Removes a conversation from those with a task, also when the task panics.
struct Retire {
    inner: Arc<LocalInner>,
    active: Arc<Active>,
}

impl Retire {
    /// Ends the task unless there is news. Returns whether it has ended.
    fn retire(&self) -> bool {
        let mut all = lock(&self.inner.active);
        if self.active.has_news.swap(false, Ordering::Acquire) {
            return false;
        }
        all.remove(&(self.active.user.clone(), self.active.id.clone()));
        true
    }
}

impl Drop for Retire {
    fn drop(&mut self) {
        let mut all = lock(&self.inner.active);
        let name = (self.active.user.clone(), self.active.id.clone());
        if all.get(&name).is_some_and(|active| Arc::ptr_eq(active, &self.active)) {
            all.remove(&name);
        }
    }
}

/// What follows from a step.
enum Next {
    /// Another step.
    Step,
    /// Another step once there is news, or at this second.
    Wait(Option<u64>),
}

/// Works on a conversation until nothing is left to do.
pub(super) async fn drive(inner: Arc<LocalInner>, active: Arc<Active>) {
    let retire = Retire { inner: inner.clone(), active: active.clone() };
    let mut failures = 0;
    loop {
        let takes_over = active.takes_over.swap(false, Ordering::Relaxed);
        let next = Worker { inner: &inner, active: &active }.advance(takes_over).await;
        match next {
            Ok(Next::Step) => failures = 0,
            Ok(Next::Wait(None)) if retire.retire() => return,
            Ok(Next::Wait(None)) => {}
            Ok(Next::Wait(Some(second))) => wait_until(second, &active).await,
            // Another process has saved, and may work on the run.
            Err(error) if error.is_conflict() => {}
            Err(_) if failures < MAX_FAILURES => {
                failures += 1;
                active.takes_over.fetch_or(takes_over, Ordering::Relaxed);
                sleep(Duration::from_millis(50 << failures)).await;
            }
            Err(_) => return,
        }
    }
}

/// Waits for news, or for this second. The clock is read each minute, because it may jump.
async fn wait_until(second: u64, active: &Active) {
    while now() < second {
        let left = Duration::from_secs(second.saturating_sub(now()).min(60));
        if timeout(left, active.news.notified()).await.is_ok() {
            return;
        }
    }
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

struct Worker<'a> {
    inner: &'a LocalInner,
    active: &'a Arc<Active>,
}

impl Worker<'_> {
    /// Makes the next step of the conversation.
    async fn advance(&self, takes_over: bool) -> Result<Next, StoreError> {
        let key = self.active.key();
        let sessions = &self.inner.sessions;
        self.active.has_news.store(false, Ordering::Release);
        // Before the conversation, so that no item is newer than it and seems to fit nothing.
        let inbox = Inbox::load(sessions, key).await?;
        let mut conversation = sessions.user(key.user).conversation(key.id).open().await?;
        sessions.journal(&mut conversation);
        self.begin(&conversation).await?;
        self.active.is_steered.store(has_steering(&inbox), Ordering::Relaxed);
        match next_step(&conversation, inbox, takes_over, now()) {
            Step::Discard(numbers) => {
                for number in numbers {
                    sessions.store().take(key, number).await?;
                }
                Ok(Next::Step)
            }
            Step::Cancel(taken) => {
                conversation.take_up(&taken);
                conversation.cancel_run();
                sessions.save(&mut conversation).await?;
                self.end(&conversation, Err(AgentError::Cancelled.into()));
                Ok(Next::Step)
            }
            Step::Begin(input) => self.run(conversation, *input).await,
            Step::Resume { decisions, items } => {
                conversation.take_up_decided(items);
                self.resume(conversation, decisions, false).await
            }
            Step::Interrupt => self.resume(conversation, Decisions::new(), true).await,
            Step::Wait(second) => self.wait(&conversation, second).await,
        }
    }

    /// Begins to hear what follows from the conversation as it is saved.
    async fn begin(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let (log, entry) = conversation.saved_entries();
        let run = conversation.run_id();
        let place = Place { log, run, attempt: conversation.attempt() + 1, entry };
        let missed = match self.active.hub.unsaved_place(&place) {
            Some(heard) => missed(&self.inner.sessions, self.active.key(), &heard, &place).await?,
            None => Default::default(),
        };
        self.active.hub.begin(place, &missed);
        Ok(())
    }

    async fn run(
        &self,
        mut conversation: Conversation,
        Numbered { number, id, item }: Numbered<InputItem>,
    ) -> Result<Next, StoreError> {
        let cancellation = self.set_current(id.as_str().into());
        // It may have been taken back since it was read.
        let inbox = Inbox::load(&self.inner.sessions, self.active.key()).await?;
        if !inbox.inputs.iter().any(|input| input.number == number) {
            *lock(&self.active.current) = None;
            return Ok(Next::Step);
        }
        self.prepare(&mut conversation, &item).await?;
        conversation.take_up(&[number]);
        let tools = ClientTool::kept(&conversation);
        let agent = &self.inner.agent;
        let mut request =
            agent.run(item.input).on(&mut conversation).invocation_id(id).message_id(item.message);
        if let Some(tools) = tools {
            request = request.with_tools(tools);
        }
        if let Some(limits) = self.inner.limits.clone() {
            request = request.limits(limits);
        }
        if let Some(context) = &self.inner.context {
            request = request.context(context(self.active.key()));
        }
        let ended = self.watched(request.cancellation(cancellation).owned(self.owner())).await;
        self.ended(&conversation, ended)
    }

    /// Goes back to before the input that an item takes the place of, and sets the session values of the item.
    async fn prepare(&self, conversation: &mut Conversation, item: &InputItem) -> Result<(), StoreError> {
        let sessions = &self.inner.sessions;
        if conversation.can_rewind(&item.replaced) {
            let log = sessions.store().load(self.active.key()).await?.unwrap_or_default();
            conversation.rewind(&item.replaced, &log.entries).map_err(StoreError::new)?;
            // Apart from the run, so that the values before its input are those of the fork.
            sessions.save(conversation).await?;
        }
        for (key, value) in &item.values {
            conversation.session_values().set(key.as_str(), value.clone());
        }
        ClientTool::keep(&item.tools, conversation);
        Ok(())
    }

    async fn resume(
        &self,
        mut conversation: Conversation,
        decisions: Decisions,
        is_cancelled: bool,
    ) -> Result<Next, StoreError> {
        let cancellation = self.set_current(conversation.run_id());
        if is_cancelled {
            cancellation.cancel();
        }
        let tools = ClientTool::kept(&conversation);
        let mut request = self.inner.agent.resume(&mut conversation).decide(decisions);
        if let Some(tools) = tools {
            request = request.with_tools(tools);
        }
        if let Some(limits) = self.inner.limits.clone() {
            request = request.limits(limits);
        }
        if let Some(context) = &self.inner.context {
            request = request.context(context(self.active.key()));
        }
        let ended = self.watched(request.cancellation(cancellation).owned(self.owner())).await;
        self.ended(&conversation, ended)
    }

    fn owner(&self) -> Arc<dyn RunOwner> {
        Arc::new(Owner { sessions: self.inner.sessions.clone(), active: self.active.clone() })
    }

    fn set_current(&self, run: Arc<str>) -> CancellationToken {
        let cancellation = CancellationToken::new();
        self.active.hub.set_run(run.clone());
        *lock(&self.active.current) = Some(Current { run, cancellation: cancellation.clone() });
        cancellation
    }

    /// Works on the run, and looks for news of it meanwhile.
    async fn watched<T>(&self, run: impl Future<Output = T>) -> T {
        let mut run = pin!(run);
        let mut watch = pin!(self.watch());
        poll_fn(|cx| {
            if let Poll::Ready(ended) = run.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            let _ = watch.as_mut().poll(cx);
            Poll::Pending
        })
        .await
    }

    /// Looks at the inbox again and again, while a run works.
    async fn watch(&self) {
        loop {
            let _ = timeout(self.inner.poll, self.active.news.notified()).await;
            // A store that fails now is asked again.
            let Ok(inbox) = Inbox::load(&self.inner.sessions, self.active.key()).await else { continue };
            self.active.is_steered.store(has_steering(&inbox), Ordering::Relaxed);
            if let Some(current) = &*lock(&self.active.current) {
                let is_cancelled = inbox.cancelled.iter().any(|item| *item.item == *current.run);
                let is_interrupted = inbox.inputs.iter().any(|input| input.item.interrupts(now()));
                if is_cancelled || is_interrupted {
                    current.cancellation.cancel();
                }
            }
        }
    }

    fn ended(
        &self,
        conversation: &Conversation,
        ended: Result<RunOutput, RunError>,
    ) -> Result<Next, StoreError> {
        *lock(&self.active.current) = None;
        let failed = match &ended {
            Err(RunError { error: AgentError::Store(error), .. }) => Some(error.clone()),
            _ => None,
        };
        self.end(conversation, ended);
        let Some(error) = failed else { return Ok(Next::Step) };
        // The run is noted as working, and belongs to this task.
        self.active.takes_over.fetch_or(!error.is_conflict(), Ordering::Relaxed);
        Err(error)
    }

    fn end(&self, conversation: &Conversation, ended: Result<RunOutput, RunError>) {
        let event = match ended {
            Ok(output) => RunEvent::Finished { output: Box::new(output) },
            Err(RunError { error: AgentError::Interrupted { pending }, output }) => {
                RunEvent::Waiting { pending, output }
            }
            // What is not saved is heard again.
            Err(RunError { error: AgentError::Store(_), .. }) => return,
            Err(RunError { error, output }) => RunEvent::Stopped { reason: error.reason(), output },
        };
        self.active.hub.end(conversation.saved_entries().1, event);
    }

    /// Takes the decisions whose deadline is over, or returns until when to wait.
    async fn wait(&self, conversation: &Conversation, second: Option<u64>) -> Result<Next, StoreError> {
        let RunStatus::Waiting { since, calls, .. } = conversation.status() else {
            return Ok(Next::Wait(second));
        };
        let Some(deadline_of) = &self.inner.deadline else { return Ok(Next::Wait(second)) };
        let mut earliest = second;
        let mut is_over = false;
        for call in calls {
            let Some((patience, decision)) = deadline_of(&call) else { continue };
            let deadline = since.saturating_add(patience.as_secs());
            if deadline > now() {
                earliest = Some(earliest.map_or(deadline, |earliest| earliest.min(deadline)));
                continue;
            }
            let name = name_of_decision(&call.id);
            let (by, ticket) = ("deadline".to_owned(), String::new());
            let item = Item::Decision(DecisionItem { call: call.id, decision, by, ticket });
            self.inner.sessions.store().put(self.active.key(), &name, &serde_json::to_string(&item)?).await?;
            is_over = true;
        }
        Ok(if is_over { Next::Step } else { Next::Wait(earliest) })
    }
}

fn has_steering(inbox: &Inbox) -> bool {
    inbox.inputs.iter().any(|input| input.item.steers())
}

/// The ear and the inbox of a run.
struct Owner {
    sessions: Sessions,
    active: Arc<Active>,
}

impl RunOwner for Owner {
    fn hear(&self, event: RunEvent) {
        self.active.hub.hear(event);
    }

    fn saved(&self, entries: u64) {
        self.active.hub.saved(entries);
    }

    fn inputs(&self) -> BoxFuture<'_, Result<Vec<SteeredInput>, StoreError>> {
        Box::pin(async {
            let mut steered = Vec::new();
            if !self.active.is_steered.swap(false, Ordering::Relaxed) {
                return Ok(steered);
            }
            for Numbered { number, id, item } in Inbox::load(&self.sessions, self.active.key()).await?.inputs
            {
                if item.steers() && item.not_before <= now() {
                    let id = InputId { run: id.into(), message: item.message };
                    steered.push(SteeredInput { number, id, input: item.input });
                }
            }
            Ok(steered)
        })
    }
}
