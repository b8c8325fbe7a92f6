//! Checks for string formats, such as `date` and `email`.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(crate) type Check = fn(&str) -> bool;

/// The formats, each with its check and an example.
const FORMATS: &[(&str, Check, &str)] = &[
    ("date", is_date, "2026-01-31"),
    ("time", is_time, "13:45:00Z"),
    ("date-time", is_date_time, "2026-01-31T13:45:00Z"),
    ("duration", is_duration, "P1DT2H"),
    ("email", is_email, "name@example.com"),
    ("hostname", is_hostname, "example.com"),
    ("ipv4", |text| text.parse::<Ipv4Addr>().is_ok(), "192.0.2.1"),
    ("ipv6", |text| text.parse::<Ipv6Addr>().is_ok(), "2001:db8::1"),
    ("uri", is_uri, "https://example.com/page"),
    ("uri-reference", is_uri_reference, "/page?q=1#top"),
    ("json-pointer", is_json_pointer, "/items/0"),
    ("uuid", is_uuid, "123e4567-e89b-12d3-a456-426614174000"),
];

/// The formats of `schemars` that JSON Schema lacks, each in words.
const OTHER_FORMATS: &[(&str, &str)] = &[
    ("partial-date-time", "A date and time without a time zone, as in 2026-01-31T13:45:00."),
    ("partial-time", "A time of day without a time zone, as in 13:45:00."),
    ("zoned-date-time", "A date and time with a time zone, as in 2026-01-31T13:45:00+01:00[Europe/Paris]."),
    ("ip", "An IPv4 or IPv6 address, as in 192.0.2.1."),
];

pub(crate) fn words(format: &str) -> Option<&'static str> {
    let (_, words) = OTHER_FORMATS.iter().find(|(name, _)| *name == format)?;
    Some(words)
}

/// Returns whether a line has the [words] for a format.
pub(crate) fn is_words(line: &str) -> bool {
    OTHER_FORMATS.iter().any(|(_, words)| *words == line)
}

fn find(format: &str) -> Option<&'static (&'static str, Check, &'static str)> {
    FORMATS.iter().find(|(name, _, _)| *name == format)
}

#[cfg(feature = "jsonschema")]
pub(crate) fn checks() -> impl Iterator<Item = (&'static str, Check)> {
    FORMATS.iter().map(|(name, check, _)| (*name, *check))
}

/// Returns whether `text` is valid in a format, as any text is in an unknown one.
pub(crate) fn fits(format: &str, text: &str) -> bool {
    find(format).is_none_or(|(_, check, _)| check(text))
}

pub(crate) fn example(format: &str) -> Option<&'static str> {
    let (_, _, example) = find(format)?;
    Some(example)
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, '-', [4, 2, 2]) else { return false };
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some(end) = text.find(['Z', 'z', '+', '-']) else { return false };
    let Some((clock, zone)) = text.split_at_checked(end) else { return false };
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let Some([hour, minute, second]) = numbers(whole, ':', [2, 2, 2]) else { return false };
    // Second 60 is a leap second.
    hour < 24 && minute < 60 && second <= 60 && is_zone(zone)
}

fn is_zone(zone: &str) -> bool {
    if matches!(zone, "Z" | "z") {
        return true;
    }
    let Some(offset) = zone.strip_prefix(['+', '-']) else { return false };
    numbers(offset, ':', [2, 2]).is_some_and(|[hours, minutes]| hours < 24 && minutes < 60)
}

/// Parses `N` numbers of exact widths, between separators.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let digits = parts.next()?;
        if digits.len() != width || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = digits.parse().ok()?;
    }
    if parts.next().is_none() { Some(numbers) } else { None }
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    is_date(date) && is_time(time)
}

fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, time) = rest.split_once('T').unwrap_or((rest, ""));
    !text.ends_with(['P', 'T']) && has_units(date, "YMWD") && has_units(time, "HMS")
}

/// Returns whether `text` consists of numbers with `units`, as in `1H30M` for `HMS`.
///
/// Units are optional, but ordered.
fn has_units(mut text: &str, mut units: &str) -> bool {
    while !text.is_empty() {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == text.len() {
            return false;
        }
        let Some(unit) = rest.chars().next() else { return false };
        let Some((_, later)) = units.split_once(unit) else { return false };
        (units, text) = (later, rest.get(1..).unwrap_or_default());
    }
    true
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let local_fits = !local.is_empty()
        && local.len() <= 64
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && local.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c));
    local_fits && is_hostname(domain)
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_hostname_label)
}

fn is_hostname_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    scheme_fits && !rest.is_empty() && is_uri_reference(rest)
}

fn is_uri_reference(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c))
}

fn is_json_pointer(text: &str) -> bool {
    let escapes = text.replace("~0", "").replace("~1", "");
    (text.is_empty() || text.starts_with('/')) && !escapes.contains('~')
}

fn is_uuid(text: &str) -> bool {
    let mut lengths = [8, 4, 4, 4, 12].into_iter();
    for part in text.split('-') {
        if lengths.next() != Some(part.len()) || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
    }
    lengths.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_fits_its_format() {
        for (name, check, example) in FORMATS {
            assert!(check(example), "{name}: {example}");
            assert_eq!(check(""), matches!(*name, "uri-reference" | "json-pointer"), "{name}: nothing");
        }
    }

    #[test]
    fn a_format_is_checked_or_described() {
        for (name, _) in OTHER_FORMATS {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn texts_in_another_format_do_not_fit() {
        for (format, texts) in [
            ("date", &["2026-02-29", "2026-13-01", "26-01-01", "2026-1-1", "2026-01-01x"][..]),
            ("time", &["24:00:00Z", "12:00:00", "12:00Z", "12:00:00.Z", "12:00:00Z12:00", "12:00:00+25:00"]),
            ("date-time", &["2026-01-01 12:00:00Z", "2026-01-01", "T"]),
            ("duration", &["P", "PT", "1D", "P1H", "P1D1Y", "PD"]),
            ("email", &["a", "@b.c", "a@", "a b@c.d", "a..b@c.d", "a@-b.c"]),
            ("hostname", &["-a", "a..b", "a_b"]),
            ("ipv4", &["1.2.3", "1.2.3.256"]),
            ("uri", &["example.com", "http:", "ht tp://x", "http://a b", "1http://x"]),
            ("uri-reference", &["a b", "<", "{x}"]),
            ("json-pointer", &["a", "/~2", "/~"]),
            ("uuid", &["123e4567e89b12d3a456426614174000", "g23e4567-e89b-12d3-a456-426614174000"]),
        ] {
            for text in texts {
                assert!(!fits(format, text), "{format}: {text}");
            }
        }
        assert!(fits("unheard-of", "anything"));
    }
}
