//! The service that the operations of a document belong to: one HTTP client for all calls.

mod request_settings;

pub(crate) use request_settings::RequestSettings;

use crate::client::answer::{Answer, Problem, paging};
use crate::client::document::{Document, join};
use crate::client::operation::Operation;
use crate::client::request::{Arguments, Attachments, request};
use crate::client::security::{Authorization, CallerCredentials, authorize, is_open};
use crate::error::{OpenApiError, OpenApiErrorKind};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use http::uri::Authority;
use http::{Method, Request, StatusCode, Uri};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_core::__private::lock;
use toolkit_core::redaction::{Redactor, Unread};
use toolkit_core::{ErrorKind, ToolContext, ToolError, ToolFuture, ToolOutput};
use toolkit_http::client::{
    HttpClient, HttpError, HttpErrorKind, HttpResponse, header, parse_url, retry_after,
};

const AGENT: &str = concat!("toolkit-openapi/", env!("CARGO_PKG_VERSION"));

/// The maximum number of times that a safe request is sent.
const ATTEMPTS: u32 = 3;

/// The pause before the second attempt, doubled with each.
const PAUSE: Duration = Duration::from_millis(250);

/// The longest pause of a service within a call.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

const REDIRECTS: usize = 5;

/// The maximum bytes, and the time, for reading a failure's answer.
const FAILURE_BYTES: usize = 64 << 10;
const FAILURE_TIME: Duration = Duration::from_secs(5);

pub(crate) struct Service {
    document: Arc<Document>,
    settings: RequestSettings,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The server of the program or of the document.
    server: Option<String>,
    http: HttpClient,
    /// The client for servers that only the document has chosen.
    public_http: HttpClient,
    schemas: Mutex<HashMap<String, Option<Arc<Value>>>>,
}

impl Service {
    /// Creates the service of a document.
    ///
    /// # Errors
    /// The base URL or a header of the program is not legal.
    pub(crate) fn new(document: Arc<Document>, settings: RequestSettings) -> Result<Self, OpenApiError> {
        if let Some(url) = &settings.base_url {
            parse_url(url).map_err(faulty)?;
            if url.contains(['?', '#']) {
                return Err(OpenApiError::new(
                    OpenApiErrorKind::Request,
                    "the base URL has a query or a fragment",
                ));
            }
        }
        let mut headers = Vec::with_capacity(settings.headers.len());
        for (name, value) in &settings.headers {
            headers.push(header(name, value).map_err(faulty)?);
        }
        let server = settings.base_url.clone().or_else(|| document.server());
        let http = HttpClient::new(settings.limits.clone()).with_server_name("the service");
        let public_http = http.clone().with_public_addresses_only();
        Ok(Self { document, settings, headers, server, http, public_http, schemas: Mutex::default() })
    }

    /// Starts a call. `arguments` are a JSON object in normal form.
    pub(crate) fn call<'a>(
        &'a self,
        operation: &'a Operation,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> ToolFuture<'a> {
        match serde_json::from_str::<Map<String, Value>>(arguments) {
            Ok(values) => {
                let call = Call { service: self, operation, context };
                ToolFuture::new(async move { call.run(values).await })
            }
            Err(error) => ToolFuture::ready(Err(ToolError::invalid_json(error))),
        }
    }

    fn base_url<'a>(&'a self, operation: &'a Operation) -> Result<&'a str, ToolError> {
        let of_operation = operation.server.as_deref().filter(|_| self.settings.base_url.is_none());
        let Some(url) = of_operation.or(self.server.as_deref()) else {
            let message = "the document names no server, so the program must set the base URL of the service";
            return Err(ToolError::failed(message));
        };
        let fault = match parse_url(url) {
            Ok(_) if url.contains(['?', '#']) => "it has a query or a fragment".to_owned(),
            Ok(_) => return Ok(url),
            Err(error) => error.to_string(),
        };
        let message = "the document names a server without a usable URL; the program must set the base URL of the service";
        Err(ToolError::failed(message).with_details(fault))
    }

    /// Returns the client for an address. If a document came from elsewhere, its servers must have public
    /// addresses, except the document's own if the program wrote that as a number or `localhost`.
    fn client(&self, url: &str) -> HttpClient {
        let Some(origin) = self.document.address().filter(|_| self.settings.base_url.is_none()) else {
            return self.http.clone();
        };
        if let Some(origin) = authority(origin)
            && is_number_or_localhost(origin.host())
            && authority(url) == Some(origin)
        {
            return self.http.clone();
        }
        self.public_http.clone()
    }

    /// Returns the schema at a place, made at its first use.
    fn schema(&self, place: &str) -> Option<Arc<Value>> {
        let mut schemas = lock(&self.schemas);
        if let Some(known) = schemas.get(place) {
            return known.clone();
        }
        let schema = self.document.answer_schema(place).map(Arc::new);
        schemas.insert(place.to_owned(), schema.clone());
        schema
    }
}

fn authority(url: &str) -> Option<Authority> {
    parse_url(url).ok()?.authority().cloned()
}

fn is_number_or_localhost(host: &str) -> bool {
    host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

fn faulty(error: HttpError) -> OpenApiError {
    OpenApiError::new(OpenApiErrorKind::Request, error.to_string())
}

#[derive(Clone, Copy)]
struct Call<'a> {
    service: &'a Service,
    operation: &'a Operation,
    context: &'a ToolContext,
}

impl Call<'_> {
    async fn run(self, values: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let Self { service, operation, context } = self;
        let attachments = context.state::<Attachments>();
        let arguments = Arguments { values: &values, attachments };
        let mut request = request(operation, service.base_url(operation)?, arguments)?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        for (name, value) in &service.headers {
            headers.insert(name, value.clone());
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let (response, authorization) = self.authorized(request).await?;
        let answer = self.answer(response, authorization.redactor).await?;
        if answer.status.is_redirection() {
            return Ok(answer.redirected());
        }
        if !answer.status.is_success() {
            return Err(Problem { answer: &answer, operation }.error());
        }
        let (output, misfit) =
            answer.output(operation, &service.settings.answers, |place| service.schema(place));
        if let Some(misfit) = misfit {
            context.progress(1.0, misfit);
        }
        Ok(output)
    }

    /// Sends the request with the caller's or the program's credentials. Refused access tokens are replaced
    /// once.
    async fn authorized(&self, request: Request<Bytes>) -> Result<(HttpResponse, Authorization), ToolError> {
        let Self { service, operation, context } = *self;
        let host = request.uri().authority().map_or("", |authority| authority.as_str());
        let of_program = &service.settings.credentials;
        let credentials = match context.state::<CallerCredentials>() {
            Some(callers) => callers.choose(host, of_program, is_open(&operation.security))?,
            None => of_program,
        };
        let mut is_renewed = false;
        loop {
            let mut request = request.clone();
            let mut authorization = authorize(
                &mut request,
                &operation.security,
                |name| service.document.security_scheme(name),
                credentials,
                |url| service.client(url),
            )
            .await?;
            let response = self.sent(&request, &authorization.redactor).await?;
            if response.status == StatusCode::UNAUTHORIZED && !is_renewed && authorization.renew().await {
                is_renewed = true;
                continue;
            }
            authorization.redactor.extend(&response.secrets);
            return Ok((response, authorization));
        }
    }

    /// Sends a request, and again after a passing failure if that is safe and there is time.
    async fn sent(&self, request: &Request<Bytes>, redactor: &Redactor) -> Result<HttpResponse, ToolError> {
        let mut attempt = 1;
        loop {
            let client = self.service.client(&request.uri().to_string());
            let sent = redirects_followed(&client, request.clone()).await;
            if let Ok(response) = &sent
                && redirect(request, response).is_some()
            {
                let message = format!(
                    "the service redirects it more than {REDIRECTS} times; another call will fail as well"
                );
                return Err(ToolError::failed(message));
            }
            let wait = match &sent {
                Ok(response) if is_passing(response.status) => retry_after(&response.headers),
                Err(error) if error.kind() == HttpErrorKind::Connection && !error.is_lasting() => None,
                _ => return sent.map_err(|error| self.failed(&error, redactor)),
            };
            let pause = wait.unwrap_or(PAUSE * 2_u32.pow(attempt - 1));
            let has_time = self.context.time_left().is_none_or(|left| pause < left);
            let may_repeat = request.method().is_idempotent() && attempt < ATTEMPTS;
            if !may_repeat || !has_time || pause > LONGEST_PAUSE {
                return sent.map_err(|error| self.failed(&error, redactor));
            }
            drop(sent);
            sleep(pause).await;
            attempt += 1;
        }
    }

    async fn answer(&self, mut response: HttpResponse, redactor: Redactor) -> Result<Answer, ToolError> {
        let body = if response.status.is_success() {
            response.check_encoding().map_err(|error| self.failed(&error, &redactor))?;
            Unread::new(response.body.all().await.map_err(|error| self.failed(&error, &redactor))?)
        } else {
            Unread::cut(response.body.head(FAILURE_BYTES, FAILURE_TIME).await)
        };
        Ok(Answer::new(response.status, &response.headers, body, redactor))
    }

    fn failed(&self, error: &HttpError, redactor: &Redactor) -> ToolError {
        let may_repeat = self.operation.method.is_idempotent();
        let later = if may_repeat { "Call again later." } else { UNKNOWN };
        let (kind, advice) = match error.kind() {
            HttpErrorKind::TooLarge => {
                (ErrorKind::Failed, paging(self.operation).unwrap_or_else(|| "Ask for less.".to_owned()))
            }
            HttpErrorKind::TimedOut => (ErrorKind::TimedOut, later.to_owned()),
            HttpErrorKind::Connection => (ErrorKind::Failed, later.to_owned()),
            _ => (ErrorKind::Failed, "Another call will fail as well.".to_owned()),
        };
        let message = redactor.redact(&error.to_string());
        ToolError::new(kind, format!("The call of the service failed: {message}. {advice}"))
            .with_brief("The call of the service failed")
            .with_retryable(may_repeat && !error.is_lasting())
    }
}

const UNKNOWN: &str = "The service may have done it or not: check before you call again.";

fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

/// Sends a request, and follows a limited number of redirects within its server.
async fn redirects_followed(
    client: &HttpClient,
    mut request: Request<Bytes>,
) -> Result<HttpResponse, HttpError> {
    let mut followed = 0;
    loop {
        let response = client.send(request.clone(), client.limits().total).await?;
        match redirect(&request, &response) {
            Some(uri) if followed < REDIRECTS => *request.uri_mut() = uri,
            _ => return Ok(response),
        }
        followed += 1;
    }
}

/// Returns the address of a redirect within the server.
fn redirect(request: &Request<Bytes>, response: &HttpResponse) -> Option<Uri> {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    match response.status.as_u16() {
        301..=303 if is_safe => {}
        307 | 308 => {}
        _ => return None,
    }
    let place = response.headers.get(LOCATION)?.to_str().ok()?;
    let uri: Uri = join(&request.uri().to_string(), place.split('#').next()?).parse().ok()?;
    let is_same = uri.scheme() == request.uri().scheme() && uri.authority() == request.uri().authority();
    if is_same { Some(uri) } else { None }
}

/// Fetches a document from an address that the program has chosen.
///
/// # Errors
/// The address is no URL, there is no answer, or it is no success.
pub(crate) async fn fetch_document(
    url: &str,
    settings: &RequestSettings,
    max_bytes: usize,
) -> Result<String, OpenApiError> {
    let client = HttpClient::new(settings.limits.clone().with_max_bytes(max_bytes));
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = parse_url(url).map_err(faulty)?;
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let mut response = redirects_followed(&client, request).await.map_err(faulty)?;
    if response.status != StatusCode::OK {
        let message = format!("the answer is {}", response.status);
        return Err(OpenApiError::new(OpenApiErrorKind::Request, message));
    }
    response.check_encoding().map_err(faulty)?;
    let body = response.body.all().await.map_err(faulty)?;
    String::from_utf8(body).map_err(|_| OpenApiError::of_document(OpenApiErrorKind::Syntax, "is not UTF-8"))
}

#[cfg(test)]
mod tests;
