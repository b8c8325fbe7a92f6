//! Fetches the definitions of workers, and other bodies in frames.

use super::caller_state::CallerState;
use super::replies::{Reply, ReplyLine};
use crate::definitions::{LISTING_LIMIT, Listing};
use crate::frames::{Assembly, Frame, Refusal};
use crate::subjects::NamespaceVersion;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::__private::lock;
use toolkit_core::redaction::Redactor;

pub(super) const FETCH: Duration = Duration::from_secs(5);
const FETCHES: usize = 32;

pub(super) async fn fetch_all(state: &CallerState, missing: Vec<NamespaceVersion>) {
    let fetches = missing.into_iter().map(|version| fetch_and_store(state, version));
    stream::iter(fetches).buffer_unordered(FETCHES).collect::<()>().await;
}

async fn fetch_and_store(state: &CallerState, version: NamespaceVersion) {
    let listing = match timeout(FETCH, fetch(state, &version)).await {
        Ok(Some(text)) => Some(Listing::read(&version, &text, &state.fleet.redactor)),
        _ => None,
    };
    lock(&state.members).store(&version, listing);
    state.changed.notify_one();
}

async fn fetch(state: &CallerState, version: &NamespaceVersion) -> Option<Bytes> {
    let subject = state.fleet.subject(format_args!("tools.{}", version.tokens()));
    let mut line = state.replies.open(None);
    state.fleet.client.publish_with_reply(subject, line.subject.clone(), "".into()).await.ok()?;
    receive_body(&mut line, LISTING_LIMIT, &state.fleet.redactor).await.ok()
}

/// Receives a body in frames.
///
/// # Errors
/// The refusal of a worker, or `None` if nobody answers, or the body is incomplete or too long.
pub(super) async fn receive_body(
    line: &mut ReplyLine,
    limit: usize,
    redactor: &Redactor,
) -> Result<Bytes, Option<Refusal>> {
    let mut assembly = Assembly::default();
    loop {
        let Reply::Frame(message) = line.next().await else { return Err(None) };
        match Frame::read(&message, redactor) {
            Some(Frame::Chunk(number, part)) => assembly.add(number, part, limit).map_err(|_| None)?,
            Some(Frame::End(chunks, last)) => return assembly.end(chunks, last, limit).map_err(|_| None),
            Some(Frame::Refused(refusal)) => return Err(Some(refusal)),
            _ => return Err(None),
        }
    }
}
