//! What the controller asks of a process, one line of JSON each, and what it answers.

use serde::{Deserialize, Serialize};
use toolkit_agent::Decision;
use toolkit_agent::runs::InputMode;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Errand {
    Submit { conversation: String, run: String, mode: InputMode, text: String },
    Decide { conversation: String, call: String, decision: Decision },
    Cancel { conversation: String, run: String },
    Fork { conversation: String, fork: String, before: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    Done,
    /// It is not done, and is not to be asked again.
    Refused(String),
    /// It may be done or not.
    Failed(String),
}

/// An errand or a reply, with the number of the errand.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Numbered<T> {
    pub(crate) number: u64,
    pub(crate) content: T,
}

/// A linear congruential generator, so that a seed gives the same course.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        dice.below(2);
        dice
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Returns a generator for a part of the course.
    pub(crate) fn split(&mut self) -> Self {
        Self::new(self.below(u64::MAX >> 33) << 20 | self.below(1 << 20))
    }
}
