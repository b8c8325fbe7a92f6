//! Headers of requests and responses.

use super::failure::{HttpError, HttpErrorKind};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Parses a header. Errors and logs do not show the value, because it may be an API key.
///
/// # Errors
/// The name is no name of a header, or the value has other than visible ASCII characters.
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HttpError> {
    let illegal = |text: String| HttpError::new(HttpErrorKind::InvalidRequest, text);
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| illegal(format!("`{name}` is no name of a header")))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| illegal(format!("the value of the header `{name}` must be visible ASCII characters")))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Returns the media type of `Content-Type`, in lowercase and without parameters.
#[must_use]
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    text.split(';').next().map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty())
}

/// Returns whether this is the type of a JSON document.
#[must_use]
pub fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json") || media_type == "text/json"
}

/// Returns the requested pause before a retry, in seconds, in milliseconds or as a date.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(text) = trimmed(headers, "retry-after-ms")
        && let Ok(millis) = text.parse::<f64>()
    {
        return Duration::try_from_secs_f64(millis / 1e3).ok();
    }
    let text = trimmed(headers, RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date in the past allows an immediate retry.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn trimmed<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let wait = |list: &[(&'static str, &str)]| {
            retry_after(
                &list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect(),
            )
        };
        assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", " 0.5 ")]), Some(Duration::from_millis(500)));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "1")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(Duration::ZERO));
        let soon = SystemTime::now() + Duration::from_secs(90);
        let until = wait(&[("retry-after", &httpdate::fmt_http_date(soon))]).unwrap();
        assert!((85..=90).contains(&until.as_secs()), "{until:?}");
        for nonsense in ["soon", "-1", "1e999", ""] {
            assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
    }
}
