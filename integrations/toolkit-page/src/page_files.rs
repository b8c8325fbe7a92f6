//! The files of the page, compiled into the program.

use crate::page_answer::typed;
use axum::response::Response;

const INDEX: &str = include_str!("../assets/index.html");

/// The files beside the index: name, media type, text.
const FILES: [(&str, &str, &str); 9] = [
    ("page.css", "text/css; charset=utf-8", include_str!("../assets/page.css")),
    ("main.js", SCRIPT, include_str!("../assets/main.js")),
    ("dom.js", SCRIPT, include_str!("../assets/dom.js")),
    ("server.js", SCRIPT, include_str!("../assets/server.js")),
    ("live.js", SCRIPT, include_str!("../assets/live.js")),
    ("call.js", SCRIPT, include_str!("../assets/call.js")),
    ("approvals.js", SCRIPT, include_str!("../assets/approvals.js")),
    ("tools.js", SCRIPT, include_str!("../assets/tools.js")),
    ("form.js", SCRIPT, include_str!("../assets/form.js")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Returns the index for a page below `path`, which has only characters of a URL.
pub(crate) fn index(path: &str) -> Response {
    typed("text/html; charset=utf-8", INDEX.replace("{path}", &path.replace('&', "&amp;")))
}

pub(crate) fn file(name: &str) -> Option<Response> {
    let (_, media_type, text) = FILES.into_iter().find(|(known, ..)| *known == name)?;
    Some(typed(media_type, text))
}
