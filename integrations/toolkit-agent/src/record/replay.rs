//! A model that gives recorded answers.

use super::difference::differences;
use super::exchange::{Answer, Exchange, fingerprint, written};
use super::secrets::Secrets;
use crate::model::{
    ChatModel, ModelDelta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A model that gives the answers of a [`Recorder`](crate::Recorder) again, without a network.
///
/// Each answer is given once, to the question that it was an answer to; so agents that ask at the same time get
/// theirs. Another question than those that were recorded is an error that says what differs: the instructions,
/// messages, tools or options. Clones share what is left.
#[derive(Clone)]
pub struct Replay {
    path: Arc<Path>,
    model: Arc<str>,
    lenient: bool,
    secrets: Secrets,
    /// What was not given yet.
    left: Arc<Mutex<Vec<Left>>>,
}

struct Left {
    line: usize,
    fingerprint: String,
    exchange: Exchange,
}

impl Replay {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is not what a recorder writes.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path: Arc<Path> = path.as_ref().into();
        let text = fs::read_to_string(&path)?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let read = |(text, line): (&str, usize)| {
            let exchange: Exchange = serde_json::from_str(text).map_err(|error| {
                let text = format!("{}, line {line}: {error}", path.display());
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?;
            // Not the one that is written there: somebody may have changed the question.
            Ok(Left { line, fingerprint: fingerprint(&exchange.request), exchange })
        };
        let left: Vec<Left> = lines.map(read).collect::<io::Result<_>>()?;
        let model = left.first().map_or_else(|| "replay".into(), |left| left.exchange.model.as_str().into());
        let secrets = Secrets::of_environment();
        Ok(Self { path, model, lenient: false, secrets, left: Arc::new(Mutex::new(left)) })
    }

    /// Has a question that was not recorded answered with the next answer that is left.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Names a text that was [not written](crate::Recorder::with_secret).
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secrets.add(secret.into(), "secret");
        self
    }

    /// How many answers are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.left().len()
    }

    fn left(&self) -> MutexGuard<'_, Vec<Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: &ModelRequest) -> Result<Answer, ModelError> {
        let failed =
            |text: String| ModelError::new(ModelErrorKind::Other, format!("{}: {text}", self.path.display()));
        let asked = written(request, &self.secrets).map_err(|error| failed(error.to_string()))?;
        let now = fingerprint(&asked);
        let mut left = self.left();
        let at = match left.iter().position(|left| left.fingerprint == now) {
            Some(at) => at,
            None => match left.first() {
                None => return Err(failed("the recording has ended".to_owned())),
                Some(_) if self.lenient => 0,
                Some(Left { line, exchange, .. }) => {
                    let differences = differences(&exchange.request, &asked);
                    return Err(failed(format!(
                        "the question was not recorded; line {line} has another:{differences}"
                    )));
                }
            },
        };
        Ok(left.remove(at).exchange.answer)
    }
}

impl ChatModel for Replay {
    fn name(&self) -> &str {
        &self.model
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        match self.next(&request)? {
            Answer { response: Some(response), .. } => Ok(*response),
            answer => stream_of(answer)?.collect().await,
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        stream_of(self.next(&request)?)
    }
}

/// The stream that was recorded, or the whole answer as one.
fn stream_of(answer: Answer) -> Result<ModelStream, ModelError> {
    let Answer { response, pieces, error } = answer;
    match (response, pieces, error) {
        (Some(response), ..) => Ok((*response).into()),
        (None, Some(pieces), error) => {
            let pieces = pieces.into_iter().map(Ok::<ModelDelta, _>);
            Ok(ModelStream::from_pieces(pieces.chain(error.map(Err))))
        }
        (None, None, Some(error)) => Err(error),
        (None, None, None) => Ok(ModelStream::from_pieces([])),
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("path", &self.path).field("remaining", &self.remaining()).finish()
    }
}
