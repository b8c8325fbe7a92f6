//! Addresses: references to documents and servers, resolved as RFC 3986 says.

/// Returns the absolute form of `reference` in a document with the address `base`. If that is relative or
/// empty, so is the result, without segments that name no folder.
pub(crate) fn join(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let base = base.split(['?', '#']).next().unwrap_or_default();
    let (origin, path) = split_origin(base);
    if reference.is_empty() {
        return base.to_owned();
    }
    if reference.starts_with("//") {
        let scheme = origin.split_once("//").map_or("", |(scheme, _)| scheme);
        return format!("{scheme}{reference}");
    }
    let end = reference.find(['?', '#']).unwrap_or(reference.len());
    let suffix = &reference[end..];
    let target = &reference[..end];
    if target.starts_with('/') {
        return format!("{origin}{}{suffix}", without_dots(target));
    }
    let folder = match path.rfind('/') {
        Some(slash) => &path[..=slash],
        None if origin.is_empty() => "",
        None => "/",
    };
    format!("{origin}{}{suffix}", without_dots(&format!("{folder}{target}")))
}

pub(crate) fn has_scheme(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Splits an address into scheme with authority, and path.
fn split_origin(address: &str) -> (&str, &str) {
    let authority = address.find("://").map_or(0, |scheme| scheme + 3);
    if authority == 0 {
        return ("", address);
    }
    let path = address[authority..].find('/').map_or(address.len(), |slash| authority + slash);
    address.split_at(path)
}

fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (index, segment) in path.split('/').enumerate() {
        match segment {
            "." | ".." => {
                match segments.as_slice() {
                    _ if segment == "." => {}
                    // Nothing is above the root.
                    [""] => {}
                    [] | [.., ".."] => segments.push(segment),
                    _ => drop(segments.pop()),
                }
                if index == last {
                    segments.push("");
                }
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_against_the_address_of_the_document() {
        let base = "https://example.com/v1/api/openapi.json?a=/b";
        for (reference, expected) in [
            ("https://other.example/x", "https://other.example/x"),
            ("//other.example/x", "https://other.example/x"),
            ("/v2", "https://example.com/v2"),
            ("pets.json#/a", "https://example.com/v1/api/pets.json#/a"),
            ("./pets.json", "https://example.com/v1/api/pets.json"),
            ("../../../v2/", "https://example.com/v2/"),
            ("..", "https://example.com/v1/"),
            ("", "https://example.com/v1/api/openapi.json"),
        ] {
            assert_eq!(join(base, reference), expected, "{reference}");
        }
        assert_eq!(join("https://example.com", "v1"), "https://example.com/v1");
        assert_eq!(join("api/openapi.json", "pets.json"), "api/pets.json");
        for (base, reference, expected) in [
            ("", "pets.json", "pets.json"),
            ("", "./a/../pets.json#/x", "pets.json#/x"),
            ("", "../pets.json", "../pets.json"),
            ("", "/v1/../v2", "/v2"),
            ("ops/a.json", "../pets.json", "pets.json"),
            ("ops/a.json", "../../pets.json", "../pets.json"),
            ("../ops/a.json", "./b.json", "../ops/b.json"),
            ("../ops/a.json", "../../b.json", "../../b.json"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} {reference}");
        }
    }
}
