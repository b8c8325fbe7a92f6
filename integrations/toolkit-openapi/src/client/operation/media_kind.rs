//! Media types, as far as they decide how a body is written or read.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    /// A string is sent as it is.
    Text,
    /// `application/x-www-form-urlencoded`.
    Form,
    Multipart,
    /// Bytes, from a Base64 string or an attachment.
    Bytes,
}

impl BodyKind {
    pub(crate) fn from_media_type(media_type: &str) -> Self {
        let essence = essence(media_type);
        let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
        let suffix = subtype.rsplit_once('+').map_or(subtype, |(_, suffix)| suffix);
        match essence.as_str() {
            "*/*" | "application/*" => Self::Json,
            "application/x-www-form-urlencoded" => Self::Form,
            _ if essence.starts_with("multipart/") => Self::Multipart,
            _ if essence.starts_with("text/") => Self::Text,
            _ if suffix == "json" => Self::Json,
            _ if TEXTS.contains(&suffix) => Self::Text,
            _ => Self::Bytes,
        }
    }
}

const TEXTS: [&str; 9] =
    ["csv", "graphql", "javascript", "jsonl", "ndjson", "sql", "x-ndjson", "xml", "yaml"];

/// Returns the media type without parameters, in lower case.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(crate) const OCTETS: &str = "application/octet-stream";
