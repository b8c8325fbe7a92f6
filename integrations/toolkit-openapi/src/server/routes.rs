//! The paths of the server.

use http::Method;
use percent_encoding::percent_decode_str;

#[derive(Debug, PartialEq)]
pub(super) enum Route {
    Page,
    Document,
    Tool(String),
}

impl Route {
    /// Returns the route of a path below the path of the server.
    pub(super) fn from_path(path: &str) -> Option<Self> {
        match path {
            "/" => return Some(Self::Page),
            "/openapi.json" => return Some(Self::Document),
            _ => {}
        }
        let encoded = path.strip_prefix("/tools/").filter(|name| !name.is_empty() && !name.contains('/'))?;
        let name = percent_decode_str(encoded).decode_utf8().ok()?;
        Some(Self::Tool(name.into_owned()))
    }

    pub(super) fn accepts(&self, method: &Method) -> bool {
        match self {
            Self::Page | Self::Document => matches!(*method, Method::GET | Method::HEAD),
            Self::Tool(_) => *method == Method::POST,
        }
    }

    /// Returns the methods of the route, as the header `Allow` has them.
    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::Page | Self::Document => "GET,HEAD",
            Self::Tool(_) => "POST",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_for_the_page_the_document_or_a_tool() {
        let tool = |name: &str| Some(Route::Tool(name.to_owned()));
        for (path, expected) in [
            ("/", Some(Route::Page)),
            ("/openapi.json", Some(Route::Document)),
            ("/tools/add", tool("add")),
            ("/tools/a%20b", tool("a b")),
            ("/tools/a%2Fb", tool("a/b")),
            ("/tools/openapi.json", tool("openapi.json")),
            ("/tools/%ff", None),
            ("/tools/", None),
            ("/tools", None),
            ("/tools/add/", None),
            ("/tools/a/b", None),
            ("//", None),
            ("", None),
        ] {
            assert_eq!(Route::from_path(path), expected, "{path}");
        }
    }
}
