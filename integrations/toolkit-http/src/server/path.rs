//! Paths of servers.

use toolkit_core::BuildError;
use toolkit_core::error::BuildProblem;

/// Returns the path of a server, with a slash before it and none after it; the empty path stays empty.
///
/// # Errors
/// A character is not percent-encoded, or a part is `.` or `..` or begins with `:` or `*`, which routers take
/// for a parameter.
pub fn checked_path(path: &str) -> Result<String, BuildError> {
    let path = path.trim_matches('/');
    for part in path.split('/') {
        let is_marked = part.starts_with([':', '*']) || matches!(part, "." | "..");
        if is_marked || !is_part(part) {
            let message = "write letters, digits and `-._~!$&'()+,;=@`, and other characters percent-encoded";
            return Err(BuildProblem::invalid_path(path, message).into());
        }
    }
    Ok(if path.is_empty() { String::new() } else { format!("/{path}") })
}

/// Returns whether no character must be percent-encoded.
fn is_legal(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(c))
}

fn is_part(text: &str) -> bool {
    let mut encoded = text.split('%');
    let plain = encoded.next().unwrap_or_default();
    if !is_legal(plain) {
        return false;
    }
    for rest in encoded {
        let is_byte = rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        if !is_byte || !is_legal(rest) {
            return false;
        }
    }
    true
}
