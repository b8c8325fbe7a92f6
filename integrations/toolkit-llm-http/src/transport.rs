//! The HTTP transport of all clients except that for `genai`.

use crate::fault;
use crate::http::{Expected, Http, ModelBody, Received};
use crate::settings::Settings;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::uri::Scheme;
use http::{Method, Request, Uri};
use serde_json::Value;
use toolkit_core::redaction::{Redactor, Unread};
use toolkit_http::client::{parse_url, url_secrets};
use toolkit_llm::__private::record_server;
use toolkit_llm::transport::{EventStream, Transport, WireModel};
use toolkit_llm::{ApiFormat, WireError};
use toolkit_llm::{ModelError, ModelErrorKind};

/// A [`Transport`] that sends the JSON of an API over HTTP, created by the clients.
#[derive(Clone)]
pub struct HttpTransport {
    http: Result<Http, ModelError>,
    /// The URL for complete answers.
    url: String,
    /// The URL for streamed answers.
    stream_url: String,
}

impl Settings {
    /// Creates a model whose requests all go to one path below the base URL.
    pub(super) fn model(
        &self,
        format: ApiFormat,
        name: impl Into<String>,
        path: &str,
    ) -> WireModel<HttpTransport> {
        self.model_at(format, name, self.url(path), self.url(path))
    }

    /// Creates a model from URLs for complete and streamed answers.
    pub(super) fn model_at(
        &self,
        format: ApiFormat,
        name: impl Into<String>,
        url: String,
        stream_url: String,
    ) -> WireModel<HttpTransport> {
        WireModel::new(format, name, HttpTransport { http: Http::new(self), url, stream_url })
    }
}

debug!(HttpTransport, self, "http": self.http, "url": url_secrets(&self.url).redact(&self.url));

impl HttpTransport {
    async fn request(
        &self,
        method: Method,
        url: &str,
        body: Bytes,
        expected: Expected,
    ) -> Result<Received, ModelError> {
        let http = self.http.as_ref().map_err(Clone::clone)?;
        let accepted = match expected {
            Expected::Json => "application/json",
            Expected::Events => http.settings.service.stream_type,
        };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        let url = parse_url(url).map_err(fault::of_http)?;
        trace_server(&url);
        *request.uri_mut() = url;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accepted));
        // Without this header, the server may choose any encoding.
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        http.send(request, expected).await
    }
}

fn trace_server(url: &Uri) {
    let default_port = if url.scheme() == Some(&Scheme::HTTP) { 80 } else { 443 };
    record_server(url.host().unwrap_or_default(), url.port_u16().unwrap_or(default_port));
}

impl Transport for HttpTransport {
    async fn send(&self, body: Value) -> Result<Value, ModelError> {
        let body = body.to_string().into();
        document(self.request(Method::POST, &self.url, body, Expected::Json).await?).await
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        let body = body.to_string().into();
        let received = self.request(Method::POST, &self.stream_url, body, Expected::Events).await?;
        let Received { mut body, is_whole, secrets } = received;
        if !is_whole {
            return Ok(EventStream::bytes(ModelBody(body)).with_secrets(secrets));
        }
        let bytes = body.all().await.map_err(fault::of_http)?;
        let events = match serde_json::from_slice(&bytes) {
            Ok(events @ Value::Array(_)) => EventStream::response(events),
            Ok(response) => EventStream::response(without_secrets_in_error(response, &secrets)),
            // Lines of JSON, or server-sent events under a wrong media type.
            Err(_) => {
                body.put_back(bytes);
                EventStream::bytes(ModelBody(body))
            }
        };
        Ok(events.with_secrets(secrets))
    }

    async fn retrieve(&self, id: &str) -> Result<Value, ModelError> {
        // The id becomes a part of the URL.
        let is_id = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if id.is_empty() || !is_id {
            let text = format!("`{id}` is no id of a response");
            return Err(ModelError::new(ModelErrorKind::InvalidResponse, text));
        }
        let (path, query) = self.url.split_at(self.url.find('?').unwrap_or(self.url.len()));
        let url = format!("{path}/{id}{query}");
        document(self.request(Method::GET, &url, Bytes::new(), Expected::Json).await?).await
    }
}

async fn document(received: Received) -> Result<Value, ModelError> {
    let Received { mut body, secrets, .. } = received;
    let body = body.all().await.map_err(fault::of_http)?;
    match serde_json::from_slice(&body) {
        Ok(document) => Ok(without_secrets_in_error(document, &secrets)),
        Err(error) => {
            Err(fault::no_json(&secrets.redact(&error.to_string()), &Unread::new(body).text(&secrets)))
        }
    }
}

/// Removes the secrets from a response that reports an error. A report in a list is taken out of it.
fn without_secrets_in_error(mut document: Value, secrets: &Redactor) -> Value {
    if WireError::of_failure(&document).is_none() {
        return document;
    }
    secrets.redact_value(&mut document);
    match document {
        Value::Array(list) => list.into_iter().next().unwrap_or_default(),
        report => report,
    }
}
