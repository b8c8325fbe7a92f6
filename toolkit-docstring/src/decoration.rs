//! Removal of the leading stars in a `/** ... */` block.

/// Removes the leading stars of a block comment, but keeps a list with `*` bullets.
///
/// The stars are removed only if three conditions are met:
///
/// - The last row is empty, because it contained the `*/`.
/// - Every row between the first and the last has a star in the same column.
/// - These rows are no list of bullets below an opening line.
pub(crate) fn strip(rows: &mut [String]) {
    let [first, decorated @ .., last] = rows else {
        return;
    };
    let is_decorated = last.trim().is_empty()
        && is_column(decorated)
        && (first.trim().is_empty() || decorated.iter().any(|row| cannot_be_bullet(row)));
    if is_decorated {
        for row in decorated {
            *row = row.replacen('*', " ", 1);
        }
    }
}

pub(crate) fn indent_of(row: &str) -> usize {
    row.chars().take_while(|c| c.is_whitespace()).count()
}

fn is_column(rows: &[String]) -> bool {
    let Some(first) = rows.first() else { return false };
    let column = indent_of(first);
    rows.iter().all(|row| indent_of(row) == column && after_star(row).is_some())
}

fn after_star(row: &str) -> Option<&str> {
    let rest = row.trim_start().strip_prefix('*')?;
    if rest.is_empty() || rest.starts_with(char::is_whitespace) { Some(rest.trim()) } else { None }
}

fn cannot_be_bullet(row: &str) -> bool {
    let Some(text) = after_star(row) else { return false };
    text.is_empty() || text.starts_with(['#', ':', '@']) || text.starts_with("* ")
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn check(text: &str, expected: &str) {
        let mut rows: Vec<String> = text.split('\n').map(str::to_owned).collect();
        strip(&mut rows);
        assert_eq!(rows.join("\n"), expected);
    }

    #[test]
    fn a_column_of_stars_is_blanked_out() {
        check("\n * Search.\n ", "\n   Search.\n ");
        check("\n * Search.\n *\n * * `x` - d\n ", "\n   Search.\n  \n   * `x` - d\n ");
        check(" Search.\n * # Args\n * * x - d\n ", " Search.\n   # Args\n   * x - d\n ");
        check(" S.\n *\n * more\n", " S.\n  \n   more\n");
    }

    #[test]
    fn bullet_lists_are_unchanged() {
        for text in [
            "",
            "* a",
            "Modes:\n* fast\n* slow",
            "Modes:\n    * fast\n    * slow\n    ",
            "\n# Arguments\n* `x` - d\n* `y` - e\n",
            "\n * a\n   * b\n ",
            "\n * a\n\n * b\n ",
            "\n *args: a\n ",
            "\n * a\n * b",
        ] {
            check(text, text);
        }
    }
}
