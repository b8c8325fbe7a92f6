//! Answers to requests for tokens. Servers write them in more forms than the OAuth library reads.

use crate::guarded_http::GuardedHttp;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::{Value, from_slice, json, to_vec};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::foreign::{clean, shorten};

/// The maximum length of a quoted text, in characters.
const LONGEST: usize = 512;

/// The HTTP client of one login. Clones share the memory of the last refusal.
#[derive(Clone)]
pub(super) struct LoginHttp {
    pub(super) http: GuardedHttp,
    /// The error code of the last refusal of a token.
    refusal: Arc<Mutex<Option<String>>>,
    /// The resource that the last metadata name.
    resource: Arc<Mutex<Option<String>>>,
    /// Whether an authorization server has described itself. Otherwise, the SDK guesses its addresses.
    has_metadata: Arc<AtomicBool>,
}

impl LoginHttp {
    pub(super) fn new(http: GuardedHttp) -> Self {
        Self { http, refusal: Arc::default(), resource: Arc::default(), has_metadata: Arc::default() }
    }

    pub(super) fn named_resource(&self) -> Option<String> {
        lock(&self.resource).clone()
    }

    pub(super) fn has_metadata(&self) -> bool {
        self.has_metadata.load(Ordering::Relaxed)
    }

    /// Sends a request. The answer to a request for a token gets the form of the specification.
    pub(super) async fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Box<dyn Error + Send + Sync>> {
        let asks_for_token = is_token_request(&request);
        let response = self.http.send(request).await?;
        if !asks_for_token {
            let document: Value = from_slice(response.body()).unwrap_or_default();
            if let Some(resource) = document.get("resource").and_then(Value::as_str) {
                *lock(&self.resource) = Some(resource.to_owned());
            }
            if response.status().is_success() && document.get("authorization_endpoint").is_some() {
                self.has_metadata.store(true, Ordering::Relaxed);
            }
            return Ok(response);
        }
        let (response, refusal) = token_answer(response);
        *lock(&self.refusal) = refusal;
        Ok(response)
    }

    /// Returns whether the authorization server does not know the program.
    pub(super) fn refused_program(&self) -> bool {
        matches!(lock(&self.refusal).as_deref(), Some("invalid_client" | "unauthorized_client"))
    }
}

impl OAuthHttpClient for LoginHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request.request))
    }
}

fn is_token_request(request: &Request<Vec<u8>>) -> bool {
    let body = String::from_utf8_lossy(request.body());
    body.split('&').any(|field| field.starts_with("grant_type="))
}

/// Returns the answer in the form of the specification, and its error code.
fn token_answer(response: Response<Vec<u8>>) -> (Response<Vec<u8>>, Option<String>) {
    let (mut parts, body) = response.into_parts();
    let mut answer: Value = from_slice(&body).unwrap_or_default();
    if parts.status.is_success() && answer.get("access_token").is_some() {
        parts.status = StatusCode::OK;
        correct_lifetime(&mut answer);
        return (Response::from_parts(parts, to_vec(&answer).unwrap_or_default()), None);
    }
    let refusal = TokenRefusal::new(parts.status, &answer, &String::from_utf8_lossy(&body));
    if parts.status.is_success() {
        parts.status = StatusCode::BAD_REQUEST;
    }
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let answer = json!({"error": refusal.error, "error_description": refusal.description});
    (Response::from_parts(parts, to_vec(&answer).unwrap_or_default()), Some(refusal.error))
}

/// Writes the lifetime of a token as an integer. Other lifetimes are left out.
fn correct_lifetime(answer: &mut Value) {
    let Some(members) = answer.as_object_mut() else { return };
    let Some(lifetime) = members.remove("expires_in") else { return };
    let seconds = match &lifetime {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    if let Some(seconds) = seconds
        && seconds >= 0.0
    {
        // A cast of a float saturates.
        members.insert("expires_in".to_owned(), json!(seconds as u64));
    }
}

struct TokenRefusal {
    error: String,
    description: Option<String>,
}

impl TokenRefusal {
    fn new(status: StatusCode, answer: &Value, body: &str) -> Self {
        // Some servers write an object.
        let error = &answer["error"];
        let code = first_text([error, &error["code"], &error["type"]]);
        let description = first_text([&answer["error_description"], &error["message"], &answer["message"]]);
        if code.is_none() && description.is_none() {
            let has_no_token = status.is_success() && answer.is_object();
            let shown = readable(if has_no_token { "there is no `access_token`" } else { body });
            let description = if shown.is_empty() { None } else { Some(shown) };
            return Self { error: format!("HTTP {status}"), description };
        }
        let error = match code {
            Some(code) => readable(code),
            None => format!("HTTP {status}"),
        };
        Self { error, description: description.map(readable) }
    }
}

fn first_text(values: [&Value; 3]) -> Option<&str> {
    values.into_iter().find_map(Value::as_str)
}

fn readable(text: &str) -> String {
    shorten(clean(text.trim()), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> (u16, Value, Option<String>) {
        let mut response = Response::new(body.as_bytes().to_vec());
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        let (response, refusal) = token_answer(response);
        (response.status().as_u16(), from_slice(response.body()).expect("JSON"), refusal)
    }

    #[test]
    fn a_lifetime_of_any_form_is_read() {
        for (written, seconds) in [
            ("5250", Some(5_250)),
            (r#""5250""#, Some(5_250)),
            (r#"" 3600.0 ""#, Some(3_600)),
            ("3600.9", Some(3_600)),
            ("1e3", Some(1_000)),
            ("0", Some(0)),
            ("1e300", Some(u64::MAX)),
            ("-1", None),
            (r#""soon""#, None),
            (r#""NaN""#, None),
            ("null", None),
            ("[5]", None),
        ] {
            let body = format!(r#"{{"access_token": "T", "token_type": "Bearer", "expires_in": {written}}}"#);
            let (status, answer, refusal) = answer(200, &body);
            assert_eq!((status, refusal), (200, None));
            assert_eq!(
                answer.get("expires_in"),
                seconds.map(|seconds: u64| json!(seconds)).as_ref(),
                "{written}"
            );
            assert_eq!((&answer["access_token"], &answer["token_type"]), (&json!("T"), &json!("Bearer")));
        }
    }

    #[test]
    fn a_refusal_of_any_form_is_read() {
        let none: Option<&str> = None;
        for (status, body, error, description) in [
            (
                200,
                r#"{"error": "bad_code", "error_description": "It is old."}"#,
                "bad_code",
                Some("It is old."),
            ),
            (400, r#"{"error": "invalid_grant"}"#, "invalid_grant", none),
            (400, r#"{"error": {"code": "E1", "message": "No."}}"#, "E1", Some("No.")),
            (500, r#"{"message": "Broken."}"#, "HTTP 500 Internal Server Error", Some("Broken.")),
            (502, "<p>Bad</p>", "HTTP 502 Bad Gateway", Some("<p>Bad</p>")),
            (503, "", "HTTP 503 Service Unavailable", none),
            (200, r#"{"token": "T"}"#, "HTTP 200 OK", Some("there is no `access_token`")),
            (400, r#""no""#, "HTTP 400 Bad Request", Some(r#""no""#)),
        ] {
            let (new_status, answer, refusal) = answer(status, body);
            assert!(new_status >= 400, "{body}");
            assert_eq!(refusal.as_deref(), Some(error), "{body}");
            assert_eq!(answer, json!({"error": error, "error_description": description}), "{body}");
        }
    }
}
