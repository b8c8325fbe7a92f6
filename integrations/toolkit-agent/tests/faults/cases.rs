//! Faults of servers.

use super::clients::PATIENCE;
use super::server::{Step, chunk, respond, stream_end, stream_head};
use super::speech::Speech;
use std::time::Duration;
use toolkit_llm::ModelErrorKind;
use toolkit_llm::ModelErrorKind::{
    Connection, Empty, InvalidRequest, InvalidResponse, Other, RateLimited, TimedOut, Unauthorized,
    Unavailable,
};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// The call is retried, and last fails with one of these kinds.
    Again(&'static [ModelErrorKind]),
    /// The call fails at once, with this text.
    Reported(ModelErrorKind, &'static str),
    Answers,
    /// The fault does not apply to this request.
    Never,
}
use Outcome::{Again, Answers, Never, Reported};

#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) make: fn(Speech, bool) -> Vec<Step>,
    pub(crate) whole: Outcome,
    pub(crate) streamed: Outcome,
    /// Only clients with a limit of bytes pass.
    pub(crate) only_bounded: bool,
    /// Whether it is a delay, for clients with a short timeout.
    pub(crate) takes_time: bool,
}

/// Some clients notice only the missing end of such a stream.
const UNREADABLE: &[ModelErrorKind] = &[InvalidResponse, Unavailable, Connection];

const JSON: &str = "content-type: application/json\r\n";
const REFUSED: &str = r#"{"error": {"message": "in the server's words"}}"#;

fn both(name: &'static str, outcome: Outcome, make: fn(Speech, bool) -> Vec<Step>) -> Case {
    Case { name, make, whole: outcome, streamed: outcome, only_bounded: false, takes_time: false }
}

fn streamed(name: &'static str, outcome: Outcome, make: fn(Speech, bool) -> Vec<Step>) -> Case {
    Case { whole: Never, ..both(name, outcome, make) }
}

fn whole(name: &'static str, outcome: Outcome, make: fn(Speech, bool) -> Vec<Step>) -> Case {
    Case { streamed: Never, ..both(name, outcome, make) }
}

fn timed(case: Case) -> Case {
    Case { takes_time: true, ..case }
}

/// Returns a head with too large a content length.
fn begun() -> Step {
    Step::Send(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{\"id\":".into(),
    )
}

fn in_small_parts(speech: Speech, stream: bool) -> Vec<Step> {
    let steps = speech.text(stream).into_iter();
    let bytes = steps.flat_map(|step| if let Step::Send(bytes) = step { bytes } else { Vec::new() });
    let bytes: Vec<u8> = bytes.collect();
    let parts = bytes.chunks(bytes.len() / 9).map(|part| Step::Send(part.to_vec()));
    parts.flat_map(|part| [part, Step::Pause(Duration::from_millis(30))]).collect()
}

fn endless(stream: bool) -> Vec<Step> {
    if stream {
        let piece = format!("data: {}", "x".repeat(60_000));
        let Step::Send(piece) = chunk(&piece) else { return Vec::new() };
        return vec![stream_head(), Step::Endless(piece)];
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"";
    vec![Step::Send(head.into()), Step::Endless(vec![b'x'; 60_000])]
}

fn half_and(speech: Speech, rest: impl IntoIterator<Item = Step>) -> Vec<Step> {
    speech.half_a_text().into_iter().chain(rest).collect()
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        both("429 and seconds", Again(&[RateLimited]), |_, _| {
            respond("429 Too Many Requests", "retry-after: 0\r\n", REFUSED)
        }),
        both("429 and a date", Again(&[RateLimited]), |_, _| {
            respond("429 Too Many Requests", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n", REFUSED)
        }),
        both("429 for a century", Reported(RateLimited, "in the server's words"), |_, _| {
            respond("429 Too Many Requests", "retry-after: Fri, 31 Dec 2100 23:59:59 GMT\r\n", REFUSED)
        }),
        both("408", Again(&[TimedOut]), |_, _| respond("408 Request Timeout", "", "")),
        both("500 and HTML", Again(&[Unavailable]), |_, _| {
            respond("500 Internal Server Error", "content-type: text/html\r\n", "<h1>Oops</h1>")
        }),
        both("502 and nothing", Again(&[Unavailable]), |_, _| respond("502 Bad Gateway", "", "")),
        both("503 and JSON", Again(&[Unavailable]), |_, _| respond("503 Service Unavailable", JSON, REFUSED)),
        both("529", Again(&[Unavailable]), |_, _| respond("529 Overloaded", JSON, REFUSED)),
        both("400", Reported(InvalidRequest, "in the server's words"), |_, _| {
            respond("400 Bad Request", JSON, REFUSED)
        }),
        both("400 and HTML", Reported(InvalidRequest, "<h1>No</h1>"), |_, _| {
            respond("400 Bad Request", "content-type: text/html\r\n", "<h1>No</h1>")
        }),
        both("401", Reported(Unauthorized, "in the server's words"), |_, _| {
            respond("401 Unauthorized", JSON, REFUSED)
        }),
        both("403", Reported(Unauthorized, "403"), |_, _| respond("403 Forbidden", "", "")),
        both("404", Reported(InvalidRequest, "404"), |_, _| respond("404 Not Found", JSON, "{}")),
        both("a redirect", Reported(InvalidRequest, "http://127.0.0.1:1/other"), |_, _| {
            respond("307 Temporary Redirect", "location: http://127.0.0.1:1/other\r\n", "")
        }),
        both("closed before the headers", Again(&[Connection]), |_, _| Vec::new()),
        both("closed within the headers", Again(&[Connection]), |_, _| {
            vec![Step::Send("HTTP/1.1 200 OK\r\ncontent-ty".into())]
        }),
        both("no HTTP at all", Again(&[Connection]), |_, _| vec![Step::Send("SSH-2.0-OpenSSH\r\n".into())]),
        whole("closed within the body", Again(&[Connection]), |_, _| vec![begun()]),
        streamed("closed after the headers", Again(&[Connection]), |_, _| vec![stream_head()]),
        streamed("closed within a text", Again(&[Connection]), |speech, _| speech.half_a_text()),
        streamed("a stream without its end", Again(&[Connection]), |speech, _| {
            half_and(speech, [stream_end()])
        }),
        timed(both("silent before the headers", Again(&[TimedOut]), |_, _| vec![Step::Silence])),
        timed(whole("silent within the body", Again(&[TimedOut]), |_, _| vec![begun(), Step::Silence])),
        timed(streamed("silent within a text", Again(&[TimedOut]), |speech, _| {
            half_and(speech, [Step::Silence])
        })),
        both("slow, but never silent", Answers, in_small_parts),
        timed(streamed("comments for a long time", Again(&[TimedOut]), |speech, _| {
            let comments = [chunk(": wait\n\n"), Step::Pause(PATIENCE / 4)].into_iter().cycle().take(40);
            half_and(speech, comments)
        })),
        whole("an empty body", Again(&[Empty]), |_, _| respond("200 OK", JSON, "")),
        streamed("an empty stream", Again(&[Connection]), |_, _| vec![stream_head(), stream_end()]),
        both("HTML with 200", Again(UNREADABLE), |_, _| {
            respond("200 OK", "content-type: text/html\r\n", "<html>Log in first</html>")
        }),
        whole("JSON that is cut", Again(&[InvalidResponse]), |_, _| respond("200 OK", JSON, "{\"id\": ")),
        whole("JSON of something else", Again(&[InvalidResponse, Empty]), |_, _| {
            respond("200 OK", JSON, "{\"ok\": 1}")
        }),
        streamed("JSON for a stream", Again(UNREADABLE), |_, _| respond("200 OK", JSON, "{\"ok\": 1}")),
        streamed("an event that is not JSON", Again(UNREADABLE), |speech, _| {
            half_and(speech, [chunk("data: {\"id\": \n\n"), stream_end()])
        }),
        streamed("an error at the beginning", Again(&[Unavailable]), |speech, _| {
            vec![stream_head(), chunk(&speech.error_event()), stream_end()]
        }),
        streamed("an error in the middle", Again(&[Unavailable]), |speech, _| {
            half_and(speech, [chunk(&speech.error_event()), stream_end()])
        }),
        Case {
            only_bounded: true,
            ..both("a head that is too large", Reported(Connection, "too large"), |_, _| {
                vec![Step::Send(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1 << 20)).into())]
            })
        },
        Case {
            only_bounded: true,
            ..both("a body without end", Reported(Other, "longer than"), |_, stream| endless(stream))
        },
    ]
}
