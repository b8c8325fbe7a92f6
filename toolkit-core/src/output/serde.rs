//! Serialized forms of contents and outputs, for `#[serde(with = "…")]`.
//!
//! [`Content`] and [`ToolOutput`] do not implement serde's traits, because a tool's return value of a
//! `Serialize` type becomes JSON, and these two are output already.

use super::{Content, JsonText, Media, MediaData, Resource, ToolOutput};
use crate::depth::serialize_within_depth;
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentForm<'a> {
    Text {
        text: Cow<'a, str>,
    },
    /// The JSON text as a string, to keep every digit of a number.
    Json {
        json: Cow<'a, str>,
    },
    Image(#[serde(with = "MediaForm")] Media),
    Audio(#[serde(with = "MediaForm")] Media),
    File(#[serde(with = "MediaForm")] Media),
    Resource {
        uri: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Media")]
struct MediaForm {
    media_type: String,
    #[serde(flatten, with = "DataForm")]
    data: MediaData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MediaData", rename_all = "snake_case")]
enum DataForm {
    Base64(String),
    Url(String),
}

#[derive(Serialize, Deserialize)]
struct OutputFields<'a> {
    content: Vec<ContentForm<'a>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "structured",
        deserialize_with = "present"
    )]
    structured: Option<Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    brief: String,
}

fn structured<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_within_depth(value, value, serializer)
}

/// Deserializes `null` as `Some(Value::Null)`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<ContentForm<'_>> for Content {
    fn from(form: ContentForm<'_>) -> Self {
        match form {
            ContentForm::Text { text } => Self::Text(text.into_owned()),
            // JSON text edited by hand may be invalid. It then becomes plain text.
            ContentForm::Json { json } => match serde_json::from_str::<::serde::de::IgnoredAny>(&json) {
                Ok(_) => Self::Json(JsonText(json.into_owned())),
                Err(_) => Self::Text(json.into_owned()),
            },
            ContentForm::Image(media) => Self::Image(Box::new(media)),
            ContentForm::Audio(media) => Self::Audio(Box::new(media)),
            ContentForm::File(media) => Self::File(Box::new(media)),
            ContentForm::Resource { uri, name, media_type } => {
                Self::Resource(Box::new(Resource { uri, name, media_type }))
            }
        }
    }
}

impl<'a> From<&'a Content> for ContentForm<'a> {
    fn from(content: &'a Content) -> Self {
        match content {
            Content::Text(text) => Self::Text { text: text.into() },
            Content::Json(json) => Self::Json { json: json.as_str().into() },
            Content::Image(media) => Self::Image((**media).clone()),
            Content::Audio(media) => Self::Audio((**media).clone()),
            Content::File(media) => Self::File((**media).clone()),
            Content::Resource(resource) => {
                let Resource { uri, name, media_type } = (**resource).clone();
                Self::Resource { uri, name, media_type }
            }
        }
    }
}

/// The serialized form of contents: objects tagged by `type`, as in `{"type": "text", "text": "hi"}`.
pub mod contents {
    use super::{Content, ContentForm};
    use ::serde::{Deserialize, Deserializer, Serializer};

    /// Serializes the contents.
    ///
    /// # Errors
    /// Any error of the serializer.
    pub fn serialize<S: Serializer>(contents: &[Content], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(contents.iter().map(ContentForm::from))
    }

    /// Deserializes the contents.
    ///
    /// # Errors
    /// Any error of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
        let forms = Vec::<ContentForm<'_>>::deserialize(deserializer)?;
        Ok(forms.into_iter().map(Content::from).collect())
    }
}

/// The serialized form of a [`ToolOutput`]: `content`, and `structured`, `message` and `brief` if set.
pub mod tool_output {
    use super::{Content, ContentForm, OutputFields, ToolOutput};
    use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Serializes the output.
    ///
    /// # Errors
    /// Any error of the serializer.
    pub fn serialize<S: Serializer>(output: &ToolOutput, serializer: S) -> Result<S::Ok, S::Error> {
        let form = OutputFields {
            content: output.content().iter().map(ContentForm::from).collect(),
            structured: output.structured().cloned(),
            message: output.message().to_owned(),
            brief: output.brief().to_owned(),
        };
        form.serialize(serializer)
    }

    /// Deserializes an output.
    ///
    /// # Errors
    /// Any error of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolOutput, D::Error> {
        let OutputFields { mut content, structured, message, brief } =
            OutputFields::deserialize(deserializer)?;
        let mut output = match content.pop() {
            Some(only) if content.is_empty() => Content::from(only).into(),
            last => ToolOutput::new(content.into_iter().chain(last).map(Content::from).collect()),
        };
        if let Some(structured) = structured {
            output = output.with_structured(structured);
        }
        if !message.is_empty() {
            output = output.with_message(message);
        }
        Ok(if brief.is_empty() { output } else { output.with_brief(brief) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(output: &ToolOutput, written: &Value) {
        assert_eq!(tool_output::serialize(output, serde_json::value::Serializer).as_ref().unwrap(), written);
        assert_eq!(tool_output::deserialize(written).as_ref().unwrap(), output);
    }

    #[test]
    fn outputs_round_trip() {
        check(&ToolOutput::default(), &json!({"content": []}));
        check(&ToolOutput::text("hi"), &json!({"content": [{"type": "text", "text": "hi"}]}));
        let number = ToolOutput::json(&u128::MAX).unwrap().with_structured(json!(null));
        check(
            &number,
            &json!({
                "content": [{"type": "json", "json": "340282366920938463463374607431768211455"}],
                "structured": null,
            }),
        );
        let noted = ToolOutput::text("25 °C").with_message("in the shade").with_brief("found");
        check(
            &noted.with_structured(json!({"t": 25})),
            &json!({
                "content": [{"type": "text", "text": "25 °C"}],
                "structured": {"t": 25}, "message": "in the shade", "brief": "found",
            }),
        );
        let resource = Resource { uri: "file:///a".to_owned(), name: "a".to_owned(), media_type: None };
        let many = ToolOutput::new(vec![
            Media::new("image/png", b"hi").with_name("a.png").into(),
            Media::from_url("audio/wav", "https://example.com/a.wav").into(),
            Media::new("application/pdf", b"").into(),
            Content::Resource(Box::new(resource)),
        ]);
        check(
            &many,
            &json!({"content": [
                {"type": "image", "media_type": "image/png", "base64": "aGk=", "name": "a.png"},
                {"type": "audio", "media_type": "audio/wav", "url": "https://example.com/a.wav"},
                {"type": "file", "media_type": "application/pdf", "base64": ""},
                {"type": "resource", "uri": "file:///a", "name": "a"},
            ]}),
        );
    }

    #[test]
    fn invalid_json_becomes_text() {
        let written = json!([{"type": "json", "json": "{oops"}]);
        assert_eq!(contents::deserialize(written).unwrap(), [Content::Text("{oops".to_owned())]);
    }
}
