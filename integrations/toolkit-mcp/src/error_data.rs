//! Errors of the other side, also those in a form that the protocol does not know.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, from_str};

/// Reads the error of a request. Its text is kept in any form of JSON.
pub(crate) fn read_error(error: &str) -> serde_json::Result<ErrorData> {
    from_str(error).or_else(|_| from_str(error).map(readable_error))
}

/// Returns the text of an error, or the member in which the other side writes it.
pub(crate) fn readable_error(error: Value) -> ErrorData {
    let members = ["message", "error", "detail"].into_iter().filter_map(|member| error.get(member));
    let text = std::iter::once(&error).chain(members).find_map(Value::as_str);
    let written_code = error.get("code");
    let message = match (text, written_code) {
        (Some(text), _) => text.to_owned(),
        (None, Some(code)) => format!("error {code}, without a message"),
        (None, None) => "an error without a message".to_owned(),
    };
    let number = written_code.and_then(Value::as_f64).filter(|code| code.fract() == 0.0);
    // A cast of a float saturates.
    let code = number.map_or(ErrorCode::INTERNAL_ERROR, |code| ErrorCode(code as i32));
    ErrorData::new(code, message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_and_the_text_of_an_error_of_any_form_are_read() {
        for (error, code, message) in [
            (r#"{"code": -32000, "message": "No."}"#, -32_000, "No."),
            (r#"{"code": -32000.0, "message": "No."}"#, -32_000, "No."),
            (r#"{"code": -32000}"#, -32_000, "error -32000, without a message"),
            (r#"{"code": "E1", "message": "No."}"#, -32_603, "No."),
            (r#"{"code": "E1"}"#, -32_603, r#"error "E1", without a message"#),
            (r#"{"detail": "No."}"#, -32_603, "No."),
            (r#"{"message": {"en": "No."}}"#, -32_603, "an error without a message"),
            (r#""No.""#, -32_603, "No."),
            ("{}", -32_603, "an error without a message"),
            ("1e300", -32_603, "an error without a message"),
        ] {
            let read = read_error(error).expect("an error");
            assert_eq!((read.code.0, &*read.message), (code, message), "{error}");
        }
        assert!(read_error("no JSON").is_err());
    }
}
