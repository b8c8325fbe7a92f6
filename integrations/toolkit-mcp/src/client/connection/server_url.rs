//! URLs of servers as people write them, in the form that requests have.

use data_encoding::BASE64;
use http::Uri;
use http::header::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use toolkit_http::client::parse_url;

const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');

pub(super) struct ServerUrl {
    pub(super) uri: Uri,
    pub(super) authorization: Option<HeaderValue>,
}

impl ServerUrl {
    /// Parses a URL, and percent-encodes characters of its path and query. Errors do not show the URL,
    /// because it may contain secrets.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = url.trim().split_once("://") else {
            return Err("the URL has no scheme; it needs `https://`, or `http://`".to_owned());
        };
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(&*scheme, "http" | "https") {
            return Err(format!("the URL begins with `{scheme}:`; it needs `https://`, or `http://`"));
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if !host.is_ascii() {
            return Err("the host of the URL has other characters than ASCII; write it as `xn--…`".to_owned());
        }
        let host = host.to_ascii_lowercase();
        let url = format!("{scheme}://{host}{}", utf8_percent_encode(path, ENCODED));
        let uri = parse_url(&url).map_err(|error| error.reason().replace("base URL", "URL"))?;
        Ok(Self { uri, authorization: basic(login) })
    }

    pub(super) fn host(&self) -> String {
        self.uri.host().unwrap_or_default().to_owned()
    }

    pub(super) fn port(&self) -> u16 {
        let default = if self.uri.scheme_str() == Some("https") { 443 } else { 80 };
        self.uri.port_u16().unwrap_or(default)
    }
}

/// Returns the header for `user:password`, percent-encoded as in a URL.
fn basic(login: &str) -> Option<HeaderValue> {
    if login.is_empty() {
        return None;
    }
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut text: Vec<u8> = percent_decode_str(user).collect();
    text.push(b':');
    text.extend(percent_decode_str(password));
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(&text))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::ServerUrl;

    #[test]
    fn a_url_is_sent_as_it_is_meant() {
        for (written, sent, host, port) in [
            ("https://example.com", "https://example.com/", "example.com", 443),
            (" HTTP://Example.COM:8000/Mcp?a=b#c ", "http://example.com:8000/Mcp?a=b", "example.com", 8000),
            ("http://[::1]/mcp", "http://[::1]/mcp", "[::1]", 80),
            ("https://a.test?key=1", "https://a.test/?key=1", "a.test", 443),
            ("https://a.test/my mcp/ü?q=<ö>", "https://a.test/my%20mcp/%C3%BC?q=%3C%C3%B6%3E", "a.test", 443),
            ("https://a.test/%20/a:b@c", "https://a.test/%20/a:b@c", "a.test", 443),
        ] {
            let url = ServerUrl::parse(written).unwrap();
            assert_eq!((&*url.uri.to_string(), &*url.host(), url.port()), (sent, host, port), "{written}");
            assert_eq!(url.authorization, None, "{written}");
        }
    }

    #[test]
    fn the_login_in_a_url_is_sent_as_a_header() {
        for (written, expected) in [
            ("http://ada:pass@a.test/mcp", "Basic YWRhOnBhc3M="),
            ("http://a%40b.c:%C3%BC%3A@a.test/mcp", "Basic YUBiLmM6w7w6"),
            ("http://ada@a.test/mcp", "Basic YWRhOg=="),
        ] {
            let url = ServerUrl::parse(written).unwrap();
            let authorization = url.authorization.unwrap();
            assert_eq!(
                (&*url.uri.to_string(), &authorization),
                ("http://a.test/mcp", &expected.parse().unwrap())
            );
            assert!(authorization.is_sensitive());
        }
    }

    #[test]
    fn an_invalid_url_is_an_error_that_does_not_show_it() {
        let scheme = "it needs `https://`, or `http://`";
        for (written, message) in [
            ("", scheme),
            ("secret/mcp", scheme),
            ("localhost:8000/secret", scheme),
            ("ftp://secret", "the URL begins with `ftp:`"),
            ("https://", "and a host"),
            ("https:///secret", "and a host"),
            ("http://a.test:99999/secret", "the URL has an invalid port"),
            ("http://a b/secret", "the URL is invalid"),
            ("http://bücher.test/secret", "write it as `xn--…`"),
        ] {
            let error = ServerUrl::parse(written).err().unwrap();
            assert!(error.contains(message) && !error.contains("secret"), "{written}: {error}");
        }
    }
}
