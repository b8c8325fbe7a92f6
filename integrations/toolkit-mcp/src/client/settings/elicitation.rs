//! Questions of servers to the user.

use crate::client::content::short;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use std::net::Ipv6Addr;
use std::pin::Pin;
use toolkit_core::foreign::clean_texts;
use toolkit_core::foreign::{clean, is_clean};

/// The maximum size of a form's schema, in bytes.
const LONGEST_FORM: usize = 64 << 10;

/// The maximum length of a page's address, in bytes.
const LONGEST_URL: usize = 2_048;

/// A question of a server to the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The name of the server. Show it to the user: the message may pretend to come from elsewhere.
    pub server: String,
    /// The question.
    pub message: String,
    /// The kind of question.
    pub kind: ElicitationKind,
}

/// The kind of an [`ElicitationRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationKind {
    /// The user fills in a form.
    #[non_exhaustive]
    Form {
        /// The JSON Schema of the answer: an object with strings, numbers, booleans and choices.
        schema: Value,
    },
    /// The user opens a page, for instance to log in. The client does not see the answer.
    #[non_exhaustive]
    Url {
        /// The address of the page, in ASCII: `https://` or `http://`, without a user name. Show it
        /// in full, and ask the user before opening the page.
        url: String,
        /// The host of the address, in lower case and without the port. Show it beside the name of
        /// the server: the address may look like one that the user knows. A part that begins with
        /// `xn--` stands for characters of another script.
        host: String,
    },
}

/// The answer to an [`ElicitationRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// The user agrees. The map contains the values of a form; the client fills in missing
    /// defaults.
    Accept(Map<String, Value>),
    /// The user refuses.
    Decline,
    /// The user closes the question.
    Cancel,
}

/// A handler for the questions of servers.
///
/// An asynchronous closure from [`ElicitationRequest`] to [`ElicitationAnswer`] implements this
/// trait.
///
/// ```
/// use toolkit_ai::mcp::client::{ElicitationAnswer, ElicitationRequest, McpClient, McpCommand};
///
/// let client = McpClient::builder(McpCommand::new("booking-server"))
///     .elicitation(|request: ElicitationRequest| async move {
///         println!("{} asks: {}", request.server, request.message);
///         ElicitationAnswer::Decline
///     });
/// ```
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Asks the user and returns the answer.
    fn answer(&self, request: ElicitationRequest) -> impl Future<Output = ElicitationAnswer> + Send;
}

impl<F, Answer> ElicitationHandler for F
where
    F: Fn(ElicitationRequest) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = ElicitationAnswer> + Send + 'static,
{
    fn answer(&self, request: ElicitationRequest) -> impl Future<Output = ElicitationAnswer> + Send {
        self(request)
    }
}

/// The `dyn`-compatible form of [`ElicitationHandler`].
pub(crate) trait DynElicitationHandler: Send + Sync {
    fn answer_boxed(
        &self,
        request: ElicitationRequest,
    ) -> Pin<Box<dyn Future<Output = ElicitationAnswer> + Send + '_>>;
}

impl<H: ElicitationHandler> DynElicitationHandler for H {
    fn answer_boxed(
        &self,
        request: ElicitationRequest,
    ) -> Pin<Box<dyn Future<Output = ElicitationAnswer> + Send + '_>> {
        Box::pin(self.answer(request))
    }
}

pub(crate) async fn elicit(
    handler: Option<&dyn DynElicitationHandler>,
    server: &str,
    request: ElicitRequestParams,
) -> ElicitResult {
    let declined = ElicitResult::new(ElicitationAction::Decline);
    let Some(handler) = handler else { return declined };
    let (message, kind) = match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let mut schema = serde_json::to_value(&requested_schema).unwrap_or_default();
            if schema.to_string().len() > LONGEST_FORM {
                return declined;
            }
            clean_texts(&mut schema);
            // The answer repeats names of fields and choices, so their hidden characters cannot be
            // removed.
            if !is_visible(&schema) {
                return declined;
            }
            (message, ElicitationKind::Form { schema })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let Some(host) = host_of_page(&url) else { return declined };
            (message, ElicitationKind::Url { url, host })
        }
        _ => return declined,
    };
    let defaults = match &kind {
        ElicitationKind::Form { schema } => Some(defaults(schema)),
        ElicitationKind::Url { .. } => None,
    };
    let request = ElicitationRequest { server: server.to_owned(), message: short(&clean(&message)), kind };
    match handler.answer_boxed(request).await {
        ElicitationAnswer::Accept(content) => {
            let accepted = ElicitResult::new(ElicitationAction::Accept);
            match defaults {
                Some(mut filled) => {
                    filled.extend(content);
                    accepted.with_content(Value::Object(filled))
                }
                None => accepted,
            }
        }
        ElicitationAnswer::Decline => declined,
        ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// Returns the host of a page's address; `None` if it is no web page, or ambiguous.
fn host_of_page(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    // Other schemes, such as `javascript:` and `file:`, do more than open a page.
    let is_page = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    // Browsers read a backslash as a slash.
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if !is_page || !is_plain || url.len() > LONGEST_URL {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rfind(']') {
        Some(end) => authority.split_at(end + 1),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = port.is_empty() || port.strip_prefix(':')?.bytes().all(|byte| byte.is_ascii_digit());
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')),
    };
    if is_port && is_host && !host.is_empty() { Some(host.to_ascii_lowercase()) } else { None }
}

/// Returns whether strings and names have no hidden characters.
fn is_visible(value: &Value) -> bool {
    match value {
        Value::String(text) => is_clean(text),
        Value::Array(items) => items.iter().all(is_visible),
        Value::Object(members) => members.iter().all(|(name, value)| is_clean(name) && is_visible(value)),
        _ => true,
    }
}

fn defaults(schema: &Value) -> Map<String, Value> {
    let mut defaults = Map::new();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return defaults };
    for (name, property) in properties {
        if let Some(default) = property.get("default") {
            defaults.insert(name.clone(), default.clone());
        }
    }
    defaults
}

#[cfg(test)]
mod tests {
    use super::host_of_page;

    #[test]
    fn the_host_of_a_page_is_what_a_browser_opens() {
        let long = format!("https://a.example/{}", "x".repeat(2_048));
        for (url, host) in [
            ("https://a.example/login?to=b.example#c", Some("a.example")),
            ("HTTPS://A.Example:8443", Some("a.example")),
            ("http://127.0.0.1:80/", Some("127.0.0.1")),
            ("https://[::1]:8080/a", Some("[::1]")),
            ("https://xn--pple-43d.com", Some("xn--pple-43d.com")),
            ("https://good.example?@evil.example", Some("good.example")),
            ("https://good.example@evil.example/", None),
            ("https://good.example\\@evil.example/", None),
            ("https://good.example%2f.evil.example", None),
            ("https://\u{430}pple.com", None),
            ("https://a.example/\nb", None),
            ("https://a.example/ b", None),
            ("https://", None),
            ("https:///a", None),
            ("https://a.example:x", None),
            ("https://[a.example]", None),
            ("javascript://a.example/%0aalert(1)", None),
            ("file:///etc/passwd", None),
            (long.as_str(), None),
        ] {
            assert_eq!(host_of_page(url).as_deref(), host, "{url}");
        }
    }
}
