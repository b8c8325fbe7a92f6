//! A model whose answers are recorded.

use super::exchange::{Answer, Exchange, fingerprint, written};
use super::secrets::Secrets;
use crate::model::{
    ChatModel, ModelDelta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use futures_core::Stream;
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// A model that writes down what it is asked and what it answers, so that a [`Replay`](crate::Replay) can give the
/// same answers again.
///
/// The file has a line of JSON for each answer: what was asked (instructions, messages, tools, options), and the answer,
/// whole or in the pieces in which it came, or the error. Keys of providers are in no request; beyond that, values
/// of environment variables and of additional fields whose names end in `key`, `token`, `secret`, `password`,
/// `credentials` or `authorization` are not written, and neither is what [`with_secret`](Self::with_secret) names. What
/// users and tools have said is.
///
/// ```
/// use toolkit_agent::{Agent, Recorder, Replay, ScriptedModel};
///
/// # let path = std::env::temp_dir().join(format!("toolkit-doc-{}.jsonl", std::process::id()));
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let real = ScriptedModel::new().text("Hello, Ada."); // or a model of a provider
/// Agent::builder(Recorder::new(real, &path)?).run("I am Ada.").await?;
///
/// let output = Agent::builder(Replay::open(&path)?).run("I am Ada.").await?;
/// assert_eq!(output.text, "Hello, Ada.");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Recorder<M> {
    model: M,
    tape: Tape,
}

/// Where answers are written.
#[derive(Clone)]
struct Tape {
    path: PathBuf,
    file: Arc<Mutex<File>>,
    secrets: Secrets,
}

impl<M: ChatModel> Recorder<M> {
    /// Records this model in a file, which is made, or emptied.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(model: M, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let file = Arc::new(Mutex::new(File::create(&path)?));
        Ok(Self { model, tape: Tape { path, file, secrets: Secrets::of_environment() } })
    }

    /// Has a text of at least eight bytes written as `[secret]`, wherever it stands.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.tape.secrets.add(secret.into(), "secret");
        self
    }

    fn question(&self, request: &ModelRequest) -> Result<Question, ModelError> {
        let request = written(request, &self.tape.secrets).map_err(|error| self.tape.failed(error))?;
        Ok(Question { model: self.model.name().to_owned(), request })
    }
}

/// What was asked.
struct Question {
    model: String,
    request: Value,
}

impl Tape {
    fn write(&self, question: Question, answer: Answer) -> Result<(), ModelError> {
        let Question { model, request } = question;
        let fingerprint = fingerprint(&request);
        let exchange = serde_json::to_value(Exchange { fingerprint, model, request, answer });
        let mut exchange = exchange.map_err(|error| self.failed(error))?;
        self.secrets.hide(&mut exchange);
        // At once, so that lines of answers that come at the same time do not mix.
        let line = format!("{exchange}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl fmt::Display) -> ModelError {
        let text = format!("the answer cannot be recorded in {}: {error}", self.path.display());
        ModelError::new(ModelErrorKind::Other, text)
    }
}

impl<M: ChatModel> ChatModel for Recorder<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let question = self.question(&request)?;
        let answer = self.model.respond(request).await;
        let response = answer.as_ref().ok().cloned().map(Box::new);
        let error = answer.as_ref().err().cloned();
        self.tape.write(question, Answer { response, error, pieces: None })?;
        answer
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let question = self.question(&request)?;
        match self.model.stream(request).await {
            Ok(stream) => Ok(ModelStream::new(Recorded {
                stream,
                tape: self.tape.clone(),
                question: Some(question),
                pieces: Vec::new(),
            })),
            Err(error) => {
                self.tape.write(question, Answer { error: Some(error.clone()), ..Answer::default() })?;
                Err(error)
            }
        }
    }
}

/// A stream whose pieces are recorded.
struct Recorded {
    stream: ModelStream,
    tape: Tape,
    /// Until the answer is written.
    question: Option<Question>,
    pieces: Vec<ModelDelta>,
}

impl Recorded {
    fn write(&mut self, error: Option<ModelError>) -> Result<(), ModelError> {
        let Some(question) = self.question.take() else { return Ok(()) };
        let pieces = Some(std::mem::take(&mut self.pieces));
        self.tape.write(question, Answer { pieces, error, response: None })
    }
}

impl Stream for Recorded {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = ready!(Pin::new(&mut self.stream).poll_next(context));
        // After the last piece, nobody may ask for more.
        let written = match &piece {
            Some(Ok(delta)) => {
                self.pieces.push(delta.clone());
                if matches!(delta, ModelDelta::Done(_)) { self.write(None) } else { Ok(()) }
            }
            Some(Err(error)) => self.write(Some(error.clone())),
            None => self.write(None),
        };
        Poll::Ready(match written {
            Ok(()) => piece,
            Err(error) => Some(Err(error)),
        })
    }
}

/// A stream that nobody wanted to the end is written as far as it came.
impl Drop for Recorded {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.write(None);
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tape").field(&self.path).finish()
    }
}
