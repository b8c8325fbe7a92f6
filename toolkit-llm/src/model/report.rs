//! The codes and requested pauses in providers' errors.

use super::ModelErrorKind::{self, InvalidRequest, RateLimited, TimedOut, Unauthorized, Unavailable};
use serde_json::Value;
use std::time::Duration;

/// The codes of errors without an HTTP status, as in a stream. In lowercase and without `_`.
const CODES: [(ModelErrorKind, &[&str]); 5] = [
    (
        InvalidRequest,
        &[
            "failedprecondition",
            "invalidargument",
            "invalidprompt",
            "invalidrequesterror",
            "notfound",
            "notfounderror",
            "requesttoolarge",
            "validationexception",
        ],
    ),
    (RateLimited, &["ratelimiterror", "ratelimitexceeded", "resourceexhausted", "throttlingexception"]),
    (TimedOut, &["deadlineexceeded", "modeltimeoutexception", "timeouterror"]),
    (
        Unauthorized,
        &["authenticationerror", "invalidapikey", "permissiondenied", "permissionerror", "unauthenticated"],
    ),
    (
        Unavailable,
        &[
            "apierror",
            "internal",
            "internalserverexception",
            "overloadederror",
            "servererror",
            "serviceunavailableexception",
            "unavailable",
        ],
    ),
];

/// What stands before a pause, in lowercase.
const BEFORE_PAUSE: [&str; 3] = ["try again in ", "retry in ", "retry after "];

pub(super) fn kind_of_code(code: &str) -> Option<ModelErrorKind> {
    let code = code.replace('_', "").to_lowercase();
    for (kind, codes) in CODES {
        if codes.contains(&code.as_str()) {
            return Some(kind);
        }
    }
    None
}

/// Returns the pause in the body of a failed response, as in Google's APIs.
pub(super) fn pause_in_body(body: &Value) -> Option<Duration> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    for detail in details {
        if let Some(Value::String(pause)) = detail.get("retryDelay") {
            return duration(pause);
        }
    }
    None
}

/// Returns the pause in an error message, as in `Please try again in 1m2.5s`.
pub(super) fn pause_in_text(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    for before in BEFORE_PAUSE {
        if let Some((_, rest)) = message.split_once(before)
            && let Some(pause) = duration(rest)
        {
            return Some(pause);
        }
    }
    None
}

/// Parses the duration at the beginning, as in `1m2.5s`.
fn duration(text: &str) -> Option<Duration> {
    let mut sum = None;
    let mut rest = text;
    while let Some((seconds, after)) = part(rest) {
        (sum, rest) = (Some(sum.unwrap_or_default() + seconds), after);
    }
    Duration::try_from_secs_f64(sum?).ok()
}

/// Parses a number and its unit. Returns the seconds, and the rest of the text.
fn part(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let (number, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len()));
    let seconds = match unit {
        "ms" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        _ => return None,
    };
    Some((number.parse::<f64>().ok()? * seconds, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::WireError;
    use crate::model::ModelError;
    use serde_json::json;

    #[test]
    fn a_pause_is_read_from_the_message() {
        for (message, seconds) in [
            ("Rate limit reached for gpt-5 (TPM): Limit 30000. Please try again in 7.66s. Visit …", 7.66),
            ("Please try again in 20s.", 20.0),
            ("Please try again in 312ms.", 0.312),
            ("Please try again in 1h6m0.5s", 3_960.5),
            ("You exceeded your current quota.\nPlease retry in 36.139672346s.", 36.139_672_346),
            ("Requests have exceeded the limit. Please retry after 20 seconds.", 20.0),
            ("Try again in 1 minute, or later.", 60.0),
            ("Try again in 1 minute 30 seconds.", 90.0),
            ("Try again in 20 seconds 3 times.", 20.0),
        ] {
            let error = ModelError::from_status(429, message);
            assert_eq!(error.retry_after, Some(Duration::from_secs_f64(seconds)), "{message}");
        }
        for message in
            ["", "Try again in", "Try again in a minute", "retry after 5", "retry in 1.2.3s", "in 20s"]
        {
            assert_eq!(ModelError::from_status(429, message).retry_after, None, "{message}");
        }
    }

    #[test]
    fn a_pause_is_read_from_the_details() {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.Help", "links": []},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}]);
        let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}});
        let pause = Some(Duration::from_millis(3_500));
        assert_eq!((pause_in_body(&body), pause_in_body(&json!([body]))), (pause, pause));
        for body in [json!({}), json!([]), json!({"error": {"details": [{"retryDelay": "soon"}]}})] {
            assert_eq!(pause_in_body(&body), None);
        }
    }

    #[test]
    fn a_code_without_a_status_tells_the_kind() {
        for (error, kind) in [
            (json!({"type": "rate_limit_error", "message": "x"}), RateLimited),
            (json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}), RateLimited),
            (json!({"code": "rate_limit_exceeded", "message": "x"}), RateLimited),
            (json!({"code": 429, "message": "x"}), RateLimited),
            (json!({"type": "authentication_error", "message": "x"}), Unauthorized),
            (json!({"type": "invalid_request_error", "message": "x"}), InvalidRequest),
            (
                json!({"type": "invalid_request_error", "message": "prompt is too long"}),
                ModelErrorKind::ContextTooLong,
            ),
            (json!({"code": "x", "message": "x"}), ModelErrorKind::Other),
        ] {
            let report = WireError::of_failure(&json!({"error": error})).unwrap();
            assert_eq!(ModelError::of_wire(ModelErrorKind::Other, &report).kind, kind, "{error}");
        }
    }
}
