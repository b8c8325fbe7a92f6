//! Full texts of truncated results, stored as MCP resources.

use rmcp::model::{Resource, ResourceContents};
use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::CallId;
use toolkit_core::output::FullOutput;

/// The limit in bytes.
const MAX_BYTES: usize = 64 << 20;

const JSON: &str = "application/json";

const PREFIX: &str = "toolkit://outputs/";

/// A store for full texts, which drops the oldest when it is full.
///
/// The URI of a text is random: only a client that received the link can read the text.
#[derive(Default)]
pub(crate) struct OutputStore(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Oldest first.
    texts: VecDeque<Output>,
    bytes: usize,
    /// The links of running calls.
    links: HashMap<CallId, Vec<Resource>>,
}

struct Output {
    uri: String,
    text: Arc<str>,
    media_type: &'static str,
}

impl OutputStore {
    /// Stores a full text and returns a phrase for the model with its URI.
    pub(super) fn keep(&self, full: FullOutput) -> Result<String, Box<dyn Error + Send + Sync>> {
        let size = full.text.len();
        if size > MAX_BYTES {
            return Err("the text is larger than the store".into());
        }
        let media_type = if full.is_json { JSON } else { "text/plain" };
        let uri = format!("{PREFIX}{}", uuid::Uuid::new_v4().simple());
        let link = Resource::new(&uri, format!("{}-output", full.tool))
            .with_description(format!("The full output of the tool `{}`.", full.tool))
            .with_mime_type(media_type)
            .with_size(size as u64);
        let mut kept = lock(&self.0);
        while kept.bytes + size > MAX_BYTES {
            let Some(oldest) = kept.texts.pop_front() else { break };
            kept.bytes -= oldest.text.len();
        }
        kept.bytes += size;
        kept.texts.push_back(Output { uri: uri.clone(), text: full.text.into(), media_type });
        if let Some(id) = full.call_id {
            kept.links.entry(id).or_default().push(link);
        }
        Ok(format!("resource {uri}"))
    }

    pub(crate) fn take_links(&self, call: &CallId) -> Vec<Resource> {
        lock(&self.0).links.remove(call).unwrap_or_default()
    }

    pub(crate) fn read(&self, uri: &str) -> Option<ResourceContents> {
        let (text, media_type) = self.find(uri)?;
        Some(ResourceContents::text(&*text, uri).with_mime_type(media_type))
    }

    pub(crate) fn json(&self, uri: &str) -> Option<Arc<str>> {
        self.find(uri).filter(|(_, media_type)| *media_type == JSON).map(|(text, _)| text)
    }

    fn find(&self, uri: &str) -> Option<(Arc<str>, &'static str)> {
        let kept = lock(&self.0);
        let output = kept.texts.iter().rev().find(|output| output.uri == uri)?;
        Some((output.text.clone(), output.media_type))
    }
}
