//! The hosts and origins that a server accepts.

use http::Uri;
use http::uri::Authority;

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    name: String,
    /// For an accepted host, `None` stands for any port.
    port: Option<u16>,
}

impl Host {
    pub(super) fn of_request(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        Some(Self { name: normal_name(authority.host()), port: authority.port_u16() })
    }

    /// Reads an accepted host, which may be an address of IPv6 without brackets.
    pub(super) fn accepted(text: &str) -> Self {
        let text = text.trim();
        Self::of_request(text).unwrap_or_else(|| Self { name: normal_name(text), port: None })
    }

    pub(super) fn is_loopback(&self) -> bool {
        LOOPBACK.contains(&self.name.as_str())
    }

    pub(super) fn accepts(&self, host: &Self) -> bool {
        self.name == host.name && (self.port.is_none() || self.port == host.port)
    }
}

fn normal_name(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// The scheme and the name of the host, or nothing for the origin `null`.
    site: Option<(String, String)>,
    port: Option<u16>,
    has_any_port: bool,
}

impl Origin {
    /// A missing port is that of the scheme.
    pub(super) fn of_request(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("null") {
            return Some(Self { site: None, port: None, has_any_port: false });
        }
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        let port = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let site = Some((scheme, normal_name(authority.host())));
        Some(Self { site, port: authority.port_u16().or(port), has_any_port: false })
    }

    /// The port `*` stands for any port.
    pub(super) fn accepted(text: &str) -> Option<Self> {
        match text.trim().strip_suffix(":*") {
            Some(site) => Some(Self { has_any_port: true, ..Self::of_request(site)? }),
            None => Self::of_request(text),
        }
    }

    pub(super) fn accepts(&self, origin: &Self) -> bool {
        self.site == origin.site && (self.has_any_port || self.port == origin.port)
    }
}

pub(super) fn loopback_origins() -> Vec<Origin> {
    let mut origins = Vec::new();
    for scheme in ["http", "https"] {
        for name in LOOPBACK {
            let site = Some((scheme.to_owned(), name.to_owned()));
            origins.push(Origin { site, port: None, has_any_port: true });
        }
    }
    origins
}
