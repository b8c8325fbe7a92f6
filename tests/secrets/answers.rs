//! Answers that repeat a secret: spellings and places.

use super::STATUSES;
use super::service::answer;
use proptest::prelude::*;
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
enum Place {
    Message,
    Member,
    Field,
    Nested,
    Text,
    Header(&'static str),
}

const PLACES: [Place; 12] = [
    Place::Message,
    Place::Message,
    Place::Member,
    Place::Field,
    Place::Nested,
    Place::Text,
    Place::Header("location"),
    Place::Header("www-authenticate"),
    Place::Header("retry-after"),
    Place::Header("link"),
    Place::Header("content-type"),
    Place::Header("content-encoding"),
];

#[derive(Debug, Clone)]
pub(crate) struct Repeated {
    pub(crate) secret: String,
    spelling: usize,
    place: Place,
    status: u16,
    /// The number of characters before it: a limit may cut each part.
    pub(crate) before: usize,
    choice: usize,
}

pub(crate) fn repeated() -> impl Strategy<Value = Repeated> {
    let before = prop_oneof![0_usize..24, 200_usize..312, 460_usize..512];
    // All visible characters, more often those special in JSON, URLs or Base64.
    let secret = "[!-~/+=%&\"\\\\?#:;,u0-9a-f]{16,40}";
    let place = prop::sample::select(PLACES.to_vec());
    (secret, 0..SPELLINGS, place, prop::sample::select(STATUSES.to_vec()), before, 0_usize..60).prop_map(
        |(secret, spelling, place, status, before, choice)| Repeated {
            secret,
            spelling,
            place,
            status,
            before,
            choice,
        },
    )
}

pub(crate) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

const SPELLINGS: usize = 7;

/// Returns a text as it may stand in JSON.
fn in_json(text: &str, spelling: usize) -> String {
    let slashes = quoted(text).replace('/', "\\/");
    match spelling {
        0 => quoted(text),
        1 => slashes,
        2 => text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        3 => quoted(&percent(text)).to_lowercase(),
        4 => quoted(&slashes),
        5 => quoted(&text.replace('%', "%25").replace('/', "%2F").replace('+', "%2B").replace('"', "%22")),
        _ => quoted(text).replace('&', "\\u0026").replace('=', "\\u003D"),
    }
}

/// Returns the forms in which a text could be seen.
pub(crate) fn forms(text: &str) -> Vec<String> {
    let mut forms: Vec<String> = (0..SPELLINGS).map(|spelling| in_json(text, spelling)).collect();
    let again: Vec<String> = forms.iter().flat_map(|form| [quoted(form), format!("{form:?}")]).collect();
    forms.extend(again.iter().map(|form| form.trim_matches('"').to_owned()));
    forms.extend([text.to_owned(), percent(text), percent(text).to_lowercase()]);
    forms
}

impl Repeated {
    pub(crate) fn pick<T, const N: usize>(&self, choices: [T; N]) -> T {
        let at = self.choice % N;
        choices.into_iter().nth(at).unwrap()
    }

    pub(crate) fn filler(&self, length: usize) -> String {
        "~ ".repeat(length / 2 - self.before.min(length / 2))
    }

    pub(crate) fn text(&self) -> String {
        self.pick([self.secret.clone(), percent(&self.secret), in_json(&self.secret, self.spelling)])
    }

    /// The secret in JSON after other text.
    pub(crate) fn json_text(&self) -> String {
        "_".repeat(self.before) + &in_json(&self.secret, self.spelling)
    }

    pub(crate) fn http_answer(&self) -> Vec<u8> {
        let text = self.json_text();
        let json = [("content-type", "application/json")];
        match self.place {
            Place::Message => {
                let body = self.pick([
                    format!(r#"{{"message": "{text}", "items": [1]}}"#),
                    format!(r#"{{"error": {{"message": "{text}", "code": "{text}", "type": "x"}}}}"#),
                    format!(r#"{{"title": "{text}", "detail": "{text}"}}"#),
                    format!(r#""{text}""#),
                    // Cut answers are no JSON.
                    format!(r#"{{"message": "{text}"#),
                ]);
                answer(self.status, &json, &body)
            }
            Place::Member => {
                answer(self.status, &json, &format!(r#"{{"message": "x", "a": {{"{text}": 1}}}}"#))
            }
            Place::Field => {
                let fields = self.pick([
                    format!(r#"[{{"field": "{text}", "message": "{text}"}}]"#),
                    format!(r#"{{"{text}": ["{text}"]}}"#),
                    format!(r#"["{text}"]"#),
                ]);
                answer(self.status, &json, &format!(r#"{{"errors": {fields}}}"#))
            }
            Place::Nested => {
                answer(self.status, &json, &format!(r#"[[{{"a": ["{text}", {{"b": "{text}"}}]}}]]"#))
            }
            Place::Text => {
                let text = "_".repeat(self.before) + &self.text();
                answer(self.status, &[("content-type", "text/plain")], &text)
            }
            Place::Header(name) => {
                let value = self.pick([
                    format!("/x/1?api_key={}", percent(&self.secret)),
                    format!("a/{}", self.secret),
                    format!("<{}>; rel=\"next\"", self.secret),
                ]);
                let body = self.pick(["", "{\"message\": 1}"]);
                answer(self.status, &[(name, &value)], body)
            }
        }
    }

    /// Secrets behind text of each length from `start`, to be cut anywhere.
    pub(crate) fn all_cut_after(start: usize) -> Vec<Self> {
        let secret = "q/7+\"x&Zk=9-w%5Tj";
        let at = |before| Self {
            secret: secret.to_owned(),
            spelling: before % SPELLINGS,
            place: Place::Message,
            status: 200,
            before,
            choice: 0,
        };
        (start..start + 2 * secret.len()).map(at).collect()
    }

    /// An answer outside of the protocol, whose beginning is shown.
    pub(crate) fn broken_answer(&self) -> Vec<u8> {
        answer(200, &[("content-type", "application/json")], &self.json_text())
    }

    /// An MCP server's answer to a call.
    pub(crate) fn mcp_call_answer(&self, id: &str) -> Vec<u8> {
        let text = self.json_text();
        let result = match self.place {
            Place::Message => format!(r#""result": {{"content": [{{"type": "text", "text": "{text}"}}]}}"#),
            Place::Member => {
                format!(r#""result": {{"content": [], "structuredContent": {{"{text}": "{text}"}}}}"#)
            }
            Place::Field => {
                format!(r#""result": {{"content": [{{"type": "text", "text": "{text}"}}], "isError": true}}"#)
            }
            Place::Nested => {
                format!(r#""error": {{"code": -32000, "message": "{text}", "data": {{"{text}": 1}}}}"#)
            }
            _ => return self.http_answer(),
        };
        let body = format!(r#"{{"jsonrpc": "2.0", "id": {id}, {result}}}"#);
        let status = self.pick([200, self.status]);
        answer(status, &[("content-type", "application/json")], &body)
    }

    pub(crate) fn stream_answer(&self) -> Vec<u8> {
        let text = self.json_text();
        let error =
            format!(r#"{{"error": {{"message": "{text}", "code": "{text}", "type": "server_error"}}}}"#);
        let begun = r#"data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}"#;
        match self.pick([0, 1, 2, 3, 4]) {
            0 => answer(
                200,
                &[("content-type", "text/event-stream")],
                &format!("{begun}\n\ndata: {error}\n\n"),
            ),
            1 => answer(
                200,
                &[("content-type", "text/event-stream")],
                &format!("{begun}\n\ndata: {{{text}\n\n"),
            ),
            2 => answer(200, &[("content-type", "application/json")], &error),
            3 => answer(200, &[("content-type", &format!("text/x{}", percent(&self.secret)))], &error),
            _ => self.http_answer(),
        }
    }
}
