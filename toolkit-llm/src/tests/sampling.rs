//! The sampling options that models of Anthropic refuse.

use crate::facts::ApiFormat::{Anthropic, Bedrock};
use crate::message::Message;
use crate::model::{ModelOptions, ModelRequest};
use crate::transport::encode_request;
use serde_json::{Value, json};

#[test]
fn sampling_options_that_the_model_refuses_are_lost() {
    let options = ModelOptions::new().with_temperature(0.2).with_top_p(0.9);
    let request = ModelRequest::new([Message::user("hi")]).with_options(options);
    for (version, kept) in [
        ("opus-4-20250514", &["temperature", "top_p"][..]),
        ("opus-4-1", &["temperature"]),
        ("sonnet-4-6", &["temperature"]),
        ("opus-4-7", &[]),
        ("opus-5", &[]),
        ("latest", &["temperature", "top_p"]),
    ] {
        for (format, prefix, names) in [
            (Anthropic, "claude", ["/temperature", "/top_p"]),
            (Bedrock, "anthropic.claude", ["/inferenceConfig/temperature", "/inferenceConfig/topP"]),
        ] {
            let encoded = encode_request(format, &format!("{prefix}-{version}"), &request, false);
            let body = Value::from(encoded.body);
            for (name, path) in ["temperature", "top_p"].into_iter().zip(names) {
                let is_lost = encoded.losses.iter().any(|loss| loss.path == format!("/options/{name}"));
                let is_kept = kept.contains(&name);
                assert_eq!((body.pointer(path).is_some(), is_lost), (is_kept, !is_kept), "{version} {body}");
            }
            assert_ne!(body.get("inferenceConfig"), Some(&json!({})));
        }
    }
}
