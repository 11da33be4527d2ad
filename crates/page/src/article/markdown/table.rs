//! Writes data tables as Markdown tables, and the cells of layout tables as blocks.

use dom_query::NodeRef;

use super::super::tree::name;
use super::{BlockKind, MarkdownBlock, MarkdownWriter, tight};

/// Number of the first columns in which `rowspan` is followed. This bounds the empty cells that
/// spanned rows could produce.
const MAX_SPANNED: usize = 32;
/// Maximum number of columns that one cell may span. A larger `colspan` counts as this.
const MAX_COLSPAN: usize = 20;

impl MarkdownWriter<'_> {
    /// Writes a data table as a Markdown table, and the cells of a layout table one after
    /// another.
    pub(super) fn table(
        &mut self,
        node: &NodeRef<'_>,
        indent: usize,
        out: &mut Vec<MarkdownBlock>,
    ) {
        let mut rows = Vec::new();
        let mut captions = Vec::new();
        collect(node, &mut rows, &mut captions);
        for caption in &captions {
            self.flow(caption, indent, out);
        }
        let rows: Vec<Vec<NodeRef<'_>>> = rows
            .iter()
            .map(cells)
            .filter(|row| !row.is_empty())
            .collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let complex = rows.iter().flatten().any(|cell| self.shape(cell).complex);
        if columns < 2 || complex {
            for cell in rows.iter().flatten() {
                self.flow(cell, indent, out);
            }
            return;
        }
        let has_head = rows.first().is_some_and(|row| {
            row.iter().all(|cell| cell.has_name("th"))
                || row[0]
                    .parent()
                    .and_then(|row| row.parent())
                    .is_some_and(|part| part.has_name("thead"))
        });
        let mut grid = self.grid(&rows);
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        if grid.iter().flatten().all(String::is_empty) {
            return;
        }
        let mut head = if has_head { grid.remove(0) } else { Vec::new() };
        head.resize(width, String::new());
        let mut text = line(&head);
        text.push('\n');
        text.push('|');
        text.push_str(&" --- |".repeat(width));
        for row in grid
            .iter()
            .filter(|row| row.iter().any(|cell| !cell.is_empty()))
        {
            text.push('\n');
            text.push_str(&line(row));
        }
        out.push(BlockKind::Table.of(text));
    }

    /// Returns the texts of the cells, row by row, with an empty text for each further row or
    /// column that a cell spans.
    fn grid(&mut self, rows: &[Vec<NodeRef<'_>>]) -> Vec<Vec<String>> {
        // For each column, the number of further rows that a cell above still spans.
        let mut covered: Vec<usize> = Vec::new();
        let mut grid = Vec::new();
        for row in rows {
            let mut line: Vec<String> = Vec::new();
            let skip = |line: &mut Vec<String>, covered: &mut Vec<usize>| {
                while covered.get(line.len()).is_some_and(|&rows| rows > 0) {
                    covered[line.len()] -= 1;
                    line.push(String::new());
                }
            };
            for cell in row {
                skip(&mut line, &mut covered);
                let span = |name| cell.attr(name).and_then(|span| span.parse::<usize>().ok());
                let across = span("colspan").unwrap_or(1).clamp(1, MAX_COLSPAN);
                let down = span("rowspan").unwrap_or(1).clamp(1, rows.len());
                let mut blocks = Vec::new();
                // The indent of 1 marks the blocks as nested.
                self.flow(cell, 1, &mut blocks);
                let text = tight(&blocks).replace('|', "\\|");
                let text: Vec<&str> = text
                    .split('\n')
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .collect();
                for place in 0..across {
                    if down > 1 && line.len() < MAX_SPANNED {
                        covered.resize(covered.len().max(line.len() + 1), 0);
                        covered[line.len()] = down - 1;
                    }
                    line.push(if place == 0 {
                        text.join("<br>")
                    } else {
                        String::new()
                    });
                }
            }
            skip(&mut line, &mut covered);
            grid.push(line);
        }
        grid
    }
}

/// Finds the rows and captions of a table, without those of nested tables.
fn collect<'a>(node: &NodeRef<'a>, rows: &mut Vec<NodeRef<'a>>, captions: &mut Vec<NodeRef<'a>>) {
    for child in node.children_it(false) {
        match name(&child).as_deref() {
            Some("tr") => rows.push(child),
            Some("thead" | "tbody" | "tfoot") => collect(&child, rows, captions),
            Some("caption") => captions.push(child),
            _ => {}
        }
    }
}

fn cells<'a>(row: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let cells = row.children_it(false);
    let cells = cells.filter(|cell| name(cell).is_some_and(|name| matches!(&*name, "td" | "th")));
    cells.collect()
}

fn line(cells: &[String]) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        line.push(' ');
        line.push_str(cell);
        line.push_str(" |");
    }
    line
}
