//! Streams of an answer that the model still writes.

use super::partial::PartialAnswer;
use super::{Answer, Form, TypedOutput};
use crate::agent::Agent;
use crate::answer::ExpectedAnswer;
use crate::error::{AgentError, RunError};
use crate::event::RunEvent;
use crate::helpers::lock;
use crate::options::RunOptions;
use crate::place::Place;
use crate::stream::RunStream;
use futures_core::Stream;
use serde_json::Value;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use toolkit_core::{CallId, ToolParams};
use toolkit_llm::UserMessage;

/// An item of an [`AnswerStream`].
///
/// ```
/// use toolkit_ai::agent::Agent;
/// use toolkit_ai::agent::structured::AnswerEvent;
/// use toolkit_ai::llm::ScriptedModel;
///
/// #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     name: String,
///     population: u32,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().text(r#"{"name": "Oslo", "population": 717710}"#);
/// let agent = Agent::builder(model).build()?;
/// let mut answers = agent.run("What is the capital of Norway?").typed::<City>().stream();
/// while let Some(event) = answers.next().await {
///     match event? {
///         AnswerEvent::Partial(city) => assert_eq!(city["name"], "Oslo"),
///         AnswerEvent::Answer(answer) => assert_eq!(answer.value.population, 717_710),
///         _ => {}
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AnswerEvent<T> {
    /// An event of the run other than [`RunEvent::Finished`].
    Run(RunEvent),
    /// The answer so far. Unfinished strings are included; unfinished numbers, and members without a value,
    /// are left out.
    ///
    /// Each is longer than the one before, unless the model starts again, for example after an invalid
    /// answer. A [`ParallelAgent`](crate::team::ParallelAgent) and a custom [`RunAgent`](crate::RunAgent)
    /// yield none.
    Partial(Value),
    /// The complete answer, with the output of the run. The last item.
    Answer(Box<TypedOutput<T>>),
}

/// The events of a run, and its growing answer.
///
/// The last item is [`AnswerEvent::Answer`], an [`AnswerEvent::Run`] with [`RunEvent::Waiting`], or an
/// error.
///
/// Polling the stream drives the run, and dropping it stops the run. Pieces that arrive faster than the
/// program reads become one partial answer.
pub struct AnswerStream<'a, T> {
    events: RunStream<'a>,
    value: Arc<Mutex<Option<T>>>,
    /// The expected answer. `None` if the type has no valid schema.
    expected: Option<Arc<ExpectedAnswer>>,
    is_wrapped: bool,
    text: PartialAnswer,
    /// The call that is the answer, with its arguments so far.
    call: Option<(CallId, PartialAnswer)>,
    /// Whether the partial answer has changed since the last one yielded.
    is_changed: bool,
    /// The partial answer yielded last.
    latest: Option<Value>,
    /// The event to yield after a partial answer.
    waiting: Option<Option<Result<RunEvent, RunError>>>,
}

impl<'a, T: ToolParams + Send + 'static> AnswerStream<'a, T> {
    pub(crate) fn new(
        agent: Agent,
        input: Option<UserMessage>,
        place: Place<'a>,
        options: RunOptions,
        form: &Form,
    ) -> Self {
        let answer = Answer::<T>::new(form);
        let expected = answer.as_ref().ok().map(|answer| answer.expected.clone());
        let is_wrapped = expected.as_ref().is_some_and(|expected| expected.format.is_wrapped);
        let value = Arc::<Mutex<Option<T>>>::default();
        let result = value.clone();
        let events = RunStream::start(&agent.clone(), options, |run| async move {
            let answer = answer?;
            let mut conversation = place.open().await?;
            let run = if input.is_none() { run.continuing(&conversation) } else { run };
            let TypedOutput { value, output } =
                agent.answer_as(&mut conversation, input, run, &answer).await?;
            *lock(&result) = Some(value);
            Ok(output)
        });
        AnswerStream {
            events,
            value,
            expected,
            is_wrapped,
            text: PartialAnswer::new(is_wrapped),
            call: None,
            is_changed: false,
            latest: None,
            waiting: None,
        }
    }
}

impl<T> AnswerStream<'_, T> {
    /// Waits for the next item. `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<AnswerEvent<T>, RunError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Adds the event's piece of the answer. Ignores agents that do not give the answer: earlier agents of
    /// a sequence, parallel agents, and agents called as tools.
    fn read(&mut self, event: &RunEvent) {
        let Some(expected) = &self.expected else { return };
        let source = expected.source();
        let is_answer = |value: &Value| expected.format.find(&value.to_string()).is_ok();
        if !event.within().is_empty() {
            return;
        }
        match event {
            RunEvent::ModelCalled { agent, .. } | RunEvent::ModelRetried { agent, .. }
                if *agent == source.agent =>
            {
                self.text = PartialAnswer::new(self.is_wrapped);
                self.call = None;
            }
            RunEvent::Text { text, agent, .. } if *agent == source.agent => {
                self.text.push(text, is_answer);
                // With an answer tool, text is the answer only in a message without calls.
                self.is_changed |= source.tool.is_empty();
            }
            RunEvent::CallStarted { call_id, tool, agent, .. }
                if *agent == source.agent && source.tool == *tool =>
            {
                self.call = Some((call_id.clone(), PartialAnswer::new(self.is_wrapped)));
            }
            RunEvent::CallArguments { call_id, piece, agent, .. } if *agent == source.agent => {
                if let Some((_, call)) = self.call.as_mut().filter(|(id, _)| id == call_id) {
                    call.push(piece, is_answer);
                    self.is_changed = true;
                }
            }
            RunEvent::Message { message, .. } if message.agent == source.agent => {
                // The arguments of a withheld answer are empty.
                let mut calls = message.calls.iter();
                let call = calls.find(|call| source.tool == call.name && call.arguments.as_str() != "{}");
                self.is_changed |= call.is_some() || message.calls.is_empty();
                if let Some(call) = call {
                    let mut whole = PartialAnswer::new(self.is_wrapped);
                    whole.push(call.arguments.as_str(), is_answer);
                    self.call = Some((call.id.clone(), whole));
                }
            }
            _ => {}
        }
    }

    /// Returns the partial answer if it has changed since it was last returned.
    fn changed(&mut self) -> Option<Value> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let answer = self.call.as_ref().map_or(&self.text, |(_, call)| call);
        let value = answer.value().filter(|value| self.latest.as_ref() != Some(value))?;
        self.latest = Some(value.clone());
        Some(value)
    }
}

impl<T> Stream for AnswerStream<'_, T> {
    type Item = Result<AnswerEvent<T>, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = match self.waiting.take() {
            Some(event) => Poll::Ready(event),
            None => Pin::new(&mut self.events).poll_next(cx),
        };
        // Pieces that have already arrived become one partial answer.
        if !matches!(event, Poll::Ready(Some(Ok(RunEvent::Text { .. } | RunEvent::CallArguments { .. }))))
            && let Some(value) = self.changed()
        {
            if let Poll::Ready(event) = event {
                self.waiting = Some(event);
            }
            return Poll::Ready(Some(Ok(AnswerEvent::Partial(value))));
        }
        let item = match ready!(event) {
            None => return Poll::Ready(None),
            Some(Err(error)) => Err(error),
            Some(Ok(RunEvent::Finished { output })) => match lock(&self.value).take() {
                Some(value) => Ok(AnswerEvent::Answer(Box::new(TypedOutput { value, output: *output }))),
                None => Err(AgentError::Other("the run has already ended".to_owned()).into()),
            },
            Some(Ok(event)) => {
                self.read(&event);
                Ok(AnswerEvent::Run(event))
            }
        };
        Poll::Ready(Some(item))
    }
}

impl<T> fmt::Debug for AnswerStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream").field("events", &self.events).finish_non_exhaustive()
    }
}
