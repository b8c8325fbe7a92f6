//! Normalisation of names to snake case, by the rules of the Python library toolregistry.

/// Returns a name in snake case, by the rules of the Python library toolregistry.
///
/// `.`, `-`, `@` and white space become `_`. `_` separates words in camel case, letters become lowercase,
/// and runs of `_` shrink to one. In a name of three words, a repeated first word is dropped: OpenAPI
/// generators write `users_users_list` for `users_list`. Other characters stay, so the result may be
/// [illegal](crate::name::check_name). The function is idempotent.
///
/// ```
/// use toolkit_ai::name::normalize;
///
/// assert_eq!(normalize("getHTTPResponse"), "get_http_response");
/// assert_eq!(normalize("my.tool v2"), "my_tool_v2");
/// assert_eq!(normalize("users_users_list"), "users_list");
/// ```
#[must_use]
pub fn normalize(name: &str) -> String {
    let mut current = once(name);
    loop {
        let next = once(&current);
        if next == current {
            return current;
        }
        current = next;
    }
}

/// Applies the rules once. `add-add-get` needs a second time: its repetition shows only after the dashes
/// are replaced.
fn once(name: &str) -> String {
    if let Some(name) = without_repeated_word(name) {
        return name;
    }
    let words = separate_camel_case(&underscore_blanks(&name.replace(['.', '-', '@'], "_")));
    let mut letters: Vec<char> = words.to_lowercase().chars().collect();
    letters.dedup_by(|a, b| *a == '_' && *b == '_');
    letters.into_iter().collect()
}

fn underscore_blanks(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

fn separate_camel_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 8);
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        let after = chars.get(at + 1);
        let starts_word = c.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase);
        let ends_word = before.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if before.is_some() && c.is_ascii_uppercase() && (starts_word || ends_word) {
            out.push('_');
        }
        out.push(c);
    }
    out
}

fn without_repeated_word(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split('_').collect();
    match words.as_slice() {
        [first, second, third] if first == second && is_word(first) && is_word(third) => {
            Some(format!("{first}_{third}"))
        }
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric())
}
