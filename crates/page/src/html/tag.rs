//! Which element is this, and what does that mean for a reader?
//!
//! **Invariant:** telling elements apart costs no allocation, no string comparison and no chain of
//! branches: a name of up to eight bytes *is* its key, a longer one is hashed, and what an element
//! means stands in a table without collisions. A stranger's name that collides with a known one is
//! read as that element, which can hurt nobody but its own page.

use super::tokenizer::Model;

/// The name of an element or attribute in lower case, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name(pub u64);

/// Makes ASCII letters lower-case; what it does to other characters makes no name of ours.
pub(crate) const LOWER: u64 = 0x2020_2020_2020_2020;

impl Name {
    /// The key of a name in any case.
    pub(crate) const fn of(name: &[u8]) -> Self {
        let mut key: u64 = 0;
        let mut i = 0;
        if name.len() <= 8 {
            while i < name.len() {
                key |= ((name[i] | 0x20) as u64) << (8 * i);
                i += 1;
            }
            return Self(key);
        }
        // FNV-1a. The top bit keeps long names apart from short ASCII ones.
        key = 0xcbf2_9ce4_8422_2325;
        while i < name.len() {
            key = (key ^ (name[i] | 0x20) as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        Self(key | 1 << 63)
    }
}

/// How an element stands in the flow of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// It runs on: its text joins the words around it.
    Inline,
    /// It stands on lines of its own.
    Block,
    /// It is a cell: its words are apart from its neighbour's, on the same line.
    Cell,
    /// It has no content and no end tag.
    Void,
    /// It has no content and ends a line (`br`, `hr`).
    Break,
}

/// What a reader does at the start of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Nothing.
    Plain,
    /// It may start a link (`a`).
    Anchor,
    /// It links without words (`area`, `iframe`, `frame`).
    Document,
    /// It may stand for words (`img`).
    Image,
    /// It relates the page to another (`link`).
    Relation,
    /// It says something about the page (`meta`).
    Meta,
    /// It says what links are relative to (`base`).
    Base,
    /// It is the whole page (`html`).
    Html,
    /// Its content is not shown (`template`, `noscript`).
    Hidden,
    /// It is a drawing (`svg`).
    Svg,
    /// Its content is not markup (`script`, `title` …).
    Raw,
}

/// What is known of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Element {
    /// How it stands in the flow.
    pub(crate) flow: Flow,
    /// What is done at its start.
    pub(crate) role: Role,
}

/// What is known of an element that nothing is known of.
const UNKNOWN: Element = Element {
    flow: Flow::Inline,
    role: Role::Plain,
};

const SLOTS: usize = 512;

/// Found by trying random odd numbers until no two elements shared a slot; the table checks it.
const SPREAD: u64 = 0x54d5_2589_9ea3_d50f;

const fn slot(name: Name) -> usize {
    (name.0.wrapping_mul(SPREAD) >> (64 - SLOTS.trailing_zeros())) as usize
}

macro_rules! elements {
    ($($constant:ident = $name:literal: $flow:ident $role:ident,)*) => {
        $(pub(crate) const $constant: Name = Name::of($name.as_bytes());)*

        static ELEMENTS: [(Name, Element); SLOTS] = {
            let mut table = [(Name(0), UNKNOWN); SLOTS];
            $(
                assert!(table[slot($constant)].0.0 == 0, "two elements in one slot: choose another SPREAD");
                table[slot($constant)] = ($constant, Element { flow: Flow::$flow, role: Role::$role });
            )*
            table
        };
    };
}

elements! {
    A = "a": Inline Anchor,
    ADDRESS = "address": Block Plain,
    AREA = "area": Void Document,
    ARTICLE = "article": Block Plain,
    ASIDE = "aside": Block Plain,
    B = "b": Inline Plain,
    BASE = "base": Void Base,
    BASEFONT = "basefont": Void Plain,
    BGSOUND = "bgsound": Void Plain,
    BIG = "big": Inline Plain,
    BLOCKQUOTE = "blockquote": Block Plain,
    BODY = "body": Block Plain,
    BR = "br": Break Plain,
    CAPTION = "caption": Block Plain,
    CENTER = "center": Block Plain,
    CODE = "code": Inline Plain,
    COL = "col": Void Plain,
    DD = "dd": Block Plain,
    DETAILS = "details": Block Plain,
    DIALOG = "dialog": Block Plain,
    DIR = "dir": Block Plain,
    DIV = "div": Block Plain,
    DL = "dl": Block Plain,
    DT = "dt": Block Plain,
    EM = "em": Inline Plain,
    EMBED = "embed": Void Plain,
    FIELDSET = "fieldset": Block Plain,
    FIGCAPTION = "figcaption": Block Plain,
    FIGURE = "figure": Block Plain,
    FONT = "font": Inline Plain,
    FOOTER = "footer": Block Plain,
    FOREIGN_OBJECT = "foreignobject": Inline Plain,
    FORM = "form": Block Plain,
    FRAME = "frame": Void Document,
    FRAMESET = "frameset": Block Plain,
    H1 = "h1": Block Plain,
    H2 = "h2": Block Plain,
    H3 = "h3": Block Plain,
    H4 = "h4": Block Plain,
    H5 = "h5": Block Plain,
    H6 = "h6": Block Plain,
    HEAD = "head": Block Plain,
    HEADER = "header": Block Plain,
    HGROUP = "hgroup": Block Plain,
    HR = "hr": Break Plain,
    HTML = "html": Block Html,
    I = "i": Inline Plain,
    IFRAME = "iframe": Inline Document,
    IMG = "img": Void Image,
    INPUT = "input": Void Plain,
    KEYGEN = "keygen": Void Plain,
    LEGEND = "legend": Block Plain,
    LI = "li": Block Plain,
    LINK = "link": Void Relation,
    LISTING = "listing": Block Plain,
    MAIN = "main": Block Plain,
    MENU = "menu": Block Plain,
    META = "meta": Void Meta,
    NAV = "nav": Block Plain,
    NOBR = "nobr": Inline Plain,
    NOEMBED = "noembed": Inline Raw,
    NOFRAMES = "noframes": Inline Raw,
    NOSCRIPT = "noscript": Inline Hidden,
    OL = "ol": Block Plain,
    OPTGROUP = "optgroup": Block Plain,
    OPTION = "option": Block Plain,
    P = "p": Block Plain,
    PARAM = "param": Void Plain,
    PLAINTEXT = "plaintext": Block Raw,
    PRE = "pre": Block Plain,
    S = "s": Inline Plain,
    SCRIPT = "script": Inline Raw,
    SEARCH = "search": Block Plain,
    SECTION = "section": Block Plain,
    SMALL = "small": Inline Plain,
    SOURCE = "source": Void Plain,
    STRIKE = "strike": Inline Plain,
    STRONG = "strong": Inline Plain,
    STYLE = "style": Inline Raw,
    SUMMARY = "summary": Block Plain,
    SVG = "svg": Inline Svg,
    TABLE = "table": Block Plain,
    TBODY = "tbody": Block Plain,
    TD = "td": Cell Plain,
    TEMPLATE = "template": Inline Hidden,
    TEXTAREA = "textarea": Inline Raw,
    TFOOT = "tfoot": Block Plain,
    TH = "th": Cell Plain,
    THEAD = "thead": Block Plain,
    TITLE = "title": Inline Raw,
    TR = "tr": Block Plain,
    TRACK = "track": Void Plain,
    TT = "tt": Inline Plain,
    U = "u": Inline Plain,
    UL = "ul": Block Plain,
    WBR = "wbr": Void Plain,
    XMP = "xmp": Block Raw,
}

/// What is known of the element.
#[inline]
pub(crate) fn element(name: Name) -> Element {
    let (known, element) = ELEMENTS[slot(name)];
    if known == name { element } else { UNKNOWN }
}

/// How the tokenizer must read the content of the element (WHATWG 13.2.6, scripting disabled).
#[inline]
pub(crate) fn model(tag: Name, role: Role) -> Model {
    match tag {
        _ if !matches!(role, Role::Raw | Role::Document) => Model::Data,
        SCRIPT => Model::Script,
        STYLE | XMP | IFRAME | NOEMBED | NOFRAMES => Model::RawText,
        TITLE | TEXTAREA => Model::RcData,
        PLAINTEXT => Model::PlainText,
        _ => Model::Data,
    }
}

/// The formatting elements of WHATWG 13.2.4.2, which a tree builder opens again in later blocks.
pub(crate) fn is_formatting(tag: Name) -> bool {
    matches!(
        tag,
        A | B | BIG | CODE | EM | FONT | I | NOBR | S | SMALL | STRIKE | STRONG | TT | U
    )
}

/// Whether a start tag of `starting`, which stands in the flow as said, ends an open `open` (the end tags that HTML lets authors omit).
pub(crate) fn ends(starting: Name, flow: Flow, open: Name) -> bool {
    match open {
        P => flow == Flow::Block && !matches!(starting, OPTION | OPTGROUP | BODY | HTML),
        LI => starting == LI,
        DD | DT => matches!(starting, DD | DT),
        OPTION => matches!(starting, OPTION | OPTGROUP),
        TD | TH => matches!(starting, TD | TH | TR | TBODY | TFOOT | THEAD),
        TR => matches!(starting, TR | TBODY | TFOOT | THEAD),
        TBODY | THEAD | TFOOT => matches!(starting, TBODY | TFOOT | THEAD),
        HEAD => starting == BODY,
        _ => false,
    }
}

/// Elements whose omitted end tags are looked for only inside them.
pub(crate) fn is_scope(tag: Name) -> bool {
    matches!(
        tag,
        UL | OL | MENU | DL | TABLE | TEMPLATE | DIV | SECTION | ARTICLE | NAV | FORM
    )
}

/// Whether the element is HTML that cannot stand in SVG, so that its start ends an unclosed `svg`
/// (WHATWG 13.2.6.5, the list of elements that break out of foreign content).
pub(crate) fn leaves_svg(tag: Name) -> bool {
    matches!(element(tag).flow, Flow::Block | Flow::Break)
        || matches!(
            tag,
            B | BIG
                | CODE
                | EM
                | I
                | IMG
                | META
                | NOBR
                | S
                | SMALL
                | STRIKE
                | STRONG
                | TT
                | U
                | EMBED
        )
}
