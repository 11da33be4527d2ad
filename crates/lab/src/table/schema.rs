//! Names and columns of the tables of recorded worlds (`docs/reference/worlds.md`).
//!
//! Readers and writers of worlds take them from here.

/// The name of a table's file, without `.tsv`, and its columns.
#[derive(Debug, Clone, Copy)]
pub struct TableSchema<const N: usize> {
    /// Name of the file, without `.tsv`.
    pub name: &'static str,
    /// Names of the columns.
    pub columns: [&'static str; N],
}

const fn table<const N: usize>(name: &'static str, columns: [&'static str; N]) -> TableSchema<N> {
    TableSchema { name, columns }
}

/// The pages of a graph.
pub const NODES: TableSchema<2> = table("nodes", ["id", "url"]);
/// The links of a graph.
pub const EDGES: TableSchema<2> = table("edges", ["from", "to"]);
/// How often the pages of a graph are viewed.
pub const VIEWS: TableSchema<2> = table("views", ["page", "views"]);
/// The labels of pages.
pub const LABELS: TableSchema<2> = table("labels", ["page", "label"]);
/// The pages of histories.
pub const PAGES: TableSchema<2> = table("pages", ["page", "url"]);
/// The versions of these pages, sorted by t. The body [`GONE`] means that the page is gone.
pub const VERSIONS: TableSchema<3> = table("versions", ["page", "t", "body"]);
/// A query log.
pub const QUERIES: TableSchema<2> = table("queries", ["query", "count"]);
/// The sources of new pages.
pub const SOURCES: TableSchema<2> = table("sources", ["source", "url"]);
/// The pages that sources link to.
pub const ARTICLES: TableSchema<2> = table("articles", ["article", "url"]);
/// The periods of these links, sorted by t_in.
pub const LINKS: TableSchema<4> = table("links", ["source", "article", "t_in", "t_out"]);
/// Clicks on articles, sorted by t.
pub const CLICKS: TableSchema<3> = table("clicks", ["article", "t", "clicks"]);

/// The cell of [`VERSIONS`] that means that a page is gone.
pub const GONE: &str = "-";
