//! How contents and outputs are written as JSON, to be kept or sent.
//!
//! [`Content`] and [`ToolOutput`] do not implement serde's traits themselves: what does becomes output by being
//! written as JSON, and these are output already. The modules here are for `#[serde(with = "…")]`.

use super::{Content, JsonText, Media, MediaData, Resource, ToolOutput};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A [`Content`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredContent {
    Text {
        text: String,
    },
    /// The very text, so that no digit of a number is lost.
    Json {
        json: String,
    },
    Image(StoredMedia),
    Audio(StoredMedia),
    File(StoredMedia),
    Resource {
        uri: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
struct StoredMedia {
    media_type: String,
    #[serde(flatten)]
    data: StoredData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredData {
    Base64(String),
    Url(String),
}

#[derive(Serialize, Deserialize)]
struct StoredOutput {
    content: Vec<StoredContent>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    structured: Option<Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    brief: String,
}

/// A value that is `null` is still one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<StoredContent> for Content {
    fn from(stored: StoredContent) -> Self {
        match stored {
            StoredContent::Text { text } => Self::Text(text),
            // What somebody has written by hand may be no JSON; then it is text.
            StoredContent::Json { json } => match serde_json::from_str::<serde::de::IgnoredAny>(&json) {
                Ok(_) => Self::Json(JsonText(json)),
                Err(_) => Self::Text(json),
            },
            StoredContent::Image(media) => Self::Image(Box::new(media.into())),
            StoredContent::Audio(media) => Self::Audio(Box::new(media.into())),
            StoredContent::File(media) => Self::File(Box::new(media.into())),
            StoredContent::Resource { uri, name, media_type } => {
                Self::Resource(Box::new(Resource { uri, name, media_type }))
            }
        }
    }
}

impl From<&Content> for StoredContent {
    fn from(content: &Content) -> Self {
        match content {
            Content::Text(text) => Self::Text { text: text.clone() },
            Content::Json(json) => Self::Json { json: json.as_str().to_owned() },
            Content::Image(media) => Self::Image((&**media).into()),
            Content::Audio(media) => Self::Audio((&**media).into()),
            Content::File(media) => Self::File((&**media).into()),
            Content::Resource(resource) => {
                let Resource { uri, name, media_type } = (**resource).clone();
                Self::Resource { uri, name, media_type }
            }
        }
    }
}

impl From<StoredMedia> for Media {
    fn from(StoredMedia { media_type, data, name }: StoredMedia) -> Self {
        let data = match data {
            StoredData::Base64(bytes) => MediaData::Base64(bytes),
            StoredData::Url(url) => MediaData::Url(url),
        };
        Self { media_type, data, name }
    }
}

impl From<&Media> for StoredMedia {
    fn from(media: &Media) -> Self {
        let Media { media_type, data, name } = media.clone();
        let data = match data {
            MediaData::Base64(bytes) => StoredData::Base64(bytes),
            MediaData::Url(url) => StoredData::Url(url),
        };
        Self { media_type, data, name }
    }
}

/// A list of [`Content`]: objects whose `type` says what they are, as in `{"type": "text", "text": "hi"}`.
pub mod contents {
    use super::{Content, StoredContent};
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the contents.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(contents: &[Content], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(contents.iter().map(StoredContent::from))
    }

    /// Reads contents.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
        let stored = Vec::<StoredContent>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(Content::from).collect())
    }
}

/// A [`ToolOutput`]: its `content`, and its `structured` value, `message` and `brief` where it has them.
pub mod tool_output {
    use super::{Content, StoredContent, StoredOutput, ToolOutput};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the output.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(output: &ToolOutput, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = StoredOutput {
            content: output.content().iter().map(StoredContent::from).collect(),
            structured: output.structured().cloned(),
            message: output.message().to_owned(),
            brief: output.brief().to_owned(),
        };
        stored.serialize(serializer)
    }

    /// Reads an output.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolOutput, D::Error> {
        let StoredOutput { mut content, structured, message, brief } =
            StoredOutput::deserialize(deserializer)?;
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
    fn outputs_are_read_as_they_were_written() {
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
    fn what_is_no_json_is_text() {
        let written = json!([{"type": "json", "json": "{oops"}]);
        assert_eq!(contents::deserialize(written).unwrap(), [Content::Text("{oops".to_owned())]);
    }
}
