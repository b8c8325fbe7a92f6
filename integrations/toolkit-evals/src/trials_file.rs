//! The file of ended trials, so that a stopped eval does not pay for them again.

use crate::report::TrialReport;
use crate::task::Task;
use crate::trial::Trial;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions, read};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use toolkit_core::__private::lock;

#[derive(Serialize)]
struct WrittenLine<'a> {
    task: &'a Task,
    trial: &'a TrialReport,
}

#[derive(Deserialize)]
struct ReadLine {
    task: Value,
    trial: TrialReport,
}

/// The task's id, the model's name, and the repetition.
type TrialKey = (String, String, u32);

/// The open file, and the trials that it contained.
pub(crate) struct TrialsFile {
    path: PathBuf,
    earlier: HashMap<TrialKey, ReadLine>,
    file: Mutex<File>,
    failure: Mutex<Option<String>>,
}

impl TrialsFile {
    /// Opens or creates the file. An incomplete last line is removed.
    pub(crate) fn open(path: &Path) -> Result<Self, TrialsFileError> {
        let failed = |error: &dyn fmt::Display| TrialsFileError::new(path, error);
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(&error)),
        };
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut earlier = HashMap::new();
        for (line, number) in text[..whole].split(|byte| *byte == b'\n').zip(1..) {
            if line.is_empty() {
                continue;
            }
            let read: ReadLine = match serde_json::from_slice(line) {
                Ok(read) => read,
                Err(error) => {
                    let fault = format_args!("line {number} is no trial: {error}; use another file");
                    return Err(failed(&fault));
                }
            };
            let trial = &read.trial;
            earlier.insert((trial.task.clone(), trial.model.clone(), trial.repetition), read);
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| failed(&error))?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(|error| failed(&error))?;
        }
        let (file, failure) = (Mutex::new(file), Mutex::default());
        Ok(Self { path: path.to_owned(), earlier, file, failure })
    }

    /// Returns the report of an earlier trial of the same task.
    pub(crate) fn earlier(&self, trial: &Trial) -> Option<TrialReport> {
        let key = (trial.task.id.clone(), trial.model_name.to_string(), trial.repetition);
        let line = self.earlier.get(&key)?;
        let is_same = serde_json::to_value(&*trial.task).is_ok_and(|task| task == line.task);
        is_same.then(|| line.trial.clone())
    }

    /// Adds an ended trial. One with an error is left out, and runs again.
    pub(crate) fn add(&self, task: &Task, trial: &TrialReport) {
        if trial.error.is_some() {
            return;
        }
        if let Err(reason) = self.write(task, trial) {
            let text = format!("`{}` does not have all trials: {reason}", self.path.display());
            lock(&self.failure).get_or_insert(text);
        }
    }

    fn write(&self, task: &Task, trial: &TrialReport) -> Result<(), String> {
        let mut line =
            serde_json::to_string(&WrittenLine { task, trial }).map_err(|error| error.to_string())?;
        // A line that cannot be read again, for example because of its nesting, would make the file
        // useless.
        let read: Result<ReadLine, _> = serde_json::from_str(&line);
        read.map_err(|error| format!("a trial of task `{}` cannot be read again: {error}", task.id))?;
        line.push('\n');
        // Written in one go, so that the lines of concurrent trials do not mix.
        lock(&self.file).write_all(line.as_bytes()).map_err(|error| error.to_string())
    }

    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}

/// Why a [file of trials](crate::Eval::trials_file) cannot be used: it cannot be opened, or it has other lines.
#[derive(Clone, PartialEq, Eq)]
pub struct TrialsFileError(String);

impl TrialsFileError {
    fn new(path: &Path, reason: &dyn fmt::Display) -> Self {
        Self(format!("the trials in `{}` cannot be used: {reason}", path.display()))
    }
}

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for TrialsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TrialsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TrialsFileError {}
