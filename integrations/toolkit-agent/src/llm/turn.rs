//! A turn: the model is asked, its calls run, and the next step follows.

pub(super) mod ask;
pub(super) mod calls;
pub(super) mod event_buffer;
pub(super) mod pieces;
pub(super) mod refusal;
pub(super) mod repetitions;
pub(super) mod restart;
pub(super) mod started;
pub(super) mod step;
pub(super) mod turn_runner;
pub(super) mod turns;
