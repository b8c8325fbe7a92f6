//! The UI message stream of the AI SDK, version 7 (npm `ai`), for `useChat` in React, Vue and Svelte.
//!
//! [`router`] serves an agent's runs to `DefaultChatTransport`, and [`UiEncoder`] is the fold from the events of a run to
//! [chunks](UiChunk).
//!
//! | chunk | when, or why never |
//! | --- | --- |
//! | `start` | first, with the id of the message, also when it goes on after decisions |
//! | `start-step`, `finish-step` | around a model call with its tool calls |
//! | `reset-step` | the pieces of a failed answer are taken back, or a guardrail has replaced them |
//! | `text-start`, `text-delta`, `text-end` | text of an agent of the conversation |
//! | `reasoning-start`, `reasoning-delta`, `reasoning-end` | its reasoning |
//! | `tool-input-start`, `tool-input-delta` | the model writes a call |
//! | `tool-input-available` | the call is complete, also one of a called agent |
//! | `tool-input-error` | never: faulty arguments are an error result, which is `tool-output-error` |
//! | `tool-approval-request` | the run waits for an approval |
//! | `tool-approval-response` | the call was approved or denied, by this page or elsewhere |
//! | `tool-output-available` | the output; preliminary: the text of a called agent so far |
//! | `tool-output-error` | the call has failed, or a rule has denied it |
//! | `tool-output-denied` | a user has denied the call |
//! | `file` | a medium in the output of a call |
//! | `reasoning-file` | never: models return no files with their reasoning |
//! | `source-url`, `source-document` | never: sources are in the provider's own JSON only |
//! | `custom` | never: no content of a single provider is shown |
//! | `steering-message` | never sent; `GET …/messages` has it for an input that a working run has read |
//! | `message-metadata` | never: `finish` has the metadata |
//! | `finish` | the run has ended or waits; the metadata have the run and its usage |
//! | `abort` | the run was cancelled |
//! | `error` | the run has failed |
//! | `data-agent` | another agent takes over |
//! | `data-progress`, `data-hosted-call`, `data-custom`, `data-decided` | transient: they are no part of the message |

mod ui_chunk;
mod ui_encoder;
mod ui_history;
mod ui_message;
mod ui_request;
mod ui_router;
mod ui_stream;

pub use ui_chunk::UiChunk;
pub use ui_encoder::UiEncoder;
pub use ui_message::UiMessage;
pub use ui_router::router;
