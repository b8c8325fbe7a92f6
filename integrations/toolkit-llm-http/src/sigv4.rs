//! Signatures of requests to Amazon Web Services, by the rules of Signature Version 4.

use crate::fault;
use crate::secret::Expiring;
use bytes::Bytes;
use hmac_sha256::{HMAC, Hash};
use http::Request;
use http::header::CONTENT_TYPE;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_http::client::{header, segment};
use toolkit_llm::ModelError;

const SERVICE: &str = "bedrock";

/// The credentials of an AWS account or role.
///
/// `Debug` shows neither the secret nor the session token.
///
/// ```
/// use toolkit_ai::llm_http::AwsCredentials;
///
/// let credentials = AwsCredentials::new("AKIDEXAMPLE", "wJalr-secret").with_session_token("token-secret");
/// assert!(!format!("{credentials:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct AwsCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expires: Option<SystemTime>,
}

impl AwsCredentials {
    /// Creates credentials from an access key.
    #[must_use]
    pub fn new(access_key_id: impl Into<String>, secret_access_key: impl Into<String>) -> Self {
        Self {
            access_key_id: access_key_id.into(),
            secret_access_key: secret_access_key.into(),
            session_token: None,
            expires: None,
        }
    }
}

setters! { AwsCredentials:
    /// Sets the session token of temporary credentials.
    with_session_token(session_token: impl Into<String>) = Some(session_token.into());
    /// Sets the expiry. Requests reuse the credentials until one minute before.
    with_expiry(expires: SystemTime) = Some(expires);
}

debug!(AwsCredentials, self, "access_key_id": self.access_key_id, "expires": self.expires);

impl Expiring for AwsCredentials {
    const NAME: &'static str = "credentials";

    fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    fn is_empty(&self) -> bool {
        self.access_key_id.is_empty() || self.secret_access_key.is_empty()
    }
}

/// Adds date, session token and signature to the headers.
pub(super) fn sign(
    request: &mut Request<Bytes>,
    credentials: &AwsCredentials,
    region: &str,
    now: SystemTime,
) -> Result<(), ModelError> {
    let AwsCredentials { access_key_id, secret_access_key, session_token, .. } = credentials;
    let url = request.uri();
    let mut host = url.host().unwrap_or_default().to_owned();
    match (url.scheme_str(), url.port_u16()) {
        // `Host` contains no usual port.
        (_, None) | (Some("https"), Some(443)) | (Some("http"), Some(80)) => {}
        (_, Some(port)) => host = format!("{host}:{port}"),
    }
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let time = timestamp(now);
    let date = time.get(..8).unwrap_or_default();

    // Sorted by name.
    let mut headers = vec![
        ("content-type", content_type.unwrap_or_default()),
        ("host", host.as_str()),
        ("x-amz-date", time.as_str()),
    ];
    if let Some(token) = session_token {
        headers.push(("x-amz-security-token", token));
    }
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();

    let method = request.method();
    let query = url.query().unwrap_or_default();
    // Escaped once more than in the URL.
    let path = segment(url.path(), "/");
    let canonical =
        format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{}", hex(&Hash::hash(request.body())));

    let scope = format!("{date}/{region}/{SERVICE}/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Hash::hash(canonical.as_bytes())));
    let mut key = format!("AWS4{secret_access_key}").into_bytes();
    for part in [date, region, SERVICE, "aws4_request"] {
        key = HMAC::mac(part.as_bytes(), key).to_vec();
    }
    let signature = hex(&HMAC::mac(text.as_bytes(), key));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    );

    let mut added = vec![("x-amz-date", time.as_str()), ("authorization", authorization.as_str())];
    if let Some(token) = session_token {
        added.push(("x-amz-security-token", token));
    }
    for (name, value) in added {
        let (name, value) = header(name, value).map_err(fault::of_http)?;
        request.headers_mut().insert(name, value);
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns a time in UTC in the form `20260102T030405Z`.
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let days = seconds / 86_400;
    let rest = seconds % 86_400;
    let (year, month, day) = date(days);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// Converts days since 1970 to year, month and day.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so the leap day is the last day of a year. An era has 400 years.
    let days = days + 719_468;
    let era = days / 146_097;
    let day = days % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests;
