//! A table for people: columns as wide as their widest cell.

use std::fmt::Write as _;

/// Rows of cells; the first row is the head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Grid {
        Grid { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The first column is flush left, the others flush right.
    pub(crate) fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::from(" ");
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                let _ = match column {
                    0 => write!(line, " {cell:<width$}"),
                    _ => write!(line, "   {cell:>width$}"),
                };
            }
            let _ = writeln!(out, "{}", line.trim_end());
            if index == 0 {
                let total = 2 + widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1);
                let _ = writeln!(out, "  {}", "─".repeat(total - 2));
            }
        }
        out
    }
}

/// A number with three digits that mean something, and thousands apart.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1_000.0 => thousands(value.round() as i64),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// 1,234,567.
pub(crate) fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    format!("{}{}", if value < 0 { "-" } else { "" }, groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut grid = Grid::new(["subject", "mean"]);
        grid.row(["a", "12,345"]);
        assert_eq!(grid.text(), "  subject     mean\n  ────────────────\n  a         12,345\n");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            ["1,234,567", "-12", "1.50", "12.3"].map(String::from),
            [thousands(1_234_567), thousands(-12), number(1.5), number(12.34),]
        );
    }
}
