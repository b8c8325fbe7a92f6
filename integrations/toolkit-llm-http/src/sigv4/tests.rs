//! Tests that compare signatures with those of AWS's Python SDK.

use super::*;
use http::Method;
use proptest::prelude::*;
use std::time::Duration;

/// A request signed by AWS's Python SDK (botocore).
struct Signed {
    url: &'static str,
    body: &'static str,
    region: &'static str,
    token: Option<&'static str>,
    /// The time of the signature, in seconds since 1970.
    seconds: u64,
    date: &'static str,
    signature: &'static str,
}

const SIGNED: [Signed; 4] = [
    Signed {
        url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        body: r#"{"messages":[]}"#,
        region: "us-east-1",
        token: None,
        seconds: 1_767_323_045,
        date: "20260102T030405Z",
        signature: "f8ca14eab252d9fc33aafad23d301dc8f2c3b56fcf5ebed836434f6c2b6aed4c",
    },
    Signed {
        url: "https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012\
              %3Ainference-profile%2Feu.amazon.nova-pro-v1%3A0/converse-stream",
        body: r#"{"messages":[{"role":"user","content":[{"text":"Grüße"}]}]}"#,
        region: "eu-central-1",
        token: Some("FwoGZXIvYXdzEBYaDsession=="),
        seconds: 1_709_210_096,
        date: "20240229T123456Z",
        signature: "144532cbc8c4fef0132087f0756119f6c48c9889b670f7d9df9b64fc95b1db8b",
    },
    Signed {
        url: "http://127.0.0.1:8080/model/m/converse",
        body: "",
        region: "us-west-2",
        token: None,
        seconds: 951_782_399,
        date: "20000228T235959Z",
        signature: "f08a73e5e34d6769038a5599784dad0c86b49899118d7c65b1d9ad24f233ae36",
    },
    Signed {
        url: "https://bedrock-runtime.us-gov-west-1.amazonaws.com/model/meta.llama~x/converse",
        body: "{}",
        region: "us-gov-west-1",
        token: Some("t/+o="),
        seconds: 4_102_444_800,
        date: "21000101T000000Z",
        signature: "fd235a6a678346467b9dc965dfaa8424c25e9fbd32e6899a80bcbc7155c89ed5",
    },
];

#[test]
fn signatures_equal_those_of_botocore() {
    for Signed { url, body, region, token, seconds, date, signature } in SIGNED {
        let mut request = Request::new(Bytes::from(body));
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, url.parse().unwrap());
        request.headers_mut().insert(CONTENT_TYPE, "application/json".parse().unwrap());
        let credentials = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let credentials = match token {
            Some(token) => credentials.with_session_token(token),
            None => credentials,
        };
        sign(&mut request, &credentials, region, UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("x-amz-date"), Some(date));
        assert_eq!(header("x-amz-security-token"), token);
        let names = match token {
            Some(_) => "content-type;host;x-amz-date;x-amz-security-token",
            None => "content-type;host;x-amz-date",
        };
        let expected = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{}/{region}/bedrock/aws4_request, SignedHeaders={names}, \
             Signature={signature}",
            &date[..8]
        );
        assert_eq!(header("authorization"), Some(expected.as_str()), "{url}");
        let shown = format!("{:?}", request.headers());
        assert!(!shown.contains(signature) && !shown.contains(token.unwrap_or("AKIDEXAMPLE")), "{shown}");
    }
}

proptest! {
    #[test]
    fn dates_equal_those_of_http_dates(seconds in 0..253_402_300_800_u64) {
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        let text = httpdate::fmt_http_date(time);
        let parts: Vec<&str> = text.split([' ', ':']).collect();
        let [_, day, month, year, hour, minute, second, _] = parts[..] else { panic!("{text}") };
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = months.iter().position(|name| *name == month).unwrap() + 1;
        prop_assert_eq!(timestamp(time), format!("{year}{month:02}{day}T{hour}{minute}{second}Z"));
    }
}
