//! AG-UI 1.0 (npm `@ag-ui/core`, `@ag-ui/client`), for the frameworks that speak it.
//!
//! [`router`] serves an agent's runs to `HttpAgent`, and [`AgEncoder`] is the fold from the events of a run to
//! [events](AgEvent) of the protocol.
//!
//! | event | when, or why never |
//! | --- | --- |
//! | `RUN_STARTED` | first, with the client's `threadId` and `runId` |
//! | `RUN_FINISHED` | the run has ended, waits or was cancelled; with the usage of this exchange |
//! | `RUN_ERROR` | the run has failed, or the client's history leaves the log |
//! | `STEP_STARTED`, `STEP_FINISHED` | never: messages and subagents show what works |
//! | `TEXT_MESSAGE_START`, `TEXT_MESSAGE_CONTENT`, `TEXT_MESSAGE_END` | text of an agent |
//! | `TEXT_MESSAGE_CHUNK`, `TOOL_CALL_CHUNK`, `REASONING_MESSAGE_CHUNK` | never: the three events in their place are sent |
//! | `REASONING_START`, `REASONING_MESSAGE_START`, `REASONING_MESSAGE_CONTENT`, `REASONING_MESSAGE_END`, `REASONING_END` | its reasoning |
//! | `REASONING_ENCRYPTED_VALUE` | never: the log keeps what the provider needs |
//! | `TOOL_CALL_START`, `TOOL_CALL_ARGS`, `TOOL_CALL_END` | a call, also one of a called agent |
//! | `TOOL_CALL_RESULT` | its result, or its error as text |
//! | `MESSAGES_SNAPSHOT` | a page attaches, its history is not that of the log, or text was taken back by a retry or a guardrail |
//! | `STATE_SNAPSHOT` | the session values that pages may read, at the begin and at the end of an exchange |
//! | `STATE_DELTA` | never: the values are few |
//! | `ACTIVITY_SNAPSHOT`, `ACTIVITY_DELTA` | never: progress is a `CUSTOM` event |
//! | `SUBAGENT_STARTED`, `SUBAGENT_FINISHED` | an agent that is called as a tool, or a parallel one, from its first word on |
//! | `SUBAGENT_ERROR` | the call of an agent has failed |
//! | `RAW` | never: no provider's event is shown |
//! | `CUSTOM` | `progress`, `transferred`, `hosted_call`, `decided`, and the program's own events |

mod ag_encoder;
mod ag_event;
mod ag_fold;
mod ag_history;
mod ag_message;
mod ag_request;
mod ag_router;
mod ag_shown;

pub use ag_encoder::AgEncoder;
pub use ag_event::AgEvent;
pub use ag_message::AgMessage;
pub use ag_router::router;
