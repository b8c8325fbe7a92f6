//! A model that records another model's requests and answers.

use super::exchange::{Exchange, RecordedAnswer, fingerprint, recorded, unusable};
use super::secrets::Secrets;
use crate::helpers::{MAX_NESTING, append_json, lock};
use crate::message::ModelResponse;
use crate::model::{ChatModel, ModelError, ModelErrorKind, ModelRequest, ModelStream, forward_properties};
use crate::stream::StreamEvent;
use futures_core::Stream;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

/// A model that records requests and answers in a file, for a [`Replay`](crate::record::Replay).
///
/// Each line is the JSON of one model call: the request (instructions, messages, tools, options), and the
/// response, the deltas of the stream, or the error.
///
/// The API keys of providers are not part of a request. In addition, the recorder replaces these secrets:
/// - the values of environment variables and extra request fields, if their names end in `key`, `token`,
///   `secret`, `password`, `credentials` or `authorization`;
/// - the strings added by [`with_secret`](Self::with_secret).
///
/// Secrets are also found in the JSON text of arguments, and across the deltas of a stream, which are then
/// recorded as one. Otherwise, messages of users and tools are recorded unchanged.
///
/// ```
/// use toolkit_ai::llm::{ChatModel, ScriptedModel};
/// use toolkit_ai::llm::record::{Recorder, Replay};
///
/// # let path = std::env::temp_dir().join(format!("toolkit-doc-{}.jsonl", std::process::id()));
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let real = ScriptedModel::new().text("Hello, Ada."); // or a model of a provider
/// Recorder::new(real, &path)?.respond("I am Ada.".into()).await?;
///
/// let answer = Replay::open(&path)?.respond("I am Ada.".into()).await?;
/// assert_eq!(answer.message.text, "Hello, Ada.");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Recorder<M> {
    model: M,
    tape: Tape,
}

#[derive(Clone)]
struct Tape {
    path: PathBuf,
    file: Arc<Mutex<File>>,
    secrets: Secrets,
}

impl<M: ChatModel> Recorder<M> {
    /// Creates a recorder for `model`. The file at `path` is created or emptied.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn new(model: M, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref().to_owned();
        match File::create(&path) {
            Ok(file) => {
                let file = Arc::new(Mutex::new(file));
                Ok(Self { model, tape: Tape { path, file, secrets: Secrets::of_environment() } })
            }
            Err(error) => Err(unusable(&path, error)),
        }
    }

    /// Replaces `secret` with `[secret]` everywhere in the recording, if it has at least eight bytes.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.tape.secrets.add(secret.into(), "secret");
        self
    }

    fn exchange(&self, request: &ModelRequest) -> Result<Exchange, ModelError> {
        let request = recorded(request, &self.tape.secrets).map_err(|error| self.tape.failed(error))?;
        let fingerprint = fingerprint(&request);
        let model = self.model.name().to_owned();
        Ok(Exchange { fingerprint, model, request, answer: RecordedAnswer::default() })
    }
}

impl Tape {
    fn write(&self, exchange: Exchange, answer: RecordedAnswer) -> Result<(), ModelError> {
        let answered = Exchange { answer, ..exchange };
        let mut json = serde_json::to_value(answered).map_err(|error| self.failed(error))?;
        self.secrets.hide(&mut json);
        // Written in one go, so that concurrent answers do not mix.
        let mut line = Vec::new();
        append_json(&mut line, &json, MAX_NESTING)
            .map_err(|reason| self.failed(format_args!("it {reason}")))?;
        line.push(b'\n');
        let mut file = lock(&self.file);
        file.write_all(&line).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl fmt::Display) -> ModelError {
        let text = format!("the answer cannot be recorded in `{}`: {error}", self.path.display());
        ModelError::new(ModelErrorKind::Other, text)
    }
}

impl<M: ChatModel> ChatModel for Recorder<M> {
    forward_properties!(self => self.model);

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let exchange = self.exchange(&request)?;
        let answer = self.model.respond(request).await;
        let response = answer.as_ref().ok().cloned().map(Box::new);
        let error = answer.as_ref().err().cloned();
        self.tape.write(exchange, RecordedAnswer { response, error, deltas: None })?;
        answer
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let exchange = self.exchange(&request)?;
        match self.model.stream(request).await {
            Ok(stream) => Ok(ModelStream::new(RecordedStream {
                stream,
                tape: self.tape.clone(),
                exchange: Some(exchange),
                deltas: Vec::new(),
            })),
            Err(error) => {
                self.tape.write(
                    exchange,
                    RecordedAnswer { error: Some(error.clone()), ..RecordedAnswer::default() },
                )?;
                Err(error)
            }
        }
    }
}

struct RecordedStream {
    stream: ModelStream,
    tape: Tape,
    /// `None` after the answer was written.
    exchange: Option<Exchange>,
    deltas: Vec<StreamEvent>,
}

impl RecordedStream {
    fn write(&mut self, error: Option<ModelError>) -> Result<(), ModelError> {
        let Some(exchange) = self.exchange.take() else { return Ok(()) };
        let mut deltas = std::mem::take(&mut self.deltas);
        self.tape.secrets.hide_in_deltas(&mut deltas);
        self.tape.write(exchange, RecordedAnswer { deltas: Some(deltas), error, response: None })
    }
}

impl Stream for RecordedStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let delta = ready!(Pin::new(&mut self.stream).poll_next(cx));
        // Written at the last delta, because a reader may not poll the stream again.
        let written = match &delta {
            Some(Ok(delta)) => {
                self.deltas.push(delta.clone());
                if matches!(delta, StreamEvent::Done(_)) { self.write(None) } else { Ok(()) }
            }
            Some(Err(error)) => self.write(Some(error.clone())),
            None => self.write(None),
        };
        Poll::Ready(match written {
            Ok(()) => delta,
            Err(error) => Some(Err(error)),
        })
    }
}

/// Records the deltas of a dropped stream.
impl Drop for RecordedStream {
    fn drop(&mut self) {
        // `drop` cannot return an error.
        let _ = self.write(None);
    }
}

debug!(Tape, self, "path": self.path);
