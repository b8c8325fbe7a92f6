//! A model that replays recorded answers.

use super::difference::differences;
use super::exchange::{Exchange, RecordedAnswer, fingerprint, recorded, unusable};
use super::secrets::Secrets;
use crate::helpers::lock;
use crate::message::{ModelResponse, RequestLoss};
use crate::model::{
    ChatModel, ModelError, ModelErrorKind, ModelRequest, ModelStream, OutputFormat, OutputLosses,
};
use serde_json::Value;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use toolkit_core::schema::SchemaLoss;

/// A model that replays the answers of a [`Recorder`](crate::record::Recorder), without a network.
///
/// Each recorded answer is returned once, for a request equal to the recorded one. The order does not matter,
/// so several agents may use one replay at the same time. Clones share the unused answers.
///
/// Any other request fails. The error compares it with the first unused request.
///
/// ```no_run
/// use toolkit_ai::llm::ChatModel;
/// use toolkit_ai::llm::record::Replay;
///
/// # async fn test() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Replay::open("tests/weather.jsonl")?; // written by a `Recorder`
/// let answer = model.respond("Is it clear in Oslo?".into()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Replay {
    path: Arc<Path>,
    model: Arc<str>,
    lenient: bool,
    secrets: Secrets,
    remaining: Arc<Mutex<VecDeque<(usize, Exchange)>>>,
}

impl Replay {
    /// Opens a recording file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is invalid.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path: Arc<Path> = path.as_ref().into();
        let recording = fs::read_to_string(&path).map_err(|error| unusable(&path, error))?;
        let mut entries: VecDeque<(usize, Exchange)> = VecDeque::new();
        for (text, line) in recording.lines().zip(1..) {
            if text.trim().is_empty() {
                continue;
            }
            let mut exchange: Exchange = serde_json::from_str(text)
                .map_err(|error| unusable(&path, format_args!("line {line}: {error}")))?;
            // The recorded request may have been edited by hand.
            exchange.fingerprint = fingerprint(&exchange.request);
            entries.push_back((line, exchange));
        }
        let model = entries.front().map_or("replay", |(_, exchange)| exchange.model.as_str()).into();
        let secrets = Secrets::of_environment();
        Ok(Self { path, model, lenient: false, secrets, remaining: Arc::new(Mutex::new(entries)) })
    }

    /// Answers each unrecorded request with the first unused answer, instead of an error.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Adds a secret that the recorder has [replaced](crate::record::Recorder::with_secret), to replace it in
    /// requests, too.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secrets.add(secret.into(), "secret");
        self
    }

    /// Returns the number of unused answers.
    #[must_use]
    pub fn remaining(&self) -> usize {
        lock(&self.remaining).len()
    }

    fn next(&self, request: &ModelRequest) -> Result<RecordedAnswer, ModelError> {
        let asked = recorded(request, &self.secrets).map_err(|error| self.failed(&error.to_string()))?;
        let wanted = fingerprint(&asked);
        let mut entries = lock(&self.remaining);
        let index = match entries.iter().position(|(_, exchange)| exchange.fingerprint == wanted) {
            Some(index) => index,
            None => match entries.front() {
                None => return Err(self.failed("the recording has ended")),
                Some(_) if self.lenient => 0,
                Some((line, exchange)) => {
                    let differences = differences(&exchange.request, &asked);
                    let text = format!("the request was not recorded; line {line} differs:{differences}");
                    return Err(self.failed(&text));
                }
            },
        };
        let found = entries.remove(index).map(|(_, exchange)| exchange.answer);
        Ok(found.unwrap_or_default())
    }

    fn failed(&self, text: &str) -> ModelError {
        ModelError::new(ModelErrorKind::Other, format!("`{}`: {text}", self.path.display()))
    }
}

impl ChatModel for Replay {
    fn name(&self) -> &str {
        &self.model
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        stream_of(self.next(&request)?)?.collect().await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        stream_of(self.next(&request)?)
    }

    /// Reports a loss if no recorded request has this output format. The agent then chooses the recorded
    /// answer mode.
    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        let entries = lock(&self.remaining);
        if entries.is_empty() {
            return OutputLosses::default();
        }
        for (_, exchange) in &*entries {
            let name = exchange.request.pointer("/options/output/name").and_then(Value::as_str);
            if name == Some(output.name.as_str()) {
                return OutputLosses::default();
            }
        }
        let reason = "the recorded requests do not ask the provider to enforce it";
        let loss = RequestLoss::from(SchemaLoss::new("/options/output/schema", "output", reason));
        OutputLosses::new([loss.clone()]).with_narrowed(loss)
    }
}

fn stream_of(answer: RecordedAnswer) -> Result<ModelStream, ModelError> {
    let RecordedAnswer { response, deltas, error } = answer;
    match (response, deltas, error) {
        (Some(response), ..) => Ok((*response).into()),
        (None, None, Some(error)) => Err(error),
        (None, deltas, error) => {
            let deltas = deltas.unwrap_or_default().into_iter().map(Ok);
            Ok(ModelStream::from_pieces(deltas.chain(error.map(Err))))
        }
    }
}

debug!(Replay, self, "path": self.path, "remaining": self.remaining());
