//! Conversion of return values into output.

use std::fmt;
use toolkit_ai::output::MediaData;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{Content, ErrorKind, IntoToolOutput, Media, ToolFuture};

#[derive(serde::Serialize)]
struct Point {
    x: i32,
    name: &'static str,
}

struct Celsius(f64);

impl IntoToolOutput for Celsius {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(format!("{} °C", self.0)))
    }
}

#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

type Outcome<T> = Result<T, Refused>;

mod kinds {
    use super::{Celsius, Outcome, Point, Refused};
    use std::collections::BTreeMap;
    use toolkit_ai::{Content, ToolError, ToolOutput, tool};

    #[tool]
    pub(super) fn unit() {}

    #[tool]
    pub(super) fn number() -> f64 {
        0.5
    }

    #[tool]
    pub(super) fn string() -> String {
        "plain \"text\" 天气".to_owned()
    }

    #[tool]
    pub(super) fn text(text: &str) -> &str {
        text
    }

    #[tool]
    pub(super) fn structure() -> Point {
        Point { x: 1, name: "北京" }
    }

    #[tool]
    pub(super) fn nothing() -> Option<u8> {
        None
    }

    #[tool]
    pub(super) async fn if_any(count: Option<u8>) -> Option<Outcome<u8>> {
        std::future::ready(()).await;
        count.map(|count| count.checked_sub(1).ok_or(Refused))
    }

    #[tool]
    pub(super) fn own() -> Celsius {
        Celsius(25.0)
    }

    #[tool]
    pub(super) fn list() -> Vec<Content> {
        vec![Content::Text("a".to_owned()), Content::Text("b".to_owned())]
    }

    #[tool]
    pub(super) fn output() -> ToolOutput {
        ToolOutput::text("done").with_message("all went well").with_brief("ok")
    }

    #[tool]
    pub(super) fn aliased(fail: bool) -> Outcome<String> {
        if fail { Err(Refused) } else { Ok("fine".to_owned()) }
    }

    #[tool]
    pub(super) async fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
        Ok("x".parse()?)
    }

    #[tool]
    pub(super) fn chosen() -> Result<(), ToolError> {
        Err(ToolError::denied("chosen", "not today"))
    }

    #[tool]
    pub(super) fn unwritable() -> BTreeMap<Vec<u8>, u8> {
        BTreeMap::from([(vec![1], 1)])
    }

    #[tool]
    pub(super) fn not_a_number() -> f64 {
        f64::NAN
    }

    #[tool]
    pub(super) fn opaque() -> impl serde::Serialize {
        [1, 2, 3]
    }
}

async fn call(tool: impl Tool, arguments: &str) -> Result<ToolOutput, ToolError> {
    let context = ToolContext::new(tool.definition().name.clone());
    let future: ToolFuture<'_> = tool.call(arguments, &context);
    future.await
}

#[tokio::test]
async fn values_become_text_or_json() {
    for (tool, expected) in [
        (kinds::unit::tool(), "done"),
        (kinds::number::tool(), "0.5"),
        (kinds::string::tool(), "plain \"text\" 天气"),
        (kinds::structure::tool(), r#"{"x":1,"name":"北京"}"#),
        (kinds::nothing::tool(), "null"),
        (kinds::own::tool(), "25 °C"),
        (kinds::list::tool(), "a\nb"),
        (kinds::output::tool(), "done"),
        (kinds::not_a_number::tool(), "null"),
        (kinds::opaque::tool(), "[1,2,3]"),
    ] {
        let output = call(tool, "{}").await.expect("it returns");
        assert_eq!(output.to_text(), expected);
    }
    let output = call(kinds::text::tool(), r#"{"text": "lent"}"#).await.expect("it returns");
    assert_eq!(output.content(), [Content::Text("lent".to_owned())]);
}

#[tokio::test]
async fn a_result_is_an_output_or_an_error_through_any_alias() {
    let fine = call(kinds::aliased::tool(), r#"{"fail": false}"#).await.expect("it returns");
    assert_eq!(fine.to_text(), "fine");
    for (arguments, expected) in [("{}", "null"), (r#"{"count": 2}"#, "1")] {
        let output = call(kinds::if_any::tool(), arguments).await.expect("it returns");
        assert_eq!(output.to_text(), expected);
    }
    assert_eq!(
        kinds::if_any::tool().definition().output_schema().map(|schema| &schema["type"]),
        Some(&json!(["integer", "null"]))
    );
    for (tool, arguments, kind, message) in [
        (kinds::if_any::tool(), r#"{"count": 0}"#, ErrorKind::Failed, "Error running tool: refused"),
        (kinds::aliased::tool(), r#"{"fail": true}"#, ErrorKind::Failed, "Error running tool: refused"),
        (kinds::boxed::tool(), "", ErrorKind::Failed, "Error running tool: invalid digit found in string"),
        (kinds::chosen::tool(), "", ErrorKind::Denied, "Tool `chosen` was denied: not today"),
        (
            kinds::unwritable::tool(),
            "",
            ErrorKind::InvalidOutput,
            "Error running tool: its result cannot be written as JSON: key must be a string",
        ),
    ] {
        let error = call(tool, arguments).await.expect_err("it fails");
        assert_eq!((error.kind(), error.message()), (kind, message));
    }
}

#[tokio::test]
async fn media_become_images_audio_or_files() {
    #[tool(register = false)]
    fn chart() -> Media {
        Media::new("image/png", b"hi").with_name("chart.png")
    }
    #[tool(register = false)]
    fn recordings(fail: bool) -> Result<Vec<Content>, String> {
        let film = Media::from_url("video/mp4", "https://x.org/v");
        let all = vec![Media::new("audio/wav", vec![1]).into(), film.into()];
        if fail { Err("the tape is torn".to_owned()) } else { Ok(all) }
    }
    #[tool(register = false)]
    fn page() -> Option<ToolOutput> {
        Some(ToolOutput::text("see").with_content(Media::new("application/pdf", [])))
    }
    let output = call(chart::tool(), "").await.expect("it returns");
    let [Content::Image(image)] = output.content() else { panic!("{output:?}") };
    assert_eq!(
        (image.media_type.as_str(), &image.data),
        ("image/png", &MediaData::Base64("aGk=".to_owned()))
    );
    let output = call(recordings::tool(), r#"{"fail": false}"#).await.expect("it returns");
    assert_eq!(output.to_text(), "[audio audio/wav]\n[file video/mp4 https://x.org/v]");
    let error = call(recordings::tool(), r#"{"fail": true}"#).await.expect_err("it fails");
    assert_eq!(error.message(), "Error running tool: the tape is torn");
    let output = call(page::tool(), "").await.expect("it returns");
    assert_eq!(output.to_text(), "see\n[file application/pdf]");
}

#[tokio::test]
async fn message_and_brief_reach_the_program() {
    let output = call(kinds::output::tool(), "").await.expect("it returns");
    assert_eq!((output.message(), output.brief()), ("all went well", "ok"));
}

#[derive(Debug)]
struct Broken(std::num::ParseIntError);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ticket cannot be read")
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[tokio::test]
async fn causes_of_errors_become_details() {
    #[tool(register = false)]
    fn with_cause() -> Result<(), Broken> {
        Err(Broken("x".parse::<u8>().expect_err("no number")))
    }
    #[tool(register = false)]
    fn boxed_cause() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err(Broken("x".parse::<u8>().expect_err("no number")).into())
    }
    #[tool(register = false)]
    fn cow() -> Option<std::borrow::Cow<'static, str>> {
        Some("plain".into())
    }
    for error in [call(with_cause::tool(), "").await, call(boxed_cause::tool(), "").await] {
        let error = error.expect_err("it fails");
        assert_eq!(error.message(), "Error running tool: the ticket cannot be read");
        let details = "the ticket cannot be read: invalid digit found in string";
        assert_eq!(error.details(), Some(details));
        assert_eq!(format!("{error:#}"), format!("{} ({details})", error.message()));
    }
    #[tool(register = false)]
    fn path(name: String) -> std::path::PathBuf {
        std::path::Path::new("/a b").join(name)
    }
    assert_eq!(call(cow::tool(), "").await.expect("it returns").to_text(), "plain");
    assert_eq!(call(path::tool(), r#"{"name": "天"}"#).await.expect("it returns").to_text(), "/a b/天");
}
