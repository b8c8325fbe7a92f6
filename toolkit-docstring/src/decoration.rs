//! The column of stars that decorates a `/** ... */` block.

use crate::lines::indent_of;

/// Blanks out the stars if the rows are a decorated block comment.
///
/// The shape is strict, so that a list of `*` bullets keeps its bullets: the last row is empty (it held the `*/`),
/// every row between the first and the last has its star in the same column, and the rows cannot all be bullets below
/// an opening line.
pub(crate) fn strip(rows: &mut [String]) {
    let [first, decorated @ .., last] = rows else {
        return;
    };
    if !last.trim().is_empty() || !is_column(decorated) {
        return;
    }
    if first.trim().is_empty() || decorated.iter().any(|row| is_no_bullet(row)) {
        for row in decorated {
            *row = row.replacen('*', " ", 1);
        }
    }
}

fn is_column(rows: &[String]) -> bool {
    let Some(column) = rows.first().map(|row| indent_of(row)) else {
        return false;
    };
    rows.iter().all(|row| indent_of(row) == column && after_star(row).is_some())
}

fn after_star(row: &str) -> Option<&str> {
    row.trim_start()
        .strip_prefix('*')
        .filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        .map(str::trim)
}

fn is_no_bullet(row: &str) -> bool {
    after_star(row)
        .is_some_and(|text| text.is_empty() || text.starts_with(['#', ':', '@']) || text.starts_with("* "))
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn check(text: &str, expected: &str) {
        let mut rows: Vec<String> = text.split('\n').map(str::to_owned).collect();
        strip(&mut rows);
        assert_eq!(rows.join("\n"), expected);
    }

    fn unchanged(text: &str) {
        check(text, text);
    }

    #[test]
    fn blanks_out_a_column() {
        check("\n * Search.\n ", "\n   Search.\n ");
        check("\n * Search.\n *\n * * `x` - d\n ", "\n   Search.\n  \n   * `x` - d\n ");
        check(" Search.\n * # Args\n * * x - d\n ", " Search.\n   # Args\n   * x - d\n ");
        check(" S.\n *\n * more\n", " S.\n  \n   more\n");
    }

    #[test]
    fn keeps_lists() {
        unchanged("");
        unchanged("* a");
        unchanged("Modes:\n* fast\n* slow");
        unchanged("Modes:\n    * fast\n    * slow\n    ");
        unchanged("\n# Arguments\n* `x` - d\n* `y` - e\n");
        unchanged("\n * a\n   * b\n ");
        unchanged("\n * a\n\n * b\n ");
        unchanged("\n *args: a\n ");
        unchanged("\n * a\n * b");
    }
}
