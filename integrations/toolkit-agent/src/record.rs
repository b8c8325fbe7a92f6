//! Recording of model calls to a file, and replay without a network.

mod difference;
mod exchange;
mod recorder;
mod replay;
mod secrets;

pub use recorder::Recorder;
pub use replay::Replay;
