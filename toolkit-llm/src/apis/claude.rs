//! What models of Anthropic refuse, in each API that reaches them.

use crate::request::RequestBuilder;

/// Removes the sampling options that the model refuses.
///
/// `paths` lead to `temperature` and `top_p` in the body.
///
/// Claude 4.7 and later refuse both: "`temperature` is deprecated for this model". From Claude 4.1 on, the
/// service refuses both together: "`temperature` and `top_p` cannot both be specified for this model".
pub(crate) fn drop_sampling(builder: &mut RequestBuilder<'_>, paths: [&str; 2]) {
    let Some(version) = claude_version(builder.model) else { return };
    if version >= (4, 7) {
        for (option, path) in ["temperature", "top_p"].into_iter().zip(paths) {
            if builder.remove(path) {
                builder.lose(option, "the model has no sampling options");
            }
        }
    } else if version >= (4, 1) && builder.request.options.temperature.is_some() && builder.remove(paths[1]) {
        builder.lose("top_p", "the model refuses it together with `temperature`");
    }
}

/// Returns the version of a Claude model: (4, 7) for `claude-opus-4-7`, (3, 5) for
/// `claude-3-5-haiku-20241022`.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let (_, name) = model.rsplit_once("claude-")?;
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let major = parts.by_ref().find_map(short_number)?;
    let minor = parts.next().and_then(short_number).unwrap_or(0);
    Some((major, minor))
}

/// Returns the number in a part of a name.
///
/// A longer number is a date.
fn short_number(part: &str) -> Option<u32> {
    if part.len() <= 2 { part.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_version_of_the_model() {
        for (name, version) in [
            ("claude-opus-4-7", Some((4, 7))),
            ("claude-opus-5-20260724", Some((5, 0))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-haiku-4-5@20251001", Some((4, 5))),
            ("us.anthropic.claude-opus-4-7-v1:0", Some((4, 7))),
            ("anthropic.claude-opus-4-20250514-v1:0", Some((4, 0))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("anthropic/claude-opus-4.8", Some((4, 8))),
            ("claude-opus-latest", None),
            ("gpt-5", None),
        ] {
            assert_eq!(claude_version(name), version, "{name}");
        }
    }
}
