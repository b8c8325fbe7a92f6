//! Recording of model calls to a file, and replay of the recorded responses without a network.

mod difference;
mod exchange;
mod recorder;
mod replay;
mod secrets;

pub use recorder::Recorder;
pub use replay::Replay;
