//! Every option of a tool, as attribute and as builder.

use std::time::Duration;
use toolkit_ai::definition::{ToolSource, UnknownArguments};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{ToolMetadata, ToolTag};

const PROGRAM: &str = "programmatic";

/// Says everything.
#[tool(
    namespace = "metadata",
    title = "Say everything",
    tags("network", "billing"),
    icons("https://example.com/icon.svg"),
    timeout = "5s",
    retries = 3,
    max_result_size = 1_000,
    blocking,
    exclusive = false,
    max_concurrency = 4,
    lane = "key",
    read_only = false,
    destructive,
    idempotent = true,
    open_world = false,
    defer,
    search_hint = "all of it",
    input_examples = [json!({"key": "a"}), json!({"key": "b"})],
    strict,
    allowed_callers("direct", PROGRAM),
    call_reason = false,
    unknown = "ignore",
    coerce = false,
    strict_docs,
    meta(owner = "team a", cost = 5, beta = true)
)]
fn everything(
    /// The key.
    key: i64,
) -> i64 {
    key
}

/// Runs alone.
#[tool(namespace = "metadata", exclusive = true)]
fn alone() {}

/// Says nothing.
#[tool(namespace = "metadata")]
async fn nothing() {}

#[test]
fn every_option_is_read_back() {
    let metadata = everything::tool().definition().metadata.clone();
    let mut expected = ToolMetadata::default()
        .with_title("Say everything")
        .with_tags(["network", "billing"])
        .with_icons(["https://example.com/icon.svg"])
        .with_timeout(Duration::from_secs(5))
        .with_retries(3)
        .with_max_result_size(1_000)
        .with_blocking(true)
        .with_exclusive(false)
        .with_max_concurrency(4)
        .with_lane("key")
        .with_read_only(false)
        .with_destructive(true)
        .with_idempotent(true)
        .with_open_world(false)
        .with_defer(true)
        .with_search_hint("all of it")
        .with_input_examples([json!({"key": "a"}), json!({"key": "b"})])
        .with_strict(true)
        .with_allowed_callers(["direct", "programmatic"])
        .with_call_reason(false)
        .with_unknown(UnknownArguments::Ignore)
        .with_coerce(false)
        .with_meta("owner", "team a")
        .with_meta("cost", 5)
        .with_meta("beta", true);
    expected.defined_at = metadata.defined_at;
    assert_eq!(metadata, expected);
    assert!(alone::tool().definition().metadata.exclusive);
    assert!(metadata.tags.contains(&ToolTag::Network));
    assert!(metadata.tags.contains(&ToolTag::Custom("billing".to_owned())));
}

#[test]
fn unset_options_have_their_defaults() {
    let metadata = nothing::tool().definition().metadata.clone();
    let mut expected = ToolMetadata::default();
    expected.is_async = true;
    expected.defined_at = metadata.defined_at;
    assert_eq!(metadata, expected);
    assert_eq!((metadata.source, metadata.coerce, metadata.read_only), (ToolSource::Native, true, None));
}

#[tokio::test]
async fn schema_and_behaviour_agree_when_the_metadata_change() {
    let context = ToolContext::new(nothing::tool().definition().name.clone());
    let unknown = r#"{"more": 1}"#;
    let closed = nothing::tool();
    let open = closed.clone().map_metadata(|metadata| metadata.with_unknown(UnknownArguments::Ignore));
    assert!(open.definition().parameters.get("additionalProperties").is_none());
    assert!(open.call(unknown, &context).await.is_ok());
    let again = open.map_metadata(|metadata| metadata.with_unknown(UnknownArguments::Refuse));
    assert_eq!(again.definition().parameters, closed.definition().parameters);
    assert!(again.call(unknown, &context).await.is_err());
    let renamed = closed.clone().map_metadata(|metadata| metadata.with_title("Nothing"));
    assert_eq!(renamed.definition().parameters, closed.definition().parameters);
}
